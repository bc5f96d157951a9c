"""Ladders of organisations: parents, then kind with nationality and place."""

from __future__ import annotations

import pytest

from abstraction.ladders.organisation_ladders import organisation_tiers, parent_organisations
from kg.base.model import Entity, TimeValue
from tests.cases import case_in, case_of, check_sound, ladder, proposed
from tests.worlds import entity, maker

USA = entity("Q30", "United States of America", "country in North America", aliases=["United States", "U.S."],
             P31="Q3624078")  # fmt: skip
UK = entity("Q145", "United Kingdom", "country in Europe", P31="Q3624078")
JAPAN = entity("Q17", "Japan", "country in East Asia", P31="Q3624078")
WASHINGTON = entity("Q1223", "Washington", "state of the United States of America", P31="Q35657", P131="Q30")
CHENEY = entity("Q984544", "Cheney", "city in Washington, United States", P31="Q515", P131="Q1223")
LABEL = entity("Q18127", "record label", "brand of music", P31="Q900600")
COMPANY = entity("Q4830453", "business", "organization", P31="Q900600")
MAKER = entity("Q786820", "automobile manufacturer", "company that makes cars", P279="Q4830453")
HOLDING = entity("Q219577", "holding company", "company", P279="Q4830453")
WORLD = (USA, UK, JAPAN, WASHINGTON, CHENEY, LABEL, COMPANY, MAKER, HOLDING)
UMG = entity("Q38903", "Universal Music Group", "American music corporation", aliases=["UMG"], P31="Q4830453")


def rungs(answer: Entity, *others: Entity, relation_id: str = "P127") -> list[list[str]]:
    return ladder(organisation_tiers, case_of(answer, *WORLD, *others, relation_id=relation_id))


def organisation(description: str = "", **said: object) -> Entity:
    said.setdefault("P31", "Q18127")
    return entity("Q900601", "Example Works", description, **said)  # type: ignore[arg-type]


def test_parents_climb_and_stop_at_persons_and_shells() -> None:
    vivendi = entity("Q1127887", "Vivendi", "French media company", P31="Q4830453", P127="Q900604")
    person = entity("Q900604", "Vincent Example", "French businessman", P31="Q5")
    group = entity(
        "Q38903",
        "Universal Music Group",
        "American music corporation",
        P31="Q4830453",
        P749=("Q1127887", {"start": 2000}),
    )
    found = parent_organisations(
        case_of(organisation("American record label", P749="Q38903"), *WORLD, group, vivendi, person)
    )
    assert [p.text for p in found] == ["Universal Music Group", "Vivendi"]
    assert found[1].parents == (found[0].key,)
    undated = entity("Q38903", "Universal Music Group", "American music corporation", P31="Q4830453", P749="Q1127887")
    found = parent_organisations(
        case_of(organisation("American record label", P749="Q38903"), *WORLD, undated, vivendi, person)
    )
    assert [p.text for p in found] == ["Universal Music Group"]  # companies are sold
    shell = entity("Q219635", "BlackRock", "American investment company", P31="Q219577")
    assert parent_organisations(case_of(organisation("American record label", P127="Q219635"), *WORLD, shell)) == []


def test_many_owners_are_shareholders() -> None:
    owners = [entity(f"Q90061{n}", f"Owner {n}", "company", P31="Q4830453") for n in range(3)]
    company = organisation("American record label", P127=[o.id for o in owners])
    assert parent_organisations(case_of(company, *WORLD, *owners)) == []


def test_a_label_belongs_to_a_group_where_it_held_or_is_made_to() -> None:
    dated = organisation("American record label", P749=[("Q38903", {"start": 1998, "end": 2010})])
    world = maker(dated, *WORLD, UMG)
    then = organisation_tiers(case_in(world, "Q900601", relation_id="P264", at=TimeValue(year=2001, precision=9)))
    assert "a record label of Universal Music Group" in [p.text for p in then]
    before = organisation_tiers(case_in(world, "Q900601", relation_id="P264", at=TimeValue(year=1979, precision=9)))
    assert "Universal Music Group" not in str(before)
    imprint = organisation("American record label, imprint of Universal Music Group")
    assert "an imprint of Universal Music Group" in rungs(imprint, UMG, relation_id="P264")[0]


def test_a_subsidiary_s_legal_form_is_no_tier() -> None:
    form = entity("Q900605", "public limited company", "legal form")
    assert "limited" not in str(rungs(organisation("American record label", P1454="Q900605"), form))


@pytest.mark.parametrize(
    "description",
    ["American record label", "record label in Cheney, Washington, United States", "", "British/US record label",
     "English football club based in Cheney, Washington", "company", "record label, part of Universal Music Group"],
)  # fmt: skip
def test_proposals_are_sound(description: str) -> None:
    case = case_of(organisation(description, P17=["Q30", "Q145"]), *WORLD, UMG)
    check_sound(organisation_tiers(case), {})


def test_evidence_of_nationality_and_kind() -> None:
    case = case_of(organisation("record label", P17="Q17"), *WORLD)
    finest = proposed(organisation_tiers, case)["a Japanese record label"]
    assert {(e.kind, e.property) for e in finest.evidence} >= {
        ("statement", "P17"),
        ("statement", "P31"),
        ("description", None),
    }
    assert {(c.property, c.value) for c in finest.conditions} == {("P17", "Q17"), ("P31", "Q18127")}
