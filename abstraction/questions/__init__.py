"""What a question asks for, and whether its gold answers hold together with that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from abstraction.questions.question_kinds import AskedKind, QuestionKind, asked_kind
    from abstraction.questions.told_in_question import ToldInQuestion

__all__ = [
    "AskedKind",
    "QuestionKind",
    "ToldInQuestion",
    "asked_kind",
]
_MODULES = {
    "AskedKind": ".question_kinds",
    "QuestionKind": ".question_kinds",
    "ToldInQuestion": ".told_in_question",
    "asked_kind": ".question_kinds",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
