"""A snapshot as a folder of Parquet tables, which `kg.reading.parquet_tables` reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from kg.base.files import MANIFEST, folder_out
from kg.base.model import id_of
from kg.reading.parquet_tables import (
    FORMAT,
    TABLES,
    Table,
    arrow_schema,
    import_pyarrow,
    record_batch,
    rows_of,
)
from kg.store.sqlite import SQLiteStore

_ROWS = 100_000  # rows of a row group of a table that is not about entities
_BATCH = 5_000  # entities at a time, whose rows are a row group of each table


@dataclass(frozen=True, kw_only=True, slots=True)
class ParquetReport:
    """Rows written by table."""

    rows: Mapping[str, int]


def export_parquet(
    snapshot: Path | str, out: Path | str, *, force: bool = False, progress: Callable[[int], None] | None = None
) -> ParquetReport:
    """Write a snapshot to the folder `out`; `progress` is called with the number of entities written so far.

    Raises ExportError where `out` exists and `force` is not set, or pyarrow is missing; and the errors of
    `SQLiteStore.open`.
    """
    import_pyarrow()
    from pyarrow import parquet  # type: ignore[import-untyped]  # ships no stubs

    written: dict[str, int] = dict.fromkeys(TABLES, 0)
    with SQLiteStore.open(snapshot) as store, folder_out(out, source=snapshot, force=force) as folder:
        with ExitStack() as stack:
            writers = {  # a table without rows has a file, too
                table: stack.enter_context(
                    parquet.ParquetWriter(folder / f"{table}.parquet", arrow_schema(table), compression="zstd")
                )
                for table in TABLES
            }

            def write(table: Table, rows: Iterable[tuple[Any, ...]]) -> None:
                source = iter(rows)
                while group := list(islice(source, _ROWS)):
                    writers[table].write_batch(record_batch(group, arrow_schema(table)))
                    written[table] += len(group)

            entities = store.all_entities()
            while batch := list(islice(entities, _BATCH)):
                for table, rows in rows_of(batch).items():
                    write(table, rows)
                if progress is not None:
                    progress(written["entities"])
            write("redirects", store.redirects())
            write("value_counts", _value_counts(store))
            write("property_counts", _property_counts(store))
        write_manifest(folder, store.manifest())
    return ParquetReport(rows=written)


def _value_counts(store: SQLiteStore) -> Iterator[tuple[str, str, int, int]]:
    """(property, target, entities of the whole source that carry it, entities here), by the two numbers."""
    # Two ordered scans side by side: a join finds no index, as the column `value` has no type of its own.
    held_rows = store.stream(
        "SELECT property, value, count(DISTINCT subject) FROM statement INDEXED BY statement_target"
        " WHERE type = 2 AND rank > 0 GROUP BY property, value ORDER BY property, value"
    )
    row = next(held_rows, None)
    query = "SELECT property, target, entities FROM value_count ORDER BY property, target"
    for prop, target, entities in store.stream(query):
        while row is not None and row[:2] < (prop, target):
            row = next(held_rows, None)
        here = row[2] if row is not None and row[:2] == (prop, target) else 0
        yield f"P{prop}", id_of(target), entities, here


def _property_counts(store: SQLiteStore) -> Iterator[tuple[str, int, int]]:
    """(property, entities of the whole source that carry it, entities here), by number."""
    query = (
        "SELECT property, entities, coalesce(here, 0) FROM property_count LEFT JOIN (SELECT property,"
        " count(DISTINCT subject) AS here FROM statement WHERE rank > 0 AND type <> 1 GROUP BY property)"
        " USING (property) ORDER BY property"
    )
    for prop, entities, here in store.stream(query):
        yield f"P{prop}", entities, here


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest next to the tables."""
    data = {"format": FORMAT, **manifest}
    (folder / MANIFEST).write_bytes(orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
