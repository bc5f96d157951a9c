"""What changed between two snapshot files: entities, statements by property, terms, redirects.

Both files are read side by side in key order, so memory holds one entity at a time, whatever their size. A
statement is the same by its id within its subject; it has changed where its rank, value or qualifiers have. The
statements and terms of an added or removed entity count as added or removed. Numbers of sitelinks, counts over
the source, and the order of anything are not compared.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import orjson

from kg.errors import DamagedSnapshotError
from kg.ids import id_of
from kg.store import schema
from kg.store.sqlite import SQLiteStore

Kind = Literal["added", "removed", "changed"]

_TERMS: Mapping[int, Literal["label", "alias", "description"]] = {
    schema.LABEL: "label",
    schema.ALIAS: "alias",
    schema.DESCRIPTION: "description",
}
_RANKS = {schema.PREFERRED: "preferred", schema.NORMAL: "normal", schema.DEPRECATED: "deprecated"}
_ZERO: Mapping[str, int] = {"added": 0, "removed": 0, "changed": 0}


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One difference. `old` and `new` are JSON values, None where there is nothing.

    "entity": changed where anything of it is; `merged_into` where the new snapshot redirects a removed one.
    "statement": with `property` and `statement`; `aspects` of a changed one are of rank, value, qualifiers.
    "label", "description", "alias": in `language`; an alias is added or removed, never changed.
    "redirect": from `entity`.
    """

    what: Literal["entity", "statement", "label", "alias", "description", "redirect"]
    kind: Kind
    entity: str
    property: str | None = None
    statement: str | None = None
    language: str | None = None
    aspects: tuple[str, ...] = ()
    merged_into: str | None = None
    old: Any = None
    new: Any = None

    def to_json(self) -> dict[str, Any]:
        """A JSON object without the fields that are not set."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in fields.items() if value is not None and value != ()}


@dataclass(frozen=True, kw_only=True, slots=True)
class SnapshotDifference:
    """Changes counted by kind: of entities, statements, each property's, each sort of term's, redirects.

    `merged` counts the removed entities that the new snapshot redirects, `aspects` what changed of statements.
    Properties come in the order of how much changed.
    """

    old: str
    new: str
    entities: Mapping[str, int]
    merged: int
    statements: Mapping[str, int]
    aspects: Mapping[str, int] = field(default_factory=dict)
    properties: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    terms: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    redirects: Mapping[str, int] = field(default_factory=dict)

    @property
    def same(self) -> bool:
        """Whether nothing that is compared differs."""
        return not (self.entities or self.redirects)

    def to_json(self) -> dict[str, Any]:
        """One JSON object; kinds that did not occur are 0. `old` and `new` are the snapshots' ids."""
        return {
            "same": self.same,
            "old": self.old,
            "new": self.new,
            "entities": {**_ZERO, **self.entities, "merged": self.merged},
            "statements": {**_ZERO, **self.statements},
            "aspects": dict(self.aspects),
            "properties": {prop: {**_ZERO, **counts} for prop, counts in self.properties.items()},
            "terms": {what: {**_ZERO, **counts} for what, counts in self.terms.items()},
            "redirects": {**_ZERO, **self.redirects},
        }


def diff(
    old: Path | str,
    new: Path | str,
    *,
    on_change: Callable[[Change], object] | None = None,
    progress: Callable[[int], None] | None = None,
) -> SnapshotDifference:
    """Compare two snapshot files; `on_change` is given every change. Raises as `SQLiteStore.open`.

    `progress` is told the number of entities compared so far.
    """
    counts: dict[str, Counter[str]] = {}
    properties: dict[str, Counter[str]] = {}
    aspects: Counter[str] = Counter()
    merged = 0
    with closing(_File(old)) as first, closing(_File(new)) as second:
        for change in _changes(first, second, progress):
            counts.setdefault(change.what, Counter())[change.kind] += 1
            merged += change.merged_into is not None
            aspects.update(change.aspects)
            if change.property is not None:
                properties.setdefault(change.property, Counter())[change.kind] += 1
            if on_change is not None:
                on_change(change)
        return SnapshotDifference(
            old=first.snapshot_id,
            new=second.snapshot_id,
            entities=counts.get("entity", {}),
            merged=merged,
            statements=counts.get("statement", {}),
            aspects=dict(sorted(aspects.items())),
            properties=dict(sorted(properties.items(), key=lambda item: (-sum(item[1].values()), int(item[0][1:])))),
            terms={what: counts[what] for what in _TERMS.values() if what in counts},
            redirects=counts.get("redirect", {}),
        )


def _changes(old: _File, new: _File, progress: Callable[[int], None] | None) -> Iterator[Change]:
    entities = "SELECT id, datatype FROM entity ORDER BY id"
    for count, (number, before, after) in enumerate(_side_by_side(old.rows(entities), new.rows(entities))):
        subject = id_of(number)
        changes = list(_of_entity(old, new, number, subject))
        if before is None or after is None:
            target = None if after else new.redirect(number)
            kind: Kind = "added" if before is None else "removed"
            yield Change(what="entity", kind=kind, entity=subject, merged_into=target)
        elif changes or before != after:
            yield Change(what="entity", kind="changed", entity=subject)
        yield from changes
        if progress is not None and count % 1000 == 0:
            progress(count)
    redirects = "SELECT source, target FROM redirect ORDER BY source"
    for number, before, after in _side_by_side(old.rows(redirects), new.rows(redirects)):
        if before != after:
            targets = [None if row is None else id_of(row[1]) for row in (before, after)]
            kind = "added" if before is None else "removed" if after is None else "changed"
            yield Change(what="redirect", kind=kind, entity=id_of(number), old=targets[0], new=targets[1])


def _of_entity(old: _File, new: _File, number: int, subject: str) -> Iterator[Change]:
    before, after = old.statements.of(number), new.statements.of(number)
    if before != after:
        yield from _statements(before, after, subject)
    before, after = old.terms.of(number), new.terms.of(number)
    if before != after:
        yield from _terms(before, after, subject)


def _statements(before: list[Any], after: list[Any], subject: str) -> Iterator[Change]:
    # Ids repeat only in damaged sources; then the place among the repeats tells them apart.
    old_rows, new_rows = _by_id(before), _by_id(after)
    for key in [*old_rows, *(key for key in new_rows if key not in old_rows)]:
        old, new = old_rows.get(key), new_rows.get(key)
        aspects = _aspects(old, new) if old and new else ()
        if old and new and not aspects:
            continue
        row = old or new
        assert row is not None  # a key is of one of the two
        kind: Kind = "added" if old is None else "removed" if new is None else "changed"
        yield Change(
            what="statement",
            kind=kind,
            entity=subject,
            property=f"P{row[1]}",
            statement=_statement_id(subject, key[1]),
            aspects=aspects,
            old=None if old is None else _stated(old),
            new=None if new is None else _stated(new),
        )


def _by_id(rows: list[Any]) -> dict[tuple[int, Any, int], Any]:
    row_by_key: dict[tuple[int, Any, int], Any] = {}
    for row in rows:
        repeat = 0
        while (key := (row[1], row[6], repeat)) in row_by_key:
            repeat += 1
        row_by_key[key] = row
    return row_by_key


def _aspects(old: Any, new: Any) -> tuple[str, ...]:
    if old == new:
        return ()
    differs = {
        "rank": old[2] != new[2],
        "value": old[3:5] != new[3:5],
        "qualifiers": old[5] != new[5] and _unordered(old[5]) != _unordered(new[5]),
    }
    return tuple(name for name, is_so in differs.items() if is_so)


def _unordered(qualifiers: str | None) -> list[bytes]:
    return sorted(map(orjson.dumps, orjson.loads(qualifiers or "[]")))


def _stated(row: Any) -> dict[str, Any]:
    statement: dict[str, Any] = {"rank": _RANKS[row[2]], "value": _plain(row[3], row[4])}
    if row[5] is not None:
        statement["qualifiers"] = [[f"P{prop}", _plain(kind, value)] for prop, kind, value in orjson.loads(row[5])]
    return statement


def _plain(kind: int, value: Any) -> Any:
    """A stored value as JSON: ids and texts as they are, other values as told in `kg.store.schema`."""
    if kind in (schema.SOMEVALUE, schema.NOVALUE):
        return {"kind": "somevalue" if kind == schema.SOMEVALUE else "novalue"}
    if kind == schema.ENTITY:
        return id_of(value)
    if kind in (schema.TIME, schema.QUANTITY, schema.MONOLINGUAL, schema.OTHER) and isinstance(value, str):
        return orjson.loads(value)
    return value


def _statement_id(subject: str, stored: bytes | str) -> str:
    if isinstance(stored, bytes):
        digits = stored.hex().upper()
        return f"{subject}${digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
    return subject + stored if stored[:1] == "$" else stored.removeprefix("=")


def _terms(before: list[Any], after: list[Any], subject: str) -> Iterator[Change]:
    old_terms, new_terms = _by_language(before), _by_language(after)
    for key in sorted(old_terms.keys() | new_terms.keys()):
        language, kind = key
        what = _TERMS[kind]
        old, new = old_terms.get(key, []), new_terms.get(key, [])
        if old == new:
            continue
        if kind == schema.ALIAS:
            for text in old:
                if text not in new:
                    yield Change(what=what, kind="removed", entity=subject, language=language, old=text)
            for text in new:
                if text not in old:
                    yield Change(what=what, kind="added", entity=subject, language=language, new=text)
        else:
            texts = [texts[0] if texts else None for texts in (old, new)]
            how: Kind = "added" if not old else "removed" if not new else "changed"
            yield Change(what=what, kind=how, entity=subject, language=language, old=texts[0], new=texts[1])


def _by_language(rows: list[Any]) -> dict[tuple[str, int], list[str]]:
    texts_by_term: dict[tuple[str, int], list[str]] = {}
    for _, language, kind, text in rows:
        texts_by_term.setdefault((language, kind), []).append(text)
    return texts_by_term


def _side_by_side(first: Iterator[Any], second: Iterator[Any]) -> Iterator[tuple[int, Any, Any]]:
    """(key, row or None, row or None) of two streams in the order of their first column."""
    left, right = next(first, None), next(second, None)
    while left is not None or right is not None:
        key = min(row[0] for row in (left, right) if row is not None)
        here = left if left is not None and left[0] == key else None
        there = right if right is not None and right[0] == key else None
        yield key, here, there
        if here is not None:
            left = next(first, None)
        if there is not None:
            right = next(second, None)


class _File:
    """A snapshot file, read through."""

    def __init__(self, path: Path | str) -> None:
        with SQLiteStore.open(path) as store:
            self.snapshot_id: str = store.manifest()["snapshot_id"]
        self._path = Path(path)
        uri = f"{self._path.absolute().as_uri()}?mode=ro&immutable=1"
        self._connection = sqlite3.connect(uri, uri=True)
        self.statements = _EntityGroups(
            self.rows(
                "SELECT subject, property, rank, type, value, qualifiers, id FROM statement"
                " ORDER BY subject, property, ordinal"
            )
        )
        self.terms = _EntityGroups(
            self.rows("SELECT entity, language, kind, text FROM term ORDER BY entity, language, kind, ordinal")
        )

    def rows(self, query: str) -> Iterator[Any]:
        try:
            # Not the cursor itself: a generator that is left would close it, and so raise, behind the connection.
            yield from chain(self._connection.execute(query))
        except sqlite3.DatabaseError as error:
            raise DamagedSnapshotError(f"cannot read snapshot {self._path}: {error}") from error

    def redirect(self, number: int) -> str | None:
        row = self._connection.execute("SELECT target FROM redirect WHERE source = ?", (number,)).fetchone()
        return id_of(row[0]) if row else None

    def close(self) -> None:
        self._connection.close()


class _EntityGroups:
    """Rows in the order of their first column, handed out by it; asked in ascending order."""

    def __init__(self, rows: Iterator[Any]) -> None:
        self._rows = rows
        self._next: Any = ()

    def of(self, number: int) -> list[Any]:
        if self._next == ():
            self._next = next(self._rows, None)
        rows: list[Any] = []
        while self._next is not None and self._next[0] <= number:
            if self._next[0] == number:
                rows.append(self._next)
            self._next = next(self._rows, None)
        return rows
