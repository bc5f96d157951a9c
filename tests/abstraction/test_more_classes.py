"""Awards, events, posts, taxa and other concepts: each class's own builder on small worlds."""

from __future__ import annotations

import pytest

from abstraction.base.tiers import Evidence, Level, Tier
from abstraction.files.rows import TieredRow
from abstraction.ladders.builders import builder_for
from abstraction.ladders.class_terms import language_tiers, taxon_tiers
from abstraction.ladders.offices import office_tiers
from abstraction.ladders.things import award_tiers
from abstraction.verifying.entailment import EntailmentChecker
from abstraction.verifying.verdicts import Flaw
from kg.base.model import Entity
from tests.cases import case_of, check_sound, ladder, proposed
from tests.worlds import entity, store_of

AWARDS = (
    entity("Q618779", "award"),
    entity("Q1", "Nobel Prize", P31="Q618779"),
    entity("Q2", "science award", P279="Q618779"),
    entity("Q3", "Royal Swedish Academy of Sciences"),
    entity("Q34", "Sweden", P31="Q3624078"),
)


def test_an_award_by_its_series_giver_country_and_kind() -> None:
    prize = entity("Q10", "Nobel Prize in Physics", P31="Q2", P361="Q1", P1027="Q3", P17="Q34")
    case = case_of(prize, *AWARDS, relation_id="P166")
    check_sound(award_tiers(case), {})
    given = "a science award given by the Royal Swedish Academy of Sciences"
    assert ladder(award_tiers, case) == [
        ["Nobel Prize", "a Swedish science award", given],
        ["a science award", "a Swedish award"],
        ["an award"],
    ]


@pytest.mark.parametrize(
    ("described", "given"),
    [
        ("a yearly award given by the Academy of X for those who did most", "given by the Academy of X"),
        ("award given by the King of the Netherlands", "given by the King of the Netherlands"),
        ("award given by Ada and Bo for art", "given by Ada and Bo"),
    ],
)
def test_the_giver_ends_with_a_name(described: str, given: str) -> None:
    case = case_of(entity("Q10", "Golden Pen", described, P31="Q618779"), *AWARDS, relation_id="P166")
    assert f"an award {given}" in proposed(award_tiers, case)


POSTS = (
    entity("Q4164871", "position"),
    entity("Q12737077", "occupation"),
    entity("Q1", "secretary of state", P31="Q4164871", P279="Q2"),
    entity("Q2", "minister", P31="Q4164871", P279="Q4164871"),
    entity("Q30", "United States", P31="Q3624078"),
)


def test_a_post_by_land_and_broader_post() -> None:
    case = case_of(entity("Q10", "Secretary X", P31="Q4164871", P279="Q1", P17="Q30"), *POSTS, relation_id="P39")
    check_sound(office_tiers(case), {})
    assert ladder(office_tiers, case) == [["American secretary of state"], ["secretary of state"], ["minister"]]


def lineage(rank_of: dict[str, str]) -> list[Entity]:
    return [
        entity("Q10", "Panthera leo", P31="Q16521", P171="Q11", P105="Q7432"),
        entity("Q11", "Panthera", P31="Q16521", P171="Q12", P105=rank_of["Q11"]),
        entity("Q12", "Pantherinae", P31="Q16521", P171="Q13", P105=rank_of["Q12"]),
        entity("Q13", "Felidae", P31="Q16521", P105=rank_of["Q13"]),
    ]


def test_taxa_climb_through_ranks_that_nobody_knows() -> None:
    case = case_of(*lineage({"Q11": "Q34740", "Q12": "Q164280", "Q13": "Q35409"}), relation_id="P171")
    assert ladder(taxon_tiers, case) == [["Panthera"], ["Felidae"]]
    assert [e.value for e in proposed(taxon_tiers, case)["Felidae"].evidence] == ["Q12", "Q13"]


def test_a_taxon_without_lineage_is_what_its_description_calls_it() -> None:
    case = case_of(entity("Q10", "Passer x", "extinct species of bird in the family Y"), relation_id="P171")
    (tier,) = taxon_tiers(case)
    assert (tier.text, tier.aliases) == ("a species of bird", ("a bird",))


@pytest.mark.parametrize(
    ("asks", "kinds", "expected"),
    [
        ("award", {"event"}, award_tiers),
        ("taxon", set(), taxon_tiers),
        ("any", {"astronomical"}, None),
        ("genre", {"person"}, builder_for("genre", set())),
    ],
)
def test_the_relation_decides_before_the_class(asks: str, kinds: set[str], expected: object) -> None:
    assert builder_for(asks, kinds) is expected


def test_a_language_is_none_of_a_family_that_its_description_denies() -> None:
    world = (
        entity("Q34770", "language"),
        entity("Q19860", "Indo-European languages", P31="Q25295"),
        entity("Q33648", "language isolate", P279="Q34770"),
    )
    isolate = entity("Q8752", "Basque", "non-Indo-European language isolate of a people", P31="Q33648")
    assert ladder(language_tiers, case_of(isolate, *world, relation_id="P407")) == [["a language isolate"]]
    branch = entity("Q8752", "Basque", "Indo-European language of a people", P31="Q34770")
    assert ladder(language_tiers, case_of(branch, *world, relation_id="P407")) == [["an Indo-European language"]]
    evidence = Evidence(
        kind="description", subject="Q8752", language="en", text="non-Indo-European language isolate of a people",
        span=(4, 17),
    )  # fmt: skip
    tier = Tier(text="Indo-European languages", qid="Q19860", evidence=(evidence,))
    said = TieredRow(
        id="r", question="?", answers=("Basque",), relation="P407",
        levels=(Level(tiers=(Tier(text="Basque", qid="Q8752"),)), Level(tiers=(tier,))),
    )  # fmt: skip
    (checked,) = EntailmentChecker(store_of(isolate, *world)).check(said)
    assert [f.flaw for f in checked.findings] == [Flaw.QUALIFIER_DROPPED]
