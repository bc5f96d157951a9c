"""Containers of an answer: by statement, by description, each filling the other's gaps."""

from __future__ import annotations

import pytest

from abstraction.text.descriptions.place_grammar import parse_place
from tests.tables import read_table
from tests.worlds import entity, maker, row, texts

USA = entity("Q30", "United States of America", "sovereign state in North America", aliases=["United States", "USA"],
             P31="Q3624078", P30="Q49")  # fmt: skip
NORTH_AMERICA = entity("Q49", "North America", "continent", P31="Q5107")
OHIO = entity("Q1397", "Ohio", "state of the United States", P31="Q35657", P131="Q30")
UK = entity("Q145", "United Kingdom", "country in Western Europe", aliases=["UK"], P31="Q3624078", P30="Q46")
EUROPE = entity("Q46", "Europe", "continent", P31="Q5107")
ENGLAND = entity("Q21", "England", "country within the United Kingdom", P31="Q6256", P131="Q145")
MERSEYSIDE = entity("Q23100", "Merseyside", "county in England", P31="Q47168", P131="Q21")


@pytest.mark.parametrize(("description", "units"), read_table("chains_of_places"))
def test_the_chain_of_a_description(description: str, units: list[str] | None) -> None:
    phrase = parse_place(description)
    assert (None if phrase is None else [unit.text for unit in phrase.units]) == units


def test_statements_lead_up_to_the_state_and_its_continent_and_no_further() -> None:
    make = maker(USA, NORTH_AMERICA, OHIO, entity("Q16567", "Columbus", P31="Q515", P131="Q1397"))
    made = make.make(row("Columbus"))
    assert texts(made) == [["Ohio"], ["United States of America"], ["North America"]]
    first = made.levels[1].tiers[0]
    assert first.qid == "Q1397"
    assert [(e.subject, e.property, e.value) for e in first.evidence] == [("Q16567", "P131", "Q1397")]
    assert first.evidence[0].statement == "Q16567$s2"
    assert "USA" in made.levels[2].tiers[0].aliases


def test_a_description_fills_what_statements_lack_and_the_graph_fills_the_description() -> None:
    make = maker(
        UK, EUROPE, ENGLAND, MERSEYSIDE,
        entity("Q1748301", "Earlestown", "town in Newton-le-Willows, Merseyside, UK", P31="Q515"),
    )  # fmt: skip
    made = make.make(row("Earlestown"))
    assert texts(made) == [["Newton-le-Willows"], ["Merseyside"], ["England"], ["United Kingdom"], ["Europe"]]
    bare = made.levels[1].tiers[0]
    assert bare.qid is None
    evidence = bare.evidence[0]
    assert evidence.kind == "description"
    assert evidence.text is not None
    assert evidence.span is not None
    assert evidence.text[slice(*evidence.span)] == "Newton-le-Willows"


def test_the_rest_of_the_chain_tells_namesakes_apart() -> None:
    make = maker(
        USA, NORTH_AMERICA, EUROPE,
        entity("Q230", "Georgia", "country in the Caucasus", P31="Q3624078"),
        entity("Q1428", "Georgia", "state of the United States", P31="Q35657", P131="Q30"),
        entity("Q61007", "Fulton County", "county in Arkansas, United States", P31="Q47168"),
        entity("Q486633", "Fulton County", "county in Georgia, United States", P31="Q47168"),
        entity("Q23556", "Atlanta", "city in Fulton County, Georgia, United States", P31="Q515"),
    )  # fmt: skip
    made = make.make(row("Atlanta"))
    assert texts(made) == [
        ["Fulton County, Georgia"],
        ["Georgia, United States"],
        ["United States of America"],
        ["North America"],
    ]
    assert [level.tiers[0].qid for level in made.levels[1:]] == ["Q486633", "Q1428", "Q30", "Q49"]


def test_constituencies_are_climbed_through_and_leave_their_evidence() -> None:
    make = maker(
        USA, NORTH_AMERICA, OHIO,
        entity("Q70", "electoral district", P279="Q47168"),
        entity("Q71", "Ward Nine", P31="Q70", P131="Q1397"),
        entity("Q72", "Hillside", P31="Q515", P131="Q71"),
    )  # fmt: skip
    made = make.make(row("Hillside"))
    assert texts(made) == [["Ohio"], ["United States of America"], ["North America"]]
    assert [(e.subject, e.value) for e in made.levels[1].tiers[0].evidence] == [("Q72", "Q71"), ("Q71", "Q1397")]


def test_a_demonym_in_the_description_gives_the_country() -> None:
    make = maker(
        entity("Q38", "Italy", "country in Southern Europe", P31="Q3624078", P30="Q46"), EUROPE,
        entity("Q2751", "Siena", "Italian comune", P31="Q515"),
    )  # fmt: skip
    made = make.make(row("Siena"))
    assert texts(made) == [["Italy"], ["Europe"]]
    assert made.levels[1].tiers[0].evidence[0].text == "Italian comune"


def test_a_description_in_the_row_serves_where_the_snapshot_knows_nothing() -> None:
    make = maker(UK, EUROPE, ENGLAND)
    described = row("Highgate School", "P69", qid="Q555", extra={"answer_entity_description": "school in Haringey, UK"})
    assert texts(make.make(described)) == [["Haringey"], ["United Kingdom"]]
    assert make.make(row("Highgate School", "P69", qid="Q555")).abstained == "no-link"
    assert texts(make.make(described)) == [["Haringey"], ["United Kingdom"]]


def test_an_alias_alone_is_not_believed_of_a_place() -> None:
    city = entity("Q2145", "Quebec City", aliases=["Quebec"], P31="Q515", P17="Q16")
    montreal = entity("Q340", "Montreal", "largest city in Quebec, Canada", P31="Q515")
    make = maker(entity("Q16", "Canada", P31="Q3624078"), city, montreal)
    made = make.make(row("Montreal"))
    assert texts(made) == [["Quebec"], ["Canada"]]
    assert made.levels[1].tiers[0].qid is None


def test_what_bears_the_same_name_and_is_no_larger_is_no_level() -> None:
    boroughs = [entity(f"Q62{n}", f"London Borough of {name}", P31="Q9") for n, name in enumerate(("A", "B"))]
    kinds = (entity("Q2039348", "municipality of the Netherlands"), entity("Q134390", "province of the Netherlands"))
    make = maker(
        UK, EUROPE, ENGLAND, *boroughs, *kinds,
        entity("Q23306", "Greater London", P31="Q1", P131="Q21", P150=["Q620", "Q621"]),
        entity("Q84", "London", P31="Q515", P131="Q23306"),
        entity("Q23525", "Greater Manchester", P31="Q1", P131="Q21"),
        entity("Q18125", "Manchester", P31="Q515", P131="Q23525"),
        entity("Q29999", "Kingdom of the Netherlands", P31="Q3624078"),
        entity("Q55", "Netherlands", P31="Q6256", P131="Q29999"),
        entity("Q9899", "Amsterdam", P31="Q2039348", P131="Q55"),
        entity("Q727", "Amsterdam", P31="Q515", P131="Q9899"),
        entity("Q752", "Utrecht", aliases=["Utrecht Province"], P31="Q134390", P131="Q55"),
        entity("Q749", "Utrecht", P31="Q515", P131="Q752"),
        entity("Q630", "Tower", P31="Q41176", P131="Q84"),
    )  # fmt: skip
    assert texts(make.make(row("London"))) == [["England"], ["United Kingdom"], ["Europe"]]
    tower = make.make(row("Tower", "P276"))
    assert texts(tower) == [["London"], ["England"], ["United Kingdom"], ["Europe"]]
    assert "Greater London" in tower.levels[1].tiers[0].aliases
    assert texts(make.make(row("Manchester")))[0] == ["Greater Manchester"]
    assert texts(make.make(row("Amsterdam", qid="Q727"))) == [["Netherlands"]]
    assert texts(make.make(row("Utrecht", qid="Q749"))) == [["Utrecht Province"], ["Netherlands"]]
