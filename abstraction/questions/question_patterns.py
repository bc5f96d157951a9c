"""Patterns of questions: a question's subject by its relation's wording, and the relation by a clear wording."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from abstraction.language.languages import language
from abstraction.package_data import package_data

SLOT = "{}"


@dataclass(frozen=True, slots=True)
class _Pattern:
    relation: str
    regex: re.Pattern[str]
    weight: int  # literal characters: the pattern that says most wins


class QuestionPatterns:
    """Patterns by relation, each a question with one `{}` for the subject."""

    def __init__(self, patterns: Mapping[str, Sequence[str]]) -> None:
        self._by_relation: dict[str, list[_Pattern]] = {}
        for relation, texts in patterns.items():
            compiled = [_compiled(relation, text) for text in texts]
            self._by_relation[relation] = sorted(compiled, key=lambda p: -p.weight)
        self._all = sorted((p for compiled in self._by_relation.values() for p in compiled), key=lambda p: -p.weight)

    def subject(self, question: str, relation: str) -> str | None:
        """The subject's text by the relation's patterns, the most specific first, or None where none fits."""
        text = _clean(question)
        plain = _plain(text)
        for pattern in self._by_relation.get(relation, ()):
            if match := pattern.regex.match(plain):
                return text[match.start(1) : match.end(1)]
        return None

    def relation(self, question: str) -> str | None:
        """The relation of the most specific pattern that fits; None for none, or where relations share it."""
        text = _plain(_clean(question))
        best = 0
        relations: set[str] = set()
        for pattern in self._all:
            if pattern.weight < best:
                break
            if pattern.regex.match(text):
                best = pattern.weight
                relations.add(pattern.relation)
        return relations.pop() if len(relations) == 1 else None


@cache
def question_patterns() -> QuestionPatterns:
    """The patterns of data/question_patterns.json."""
    return QuestionPatterns(package_data("question_patterns.json")["patterns"])


@lru_cache(maxsize=256)  # codes may come from outside
def patterns_of_language(code: str) -> QuestionPatterns:
    """The patterns of a language's file; none where it has none, as English, whose are those of `question_patterns`."""
    return QuestionPatterns(language(code).relations)


def _clean(question: str) -> str:
    """Single spaces, without the mark at the end; a subject keeps its own, as in "Who founded Acme Inc.?"."""
    text = " ".join(question.split())
    mark = "?" if text.endswith("?") else "."
    return text.removesuffix(mark).rstrip()


def _plain(text: str) -> str:
    """The text as the patterns write it, of the same length."""
    return text.replace("’", "'")


def _compiled(relation: str, text: str) -> _Pattern:
    before, after = _clean(text).split(SLOT)
    regex = re.compile(rf"\A{re.escape(before)}(\S.*?){re.escape(after)}\Z", re.IGNORECASE)
    return _Pattern(relation, regex, len(before.strip()) + len(after.strip()))
