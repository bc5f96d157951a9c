"""Ladders of bands and other performing groups."""

from __future__ import annotations

from abstraction.ladders.organisation_ladders import group_tiers
from kg.base.model import Entity
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
    return ladder(group_tiers, case_of(band, USA, UK, BAND, ROCK, SINGER, relation_id="P175"))


def test_proposals_are_sound() -> None:
    for description in ("American country music supergroup", "English rock band", "", "Japanese girl group", "duo"):
        band: Entity = entity("Q900701", "The Examples", description, P31="Q215380", P495="Q30", P136="Q11399")
        check_sound(group_tiers(case_of(band, USA, UK, BAND, ROCK)), {})
