"""Full check of a snapshot file: its recorded counts and hash against its content."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kg.base.terms import normalise_anew
from kg.errors import DamagedSnapshotError
from kg.store import filling, schema
from kg.store.file_header import check_kind, read_only
from kg.store.filling import content_hash
from kg.store.sqlite import SQLiteStore

# Names are no part of the content's hash: (what is wrong, how many times).
_FAULTS: tuple[tuple[str, str], ...] = (
    (
        "names that are not those of the terms",
        "name LEFT JOIN term USING (entity, language, kind, ordinal)"
        " WHERE term.text IS NULL OR normalise(term.text) <> name.key",
    ),
    (
        "labels and aliases that cannot be found by name",
        f"term WHERE kind <> {schema.DESCRIPTION} AND normalise(text) <> '' AND NOT EXISTS"
        " (SELECT 1 FROM name WHERE key = normalise(term.text) AND name.language = term.language"
        " AND name.kind = term.kind AND name.entity = term.entity AND name.ordinal = term.ordinal)",
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Verification:
    """The checks made, in order, and the faults found; none where the file is sound."""

    checked: tuple[str, ...]
    problems: tuple[str, ...]


def verify(path: Path | str, *, progress: Callable[[str], None] | None = None) -> Verification:
    """Check a snapshot; `progress` is called with the name of each check as it begins.

    Raises SnapshotError where the file is no snapshot or has another schema version, FileNotFoundError.
    """
    path = Path(path)
    check_kind(path)
    checked: list[str] = []
    problems: list[str] = []
    try:
        with SQLiteStore.open(path) as store, closing(read_only(path)) as connection:
            for name, check in _CHECKS:
                if progress is not None:
                    progress(name)
                checked.append(name)
                problems += check(connection, store)
                if problems and check is _pages:
                    break  # further checks of a broken file mean nothing
    except (DamagedSnapshotError, sqlite3.DatabaseError) as error:
        problems.append(str(error))
    return Verification(checked=tuple(checked), problems=tuple(problems))


def _pages(connection: sqlite3.Connection, _: SQLiteStore) -> Iterator[str]:
    for (message,) in connection.execute("PRAGMA integrity_check(20)"):
        if message != "ok":
            yield f"SQLite: {message}"


def _counts(connection: sqlite3.Connection, store: SQLiteStore) -> Iterator[str]:
    stated: dict[str, Any] = store.manifest()["counts"]
    for name, count in filling.counts(connection).items():
        if stated.get(name) != count:
            yield f"{name}: the manifest says {stated.get(name)}, the file holds {count}"


def _content(connection: sqlite3.Connection, store: SQLiteStore) -> Iterator[str]:
    actual, stated = content_hash(connection), store.manifest()["snapshot_id"]
    if actual != stated:
        yield f"content: the snapshot id is {stated}, the content's is {actual}"


def _names(connection: sqlite3.Connection, _: SQLiteStore) -> Iterator[str]:
    connection.create_function("normalise", 1, normalise_anew, deterministic=True)
    for what, where in _FAULTS:
        (count,) = connection.execute(f"SELECT count(*) FROM {where}").fetchone()
        if count:
            yield f"{count} {what}"


_CHECKS = (
    ("pages", _pages),
    ("counts", _counts),
    ("content", _content),
    ("names", _names),
)
