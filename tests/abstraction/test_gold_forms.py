"""Gold answers as datasets have them, and what does not go with the question, on the sample of WikiData."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from abstraction.base.tiers import Abstention
from abstraction.files.rows import QARow
from abstraction.maker.pipeline import LadderMaker
from abstraction.text.questions.question_wording import asked_kind
from kg.store import open_store
from tests.conftest import needs_data


@pytest.fixture(scope="module")
def maker(sample_snapshot: Path) -> Iterator[LadderMaker]:
    with closing(open_store(str(sample_snapshot))) as store:
        yield LadderMaker(store)


def made(maker: LadderMaker, question: str, answer: str) -> tuple[str | None, str | None]:
    """(id of the entity, code of the abstention)."""
    row = maker.make(QARow(id="1", question=question, answers=(answer,), answer_qids=(None,)))
    links = row.extra.get("links") or [{}]
    return links[0].get("qid"), row.abstained


BORN, HELD = "Where was Ada Example born?", "where was it held?"


@needs_data
@pytest.mark.parametrize(
    ("question", "answer", "qid"),
    [
        (BORN, "Paris.", "Q90"),
        ("Who sings Vogue?", "Madonna.", "Q1744"),
        (BORN, "Munich, Germany", "Q1726"),
        (HELD, "Warren, Ohio", "Q862733"),
        (HELD, "in Santa Monica", "Q47164"),
        ("who won the most gold medals in 2008?", "American swimmer Michael Phelps", "Q39562"),
        ("who was it in 1980?", "Prime Minister Margaret Thatcher", "Q7416"),
        ("who plays the main character in the wall?", "Bob Geldof as Pink", "Q216608"),
        ("who played tyler durden in fight club?", "Brad Pitt", "Q35332"),
        ("who starred in moneyball", "Brad Pitt", "Q35332"),
    ],
)
def test_the_entity_that_is_meant(maker: LadderMaker, question: str, answer: str, qid: str) -> None:
    assert made(maker, question, answer) == (qid, None)


@needs_data
@pytest.mark.parametrize("answer", ["Warren, Bavaria", "in Blue", "French swimmer Michael Jackson", "Zzyzx as Pink"])
def test_what_the_graph_does_not_bear_out_is_no_link(maker: LadderMaker, answer: str) -> None:
    assert made(maker, HELD, answer) == (None, Abstention.NO_LINK)


@needs_data
def test_an_entity_of_another_sort_is_a_conflict(maker: LadderMaker) -> None:
    assert made(maker, "Who starred in it?", "Italy")[1] in (Abstention.KIND_CONFLICT, Abstention.TYPE_CONFLICT)


@needs_data
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("who declared war on germany in 1939", "United Kingdom"),
        ("Which city hosted it?", "Vienna"),
        ("Which country hosted it?", "Germany"),
        ("when did she die", "4 July 1934 (aged 66)"),
    ],
)
def test_what_goes_with_the_question_has_a_ladder(maker: LadderMaker, question: str, answer: str) -> None:
    assert made(maker, question, answer)[1] is None


@needs_data
@pytest.mark.parametrize(
    ("question", "answer", "tiers"),
    [
        (
            "who won game 4 of the 2000 nba finals",
            "Los Angeles Lakers",
            ["a professional basketball team in California"],  # its own name tells the city
        ),
        ("what us state forms the western boundary of montana", "Idaho", []),
    ],
)
def test_a_league_or_a_kind_of_state_tells_the_land(
    maker: LadderMaker, question: str, answer: str, tiers: list[str]
) -> None:
    row = maker.make(QARow(id="1", question=question, answers=(answer,), answer_qids=(None,)))
    assert [level.tiers[0].text for level in row.levels[1:]] == tiers


@pytest.mark.parametrize(
    ("question", "trade"),
    [
        ("who starred in moneyball", "actor"),
        ("who plays the lead in world war z", "actor"),
        ("who plays quarterback for the eagles in 2018", ""),
        ("who played bass in metallica", ""),
        ("who wrote catch 22", "writer"),
        ("who declared war on germany", ""),
    ],
)
def test_the_trade_that_a_verb_tells(question: str, trade: str) -> None:
    assert asked_kind(question).detail == trade
