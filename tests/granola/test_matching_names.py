"""Names in answers: what may be left out of one, when a short one is meant, and what takes one back."""

from __future__ import annotations

import pytest

from granola.matching import matcher

RULES = matcher("rules")


@pytest.mark.parametrize(
    ("said", "tier"),
    [
        ("a language", "French language"),
        ("a university", "Harvard University"),
        ("University", "Harvard University"),
        ("music", "rock music"),
        ("record label", "an American record label"),
        ("a person", "a French person"),
        ("County", "King County"),
        ("a singer", "an American singer"),
        ("film", "an American film"),
        ("States", "United States"),
        ("a college", "Trinity College"),
        ("River", "Mississippi River"),
        ("an American band", "an American rock band"),  # wider than the tier
        ("a Debussy", "Claude Debussy"),
        ("French Sign Language", "French language"),  # another kind
    ],
)
def test_the_kind_alone_does_not_state_a_name_of_that_kind(said: str, tier: str) -> None:
    assert RULES.match(said, [[tier]]).level is None


@pytest.mark.parametrize(
    ("said", "tier"),
    [
        ("Debussy", "Claude Debussy"),
        ("debussy", "Claude Debussy"),
        ("Vaughan Williams", "Ralph Vaughan Williams"),
        ("van Beethoven", "Ludwig van Beethoven"),
        ("Barack Obama", "Barack Hussein Obama"),
        ("Claude Achille Debussy", "Claude Debussy"),
        ("an American pop singer", "an American singer"),
    ],
)
def test_a_first_name_may_be_left_out_and_a_middle_name_put_in(said: str, tier: str) -> None:
    verdict = RULES.match(said, [[tier]])
    assert (verdict.level, verdict.rule) == (1, "near")


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("It was Madrid.", ["Italy", "IT"]),
        ("Tell us more, please.", ["United States", "US"]),
        ("Hi, the answer is Bob", ["Hawaii", "HI"]),
        ("in Madrid or so", ["Indiana", "IN", "Oregon", "OR"]),
        ("Give me a hint", ["Maine", "ME"]),
        ("No, Madrid", ["Norway", "NO"]),
        ("IT WAS IN MADRID", ["Italy", "IT", "Indiana", "IN"]),
        ("It is a film by Spielberg", ["It"]),
        ("Who wrote that?", ["The Who"]),
        ("el al flies there", ["Alabama", "AL"]),
        ("La vida es sueño", ["Spain", "ES"]),
    ],
)
def test_ordinary_words_are_no_short_names(said: str, names: list[str]) -> None:
    assert RULES.match(said, [["Somewhere Else"], names]).level is None


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("us", ["United States", "US"]),
        ("the us", ["United States", "US"]),
        ("It", ["It"]),
        ("He lives in the US.", ["United States", "US"]),
        ("He lives in the U.S.", ["United States", "US"]),
        ("He was born in the uk", ["United Kingdom", "UK"]),
        ("Augusta, ME", ["Maine", "ME"]),
        ("BORN IN THE UK", ["United Kingdom", "UK"]),
        ("MADE IN USA", ["USA"]),
        ("The Who recorded it", ["The Who"]),
        ("That was Ali.", ["Ali"]),
        ("I think the film is It.", ["It"]),
    ],
)
def test_a_short_name_in_its_own_case_or_alone_is_meant(said: str, names: list[str]) -> None:
    assert RULES.match(said, [names]).level == 1
