"""Full check of a snapshot file by its recorded counts and hash, and of a mirror by the file that it was made from."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from kg.base.model import id_of
from kg.errors import DamagedMirrorError, DamagedSnapshotError
from kg.store import filling
from kg.store.neo4j import Address, Neo4jClient, Neo4jStore
from kg.store.neo4j_push import WRITE_SECONDS, wrong_counts
from kg.store.protocol import Store
from kg.store.sqlite import SQLiteStore, read_only

SAMPLE = 1_000  # entities compared in full by default
# Entries of the manifest about the content. The others describe the run, and differ when a snapshot is rebuilt.
_OF_CONTENT = ("counts", "languages", "schema_version", "snapshot_id", "time_aware")
_BATCH = 500  # entities read per round trip
_SHOWN = 5  # differing entities named in a message


@dataclass(frozen=True, kw_only=True, slots=True)
class Verification:
    """The checks made, in order, and the faults found; none where the file is sound."""

    checked: tuple[str, ...]
    problems: tuple[str, ...]


def verify(path: Path | str, *, progress: Callable[[str], None] | None = None) -> Verification:
    """Check a snapshot; `progress` is called with the name of each check as it begins.

    Raises SnapshotError where the file is no snapshot or has another schema version, FileNotFoundError.
    """
    try:
        with SQLiteStore.open(path) as store, closing(read_only(path)) as connection:
            checks: dict[str, Callable[[], Iterator[str]]] = {
                "pages": lambda: (
                    f"SQLite: {message}"
                    for (message,) in connection.execute("PRAGMA integrity_check(20)")
                    if message != "ok"
                ),
                "counts": lambda: _difference_lines(store.manifest()["counts"], filling.counts(connection)),
                "content": lambda: _difference_lines(
                    store.manifest(), {"snapshot_id": filling.content_hash(connection)}
                ),
            }
            return _run_checks(checks, progress)
    except DamagedSnapshotError as error:
        return Verification(checked=(), problems=(str(error),))


def _run_checks(
    checks: Mapping[str, Callable[[], Iterator[str]]], progress: Callable[[str], None] | None
) -> Verification:
    checked: list[str] = []
    problems: list[str] = []
    for name, check in checks.items():
        if progress is not None:
            progress(name)
        checked.append(name)
        try:
            problems += check()
        except (DamagedSnapshotError, DamagedMirrorError, sqlite3.DatabaseError) as error:
            problems.append(str(error))
        if problems and name == "pages":
            break  # further checks of a broken file mean nothing
    return Verification(checked=tuple(checked), problems=tuple(problems))


def _difference_lines(stated: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    for key, value in found.items():
        if stated.get(key) != value:
            yield f"{key}: the manifest says {stated.get(key)!r}, found is {value!r}"


def verify_mirror(
    address: str,
    against: Path | str,
    *,
    sample: int | None = SAMPLE,
    progress: Callable[[str], None] | None = None,
) -> Verification:
    """Compare a mirror with a snapshot file: all counts, and `sample` entities (None: all) in full.

    `progress` is called with each check as it begins. Raises MirrorError where there is no mirror to read, and the
    errors of `SQLiteStore.open`.
    """
    with (
        SQLiteStore.open(against) as file,
        closing(read_only(against)) as connection,
        Neo4jStore.open(address, query_seconds=WRITE_SECONDS) as mirror,
        closing(Neo4jClient(Address.parse(address), query_seconds=WRITE_SECONDS)) as client,
    ):
        checks: dict[str, Callable[[], Iterator[str]]] = {
            "manifest": lambda: _difference_lines(
                file.manifest(), {key: mirror.manifest().get(key) for key in _OF_CONTENT}
            ),
            "counts": lambda: iter(wrong_counts(client, connection)),
            "entities": lambda: _entity_difference_lines(file, mirror, connection, sample),
        }
        return _run_checks(checks, progress)


def _entity_difference_lines(
    file: Store, mirror: Store, connection: sqlite3.Connection, sample: int | None
) -> Iterator[str]:
    drawn = "entity" if sample is None else f"(SELECT id FROM entity ORDER BY random() LIMIT {sample:d})"
    numbers = connection.execute(f"SELECT id FROM {drawn} ORDER BY id")
    wrong: list[str] = []
    while ids := [id_of(number) for (number,) in islice(numbers, _BATCH)]:
        expected, actual = file.entities(ids), mirror.entities(ids)
        wrong += [entity_id for entity_id in ids if expected.get(entity_id) != actual.get(entity_id)]
    if wrong:
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        yield f"{len(wrong)} entities differ: {', '.join(wrong[:_SHOWN])}{more}"
