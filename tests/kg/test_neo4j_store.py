"""The Neo4j mirror: the contract, and what is its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from neo4j_server import SERVER, mirror_of, snapshot_of, the_server
from store_contract import ALL, PARIS, MakeStore, StoreContract, as_read, check_survival
from strategies import entities as any_entities

from kg.base.model import Entity
from kg.errors import MirrorError
from kg.store import open_store
from kg.store.neo4j import LONGEST_KEY, VALUES_A_BLOCK, Address, Neo4jClient, Neo4jStore
from tests.thorough import examples

pytestmark = SERVER


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with the_server() as found:
        yield found


@pytest.fixture
def make_store(tmp_path: Path, address: str) -> Iterator[Callable[..., Neo4jStore]]:
    made: list[Neo4jStore] = []

    def make(entities: Iterable[Entity], **more: object) -> Neo4jStore:
        made.append(mirror_of(snapshot_of(tmp_path / "file", entities, **more), address))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for store in made:
        store.close()


class TestContract(StoreContract):
    """Every promise of the protocol, kept by the mirror."""

    @settings(
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
        max_examples=examples(15),
        deadline=None,
    )
    @given(given_entities=st.lists(any_entities(), max_size=4))
    def test_any_entity_survives(self, make_store: MakeStore, given_entities: list[Entity]) -> None:
        check_survival(make_store, given_entities)


def test_a_mirror_opens_by_its_address(make_store: Callable[..., Neo4jStore], address: str) -> None:
    make_store(ALL)
    with open_store(address) as store:
        assert isinstance(store, Neo4jStore)
        assert store.entities(["Q90"]) == {"Q90": as_read(PARIS)}


def test_a_reader_is_told_that_its_snapshot_was_replaced(make_store: Callable[..., Neo4jStore]) -> None:
    store = make_store(ALL)
    make_store(ALL)  # even by the same one: in between there was nothing
    with pytest.raises(MirrorError, match="was replaced or emptied while it was open"):
        store.entities(["Q90"])


def test_statements_are_relationships_that_cypher_can_ask_for(
    make_store: Callable[..., Neo4jStore], address: str
) -> None:
    make_store(ALL)
    client = Neo4jClient(Address.parse(address))
    rows = client.run(
        "MATCH (c:Entity {id: 'Q90'})-[r]->(t) RETURN type(r), t.id, t:Missing, r.id, r.rank, r.ordinal, r.start, r.end"
        " ORDER BY type(r), r.ordinal"
    )
    assert rows == [
        ["P17", "Q142", False, "Q90$P17-0", "normal", 0, 9_870_000, None],
        ["P31", "Q515", False, "Q90$P31-0", "normal", 0, None, None],
        ["P31", "Q5119", True, "Q90$P31-1", "preferred", 1, None, None],
        ["P31", "Q515", False, "Q90$P31-2", "deprecated", 2, None, None],
    ]
    assert client.run("MATCH (c:Entity {id: 'Q90'}) RETURN c.label_en, c.description_en, c.aliases_de") == [
        ["Paris", "capital of France", '["Stadt der Lichter"]']
    ]
    client.close()


def test_names_too_long_for_an_index(make_store: Callable[..., Neo4jStore]) -> None:
    long = "é" * LONGEST_KEY
    store = make_store([Entity(id="Q1", labels={"en": long}), Entity(id="Q2", labels={"en": long[:-1]})])
    assert [match.id for match in store.find([long.upper()])[long.upper()]] == ["Q1"]
    assert store.find([long + "é"]) == {}


def test_values_in_several_blocks(make_store: Callable[..., Neo4jStore]) -> None:
    count = VALUES_A_BLOCK + 3
    entities = [Entity(id=f"Q{n}") for n in range(1, count + 1)]
    store = make_store(entities, other_values=[(31, n, 1 + n % 7) for n in range(1, count + 1)])
    everything = store.values_of("P31")
    assert everything == sorted(
        ((f"Q{n}", 1 + n % 7) for n in range(1, count + 1)), key=lambda one: (-one[1], int(one[0][1:]))
    )
    for limit in (0, 1, VALUES_A_BLOCK, VALUES_A_BLOCK + 1, count + 9):
        assert store.values_of("P31", limit=limit) == everything[:limit]


def test_batches_beyond_one_round_trip(make_store: Callable[..., Neo4jStore]) -> None:
    entities = [Entity(id=f"Q{n}", labels={"en": f"name {n}"}) for n in range(1, 12_001)]
    store = make_store(entities)
    assert store.entities([entity.id for entity in entities]) == {entity.id: entity for entity in entities}
    assert [found[0].id for found in store.find([f"NAME {n}" for n in range(1, 12_001)]).values()] == list(store.ids())
