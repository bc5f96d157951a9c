"""A tier is worded as the kind that the question asks for, and a bare container answers where alone."""

from __future__ import annotations

import pytest

from abstraction.maker.pipeline import LadderMaker
from tests.tables import read_table
from tests.worlds import entity, maker, row, texts

WORLD = (
    entity("Q46", "Europe", "continent", P31="Q5107"),
    entity("Q145", "United Kingdom", "country in Europe", aliases=["UK", "Great Britain"], P31="Q3624078", P30="Q46"),
    entity("Q21", "England", "country of the United Kingdom", P31="Q3336843", P131="Q145"),
    entity("Q23", "Essex", "county of England", P31="Q180673", P131="Q21"),
    entity("Q180673", "ceremonial county of England"),
    entity("Q3957", "town", P279="Q486972"),
    entity("Q1", "Chelmsford", "city in Essex, England", P31="Q515", P131="Q23"),
    entity("Q2", "Maldon", "town in Essex, England", P31="Q3957", P131="Q23"),
    entity("Q3", "Nowhere", "seat in Essex, England", P131="Q23"),
    entity("Q4", "University of Essex", "university in Chelmsford, England", P31="Q3918", P131="Q1"),
    entity("Q9129", "Frisian", "Ingvaeonic language of the Germanic family", P31="Q34770", P279="Q5"),
    entity("Q5", "Ingvaeonic languages", P31="Q25295", P279="Q6"),
    entity("Q6", "Germanic languages", P31="Q25295"),
)


@pytest.fixture(scope="module")
def make() -> LadderMaker:
    return maker(*WORLD)


@pytest.mark.parametrize(("question", "relation", "answer", "expected"), read_table("tiers_as_asked"))
def test_tiers_are_worded_as_asked(
    make: LadderMaker, question: str, relation: str, answer: str, expected: list[list[str]]
) -> None:
    assert texts(make.make(row(answer, relation, question=question))) == expected


def test_a_bare_container_is_no_name_of_a_worded_tier(make: LadderMaker) -> None:
    question = "What is the capital of the Hundreds?"
    made = make.make(row("Maldon", "P36", question=question))
    bare = {"Essex", "England", "United Kingdom", "UK", "Great Britain", "Europe"}
    assert bare.isdisjoint(name for level in made.levels for name in level.names())
    assert {tier.qid for level in made.levels[1:] for tier in level.tiers} == {None}


def test_a_capital_of_which_namesakes_alone_are_known_gets_no_ladder() -> None:
    twins = [
        entity("Q8", "Twin", "city in Essex, England", P31="Q515", P131="Q23"),
        entity("Q7", "Twin", "town in Essex, England", P31="Q3957", P131="Q23"),
    ]
    made = maker(*WORLD, *twins).make(row("Twin", "P36", question="What is the capital of the Hundreds?"))
    assert (texts(made), made.abstained) == ([], "ambiguous-link")
