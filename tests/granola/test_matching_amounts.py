"""Numbers in the forms that people write: groups of digits, words, powers of ten."""

from __future__ import annotations

from typing import Any

import pytest

from abstraction.text.language.amounts import amount_of_whole_text, amounts, number_word_reader
from abstraction.text.language.languages import language
from granola.matching.value_claims import place_on_ladder

with_digits = number_word_reader(language("en")).number_words_to_digits


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
    ("text", "low", "high", "unit"),
    [
        ("8,849 m", 8848.5, 8849.5, "Q11573"),
        ("about 8,850 metres", 8845, 8855, "Q11573"),
        ("35 million", 34.5e6, 35.5e6, ""),
        ("35.4 million people", 35.35e6, 35.45e6, "Q33829"),
        ("between 10 and 100 million", 10e6, 100e6, ""),
        ("three", 2.5, 3.5, ""),
        ("-12 °C", -12.5, -11.5, "Q25267"),
        ("5 square kilometres", 4.5, 5.5, "Q712226"),
    ],
)
def test_an_amount_is_an_interval_that_its_rounding_leaves(text: str, low: float, high: float, unit: str) -> None:
    found = amount_of_whole_text(text)
    assert found is not None
    assert (found.low, found.high, found.label) == (pytest.approx(low), pytest.approx(high), unit)


@pytest.mark.parametrize("text", ["Apollo 11", "50 Cent", "3 Doors Down", "Paris", "Henry 8 of England"])
def test_names_with_numbers_are_no_amounts(text: str) -> None:
    assert amount_of_whole_text(text) is None


LADDER = ["8,849 m", "about 8,850 m", "about 8,800 m", "about 9,000 m"]


@pytest.mark.parametrize(
    ("said", "level", "how"),
    [
        ("8849", 0, "equal"),
        ("8850 metres", 1, "equal"),
        ("9 thousand metres", 3, "equal"),
        ("8,848", None, "conflict"),  # close, but no rounding of 8,849
        ("8,611 m", None, "conflict"),  # K2: rounds to the coarsest tier, and is wrong
        ("fewer than 20,000", None, "coarser-than-all"),
    ],
)
def test_amounts_are_placed_on_a_ladder(said: str, level: int | None, how: str) -> None:
    ladder: Any = [[amount_of_whole_text(tier)] for tier in LADDER]
    placing = place_on_ladder(amounts(said)[0], ladder)
    assert placing is not None
    assert (placing.level, placing.relation) == (level, how)


def test_amounts_of_other_units_do_not_compare() -> None:
    ladder: Any = [[amount_of_whole_text("8,849 m")]]
    assert place_on_ladder(amounts("8,849 feet")[0], ladder) is None
