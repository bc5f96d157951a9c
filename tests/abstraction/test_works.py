"""Ladders of works: year, country, kind and creator."""

from __future__ import annotations

from abstraction.ladders.things import work_tiers
from kg.base.model import Entity
from tests.cases import case_of, check_sound, ladder, proposed
from tests.worlds import entity

USA = entity("Q30", "United States of America", "country in North America", P31="Q3624078")
FILM = entity("Q11424", "film", "work")
NOVEL = entity("Q8261", "novel", "book")
DIRECTOR = entity("Q900800", "Mira Director", "American film director", P31="Q5")
COMPOSER = entity("Q900801", "Carl Composer", "American composer", P31="Q5")
COMEDY = entity("Q157443", "comedy film", "film genre", P31="Q201658")
SERIES = entity("Q900802", "The Long Saga", "film series")
WORLD = (USA, FILM, NOVEL, DIRECTOR, COMPOSER, COMEDY, SERIES)


def work(description: str = "", **said: object) -> Entity:
    said.setdefault("P31", "Q11424")
    return entity("Q900803", "The Example", description, **said)  # type: ignore[arg-type]


def rungs(answer: Entity, *others: Entity, relation_id: str = "P921", subject: str | None = None) -> list[list[str]]:
    return ladder(work_tiers, case_of(answer, *WORLD, *others, relation_id=relation_id, subject=subject))


def test_the_series_stands_first() -> None:
    found = work_tiers(case_of(work("2002 film by Mira Director", P179="Q900802"), *WORLD))
    assert found[0].text == "The Long Saga"
    assert found[0].qid == "Q900802"


def test_proposals_are_sound() -> None:
    for description in ("1961 American film by Mervyn LeRoy", "", "film", "romantic comedy film directed by A. B. Cee"):
        case = case_of(work(description, P577=1961, P495="Q30", P57="Q900800", P136="Q157443"), *WORLD)
        check_sound(work_tiers(case), {})


def test_evidence_of_each_detail() -> None:
    case = case_of(work("1961 film by Mira Director", P577=1961, P57="Q900800", P495="Q30"), *WORLD)
    finest = proposed(work_tiers, case)["a 1961 American film by Mira Director"]
    words = [e.text[slice(*e.span)] for e in finest.evidence if e.text and e.span]
    assert words == ["1961", "film", "by Mira Director"]
    assert {e.property for e in finest.evidence if e.kind == "statement"} == {"P31", "P577", "P57", "P495"}
