"""Spellings of one name fold alike, and texts are set in order and repaired before they are read."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from granola.matching import matcher
from granola.matching.mentions import AnswerText
from granola.matching.rules import EXAMINED
from granola.matching.tokens import (
    decode_mojibake,
    fast_key_or_none,
    key,
    loose_folds_of_words,
    loose_key,
    normalise_blanks_and_marks,
    repaired_readings,
    words,
)
from tests.thorough import examples

SPELLINGS = [
    ("J. R. R. Tolkien", "J.R.R. Tolkien", "JRR Tolkien", "j. r. r. tolkien"),
    ("Łódź", "Lodz", "LODZ"),
    ("Saint-Germain", "St. Germain", "saint germain"),
    ("the U.S.A.", "USA", "U.S.A"),
    ("Twenty-One Pilots", "21 Pilots"),
    ("the Twentieth Century", "20th century"),
    ("1,234,567", "1234567"),
    ("O’Brien", "O'Brien", "OBrien"),
    ("Simon & Garfunkel", "Simon and Garfunkel"),
    ("Straße", "Strasse"),
]


@pytest.mark.parametrize("names", SPELLINGS, ids=lambda names: names[0])
def test_spellings_of_one_name_fold_to_the_same_words(names: tuple[str, ...]) -> None:
    assert len({key(name) for name in names}) == 1


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
    assert decode_mojibake(text) == expected


@settings(max_examples=examples(500), deadline=None)
@given(st.text(alphabet=st.sampled_from("aAnThe1 ,-é.'oneI&St"), max_size=20))
@example("Smith-Jones, the Third")
@example("1,000 x")
@example("one-two")
def test_the_quick_way_to_a_key_is_the_defined_one(text: str) -> None:
    if (quick := fast_key_or_none(text)) is not None:
        assert quick == tuple(word.text for word in words(text))
        assert loose_key(text) == loose_folds_of_words(words(text))


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        ("It is Jack Gleeson1.", "It is Jack Gleeson."),
        ("It was built on March 8, 19871", "It was built on March 8, 1987"),
        ("They did so in 200912.", "They did so in 2009."),
        ("played by Elizabeth Mitchell⁶⁷, with her", "played by Elizabeth Mitchell, with her"),
        ("broadcast on CBS1. You", "broadcast on CBS. You"),
        ("was played by Hanna Alström1.", "was played by Hanna Alström."),
        ("was held there in 1994⁶.", "was held there in 1994."),
        ("came into effect in19971.", "came into effect in 1997."),
        ("played byHugo Weaving", "played by Hugo Weaving"),
        ("held in126 games", "held in 126 games"),
        ("has a 1. 7-liter engine", "has a 1.7-liter engine"),
        ("on cells1 and electrons 2. It", "on cells and electrons. It"),  # a lone digit where there are other footnotes
    ],
)
def test_copied_text_is_repaired(text: str, repaired: str) -> None:
    assert repaired in repaired_readings(text)


@pytest.mark.parametrize("text", ["Chilliwack 1.", "Toy Story 2", "Apollo 11", "Paris, France.", "8,849 m", "in 1987"])
def test_what_was_not_copied_with_footnotes_stays(text: str) -> None:
    assert repaired_readings(text) == []


def test_times_of_day_are_written_alike() -> None:
    assert len({normalise_blanks_and_marks(text) for text in ("7 a.m.", "7:00 a.m.", "7am", "7 am")}) == 1


LEVELS = (("Honolulu",), ("Hawaii",), ("United States", "US"))


def test_what_stands_behind_the_limit_is_not_read() -> None:
    filler = "word " * (EXAMINED // 5)
    assert matcher("rules").match(f"{filler[: EXAMINED - 100]}it is Honolulu.", LEVELS).level == 1
    assert matcher("rules").match(f"{filler}it is Honolulu.", LEVELS).level is None
    assert matcher("rules").match("x" * EXAMINED + "x Honolulu", LEVELS).level is None
    assert matcher("rules").match(" " * (2 * EXAMINED) + "Honolulu", LEVELS).level == 1


def test_only_the_longest_mentions_stand() -> None:
    answer = AnswerText("New York City, New York, York", (("New York City", "York"), ("New York",), ("New York",)))
    assert [(m.level, m.start, m.end) for m in answer.mentions] == [(0, 0, 3), (0, 5, 6), (1, 3, 5), (2, 3, 5)]
