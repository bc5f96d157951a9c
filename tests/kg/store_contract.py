"""What every store must do: `kg.store.protocol`, as tests.

A backend's test module subclasses `StoreContract` and gives the fixture `make_store`: a function of entities and
keyword arguments `redirects`, `other_values`, `other_properties` (see `SQLiteStore.finish`) to an open store.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import entities as any_entities

from kg.base.model import (
    Entity,
    EntityValue,
    OtherValue,
    QuantityValue,
    Rank,
    Snak,
    SnakKind,
    Statement,
    TextValue,
    TimeValue,
    Value,
    normalise,
)
from kg.graph.logical_query import Branch, Grounding, Hop, LogicalQuery, StoreFacts, ground_all
from kg.store.protocol import NameMatch, Store
from tests.thorough import examples

MakeStore = Callable[..., Store]


def statement(subject: str, prop: str, value: Value | str, n: int = 0, **more: object) -> Statement:
    target = EntityValue(id=value) if isinstance(value, str) else value
    fields: dict[str, object] = {"rank": Rank.NORMAL, "datatype": None, **more}
    return Statement(id=f"{subject}${prop}-{n}", subject=subject, property=prop, value=target, **fields)  # type: ignore[arg-type]


def entity_of(qid: str, label: str) -> Entity:
    return Entity(id=qid, labels={"en": label})


def person(qid: str, label: str, birthplace: str) -> Entity:
    return Entity(id=qid, labels={"en": label}, statements=(statement(qid, "P19", birthplace),))


PARIS = Entity(
    id="Q90",
    labels={"en": "Paris", "mul": "Paris"},
    descriptions={"en": "capital of France"},
    aliases={"en": ("City of Light", "Lutetia"), "de": ("Stadt der Lichter",)},
    statements=(
        statement("Q90", "P31", "Q515"),
        statement("Q90", "P31", "Q5119", 1, rank=Rank.PREFERRED),
        statement("Q90", "P31", "Q515", 2, rank=Rank.DEPRECATED),
        statement(
            "Q90",
            "P17",
            "Q142",
            qualifiers=(
                Snak(property="P580", value=TimeValue(year=987, precision=9, calendar="julian")),
                Snak(property="P582", kind=SnakKind.SOMEVALUE),
                Snak(property="P31", value=TextValue(text="x", language="fr")),
            ),
        ),
        statement("Q90", "P1082", QuantityValue(amount=Decimal("2.10"), lower=Decimal(2), upper=Decimal("2.20"))),
    ),
    sitelinks=300,
)
FRANCE = Entity(id="Q142", labels={"en": "France"}, statements=(statement("Q142", "P36", "Q90"),))
TEXAS_PARIS = Entity(
    id="Q830149",
    labels={"en": "PARIS"},
    statements=(statement("Q830149", "P31", "Q515"), statement("Q830149", "P31", "Q515", 1)),
)
HERO = Entity(id="Q16", labels={"en": "Paris of Troy"}, aliases={"en": ("Paris",), "mul": ("Paris",)})
CITY = Entity(id="Q515", labels={"en": "city"}, statements=(statement("Q515", "P31", "Q9", rank=Rank.DEPRECATED),))
CLASS = Entity(
    id="P31",
    labels={"en": "instance of"},
    statements=(statement("P31", "P31", "Q515"), statement("P31", "P1629", "P279")),
    datatype="wikibase-item",
)
SUBCLASS = Entity(id="P279", labels={"en": "subclass of"}, datatype="wikibase-item")
NOTHING = Entity(
    id="Q2",
    statements=(
        Statement(id="Q2$a", subject="Q2", property="P40", kind=SnakKind.NOVALUE),
        Statement(id="Q2$b", subject="Q2", property="P26", kind=SnakKind.SOMEVALUE),
        statement("Q2", "P625", OtherValue(type="globecoordinate", json='{"latitude":1.5}')),
    ),
)
ALL = (PARIS, CLASS, FRANCE, TEXAS_PARIS, HERO, CITY, SUBCLASS, NOTHING)


def as_read(entity: Entity) -> Entity:
    """What was written, as a store gives it back: statements by property number, then as they stood."""
    ordered = sorted(entity.statements, key=lambda s: int(s.property[1:]))
    return Entity(
        id=entity.id,
        labels=entity.labels,
        descriptions=entity.descriptions,
        aliases=entity.aliases,
        statements=tuple(ordered),
        sitelinks=entity.sitelinks,
        datatype=entity.datatype,
    )


def check_survival(make_store: MakeStore, given_entities: list[Entity]) -> None:
    """What was written is read, and found by every name. A backend that is slow to fill may draw fewer examples."""
    store = make_store(given_entities)
    last = {entity.id: entity for entity in given_entities}
    assert store.entities(list(last)) == {key: as_read(entity) for key, entity in last.items()}
    for entity in last.values():
        for name in (*entity.labels.values(), *(a for texts in entity.aliases.values() for a in texts)):
            found = [match.id for match in store.find([name]).get(name, [])]
            assert (entity.id in found) if normalise(name) else not found
    store.close()


class StoreContract:
    """Run against a backend by a subclass."""

    @pytest.fixture
    def store(self, make_store: MakeStore) -> Store:
        return make_store(ALL)

    def test_what_was_written_is_read(self, store: Store) -> None:
        wanted = [entity.id for entity in reversed(ALL)]
        found = store.entities(wanted)
        assert list(found) == wanted
        assert found == {entity.id: as_read(entity) for entity in ALL}

    @settings(
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
        max_examples=examples(60),
        deadline=None,
    )
    @given(given_entities=st.lists(any_entities(), max_size=4))
    def test_any_entity_survives(self, make_store: MakeStore, given_entities: list[Entity]) -> None:
        check_survival(make_store, given_entities)

    def test_writing_again_replaces(self, make_store: MakeStore) -> None:
        changed = Entity(id="Q90", labels={"en": "Lutetia"})
        store = make_store([PARIS, FRANCE, PARIS, changed])
        assert store.entities(["Q90", "Q142"]) == {"Q90": changed, "Q142": as_read(FRANCE)}
        assert store.find(["Paris"]) == {}
        assert store.referrers([("P17", "Q142")]) == {}
        assert store.manifest()["counts"]["entities"] == 2
        assert make_store([PARIS, PARIS]).manifest() == make_store([PARIS]).manifest()

    def test_unknown_and_malformed_ids_are_absent(self, store: Store) -> None:
        bad = ["Q999999", "Q0", "Q", "", "q90", "L1", "Q90 ", "Q9" * 40, "P2"]
        assert list(store.entities([*bad, "Q90"])) == ["Q90"]
        assert store.entities([]) == {}
        pairs = [("P31", one) for one in bad] + [(one, "Q515") for one in [*bad, "Q31"]]
        assert store.referrers(pairs) == {}
        assert store.value_counts(pairs) == {}
        assert store.property_counts([*bad, "Q31"]) == {}
        assert store.values_of("Q31") == store.values_of("nonsense") == []

    def test_languages_narrow_the_terms(self, store: Store) -> None:
        found = store.entities(["Q90"], languages=["de", "xx"])["Q90"]
        assert (found.labels, found.descriptions) == ({}, {})
        assert found.aliases == {"de": ("Stadt der Lichter",)}
        assert found.statements == as_read(PARIS).statements
        assert store.entities(["Q90"], languages=[])["Q90"].aliases == {}

    @pytest.mark.parametrize(
        "properties", [[], ["P31"], ["P1082", "P31"], ["P17", "Q5", "junk"], [f"P{n}" for n in range(1, 60)]]
    )
    def test_properties_narrow_the_statements(self, store: Store, properties: list[str]) -> None:
        found = store.entities(["Q90", "Q142"], properties=properties)
        for entity in (PARIS, FRANCE):
            expected = [s for s in as_read(entity).statements if s.property in properties]
            assert list(found[entity.id].statements) == expected
        assert found["Q90"].labels == PARIS.labels

    def test_names_labels_before_aliases_then_by_number(self, store: Store) -> None:
        assert store.find([" paris "]) == {
            " paris ": [
                NameMatch(id="Q90", kind="label", language="en", text="Paris"),
                NameMatch(id="Q830149", kind="label", language="en", text="PARIS"),
                NameMatch(id="Q16", kind="alias", language="en", text="Paris"),
            ]
        }

    def test_names_in_a_language(self, store: Store) -> None:
        assert [m.id for m in store.find(["Paris"], languages=["mul"])["Paris"]] == ["Q90", "Q16"]
        assert store.find(["Paris"], languages=["fr"]) == store.find(["Paris"], languages=[]) == {}

    def test_names_that_are_none(self, store: Store) -> None:
        assert store.find(["", "  ", "Atlantis", "capital of France"]) == {}
        both = store.find(["Paris", "PARIS", "Lutetia"])
        assert list(both) == ["Paris", "PARIS", "Lutetia"]
        assert both["Paris"] == both["PARIS"]
        assert [match.kind for match in both["Lutetia"]] == ["alias"]

    def test_referrers_by_number_items_first(self, store: Store) -> None:
        pairs = [("P31", "Q515"), ("P36", "Q90"), ("P31", "Q9"), ("P1629", "P279")]
        assert store.referrers(pairs) == {
            ("P31", "Q515"): ["Q90", "Q830149", "P31"],
            ("P36", "Q90"): ["Q142"],
            ("P1629", "P279"): ["P31"],
        }
        for limit in range(1, 5):
            found = store.referrers(pairs[:1], limit=limit)[("P31", "Q515")]
            assert found == ["Q90", "Q830149", "P31"][:limit]

    def test_counts_without_deprecated_or_absent_values(self, store: Store) -> None:
        pairs = [("P31", "Q515"), ("P31", "Q9"), ("P31", "Q5119"), ("P17", "Q142")]
        assert store.value_counts(pairs) == {("P31", "Q515"): 3, ("P17", "Q142"): 1}  # Q5119 is not here
        assert store.property_counts(["P31", "P40", "P26", "P2"]) == {"P31": 3, "P26": 1}

    def test_counts_of_the_whole_source(self, make_store: MakeStore) -> None:
        store = make_store(
            [PARIS, CITY], other_values=[(31, 515, 7), (31, 5, 9), (17, 90, 2)], other_properties=[(31, 8)]
        )
        pairs = [("P31", "Q515"), ("P31", "Q5"), ("P17", "Q90")]
        assert store.value_counts(pairs) == {("P31", "Q515"): 8, ("P17", "Q90"): 2}
        assert store.property_counts(["P31", "P17"]) == {"P31": 9, "P17": 1}

    def test_values_of_most_frequent_first(self, make_store: MakeStore) -> None:
        store = make_store(
            [PARIS, CITY, FRANCE, CLASS],
            other_values=[(31, 142, 2), (31, 90, 9), (31, -31, 2), (31, 7, 99)],
        )
        expected = [("Q90", 9), ("Q142", 2), ("Q515", 2), ("P31", 2)]
        assert store.values_of("P31") == expected
        assert store.values_of("P31", limit=2) == expected[:2]

    def test_ids_in_order(self, store: Store) -> None:
        expected = ["Q2", "Q16", "Q90", "Q142", "Q515", "Q830149", "P31", "P279"]
        assert list(store.ids()) == expected

    def test_descriptions_of_items_in_the_first_language_that_they_have(self, make_store: MakeStore) -> None:
        told = {"Q5": {"en": "five", "de": "fünf"}, "Q2": {"de": "zwei"}, "Q3": {"fr": "trois"}, "P31": {"en": "kind"}}
        store = make_store([Entity(id=i, labels={"en": i}, descriptions=texts) for i, texts in told.items()])
        assert list(store.descriptions(["en", "de"])) == ["zwei", "five"]

    def test_redirects_answer_under_the_given_id(self, make_store: MakeStore) -> None:
        store = make_store([PARIS, FRANCE], redirects={"Q77": "Q90", "Q78": "Q404", "Q142": "Q90"})
        found = store.entities(["Q77", "Q142", "Q78"])
        assert found == {"Q77": as_read(PARIS), "Q142": as_read(FRANCE)}
        assert store.referrers([("P36", "Q77")]) == {("P36", "Q77"): ["Q142"]}
        assert store.value_counts([("P36", "Q77")]) == {("P36", "Q77"): 1}
        assert list(store.ids()) == ["Q90", "Q142"]

    def test_manifest(self, store: Store) -> None:
        manifest = store.manifest()
        assert len(manifest["snapshot_id"]) == 64
        assert manifest["counts"]["entities"] == len(ALL)
        assert manifest["counts"]["statements"] == sum(len(entity.statements) for entity in ALL)

    def test_the_id_is_of_the_content_alone(self, make_store: MakeStore) -> None:
        one = make_store(ALL).manifest()["snapshot_id"]
        assert make_store(tuple(reversed(ALL))).manifest()["snapshot_id"] == one
        assert make_store(ALL[:-1]).manifest()["snapshot_id"] != one

    def test_an_empty_store_answers(self, make_store: MakeStore) -> None:
        store = make_store([])
        assert list(store.ids()) == []
        assert store.entities(["Q1"]) == store.find(["x"]) == store.referrers([("P1", "Q1")]) == {}

    def test_closing_twice_is_no_error_and_reading_after_it_is(self, store: Store) -> None:
        store.close()
        store.close()
        with pytest.raises(Exception, match="closed"):
            store.entities(["Q90"])

    def test_queries_are_grounded(self, make_store: MakeStore) -> None:
        """Forward, against the direction, and together: the same on every backend."""
        people = [person("Q10", "Ada", "Q90"), person("Q11", "Bea", "Q90"), person("Q12", "Cy", "Q64")]
        facts = StoreFacts(make_store([*people, entity_of("Q90", "Paris"), entity_of("Q64", "Berlin")]))
        born, natives = Hop(property="P19"), Hop(property="P19", forward=False)
        queries = [
            LogicalQuery(branches=(Branch(start="Q10", hops=(born,)),)),
            LogicalQuery(branches=(Branch(start="Q90", hops=(natives,)),)),
            LogicalQuery(branches=(Branch(start="Q10", hops=(born,)), Branch(start="Q11", hops=(born,)))),
            LogicalQuery(branches=(Branch(start="Q10", hops=(born, natives)),)),
        ]
        found = [grounding for _, grounding in ground_all(queries, facts)]
        assert [one.answers for one in found if isinstance(one, Grounding)] == [
            ("Q90",), ("Q10", "Q11"), ("Q90",), ("Q11",),
        ]  # fmt: skip
