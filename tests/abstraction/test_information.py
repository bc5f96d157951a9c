"""Bits: counted by hand on small worlds, and the law that they never rise."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstraction.base.relations import relation
from abstraction.base.tiers import Condition, Level, Tier
from abstraction.files.rows import TieredRow
from abstraction.ladders.literal_answers import YEAR
from abstraction.ladders.weighing import (
    ConditionBitsCounter,
    JointShares,
    PlaceShares,
    ValueHierarchy,
    population_of,
    positions_of_tiers_with_rising_bits,
)
from abstraction.linking.candidates import ValueCounts
from abstraction.text.descriptions.attested_words import Vocabulary
from kg.base.model import Entity
from kg.store.protocol import Store
from tests.thorough import examples
from tests.worlds import entity, maker, row, store_of


def many(numbers: range, name: str = "thing", **said: object) -> list[Entity]:
    return [entity(f"Q{n}", f"{name} {n}", **said) for n in numbers]  # type: ignore[arg-type]


# Ruritania (Q200) has a province (Q201), that a county (Q202), and that a town with four villages beside it; another
# thing lies in the province. Graustark (Q300) has eight villages. Sixteen P131 statements, as many P17.
PLACES = [
    entity("Q200", "Ruritania", "country in Europe", P31="Q3624078", P30="Q46"),
    entity("Q300", "Graustark", "country in Asia", P31="Q3624078", P30="Q48"),
    entity("Q46", "Europe", P31="Q5107"),
    entity("Q48", "Asia", P31="Q5107"),
    entity("Q201", "Zenda Province", "province of Ruritania", P31="Q10864048", P131="Q200", P17="Q200"),
    entity("Q202", "Strelsau County", "county in Zenda Province, Ruritania", P31="Q47168", P131="Q201", P17="Q200"),
    entity("Q203", "Hentzau", "town in Strelsau County", P31="Q515", P131="Q202", P17="Q200"),
    *many(range(204, 208), "village", P31="Q486972", P131="Q202", P17="Q200"),
    entity("Q208", "hill", P131="Q201", P17="Q200"),
    *many(range(301, 309), "hamlet", P31="Q486972", P131="Q300", P17="Q300"),
]


def test_places_by_what_lies_in_them() -> None:
    world = PlaceShares(ValueCounts(store_of(*PLACES)), "en")
    assert world.located_total == 16
    assert world.states == {"Q200", "Q300"}
    assert world.share("Q202") == (5 + 1) / 16  # five lie in it, and it is itself a place of the county
    assert world.share("Q201") == (5 + 2 + 1) / 16
    assert world.share("Q200") == (5 + 2 + 1 + 1) / 16
    assert world.share("Q46") == world.share("Q200")
    assert world.state_count_in("Q46") == 1
    assert world.share("Q203") is None  # nothing is said to lie in the town
    assert world.share("text:nowhere") is None


def bits(made: TieredRow) -> list[list[tuple[str, float | None]]]:
    return [[(tier.text, tier.bits) for tier in level.tiers] for level in made.levels]


def test_a_ladder_of_places_by_hand() -> None:
    made = maker(*PLACES).make(row("Hentzau", qid="Q203"))
    assert bits(made) == [
        [("Hentzau", 4.0)],  # one of sixteen
        [("Strelsau County", pytest.approx(math.log2(16 / 6)))],
        [("Zenda Province", 1.0)],
        [("Ruritania", pytest.approx(math.log2(16 / 9)))],
        [("Europe", pytest.approx(math.log2(16 / 9)))],
    ]


def test_countries_count_once_each() -> None:
    made = maker(*PLACES).make(row("Ruritania", "P17", qid="Q200", question="Which country is Hentzau in?"))
    assert bits(made) == [[("Ruritania", 1.0)], [("a country in Europe", 1.0)]]


HUMAN = {"P31": "Q5"}
# Eight composers, musicians by class, six with a country, half of them French; eight painters, all of them French;
# sixteen more.
PERSONS = [
    entity("Q142", "France", P31="Q3624078"),
    entity("Q183", "Germany", P31="Q3624078"),
    entity("Q36834", "composer", P31="Q28640", P279="Q639669"),
    entity("Q639669", "musician", P31="Q28640"),
    entity("Q1028181", "painter", P31="Q28640"),
    *many(range(1001, 1004), "composer", **HUMAN, P106="Q36834", P27="Q142"),
    *many(range(1004, 1007), "composer", **HUMAN, P106="Q36834", P27="Q183"),
    *many(range(1007, 1009), "composer", **HUMAN, P106="Q36834"),
    *many(range(1009, 1017), "painter", **HUMAN, P106="Q1028181", P27="Q142"),
    *many(range(1017, 1033), "person", **HUMAN),
]
FRENCH, COMPOSER, MUSICIAN, PAINTER = (
    Condition(property=p, value=v)
    for p, v in (("P27", "Q142"), ("P106", "Q36834"), ("P106", "Q639669"), ("P106", "Q1028181"))
)


def facets(store: Store) -> ConditionBitsCounter:
    return ConditionBitsCounter(ValueCounts(store), Vocabulary.from_store(store))


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({FRENCH}, math.log2(14 / 11)),  # of fourteen whose country is known eleven are French
        ({COMPOSER}, 1.0),  # eight of sixteen with an occupation
        ({MUSICIAN}, 1.0),  # composers are musicians
        ({COMPOSER, MUSICIAN}, 1.0),  # and the second says nothing more
        ({FRENCH, COMPOSER}, 1.0 + math.log2(6 / 3)),  # not independent: half of the composers are French
        ({FRENCH, PAINTER}, 1.0),  # and all painters
        ({Condition(property="text", value="kin:somebody's wife")}, None),  # nothing to count
        ({FRENCH, Condition(property="text", value="nation:Gaulish")}, math.log2(14 / 11)),  # at least this
    ],
)
def test_conditions_of_persons_by_hand(conditions: set[Condition], expected: float | None) -> None:
    found = facets(store_of(*PERSONS))
    assert found.population_size("person") == 32
    assert found.bits_of(conditions, "person", 32, "") == (None if expected is None else pytest.approx(expected))


def test_conditions_are_independent_where_not_all_carriers_are_known() -> None:
    store = store_of(*PERSONS)
    joint = JointShares(ValueCounts(store))
    assert joint.share(frozenset({("P106", "Q36834")}), "P27", {"Q142"}) == 0.5
    assert joint.share(frozenset({("P106", "Q36834")}), "P27", {"Q999"}) is None  # the answer is one: a gap
    assert joint.share(frozenset({("P106", "Q36834")}), "P800", {"Q142"}) is None  # too few tell
    assert joint.share(frozenset({("P31", "Q5")}), "P999", {"Q142"}) is None


def test_an_ordinal_leaves_one_and_no_conjunction_fewer() -> None:
    found = facets(store_of(*PERSONS))
    first = {COMPOSER, FRENCH, Condition(property="text", value="ordinal:1st")}
    assert found.bits_of(first, "person", 32, "") == 5.0


def test_a_hierarchy_counts_a_statement_once_and_closes_circles() -> None:
    store = store_of(
        entity("Q11", "top"),
        entity("Q12", "left", P279="Q11"),
        entity("Q13", "right", P279=["Q11", "Q13"]),
        entity("Q14", "bottom", P279=["Q12", "Q13", "Q15"]),
        entity("Q15", "ring", P279="Q14"),
        *many(range(100, 105), P136="Q14"),
        entity("Q105", "other", P136="Q12"),
    )
    genres = ValueHierarchy(ValueCounts(store), ("P136",), ("P279",))
    assert [genres.statement_count(one) for one in ("Q14", "Q15", "Q12", "Q13", "Q11", "Q99")] == [5, 5, 6, 5, 6, 0]
    assert genres.share("Q12") == 1.0
    assert genres.share("Q14") == 5 / 6


def test_overlapping_values_are_no_sum() -> None:
    store = store_of(
        entity("Q11", "artist"),
        entity("Q12", "singer", P279="Q11"),
        entity("Q13", "painter", P279="Q11"),
        *many(range(100, 104), P106=["Q12", "Q13"]),
        *many(range(104, 106), P106=["Q12", "Q14"]),
        *many(range(106, 108), P106=["Q14", "Q15"]),
    )
    jobs = ValueHierarchy(ValueCounts(store), ("P106",), ("P279",))
    # Singers are 6 of 8, painters 4 of 8; their sum would be more than everyone.
    assert jobs.share("Q11") == pytest.approx(1 - (1 - 6 / 8) * (1 - 4 / 8))


@pytest.mark.parametrize(
    ("relation_id", "answer", "expected"),
    [
        (
            "P569",  # births from 1350 to 2030
            "4 August 1961",
            [math.log2(681 * YEAR), math.log2(681 * 12), math.log2(681), math.log2(68.1), math.log2(6.81)],
        ),
        ("P577", "1961", [math.log2(131), math.log2(13.1), math.log2(1.31)]),
        ("P569", "44 BC", [math.log2(10_000), math.log2(1_000), math.log2(100), math.log2(10)]),  # before all births
        ("P2044", "8,849 metres", [  # on four powers of ten; each rounding may be off by a unit of its last digit
            math.log2(4 / math.log10(high / low))
            for low, high in ((8848.5, 8849.5), (8840, 8860), (8700, 8900), (8000, 10_000), (1000, 10_000))
        ]),
    ],
)  # fmt: skip
def test_dates_and_amounts_by_hand(relation_id: str, answer: str, expected: list[float]) -> None:
    made = maker().make(row(answer, relation_id, question="When or how much?"))
    found = [level.tiers[0].bits for level in made.levels]
    assert not positions_of_tiers_with_rising_bits(made.levels)
    assert found[: len(expected)] == pytest.approx(expected[: len(found)], rel=0.02)


def ladder(*levels: tuple[float | None, ...]) -> tuple[Level, ...]:
    return tuple(
        Level(tiers=tuple(Tier(text=f"{n}{i}", bits=b) for i, b in enumerate(found))) for n, found in enumerate(levels)
    )


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        (((9.0,), (5.0, 2.0), (4.0,)), []),
        (((9.0,), (9.0,), (9.0,)), []),  # as many is no rise
        (((9.0,), (5.0,), (2.0, 6.0)), [(3, 2)]),
        (((9.0,), (10.0,)), [(2, 1)]),
        (((9.0,), (5.0, None), (6.0,)), []),  # it may follow from the tier that nobody counted
        (((9.0,), (None,), (10.0,)), [(3, 1)]),
        (((None,), (5.0,), (6.0,)), [(3, 1)]),
        (((9.0, 9.0), (2.0,), (5.0,)), []),  # of the other answer's ladder
        (((9.0, 9.0), (2.0,), (9.5,)), [(3, 1)]),
    ],
)
def test_what_rises(levels: tuple[tuple[float | None, ...], ...], expected: list[tuple[int, int]]) -> None:
    assert positions_of_tiers_with_rising_bits(ladder(*levels)) == expected


def test_a_count_that_falls_short_is_the_finer_tiers() -> None:
    # Of the county ten things are told, and that it lies in the province by its description alone.
    found = maker(
        *PLACES[:4],
        entity("Q201", "Zenda Province", "province of Ruritania", P31="Q10864048", P17="Q200"),
        entity("Q202", "Strelsau County", "county in Zenda Province, Ruritania", P31="Q47168"),
        entity("Q203", "Hentzau", "town in Strelsau County", P31="Q515", P131="Q202"),
        *many(range(204, 214), "village", P131="Q202"),
        *many(range(214, 216), "village", P131="Q201"),
        *many(range(301, 309), "hamlet", P131="Q300", P17="Q300"),
    )
    made = found.make(row("Hentzau", qid="Q203"))
    told = {tier.text: tier.bits for level in made.levels for tier in level.tiers}
    assert told["Strelsau County"] == told["Zenda Province"] == pytest.approx(math.log2(21 / 12))


@pytest.mark.parametrize(
    ("relation_id", "kinds", "expected"),
    [
        ("P19", {"place"}, "place"), ("P19", {"country"}, "place"), ("P17", {"country"}, "country"),
        ("P69", {"school", "organisation"}, "school"), ("P50", {"person"}, "person"), ("P50", set(), None),
        ("P175", {"group"}, "group"), ("P136", {"work"}, "genre"), ("P127", {"company", "place"}, "company"),
    ],
)  # fmt: skip
def test_the_population_is_what_is_asked_for_else_the_answers_class(
    relation_id: str, kinds: set[str], expected: str | None
) -> None:
    assert population_of(relation(relation_id), kinds) == expected


NODES = tuple(f"Q{n}" for n in range(11, 19))
EDGES = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=20)
USES = st.lists(st.lists(st.sampled_from(NODES), max_size=3, unique=True), max_size=12)


@settings(max_examples=examples(60), deadline=None)
@given(EDGES, USES)
def test_what_lies_above_has_no_smaller_share(edges: list[tuple[str, str]], uses: list[list[str]]) -> None:
    store = store_of(
        *(entity(one, one, P279=[upper for lower, upper in edges if lower == one]) for one in NODES),
        *(entity(f"Q{n}", "user", P106=used) for n, used in enumerate(uses, 100) if used),
    )
    with store:
        jobs = ValueHierarchy(ValueCounts(store), ("P106",), ("P279",))
        for lower, upper in edges:
            below, above = jobs.share(lower), jobs.share(upper)
            assert below is None or (above is not None and above >= below - 1e-12)
            assert above is None or 0 < above <= 1
