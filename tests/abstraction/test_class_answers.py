"""Answers that are classes climb only to classes that are answers themselves."""

from __future__ import annotations

from abstraction.files.rows import TieredRow
from kg.base.model import Entity
from tests.worlds import entity, maker, row, texts


def people(occupation: str, count: int, start: int) -> list[Entity]:
    return [entity(f"Q{start + i}", f"Person {start + i}", P31="Q5", P106=occupation) for i in range(count)]


OCCUPATIONS = [
    entity("Q33999", "actor", "person who acts", P31="Q28640", P279="Q713200"),
    entity("Q713200", "performing artist", P31="Q28640", P279=["Q483501", "Q2500638"]),
    entity("Q483501", "artist", P31="Q28640", P279="Q2500638"),
    entity("Q2500638", "creator", P279="Q215627"),
    entity("Q215627", "person"),
    entity("Q82955", "politician", P31="Q28640", P279="Q702269"),
    entity("Q702269", "professional"),
]


def test_an_unused_class_is_climbed_through() -> None:
    make = maker(*OCCUPATIONS, *people("Q483501", 3, 5100))
    made = make.make(row("actor", "P106", question="What kind of work does she do?"))
    assert texts(made) == [["artist"]]
    assert [e.value for e in made.levels[1].tiers[0].evidence] == ["Q713200", "Q483501"]


def test_languages_climb_their_families_and_skip_disputed_ones() -> None:
    make = maker(
        entity("Q256", "Turkish", "Oghuz language of the Turkic family", aliases=["Turkish language"], P31="Q34770",
               P279="Q13008"),
        entity("Q13008", "Oghuz languages", P31="Q25295", P279="Q34090"),
        entity("Q34090", "Turkic languages", P31="Q25295", P279="Q33600"),
        entity("Q33600", "Altaic languages", "proposed family", P31="Q25295"),
    )  # fmt: skip
    made = make.make(row("Turkish", "P407", question="Which language was it written in?"))
    assert texts(made) == [["an Oghuz language"], ["a Turkic language"]]
    assert "Oghuz languages" in made.levels[1].tiers[0].aliases


def position(description: str, *sports: str) -> TieredRow:
    make = maker(
        entity("Q2736", "association football"),
        entity("Q41323", "American football"),
        entity("Q528145", "linebacker", description, P31="Q1781513", P641=list(sports)),
    )
    return make.make(row("linebacker", "P413", question="What does he play?"))


def test_what_the_relation_asks_for_is_no_tier() -> None:
    make = maker(
        entity("Q8341", "jazz", P31="Q188451", P279="Q20"),
        entity("Q20", "music genre", P31="Q188451"),
    )
    made = make.make(row("jazz", "P136", question="What does she play?"))
    assert made.abstained == "only-trivial-left"
