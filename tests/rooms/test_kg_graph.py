"""The graph of a store: statements that count, and what lies above."""

from __future__ import annotations

from kg.graph.graph import Graph


def test_statements_and_their_targets(graph: Graph) -> None:
    assert "Q18094" in graph.targets("Q76", "P19")
    assert graph.label("Q18094") == "Honolulu"


def test_classes_reach_upwards(graph: Graph) -> None:
    assert graph.is_instance("Q76", {"Q5"})
    assert not graph.is_instance("Q76", {"Q515"})
