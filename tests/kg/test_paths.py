"""Bounded walks over any store. Against the mirror: test_neo4j_store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.errors import SelectionError
from kg.model import Entity, EntityValue, Rank, Statement
from kg.store.sqlite import SQLiteStore
from kg.walks.paths import closure

Edge = tuple[int, str, int]


def graph_of(edges: Iterable[Edge], *, nodes: int = 7, deprecated: Iterable[Edge] = ()) -> list[Entity]:
    """Q1 to Q`nodes` with a statement an edge."""
    stated: dict[int, list[Statement]] = {number: [] for number in range(1, nodes + 1)}
    for rank, given_edges in ((Rank.NORMAL, edges), (Rank.DEPRECATED, deprecated)):
        for start, prop, end in given_edges:
            made = Statement(
                id=f"Q{start}${prop}-{len(stated[start])}", subject=f"Q{start}", property=prop, rank=rank,
                value=EntityValue(id=f"Q{end}"),
            )  # fmt: skip
            stated[start].append(made)
    return [Entity(id=f"Q{number}", statements=tuple(found)) for number, found in stated.items()]


def store_of(entities: Iterable[Entity], redirects: Mapping[str, str] | None = None) -> SQLiteStore:
    store = SQLiteStore.create()
    store.write(entities)
    store.redirect(redirects or {})
    store.finish()
    return store


# A chain with a shortcut and a cycle at its end; Q9 is not in the snapshot.
EDGES: list[Edge] = [
    (1, "P131", 2), (2, "P131", 3), (1, "P361", 3), (3, "P131", 4), (4, "P131", 3), (4, "P17", 5), (2, "P131", 9),
]  # fmt: skip


@pytest.mark.parametrize(
    ("properties", "hops", "expected"),
    [
        (["P131"], 1, {"Q1": {"Q2": 1}, "Q4": {"Q3": 1}, "Q6": {}}),
        (["P131"], 9, {"Q1": {"Q2": 1, "Q3": 2, "Q4": 3}, "Q4": {"Q3": 1, "Q4": 2}, "Q6": {}}),
        (["P131", "P361"], 2, {"Q1": {"Q2": 1, "Q3": 1, "Q4": 2}, "Q4": {"Q3": 1, "Q4": 2}, "Q6": {}}),
        (["P17"], 3, {"Q1": {}, "Q4": {"Q5": 1}, "Q6": {}}),
        ([], 3, {"Q1": {}, "Q4": {}, "Q6": {}}),
    ],
)
def test_fewest_steps_nearest_first(properties: list[str], hops: int, expected: dict[str, dict[str, int]]) -> None:
    with store_of(graph_of(EDGES, deprecated=[(6, "P131", 1)])) as store:
        found = closure(store, ["Q1", "Q4", "Q6", "Q99", "nonsense"], properties, hops=hops)
    assert found == expected
    assert [list(one) for one in found.values()] == [list(one) for one in expected.values()]


def test_a_merged_id_walks_as_its_target() -> None:
    with store_of(graph_of(EDGES), redirects={"Q50": "Q1"}) as store:
        assert closure(store, ["Q50"], ["P131"], hops=1) == {"Q50": {"Q2": 1}}


@pytest.mark.parametrize("hops", [0, -1, 31])
def test_hops_are_bounded(hops: int) -> None:
    with store_of([]) as store, pytest.raises(SelectionError, match="hops must be from 1 to 30"):
        closure(store, ["Q1"], ["P131"], hops=hops)


@pytest.mark.parametrize("prop", ["Q5", "P0", "P31|P279", "P31]-() DETACH DELETE n //", ""])
def test_only_property_ids_are_followed(prop: str) -> None:
    with store_of([]) as store, pytest.raises(SelectionError, match="is no property id"):
        closure(store, ["Q1"], [prop], hops=1)


nodes = st.integers(1, 7)


@given(edges=st.lists(st.tuples(nodes, st.sampled_from(["P131", "P17"]), nodes), max_size=14), hops=st.integers(1, 5))
def test_as_by_squaring(edges: list[Edge], hops: int) -> None:
    """Against relations composed with themselves, one step at a time."""
    once = {(start, end) for start, prop, end in edges if prop == "P131"}
    reached, way = dict.fromkeys(once, 1), once
    for step in range(2, hops + 1):
        way = {(a, d) for a, b in way for c, d in once if b == c}
        for pair in way:
            reached.setdefault(pair, step)
    with store_of(graph_of(edges)) as store:
        found = closure(store, [f"Q{n}" for n in range(1, 8)], ["P131"], hops=hops)
    assert {(int(a[1:]), int(b[1:])): steps for a, to in found.items() for b, steps in to.items()} == reached
