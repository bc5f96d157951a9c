"""What a build selects: by id, name, class, steps along the graph, and without excluded classes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from dump_json import lines
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from springfield import WORLD, entity, ids_of
from strategies import entities as any_entities

from kg.base.model import Entity, Rank, SnakKind
from kg.base.scope import Scope
from kg.building import ingestion
from kg.building.snapshot import build
from kg.errors import SelectionError
from kg.store import open_store
from tests.thorough import examples


def node(name: str, *edges: tuple[str, str]) -> Entity:
    return entity(name, name, *edges)


GRAPH = (
    node("Q1", ("P50", "Q2"), ("P31", "Q100"), ("P1433", "Q9")),
    node("Q2", ("P31", "Q5"), ("P27", "Q30")),
    node("Q3", ("P31", "Q101"), ("P50", "Q2")),
    node("Q9", *(("P150", f"Q{n}") for n in (1, 2, 3, 30))),
    node("Q30", ("P31", "Q6"), ("P150", "Q40")),
    node("Q40", ("P31", "Q41")),
    node("Q41"),
    node("Q100"),
    node("Q101", ("P279", "Q102")),
    node("Q102", ("P279", "Q100")),
    *(node(prop) for prop in ("P27", "P31", "P50", "P150", "P279", "P1433")),
)


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ({"excluded": {"Q100"}}, "Q2 Q9 Q30 Q40 Q41 Q100 Q101 Q102 P27 P31 P50 P150 P279 P1433"),
        ({"excluded": {"Q102"}, "classes": {"Q100"}}, "Q1 P31 P50 P1433"),
        ({"excluded": {"Q100"}, "ids": {"Q1", "Q2"}}, "Q1 Q2 P27 P31 P50 P1433"),  # asked for by id
        ({"excluded": {"Q100"}, "names": {"q3"}, "ids": {"Q41"}}, "Q3 Q41 P31 P50"),
        ({"ids": {"Q9"}, "hops": 1, "along": {"P150"}, "excluded": {"Q100"}}, "Q2 Q9 Q30 P27 P31 P150"),
        ({"ids": {"Q9"}, "hops": 2, "along": {"P150"}, "hub_limit": 3}, "Q9 P150"),
        ({"ids": {"Q9"}, "hops": 2, "along": {"P150"}, "hub_limit": 4}, "Q1 Q2 Q3 Q9 Q30 Q40 P27 P31 P50 P150 P1433"),
        ({"ids": {"Q2"}, "hops": 3, "along": {"P27", "P150"}}, "Q2 Q30 Q40 P27 P31 P150"),
        ({"ids": {"Q2"}, "properties": False}, "Q2"),
        ({"ids": {"P50"}}, "P50"),
        ({"names": {"p50", "q41"}}, "Q41 P50"),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_selection_by_the_graph(tmp_path: Path, scope: dict[str, Any], expected: str, order: int) -> None:
    (tmp_path / "dump").write_bytes(lines(*GRAPH[::order]))
    fields = {key: frozenset(value) if isinstance(value, set) else value for key, value in scope.items()}
    build([tmp_path / "dump"], tmp_path / "out", scope=Scope(**fields))
    with open_store(tmp_path / "out") as store:
        assert " ".join(store.ids()) == expected
        counts = store.value_counts([("P50", "Q2"), ("P31", "Q41")])
        here = expected.split()
        whole = {("P50", "Q2"): 2, ("P31", "Q41"): 1}
        assert counts == {pair: n for pair, n in whole.items() if pair[1] in here}
        assert store.property_counts(["P31", "P50"]) == {"P31": 5, "P50": 2}


@pytest.mark.parametrize(
    "fields",
    [
        {"ids": {"q1"}},
        {"ids": {"Q1", "L3"}},
        {"classes": {"P31"}},
        {"ids": {"Q1"}, "hops": 1},
        {"ids": {"Q1"}, "hops": 1, "along": {"Q5"}},
        {"ids": {"Q1"}, "hops": -1, "along": {"P31"}},
        {"hops": 1, "along": {"P31"}},
        {"excluded": {"P31"}},
        {"ids": {"Q1"}, "hub_limit": 3},
        {"ids": {"Q1"}, "hops": 1, "along": {"P1"}, "hub_limit": 0},
    ],
)
def test_impossible_selections(fields: dict[str, Any]) -> None:
    with pytest.raises(SelectionError):
        Scope(**{key: frozenset(value) if isinstance(value, set) else value for key, value in fields.items()})


def ladder(*properties: str) -> frozenset[str]:
    return frozenset(properties)


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (Scope(ids=frozenset({"Q2", "P131", "Q999"})), "Q2 P131"),
        (Scope(names=frozenset({" SPRINGFIELD"})), "Q1 Q5 P131"),
        (Scope(names=frozenset({"Ohio"}), ids=frozenset({"Q22"})), "Q6 Q22 P131"),
        (Scope(classes=frozenset({"Q24"})), "Q1 Q4 Q5 P131"),  # Q7 is a town by a deprecated statement alone
        (Scope(classes=frozenset({"Q20"})), "Q1 P131"),
        (Scope(classes=frozenset({"Q21", "Q22"})), "Q2 Q3"),
        (Scope(ids=frozenset({"Q1"}), hops=1, along=ladder("P131")), "Q1 Q2 P131"),
        (Scope(ids=frozenset({"Q1"}), hops=2, along=ladder("P131", "P17")), "Q1 Q2 Q3 P131"),
        (Scope(ids=frozenset({"Q1"}), hops=9, along=ladder("P131", "P17", "P36")), "Q1 Q2 Q3 Q4 P131"),
        (Scope(ids=frozenset({"Q5"}), hops=9, along=ladder("P131")), "Q5 Q6 P131"),
        (Scope(names=frozenset({"springfield"}), hops=1, along=ladder("P131")), "Q1 Q2 Q5 Q6 P131"),
        (Scope(classes=frozenset({"Q20"}), hops=1, along=ladder("P31", "P131")), "Q1 Q2 Q20 P131"),
        (Scope(ids=frozenset({"Q7"}), hops=1, along=ladder("P31")), "Q7"),
        (Scope(ids=frozenset({"Q999", "Q6"}), hops=1, along=ladder("P17")), "Q3 Q6 P131"),
        (
            Scope(
                ids=frozenset({"Q4"}),
                names=frozenset({"Ohio"}),
                classes=frozenset({"Q22"}),
                hops=1,
                along=ladder("P31"),
            ),
            "Q3 Q4 Q6 Q22 Q23 P131",
        ),
    ],
)
def test_selections(dump: Path, tmp_path: Path, scope: Scope, expected: str) -> None:
    out = tmp_path / "out"
    build([dump], out, scope=scope)
    assert " ".join(ids_of(out)) == expected
    with open_store(out) as store:
        # Whatever is selected, counts are those of the whole source.
        counts = store.value_counts([("P31", "Q23"), ("P17", "Q3"), ("P279", "Q23")])
        whole = {("P31", "Q23"): 2, ("P17", "Q3"): 3, ("P279", "Q23"): 2}
        here = set(ids_of(out))
        assert counts == {pair: n for pair, n in whole.items() if pair[1] in here}
        assert store.property_counts(["P31", "P279", "P36"]) == {"P31": 5, "P279": 3, "P36": 1}
        assert store.manifest()["source_entities"] == len(WORLD)


def test_a_selection_of_nothing(dump: Path, tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match="none of the 13 entities"):
        build([dump], tmp_path / "out", scope=Scope(ids=frozenset({"Q999"})))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["world.json.gz"]


def by_hand(given: list[Entity], kept: set[str]) -> tuple[dict[tuple[str, str], int], dict[str, int]]:
    """The counts of the whole source by the definition, over entities in memory."""
    values: Counter[tuple[str, str]] = Counter()
    properties: Counter[str] = Counter()
    for one in given:
        counted = [s for s in one.statements if s.rank is not Rank.DEPRECATED]
        values.update({(s.property, s.target) for s in counted if s.target in kept})
        properties.update({s.property for s in counted if s.kind is not SnakKind.NOVALUE})
    return dict(values), dict(properties)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(40), deadline=None)
@given(
    given_entities=st.lists(any_entities(), min_size=1, max_size=8, unique_by=lambda one: one.id),
    share=st.integers(1, 8),
)
def test_counts_equal_a_count_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given_entities: list[Entity], share: int
) -> None:
    """The two ways of counting, in SQL over the selected and in a spilling tally over the rest, add up."""
    monkeypatch.setattr(ingestion, "_HELD", 2)
    source, out = tmp_path / "dump.json", tmp_path / "out"
    source.write_bytes(lines(*given_entities))
    kept = {one.id for one in given_entities[:share]}
    build([source], out, scope=Scope(ids=frozenset(kept)), force=True)
    with open_store(out) as store:
        assert kept <= set(store.ids())
        assert all(one[0] == "P" for one in set(store.ids()) - kept)
        kept = set(store.ids())
        values, properties = by_hand(given_entities, kept)
        every = [(prop, target) for prop in ("P1", "P31", "P279", "P999999") for target in [*kept, "Q1", "P31"]]
        assert store.value_counts(every) == values
        assert store.property_counts([prop for prop, _ in every]) == properties
