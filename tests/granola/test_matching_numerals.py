"""Numbers in the forms that people write: groups of digits, words, powers of ten."""

from __future__ import annotations

import pytest

from granola.matching import matcher
from granola.matching.amounts import amounts
from granola.matching.numerals import with_digits

RULES = matcher("rules")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("five hundred thousand", 500_000),
        ("half a million", 500_000),
        ("a quarter of a million", 250_000),
        ("three quarters of a billion", 750_000_000),
        ("two and a half million", 2_500_000),
        ("two hundred and fifty thousand", 250_000),
        ("one hundred and twenty", 120),
        ("a hundred and five", 105),
        ("three hundred and sixty-five", 365),
        ("one thousand two hundred", 1_200),
        ("one million two hundred thousand and six", 1_200_006),
    ],
)
def test_words_that_make_one_number(text: str, value: int) -> None:
    found = with_digits(f"about {text} of them")
    assert found.split() == ["about", str(value), "of", "them"]
    assert len(found) == len(f"about {text} of them")
    assert [claim.exact for claim in amounts(text)] == [value]


@pytest.mark.parametrize(
    "text",
    ["nineteen sixty-one", "seventy-three", "twenty thirty", "hundreds", "two million", "five hundred six hundred"],
)
def test_words_that_are_left_as_they_are(text: str) -> None:
    assert with_digits(text).split() in (text.split(), [str(2_000_000)])


@pytest.mark.parametrize(
    ("said", "gold", "level"),
    [
        ("522 969", "522,969", 1),
        ("522\u00a0969", "522,969", 1),
        ("522\u202f969 inhabitants", "522,969", 1),
        ("522'969", "522,969", 1),
        ("522’969", "522,969", 1),
        ("about 522 969 people live there", "522,969", 1),
        ("522 968", "522,969", None),
        ("522,969", "522 969", 1),
        ("half a million", "500,000", 1),
        ("five hundred thousand", "500,000", 1),
        ("six hundred thousand", "500,000", None),
        ("three hundred", "300", 1),
        ("It has three hundred and sixty-five days.", "365", 1),
        ("three hundred and thirty metres", "330 m", 1),
        ("3 x 10^8 m/s", "300,000,000 m/s", 1),
        ("3 × 10⁸ m/s", "300,000,000 m/s", 1),
        ("3e8", "300,000,000", 1),
        ("3 x 10^7 m/s", "300,000,000 m/s", None),
        ("300,000,000 m/s", "3 × 10^8 m/s", 1),
        ("over eight", "8", None),
        ("more than eight million", "8", None),
    ],
)
def test_amounts_however_they_are_written(said: str, gold: str, level: int | None) -> None:
    assert RULES.match(said, [[gold]]).level == level
