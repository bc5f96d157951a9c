"""Who is selected by the graph: the work that takes, in steps of SQLite's machine and not in seconds."""

from __future__ import annotations

import sqlite3

import pytest

from kg.base.scope import Scope
from kg.building.closure import INSTANCE_OF, SUBCLASS_OF, EdgeTable

TICK = 1000  # steps


def table(classes: int, instances: int) -> tuple[sqlite3.Connection, EdgeTable]:
    """A chain of classes, 1 the uppermost, with some instances of each."""
    connection = sqlite3.connect(":memory:")
    connection.execute("ATTACH ':memory:' AS notes")
    connection.execute(
        "CREATE TABLE notes.edge (subject INTEGER, property INTEGER, value INTEGER,"
        " PRIMARY KEY (subject, property, value)) WITHOUT ROWID"
    )
    edges = EdgeTable(connection, "notes.edge")
    edges.add((SUBCLASS_OF, number + 1, number) for number in range(1, classes))
    edges.add(
        (INSTANCE_OF, 1_000_000 + number * instances + n, number)
        for number in range(1, classes + 1)
        for n in range(instances)
    )
    return connection, edges


@pytest.mark.parametrize("what", ["classes", "excluded"])
def test_the_work_grows_with_the_edges_and_no_faster(what: str) -> None:
    spent = []
    for classes in (300, 1200):
        connection, edges = table(classes, instances=5)
        ticks = 0

        def tick() -> int:
            nonlocal ticks
            ticks += 1
            return 0

        connection.set_progress_handler(tick, TICK)
        chosen, excluded = edges.selected_and_excluded(Scope(**{what: frozenset({"Q1"})}), ())
        assert len(chosen if what == "classes" else excluded) == classes * 5
        spent.append(ticks)
    assert spent[1] < 8 * spent[0]  # 4 times the edges; looking through all of them for each class takes 16 times


def test_an_instance_of_several_classes_below_is_one() -> None:
    _, edges = table(3, instances=1)
    edges.add([(INSTANCE_OF, 77, 1), (INSTANCE_OF, 77, 3), (INSTANCE_OF, 77, 4), (SUBCLASS_OF, 1, 3)])
    chosen, excluded = edges.selected_and_excluded(Scope(classes=frozenset({"Q2"})), ())
    assert 77 in chosen  # classes may go in circles
    assert len(chosen) == 4
    assert not excluded
