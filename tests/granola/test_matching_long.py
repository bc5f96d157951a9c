"""Endless answers: read in time that grows with their length, and up to a stated limit."""

from __future__ import annotations

import time

import pytest

from granola.matching import matcher
from granola.matching.naming.mentions import AnswerText
from granola.matching.rules import EXAMINED

LEVELS = (("Honolulu",), ("Hawaii",), ("United States", "US"))


@pytest.mark.parametrize(
    "piece",
    [
        "Honolulu ",
        "not Honolulu, ",
        "X, Honolulu ",
        "Kona Honolulu in the ",
        "Hawaii or Kona ",
        "a ",
        "1961 or ",
        "Honolulu, X and ",
        "not 1961, ",
        "Honolulu, Texas, ",
    ],
)
def test_repeated_words_cost_little(piece: str) -> None:
    text = piece * (200_000 // len(piece.split()))
    began = time.process_time()
    matcher("rules").match(text, LEVELS, "Where was he born?")
    assert time.process_time() - began < 1.0


def test_what_stands_behind_the_limit_is_not_read() -> None:
    filler = "word " * (EXAMINED // 5)
    assert matcher("rules").match(f"{filler[: EXAMINED - 100]}it is Honolulu.", LEVELS).level == 1
    assert matcher("rules").match(f"{filler}it is Honolulu.", LEVELS).level is None
    assert matcher("rules").match("x" * EXAMINED + "x Honolulu", LEVELS).level is None
    assert matcher("rules").match(" " * (2 * EXAMINED) + "Honolulu", LEVELS).level == 1


def test_only_the_longest_mentions_stand() -> None:
    answer = AnswerText("New York City, New York, York", (("New York City", "York"), ("New York",), ("New York",)))
    assert [(m.level, m.start, m.end) for m in answer.mentions] == [(0, 0, 3), (0, 5, 6), (1, 3, 5), (2, 3, 5)]
