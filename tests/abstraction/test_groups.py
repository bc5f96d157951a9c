"""Ladders of bands and other performing groups."""

from __future__ import annotations

from abstraction.ladders.groups import groups
from kg.model import Entity
from tests.cases import case_of, check_sound, ladder
from tests.worlds import entity

USA = entity("Q30", "United States of America", "country in North America", P31="Q3624078")
UK = entity("Q145", "United Kingdom", "country in Europe", P31="Q3624078")
BAND = entity("Q215380", "musical group", "group of musicians")
ROCK = entity("Q11399", "rock music", "genre of popular music", P31="Q188451")
SINGER = entity("Q900700", "Famous Singer", "British singer", P31="Q5")


def rungs(description: str, **said: object) -> list[list[str]]:
    said.setdefault("P31", "Q215380")
    band = entity("Q900701", "The Examples", description, **said)  # type: ignore[arg-type]
    return ladder(groups, case_of(band, USA, UK, BAND, ROCK, SINGER, relation_id="P175"))


def test_kind_and_nationality() -> None:
    assert rungs("English rock band") == [["an English rock band"], ["a rock band", "an English band"], ["a band"]]
    assert rungs("Rock band", P495="Q145")[0] == ["a British rock band"]
    assert rungs("rock band from England")[0] == ["an English rock band"]


def test_a_quartet_is_a_group() -> None:
    made = rungs("American vocal quartet")
    assert made[0] == ["an American vocal quartet"]
    assert {"a vocal quartet", "an American vocal group"} <= set(made[1])
    assert "a vocal group" in made[2]
    assert "a group" not in str(made).replace("a vocal group", "")


def test_genre_and_origin_where_the_description_says_nothing() -> None:
    assert rungs("band", P136="Q11399", P495="Q30")[0] == ["an American rock band"]
    assert rungs("", P136="Q11399", P495="Q30")[0] == ["an American rock group"]


def test_members_are_no_tiers() -> None:
    assert "Singer" not in str(rungs("English rock band", P527="Q900700"))


def test_proposals_are_sound() -> None:
    for description in ("American country music supergroup", "English rock band", "", "Japanese girl group", "duo"):
        band: Entity = entity("Q900701", "The Examples", description, P31="Q215380", P495="Q30", P136="Q11399")
        check_sound(groups(case_of(band, USA, UK, BAND, ROCK)), {})
