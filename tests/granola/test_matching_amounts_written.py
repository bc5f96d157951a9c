"""Amounts as people write them: shares as fractions, currencies before and behind, none of what is counted."""

from __future__ import annotations

import pytest

from granola.matching import matcher

RULES = matcher("rules")
COST = [["$2.8 billion"], ["about $3 billion"]]


@pytest.mark.parametrize(
    ("said", "levels", "level"),
    [
        ("$2.8B", COST, 1),
        ("$2,800M", COST, 1),
        ("$2,800 m", COST, 1),
        ("2.8 billion euros", COST, None),
        ("€2.8 billion", COST, None),
        ("$3.4 billion", COST, None),
        ("10 £", [["$10"]], None),
        ("10 $", [["$10"]], 1),
        ("1/4", [["25%"]], 1),
        ("1/5", [["25%"]], None),
        ("a quarter", [["25%"]], 1),
        ("about one fourth of them", [["25%"]], 1),
        ("two thirds", [["67%"]], 1),
        ("three quarters", [["25%"]], None),
        ("373.15 K", [["100 °C"]], 1),
        ("330 m", [["330 metres"]], 1),
        ("three hundred and thirty metres", [["330 metres"], ["about 300 metres"]], 1),
    ],
)
def test_amounts_as_they_are_written(said: str, levels: list[list[str]], level: int | None) -> None:
    assert RULES.match(said, levels, "How much was it?").level == level


@pytest.mark.parametrize(
    ("said", "question", "gold", "level", "abstained"),
    [
        ("none", "How many moons does it have?", "0", 1, False),
        ("None.", "How many moons does it have?", "2", None, False),
        ("none", "Who discovered it?", "Galileo Galilei", None, True),
        ("one or two", "How many moons does it have?", "2", None, False),
        ("two", "How many moons does it have?", "2", 1, False),
    ],
)
def test_how_many(said: str, question: str, gold: str, level: int | None, abstained: bool) -> None:
    verdict = RULES.match(said, [[gold]], question)
    assert (verdict.level, verdict.abstained) == (level, abstained)
