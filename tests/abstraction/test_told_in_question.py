"""What a question's own words tell is no tier, nor anything that follows from it."""

from __future__ import annotations

import re

import pytest

from abstraction.base.tiers import Abstention
from abstraction.files.rows import QARow
from abstraction.maker.pipeline import LadderMaker
from tests.tables import read_table
from tests.worlds import entity, maker, row, store_of, texts

WORLD = (
    entity("Q46", "Europe", "continent", P31="Q5107"),
    entity("Q48", "Asia", "continent", P31="Q5107"),
    entity("Q49", "North America", "continent", P31="Q5107"),
    entity("Q145", "United Kingdom", "country in Europe", P31="Q3624078", P30="Q46"),
    entity("Q30", "United States of America", "country in North America", aliases=["United States", "USA"],
           P31="Q3624078", P30="Q49"),
    entity("Q155", "Brazil", "country in South America", P31="Q3624078"),
    entity("Q35", "Denmark", "country in Northern Europe", P31="Q3624078", P30="Q46"),
    entity("Q1748", "Copenhagen", "capital of Denmark", P31="Q5119", P17="Q35", P131="Q35"),
    entity("Q1502", "Helsingor", "town in Denmark", P31="Q515", P17="Q35", P131="Q35"),
    entity("Q5119", "capital", P279="Q515"),
    entity("Q928", "Philippines", "country in Asia", P31="Q3624078", P30="Q48"),
    entity("Q1461", "Manila", "capital of the Philippines", P31="Q515", P17="Q928"),
    entity("Q771", "Massachusetts", "state of the United States", P31="Q35657", P131="Q30"),
    entity("Q99", "California", "state of the United States", P31="Q35657", P131="Q30"),
    entity("Q49218", "Springfield", "city in Massachusetts, United States", P31="Q515", P131="Q771"),
    entity("Q9309", "Welsh", "Brythonic language", P31="Q34770", P279="Q156877"),
    entity("Q156877", "Brythonic languages", P31="Q25295"),
    entity("Q869", "Thailand", "country in Southeast Asia", P31="Q3624078", P30="Q48"),
    entity("Q1861", "Bangkok", "capital of Thailand", P31="Q515", P17="Q869"),
    entity("Q4830453", "business"),
    entity("Q95", "Google", "American technology company", P31="Q4830453", P17="Q30"),
    entity("Q1215884", "National Football League", "professional American football league", aliases=["NFL"],
           P31="Q4830453", P17="Q30"),
    entity("Q810783", "Bath Iron Works", "American shipbuilding company", P31="Q4830453", P17="Q30"),
    entity("Q881", "Vietnam", "country in Asia", P31="Q3624078", P30="Q48"),
    entity("Q1858", "Hanoi", "capital of Vietnam", P31="Q515", P17="Q881"),
    entity("Q183", "Germany", "country in Europe", P31="Q3624078", P30="Q46"),
    entity("Q980", "Bavaria", "state of Germany", P31="Q10864048", P131="Q183"),
    entity("Q1726", "Munich", "city in Bavaria, Germany", P31="Q515", P131="Q980"),
    entity("Q25", "Wales", "constituent country of the United Kingdom", P31="Q3336843", P131="Q145"),
    entity("Q10690", "Cardiff", "capital of Wales", P31="Q515", P131="Q25"),
    entity("Q1000", "Gabon", "country in Africa", P31="Q3624078", P30="Q15"),
    entity("Q15", "Africa", "continent", P31="Q5107"),
    entity("Q846011", "Estuaire Province", "province of Gabon", P31="Q10864048", P131="Q1000"),
    entity("Q3825", "Libreville", "city in Gabon", P31="Q515", P131="Q846011"),
    entity("Q44", "Ann Utopian", P31="Q5", P19="Q1748"),
)  # fmt: skip


SUBJECT = re.compile(
    r"(?:Where (?:in Germany )?(?:is|was)(?: the headquarter of)?"
    r"|What is the capital of|Which \w+ (?:is|was)|Who owns) "
    r"(?P<subject>.+?)(?: (?:located|written|created|born)(?: in)?)?\?"
)


@pytest.fixture(scope="module")
def make() -> LadderMaker:
    return maker(*WORLD)


@pytest.mark.parametrize(("question", "relation", "answer", "left"), read_table("told_in_question"))
def test_what_names_in_the_question_entail(
    make: LadderMaker, question: str, relation: str, answer: str, left: list[list[str]]
) -> None:
    found = SUBJECT.fullmatch(question)
    assert found is not None
    subject = found["subject"]
    made = make.make(row(answer, relation, question=question, subject=subject))
    assert texts(made) == left
    assert made.abstained == (None if left else Abstention.TOLD)


@pytest.mark.parametrize(
    ("ship", "tiers"),
    [
        ("USS Shiloh", []),
        ("MV Shiloh", [["an American shipbuilding company"], ["a shipbuilding company", "an American company"]]),
    ],
)
def test_a_ship_of_a_navy_is_of_its_state(make: LadderMaker, ship: str, tiers: list[list[str]]) -> None:
    question = f"Which company is {ship} produced by?"
    assert texts(make.make(row("Bath Iron Works", "P176", question=question, subject=ship))) == tiers


def test_the_papers_ladders_are_made_as_they_were() -> None:
    plain = LadderMaker(store_of(*WORLD), as_asked=False)
    told = plain.make(row("Manila", "P276", question="Where is Battle of Manila located?", subject="Battle of Manila"))
    assert texts(told) == [["Philippines"], ["Asia"]]
    asked = plain.make(row("Denmark", "P17", question="Which country is it located in?"))
    assert texts(asked) == [["Northern Europe"], ["Europe"]]


def test_a_question_without_capitals_names_as_well(make: LadderMaker) -> None:
    made = make.make(
        row("Manila", "P276", question="where was the battle of manila fought?", subject="battle of manila")
    )
    assert texts(made) == []


def test_the_work_on_a_long_question_has_a_bound(make: LadderMaker) -> None:
    long = "Where is " + "Aaa Bbb of Ccc " * 5_000 + "Manila located?"
    made = make.make(QARow(id="1", question=long, answers=("Manila",), answer_qids=(None,), relation="P276"))
    assert texts(made) == [["Philippines"], ["Asia"]]  # named behind what is read
