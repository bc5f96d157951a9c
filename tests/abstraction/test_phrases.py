"""Articles, what may be shortened, and the lattice of phrases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstraction.ladders.phrase_parts import PhraseLattice, worded
from abstraction.ladders.proposals import ANSWER
from abstraction.text.language.phrases import (
    article,
    indefinite,
    is_informative,
    modifier_negates,
    shortening_changes_meaning,
)


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("U.S. company", "a"), ("university", "a"), ("MP", "an"), ("honorary president", "an"), ("heir", "an"),
        ("FBI agent", "an"), ("Uzbek singer", "an"), ("European politician", "a"), ("Ukrainian poet", "a"),
        ("NASA engineer", "a"), ("NBA player", "an"), ("R&B singer", "an"), ("UK label", "a"), ("one-man band", "a"),
        ("unimportant town", "an"), ("unincorporated town", "an"), ("union leader", "a"), ("hour", "an"),
        ("1850 novel", "an"), ("1979 film", "a"), ("18th-century painter", "an"), ("8th president", "an"),
        ("11th-century monk", "an"), ("American film", "an"), ("Irish person", "an"), ("UNESCO site", "a"),
        ("historian", "a"), ("umbrella organisation", "an"), ("used bookshop", "a"), ("EP", "an"), ("TV host", "a"),
        ("émigré", "an"), ("", "a"),
    ],
)  # fmt: skip
def test_the_article_goes_by_sound(phrase: str, expected: str) -> None:
    assert article(phrase) == expected


@pytest.mark.parametrize(
    ("longer", "shorter", "opaque"),
    [
        ("martial artist", "artist", True),
        ("mixed martial artist", "martial artist", False),
        ("visual effects artist", "artist", False),
        ("vice president", "president", True),
        ("deputy mayor", "mayor", True),
        ("film director", "director", False),
        ("casting director", "director", True),
        ("record label director", "director", True),
        ("civil servant", "servant", True),
        ("table tennis player", "tennis player", True),
        ("association football player", "football player", False),
        ("former prime minister", "prime minister", True),
    ],
)
def test_some_modifiers_carry_the_meaning(longer: str, shorter: str, opaque: bool) -> None:
    assert shortening_changes_meaning(longer, shorter) is opaque


def test_weak_heads_do_not_stand_alone() -> None:
    assert not is_informative("survivor")
    assert not is_informative("Host")
    assert is_informative("singer")


def test_dropping_a_feature_makes_a_child() -> None:
    lattice = PhraseLattice()
    lattice.add("French composer", [worded("", {"n:French", "o:composer", "o:musician"}, (), frozenset())])
    lattice.add("composer", [worded("", {"o:composer", "o:musician"}, (), frozenset())])
    lattice.add("French musician", [worded("", {"n:French", "o:musician"}, (), frozenset())])
    lattice.add("French person", [worded("", {"n:French"}, (), frozenset())])
    lattice.add("musician", [worded("", {"o:musician"}, (), frozenset())])
    parents = {p.text: p.parents for p in lattice.proposals()}
    assert parents["a French composer"] == (ANSWER,)
    assert set(parents["a musician"]) == {"a composer", "a french musician"}
    assert parents["a French person"] == ("a french musician",)


def test_the_same_features_say_the_same() -> None:
    lattice = PhraseLattice()
    lattice.add("American actress", [worded("", {"n", "o"}, (), frozenset())], aliases=["an American actor"])
    lattice.add("U.S. actress", [worded("", {"n", "o"}, (), frozenset())])
    (only,) = lattice.proposals()
    assert only.text == "an American actress"
    assert only.aliases == ("an American actor", "a U.S. actress")


FEATURES = st.frozensets(st.sampled_from("abcdef"), min_size=1)


@given(st.lists(FEATURES, max_size=12, unique=True))
def test_parents_are_the_least_phrases_that_entail(sets: list[frozenset[str]]) -> None:
    lattice = PhraseLattice()
    for features in sets:
        lattice.add("".join(sorted(features)), [worded("", features, (), frozenset())])
    told = {p.key: p for p in lattice.proposals()}
    of = {next(k for k, p in told.items() if p.text == indefinite("".join(sorted(s)))): s for s in sets}
    for key, proposal in told.items():
        above = {k for k, s in of.items() if of[key] < s}
        if proposal.parents == (ANSWER,):
            assert not above
            continue
        assert set(proposal.parents) <= above
        for parent in proposal.parents:
            assert not any(of[key] < of[k] < of[parent] for k in above)


@pytest.mark.parametrize(
    ("longer", "shorter", "taken"),
    [
        ("vice president", "president", True),
        ("Vice-President", "president", True),
        ("deputy prime minister", "minister", True),
        ("prime minister", "minister", False),
        ("president", "president", False),
        ("advice giver", "giver", False),
    ],
)
def test_names_that_take_the_other_back(longer: str, shorter: str, taken: bool) -> None:
    assert modifier_negates(longer, shorter) is taken
