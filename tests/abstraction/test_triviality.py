"""Triviality measured on the answers that a relation has, where the table has no row for it."""

from __future__ import annotations

import pytest

from abstraction.ladders.base import Proposal
from abstraction.pipeline import LadderMaker
from abstraction.relations import table
from abstraction.tiers import Condition
from abstraction.triviality import Triviality
from tests.worlds import entity, maker, row, texts

EMPLOYER = "P108"
CLASS = entity("Q43229", "organization")
UNIVERSITIES = [entity(f"Q{100 + n}", f"University {n}", "university in Utopia", P31="Q3918") for n in range(6)]
BANDS = [entity(f"Q{200 + n}", f"Band {n}", "Utopian rock band", P31="Q215380") for n in range(3)]
BAND_CLASS = entity("Q215380", "musical group", aliases=["band"])


def world() -> LadderMaker:
    people = [
        entity(f"Q{300 + n}", f"Person {n}", P31="Q5", P108=answer.id)
        for n, answer in enumerate([*UNIVERSITIES, *BANDS])
    ]
    return maker(CLASS, BAND_CLASS, *UNIVERSITIES, *BANDS, *people)


def bare(text: str, *conditions: tuple[str, str]) -> Proposal:
    return Proposal(key=text, text=text, conditions=frozenset(Condition(property=p, value=v) for p, v in conditions))


@pytest.mark.parametrize(
    ("proposal", "trivial"),
    [
        (bare("a university", ("P31", "Q3918")), True),
        (bare("an educational institution", ("P31", "Q2385804")), True),
        (bare("a university", ("text", "kind:university")), True),
        (bare("a band", ("text", "kind:band")), False),  # a third of the answers
        (bare("a Utopian university", ("P31", "Q3918"), ("P17", "Q1")), False),
        (bare("Utopia", ("self", "Q1")), False),
        (bare("nothing at all"), False),
    ],
)
def test_a_class_of_most_answers_is_trivial(proposal: Proposal, trivial: bool) -> None:
    assert EMPLOYER not in table()
    assert Triviality(world().graph).is_trivial(EMPLOYER, proposal) is trivial


def test_shares_are_weighted_by_the_entities_that_carry_the_answer() -> None:
    measured = Triviality(world().graph)
    assert measured.share(EMPLOYER, ["Q3918"], "") == pytest.approx(6 / 9)
    assert measured.share(EMPLOYER, ["Q215380"], "") == pytest.approx(3 / 9)
    assert measured.share("P9999", ["Q3918"], "") is None  # nothing is known of its answers


def test_a_ladder_of_a_relation_without_a_row_ends_before_the_class_of_most_answers() -> None:
    make = world()
    for answer, last in (("Band 1", "band"), ("University 1", "university")):
        made = make.make(row(answer, EMPLOYER, question="Who employed them?"))
        named = {tier.removeprefix("a ").removeprefix("an ") for level in texts(made) for tier in level}
        assert (last in named) is (last == "band"), named
