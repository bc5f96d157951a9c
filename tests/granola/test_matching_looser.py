"""Answers in other words than a tier's: a table of cases, and the parts that the rules are made of."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from granola.matching import matcher
from granola.matching.word_forms import loose_key
from granola.matching.looser import LOOSER, one_letter_off
from granola.matching.repair import mended
from granola.matching.people import compatible, whole_person

RULES = matcher("rules")
CASES = [json.loads(line) for line in (Path(__file__).parent / "files/looser.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['prediction']} | {case['levels'][0][0]}")
def test_cases(case: dict[str, Any]) -> None:
    verdict = RULES.match(case["prediction"], case["levels"], case["question"])
    assert (verdict.level, verdict.abstained) == (case["level"], case.get("abstained", False)), verdict


def test_every_rule_decides_some_case() -> None:
    deciding = {RULES.match(c["prediction"], c["levels"], c["question"]).rule for c in CASES}
    assert {name for name, _ in LOOSER} - deciding == set()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the arteries", "artery"),
        ("organisations", "organization"),
        ("World War II", "world war 2"),
        ("Fourteenth", "14"),
        ("women", "Woman"),
        ("Elizabeth I", "Elizabeth 1"),
    ],
)
def test_words_that_fold_alike(one: str, other: str) -> None:
    assert loose_key(one) == loose_key(other)


@pytest.mark.parametrize(
    ("one", "other"), [("Paris", "Pari"), ("Henry VII", "Henry VIII"), ("bus", "bu"), ("I see", "1 see"), ("xi", "11")]
)
def test_words_that_do_not(one: str, other: str) -> None:
    assert loose_key(one) != loose_key(other)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Bill Clinton", "William Jefferson Clinton", True),
        ("J. K. Rowling", "Joanne Rowling", True),
        ("W. E. B. Du Bois", "William Edward Burghardt Du Bois", True),
        ("Ludwig van Beethoven", "Ludwig Beethoven", True),
        ("Samuel L. Jackson", "Samuel Jackson", True),
        ("Bob Dylan", "Robert Dylan", True),
        ("Dave Smith", "Davy Smith", True),
        ("George W. Bush", "George H. W. Bush", False),
        ("Martin Luther King Jr.", "Martin Luther King Sr.", False),
        ("Henry Ford II", "Henry Ford", False),
        ("Michael Jackson", "Janet Jackson", False),
        ("John Q. Adams", "John Adams", True),  # one middle name may be missing
    ],
)
def test_names_of_one_person(one: str, other: str, same: bool) -> None:
    first, second = whole_person(one), whole_person(other)
    assert first is not None
    assert second is not None
    assert first.family == second.family
    assert compatible(first, second) == compatible(second, first) == same


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CuraÃ§ao", "Curaçao"),
        ("up to 7Â\xa0ml", "up to 7 ml"),
        ("donâ€™t", "don’t"),
        ("Ã‰douard", "Édouard"),
        ("Ãndia", "Ãndia"),  # no sequence of UTF-8
        ("naïve façade", "naïve façade"),
    ],
)
def test_mojibake_is_undone_where_that_is_certain(text: str, expected: str) -> None:
    assert mended(text) == expected


@pytest.mark.parametrize(
    ("one", "other", "off"),
    [
        ("muhammad", "muhammed", True),
        ("pinciotti", "pincioti", True),
        ("brain", "brian", True),
        ("same", "same", False),
        ("abcd", "abdcx", False),
        ("kitten", "sitting", False),
    ],
)
def test_one_letter_off(one: str, other: str, off: bool) -> None:
    assert one_letter_off(one, other) == one_letter_off(other, one) == off


def test_random_byte_strings_are_no_error() -> None:
    """The benchmark does the same with a million."""
    drawing = random.Random(7)
    for index in range(3_000):
        texts = [drawing.randbytes(drawing.randrange(1, 24)) for _ in range(4)]
        encoding = ("latin-1", "utf-8", "utf-16-le")[index % 3]
        said, one, other, question = (text.decode(encoding, errors="replace") for text in texts)
        verdict = RULES.match(said, [[one], [other]], question)
        assert verdict.level in (None, 1, 2)


@pytest.mark.parametrize(
    ("said", "tier", "stated"),
    [
        ("UN", "United Nations", True),
        ("the U.N.", "United Nations", True),
        ("It was the EU that decided", "European Union", True),
        ("It was UN that decided", "United Nations", False),
        ("the US", "Union Station", False),  # a country's own
        ("LA", "Lord Ashburton", False),  # a state's own
    ],
)
def test_two_letters_stand_for_two_words_alone_or_with_an_article(said: str, tier: str, stated: bool) -> None:
    assert (matcher("rules").match(said, [[tier]]).level == 1) is stated
