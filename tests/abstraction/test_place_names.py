"""How tiers say places: what tells a town or county from its namesakes."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from abstraction.verifying.entailment import EntailmentChecker
from kg.base.model import Entity, QuantityValue, Statement
from tests.worlds import entity, maker, row, store_of, texts

STATES = (
    entity("Q515", "city"),
    entity("Q47168", "county of the United States"),
    entity("Q30", "United States of America", "country in North America", P31="Q3624078"),
    entity("Q145", "United Kingdom", "country in Europe", P31="Q3624078"),
    entity("Q21", "England", "country of the United Kingdom", P31="Q3336843", P131="Q145"),
    entity("Q771", "Massachusetts", "state of the United States of America", P31="Q35657", P131="Q30"),
    entity("Q1384", "New York", aliases=["New York State"], P31="Q35657", P131="Q30"),
)


def hall_in(town: Entity, *others: Entity) -> list[str]:
    """The first levels of a hall in the town, one text each."""
    hall = entity("Q9001", "Old Hall", "hall", P31="Q515", P131=town.id)
    return [level[0] for level in texts(maker(*STATES, town, *others, hall).make(row("Old Hall")))]


def test_an_american_town_or_county_has_its_state() -> None:
    county = entity("Q54078", "Middlesex County", P31="Q47168", P131="Q771")
    town = entity("Q49111", "Cambridge", P31="Q515", P131="Q54078")
    assert hall_in(town, county)[:3] == ["Cambridge, Massachusetts", "Middlesex County, Massachusetts", "Massachusetts"]


def test_a_metropolis_needs_no_state() -> None:
    town = entity("Q100", "Boston", P31="Q515", P131="Q771")
    people = Statement(id="Q100$p", subject="Q100", property="P1082", value=QuantityValue(amount=Decimal(650_000)))
    assert hall_in(town)[0] == "Boston, Massachusetts"
    assert hall_in(replace(town, statements=(*town.statements, people)))[0] == "Boston"


def test_a_place_elsewhere_is_told_from_a_namesake_that_is_known_as_well() -> None:
    town = entity("Q350", "Milton", "city in Kent, England", P31="Q515", P131="Q21")
    assert hall_in(town)[0] == "Milton"
    twin = entity("Q351", "Milton", "city in Massachusetts, United States", P31="Q515", P131="Q771")
    mill = entity("Q352", "Mill", "mill", P31="Q515", P131="Q351")
    assert hall_in(town, twin, mill)[0] == "Milton, England"


def test_a_state_that_is_called_as_its_city_is_said_to_be_the_state() -> None:
    city = entity("Q60", "New York City", aliases=["New York"], P31="Q515", P131="Q1384")
    assert hall_in(city)[:2] == ["New York City", "New York State"]


def test_a_descriptive_name_has_its_article() -> None:
    borough = entity("Q352", "District of Milton", "district in England", P31="Q515", P131="Q21")
    assert hall_in(borough)[0] == "the District of Milton"


def test_the_bare_name_still_counts_and_the_evidence_holds() -> None:
    town = entity("Q49111", "Cambridge", P31="Q515", P131="Q771")
    hall = entity("Q9001", "Old Hall", "hall", P31="Q515", P131="Q49111")
    store = store_of(*STATES, town, hall)
    made = maker(*STATES, town, hall).make(row("Old Hall"))
    assert "Cambridge" in made.levels[1].tiers[0].aliases
    assert {check.status for check in EntailmentChecker(store).check(made)} == {"entailed"}
