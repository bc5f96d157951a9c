"""Dates and centuries as people write them: dashes, months by number, Roman numerals, words, other languages."""

from __future__ import annotations

import pytest

from granola.matching import matcher
from granola.matching.dates import dates

RULES = matcher("rules")
SIGNED = [["28 June 1919"], ["June 1919"], ["1919"]]
BORN = [["3 March 1847"], ["March 1847"], ["1847"]]
STORMED = [["14 July 1789"], ["1789"], ["the 18th century"]]
FELL = [["1184 BC"], ["the 12th century BC"]]


@pytest.mark.parametrize(
    ("said", "levels", "level"),
    [
        ("28-Jun-1919", SIGNED, 1),
        ("28-May-1919", SIGNED, None),
        ("Jun-1919", SIGNED, 2),
        ("06-1919", SIGNED, 2),
        ("06/1919", SIGNED, 2),
        ("05/1919", SIGNED, None),
        ("28.06.1919", SIGNED, 1),
        ("The twenty-eighth of June, nineteen nineteen", SIGNED, 1),
        ("the twenty-ninth of June, nineteen nineteen", SIGNED, None),
        ("before 1919", SIGNED, None),
        ("by 1919", SIGNED, None),
        ("since 1919", SIGNED, None),
        ("in 1919", SIGNED, 3),
        ("03-1847", BORN, 2),
        ("10-1847", BORN, None),
        ("XVIII century", STORMED, 3),
        ("It fell in the XVIIIth century.", STORMED, 3),
        ("XVII century", STORMED, None),
        ("the 18th c.", STORMED, 3),
        ("18th cent.", STORMED, 3),
        ("XVIIIe siècle", STORMED, 3),
        ("au XVIIe siècle", STORMED, None),
        ("18. Jahrhundert", STORMED, 3),
        ("18. Jh.", STORMED, 3),
        ("17. Jahrhundert", STORMED, None),
        ("siglo XVIII", STORMED, 3),
        ("siglo XVI", STORMED, None),
        ("twelfth century before Christ", FELL, 2),
        ("the XII century BC", FELL, 2),
        ("the 12th century", FELL, None),
    ],
)
def test_dates_as_they_are_written(said: str, levels: list[list[str]], level: int | None) -> None:
    assert RULES.match(said, levels, "When was it?").level == level


@pytest.mark.parametrize("text", ["the XVIII century", "im 18. Jahrhundert", "en el siglo XVIII"])
def test_a_century_is_quoted_as_it_is_written(text: str) -> None:
    (claim,) = dates(text)
    assert claim.text == text.split(maxsplit=text.count(" ") - 1)[-1]
