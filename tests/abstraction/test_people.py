"""Ladders of persons: from the description, from statements, and what is left unsaid."""

from __future__ import annotations

import pytest

from abstraction.ladders.person_ladders import person_tiers
from kg.base.model import Entity
from tests.cases import case_of, check_sound, ladder, proposed
from tests.worlds import entity

USA = entity("Q30", "United States of America", "country in North America", P31="Q3624078")
FRANCE = entity("Q142", "France", "country in Western Europe", P31="Q3624078")
UK = entity("Q145", "United Kingdom", "country in Western Europe", P31="Q3624078")
SOVIET = entity("Q15180", "Soviet Union", "former country", P31="Q3024240")
COMPOSER = entity("Q36834", "composer", "person who writes music", P31="Q28640", P279=["Q639669", "Q482980"])
MUSICIAN = entity("Q639669", "musician", "person who makes music", P31="Q28640")
AUTHOR = entity("Q482980", "author", "creator of a work", P31="Q28640")
COMEDIAN = entity("Q245068", "comedian", "person who makes people laugh", P31="Q28640", P279="Q33999")
ACTOR = entity("Q33999", "actor", "person who acts", aliases=["actress"], P31="Q28640")
POLITICIAN = entity("Q82955", "politician", "person in politics", P31="Q28640")
FILM_DIRECTOR = entity("Q2526255", "film director", "person who directs films", P31="Q28640", P279="Q3455803")
DIRECTOR = entity("Q3455803", "director", "person who directs", P31="Q28640")
WORLD = (USA, FRANCE, UK, SOVIET, COMPOSER, MUSICIAN, AUTHOR, COMEDIAN, ACTOR, POLITICIAN, FILM_DIRECTOR, DIRECTOR)
# Enough persons of each broad class that it is in use.
CROWD = tuple(
    entity(f"Q99{n:04}", f"N{n}", "person", P31="Q5", P106=["Q639669", "Q33999", "Q3455803", "Q482980"])
    for n in range(4)
)


def rungs(person: Entity, *others: Entity, relation_id: str = "P26", subject: str | None = None) -> list[list[str]]:
    return ladder(person_tiers, case_of(person, *WORLD, *CROWD, *others, relation_id=relation_id, subject=subject))


def person(description: str = "", **said: object) -> Entity:
    return entity("Q900500", "Ada Example", description, P31="Q5", **said)  # type: ignore[arg-type]


def test_a_false_superclass_is_no_tier() -> None:
    # The graph puts comedians under actors, which is no reason to call one so.
    assert "actor" not in str(rungs(person("American comedian")))


def test_a_wording_other_than_the_label_has_the_label_as_alias() -> None:
    found = proposed(person_tiers, case_of(person("French actress", P106="Q33999"), *WORLD, *CROWD))
    assert found["a French actress"].aliases == ("a French actor",)
    assert found["an actress"].aliases == ("an actor",)


def test_a_finer_label_is_no_other_name() -> None:
    director = entity("Q2526255", "film director", "person who directs films", aliases=["director"], P31="Q28640")
    found = proposed(person_tiers, case_of(person("French director", P106="Q2526255"), FRANCE, director, DIRECTOR))
    assert found["a French director"].aliases == ()
    # The statement still backs the wording.
    assert any(e.value == "Q2526255" for e in found["a French director"].evidence)


def test_evidence_points_at_words_and_statements() -> None:
    case = case_of(person("French composer", P106="Q36834", P27="Q142"), *WORLD, *CROWD)
    finest = proposed(person_tiers, case)["a French composer"].evidence
    words = [e.text[slice(*e.span)] for e in finest if e.text and e.span]
    assert words == ["French", "composer"]
    assert {(e.property, e.value) for e in finest if e.kind == "statement"} == {("P27", "Q142"), ("P106", "Q36834")}
    lifted = proposed(person_tiers, case)["a musician"].evidence
    assert [(e.subject, e.property, e.value) for e in lifted if e.property == "P279"] == [("Q36834", "P279", "Q639669")]
    assert all(e.statement for e in lifted if e.kind == "statement")


@pytest.mark.parametrize(
    "description",
    [
        "French composer", "English film director, comedian and actress", "15th Prime Minister of France",
        "French-American composer, King of France", "German nobleman, Count of Holstein and Schaumburg",
        "19th-century French composer; son of Napoleon", "biblical character", "", "actor",
        "first president of France, composer",
    ],
)  # fmt: skip
def test_proposals_are_sound(description: str) -> None:
    case = case_of(person(description, P106="Q36834", P27=["Q142", "Q145"]), *WORLD, *CROWD)
    check_sound(person_tiers(case), {"Q36834": {"Q639669"}, "Q2526255": {"Q3455803"}, "Q33999": {"Q33999"}})
