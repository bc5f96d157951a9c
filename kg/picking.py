"""Deciding entity by entity who goes into a snapshot; the graph first, where the scope asks for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kg.idset import IdSet
from kg.reading.entity_json import edges, entity_id, term_texts
from kg.reading.snaks import Unreadable
from kg.scope import Scope
from kg.store.rows import number_of
from kg.terms import normalise

INSTANCE_OF, SUBCLASS_OF = 31, 279
_BATCH = 50_000


class Picker:
    """Whether an entity of the source is selected.

    Where the scope needs the graph, `survey` must have seen every entity of the source first.
    """

    def __init__(self, scope: Scope, languages: frozenset[str] | None) -> None:
        self._scope = scope
        self._languages = languages
        self._keys = scope.keys()
        self._chosen = IdSet(number for number in map(number_of, sorted(scope.ids)) if number is not None)

    def picks(self, number: int, data: Mapping[str, Any]) -> bool:
        """Whether the entity, by its number and its JSON, is selected."""
        return self._scope.everything or number in self._chosen or self._is_named(data)

    def _is_named(self, data: Mapping[str, Any]) -> bool:
        keys = self._keys
        return bool(keys) and any(normalise(text) in keys for text in term_texts(data, self._languages))

    def survey(self, entities: Iterable[Mapping[str, Any]], work: Path) -> None:
        """Read the whole source once: light edges into a database in the folder `work`, then the closure."""
        if not self._scope.needs_graph:
            return
        graph = _EdgeFile(work / "edges.sqlite")
        try:
            kept = {int(prop[1:]) for prop in self._scope.along} if self._scope.hops else set()
            if self._scope.classes:
                kept |= {INSTANCE_OF, SUBCLASS_OF}
            named: list[int] = []
            for data in entities:
                try:
                    number = number_of(entity_id(data))
                except Unreadable:
                    continue  # the second reading reports it
                if number is None:
                    continue
                for prop, target in edges(data):
                    prop_number = int(prop[1:])
                    if target is not None and prop_number in kept and (value := number_of(target)) is not None:
                        graph.add(prop_number, number, value)
                if self._is_named(data):
                    named.append(number)
            for number in named:
                self._chosen.add(number)
            self._keys = frozenset()  # whoever bears a name is known by number now
            graph.seal()
            if self._scope.classes:
                classes = [number for number in map(number_of, self._scope.classes) if number is not None]
                for number in graph.instances(classes):
                    self._chosen.add(number)
            if self._scope.hops:
                along = sorted(int(prop[1:]) for prop in self._scope.along)
                for number in graph.reached(self._chosen, along, self._scope.hops):
                    self._chosen.add(number)
        finally:
            graph.close()


class _EdgeFile:
    """(property, subject, value) edges in a temporary database."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;"
            "CREATE TABLE edge (property INTEGER, subject INTEGER, value INTEGER);"
            "CREATE TABLE layer (id INTEGER PRIMARY KEY); CREATE TABLE reached (id INTEGER PRIMARY KEY);"
        )
        self._connection.execute("BEGIN")
        self._pending: list[tuple[int, int, int]] = []

    def add(self, prop: int, subject: int, value: int) -> None:
        self._pending.append((prop, subject, value))
        if len(self._pending) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        self._connection.executemany("INSERT INTO edge VALUES (?, ?, ?)", self._pending)
        self._pending.clear()

    def seal(self) -> None:
        self._flush()
        self._connection.execute("COMMIT")
        self._connection.executescript(
            "CREATE INDEX forward ON edge (subject, property, value);"
            "CREATE INDEX backward ON edge (property, value, subject)"
            f" WHERE property IN ({INSTANCE_OF}, {SUBCLASS_OF})"
        )

    def instances(self, classes: list[int]) -> Iterable[int]:
        """Subjects whose class is one of `classes` or below one."""
        run = self._connection.execute
        run("DELETE FROM reached")
        self._connection.executemany("INSERT OR IGNORE INTO reached VALUES (?)", [(one,) for one in classes])
        run(
            "INSERT OR IGNORE INTO reached WITH RECURSIVE below(id) AS ("
            " SELECT id FROM reached UNION SELECT edge.subject FROM below JOIN edge"
            f" ON edge.property = {SUBCLASS_OF} AND edge.value = below.id) SELECT id FROM below"
        )
        for (number,) in run(
            f"SELECT DISTINCT edge.subject FROM reached JOIN edge ON edge.property = {INSTANCE_OF}"
            " AND edge.value = reached.id"
        ):
            yield number

    def reached(self, start: Iterable[int], along: list[int], hops: int) -> Iterable[int]:
        """What `hops` steps from `start` reach, `start` included."""
        run = self._connection.execute
        for table in ("layer", "reached"):
            run(f"DELETE FROM {table}")
        self._connection.executemany("INSERT INTO layer VALUES (?)", ((number,) for number in start))
        run("INSERT INTO reached SELECT id FROM layer")
        followed = ", ".join(map(str, along))
        run("CREATE TEMP TABLE next (id INTEGER PRIMARY KEY)")
        for _ in range(hops):
            run("DELETE FROM next")
            run(
                "INSERT OR IGNORE INTO next"
                " SELECT edge.value FROM layer CROSS JOIN edge ON edge.subject = layer.id"
                f" WHERE edge.property IN ({followed}) AND edge.value NOT IN (SELECT id FROM reached)"
            )
            run("DELETE FROM layer")
            run("INSERT INTO layer SELECT id FROM next")
            run("INSERT OR IGNORE INTO reached SELECT id FROM next")
            if not run("SELECT 1 FROM layer LIMIT 1").fetchone():
                break
        for (number,) in run("SELECT id FROM reached ORDER BY id"):
            yield number

    def close(self) -> None:
        self._connection.close()
