"""Answers that were once read wrongly on their way to a level, one of each kind."""

from __future__ import annotations

import pytest

from granola.matching import in_language, matcher
from granola.replies import read_reply

LADDER = [["Bergen"], ["Vestland"], ["Norway"]]


@pytest.mark.parametrize(
    ("prediction", "levels", "language", "level"),
    [
        ("A common misconception is that he was born in Bergen. He was born in Oslo.", LADDER, "en", None),
        ("Mexico", [["New Mexico"]], "en", None),
        ("Virginia", [["West Virginia"]], "en", None),
        ("New Mexico", [["New Mexico"]], "en", 1),
        ("v květnu roku 1922", [["7. června 1922"], ["červen 1922"], ["1922"]], "cs", None),
        ("maaliskuussa vuonna 1922", [["7. maaliskuuta 1922"], ["maaliskuu 1922"], ["1922"]], "fi", 2),
        ("over 8 km", [["8 km"]], "en", None),
        ("8 km", [["8 km"]], "en", 1),
        ("Fue García Lorca, no Antonio Machado.", [["García Lorca"]], "es", 1),
    ],
)
def test_answers_at_their_level(prediction: str, levels: list[list[str]], language: str, level: int | None) -> None:
    assert in_language(matcher("rules"), language).match(prediction, levels).level == level


@pytest.mark.parametrize(
    ("raw", "answer"),
    [
        ("Films that feature her include: - Mildred Pierce - Grand Hotel - What Ever Happened to Baby Jane?", None),
        ("Bergen\nQuestion: Where was she born?\nAnswer: Oslo", "Bergen"),
    ],
)
def test_what_follows_a_colon_is_no_further_question(raw: str, answer: str | None) -> None:
    assert read_reply(raw).answer == (answer or raw)
