"""What a question asks for."""

from __future__ import annotations

import pytest

from abstraction.text.questions.question_wording import QuestionKind, asked_kind


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("when was the eiffel tower built", QuestionKind.DATE),
        ("who wrote war and peace", QuestionKind.PERSON),
        ("is the earth round", QuestionKind.YES_NO),
        ("how many bones are in the hand", QuestionKind.COUNT),
    ],
)
def test_the_kind_of_answer(question: str, kind: QuestionKind) -> None:
    assert asked_kind(question).kind is kind


def test_the_noun_is_kept() -> None:
    assert asked_kind("which river flows through vienna").detail == "river"
