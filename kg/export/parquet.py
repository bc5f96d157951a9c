"""A snapshot as a folder of Parquet files, written and read. The tables are described in `kg.export.flat_columns`.

A folder holds one file a table (statements.parquet) or, as a cluster writes it, one folder of them
(statements/part-00000.parquet ..., in the order of their names), and manifest.json.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from kg.errors import ExportError, SourceError
from kg.export import whole_tables
from kg.export.flat_columns import OF_ENTITIES, TABLES, Table, entities_of, rows_of
from kg.export.output_streams import MANIFEST, folder_out
from kg.extras import install_hint
from kg.model import Entity
from kg.store.sqlite import SQLiteStore

FORMAT = 1  # of the folder; a change of columns counts it up
_ROWS = 100_000  # a row group; what is held before writing
_BATCH = 1000  # entities at a time


@dataclass(frozen=True, kw_only=True, slots=True)
class ParquetReport:
    """Rows written by table."""

    rows: Mapping[str, int]


def arrow_schema(table: Table) -> Any:
    """The Arrow schema of a table."""
    arrow = _pyarrow()
    return arrow.schema([(name, getattr(arrow, of)()) for name, of in TABLES[table].items()])


def record_batch(rows: Sequence[tuple[Any, ...]], schema: Any) -> Any:
    """Rows as a batch of Arrow."""
    arrow = _pyarrow()
    columns = zip(zip(*rows, strict=True), schema.types, strict=True)
    return arrow.RecordBatch.from_arrays([arrow.array(column, type=of) for column, of in columns], schema=schema)


def export_parquet(
    snapshot: Path | str, out: Path | str, *, force: bool = False, progress: Callable[[int], None] | None = None
) -> ParquetReport:
    """Write a snapshot to the folder `out`; `progress` is told the entities written so far.

    Raises ExportError where `out` exists and `force` is not set, or pyarrow is missing; as `SQLiteStore.open`.
    """
    _pyarrow()
    with SQLiteStore.open(snapshot) as store, folder_out(out, source=snapshot, force=force) as folder:
        with _TablesWriter(folder) as writer:
            entities, count = whole_tables.entities(store), 0
            while batch := list(islice(entities, _BATCH)):
                for table, rows in rows_of(batch).items():
                    writer.add(table, rows)
                count += len(batch)
                if progress is not None:
                    progress(count)
            writer.add("redirects", whole_tables.redirects(store))
            writer.add("value_counts", whole_tables.value_counts(store))
            writer.add("property_counts", whole_tables.property_counts(store))
        write_manifest(folder, store.manifest())
    return ParquetReport(rows=writer.rows)


class _TablesWriter:
    """Writes tables into a folder, one file a table, in groups of many rows; a table without rows has a file, too."""

    def __init__(self, folder: Path) -> None:
        from pyarrow import parquet  # type: ignore[import-untyped]  # ships no stubs

        self.rows: dict[str, int] = dict.fromkeys(TABLES, 0)
        self._held: dict[Table, list[tuple[Any, ...]]] = {table: [] for table in TABLES}
        self._stack = ExitStack()
        self._writers = {
            table: self._stack.enter_context(
                parquet.ParquetWriter(folder / f"{table}.parquet", arrow_schema(table), compression="zstd")
            )
            for table in TABLES
        }

    def add(self, table: Table, rows: Iterable[tuple[Any, ...]]) -> None:
        """Add rows to a table."""
        source, held = iter(rows), self._held[table]
        while batch := list(islice(source, _ROWS)):
            held += batch
            if len(held) >= _ROWS:
                self._flush(table)

    def _flush(self, table: Table) -> None:
        if held := self._held[table]:
            self._writers[table].write_batch(record_batch(held, arrow_schema(table)))
            self.rows[table] += len(held)
            held.clear()

    def __enter__(self) -> _TablesWriter:
        return self

    def __exit__(self, *error: Any) -> None:
        with self._stack:
            for table in TABLES if error[0] is None else ():
                self._flush(table)


class ParquetTables:
    """An exported folder, read through in order. Raises SourceError for a folder that is none."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        _pyarrow()
        try:
            self.manifest: Mapping[str, Any] = orjson.loads((self.folder / MANIFEST).read_bytes())
        except (OSError, orjson.JSONDecodeError) as error:
            raise SourceError(f"{folder} is no folder of Parquet tables: {MANIFEST} cannot be read: {error}") from error
        file_format = self.manifest.get("format")
        if file_format is None:
            raise SourceError(
                f"{folder} is no folder of Parquet tables; 'granola snapshot export --format parquet' makes one"
            )
        if file_format != FORMAT:
            raise SourceError(f"{folder} is of format {file_format}; this version reads {FORMAT}: export it again")

    def entities(self) -> Iterator[Entity]:
        """All entities: items by number, then properties by number."""
        return entities_of(*(self.rows(table) for table in OF_ENTITIES))

    def redirects(self) -> Iterator[tuple[str, str]]:
        """(merged id, target id)."""
        return ((source, target) for source, target in self.rows("redirects"))

    def rows(self, table: Table) -> Iterator[Sequence[Any]]:
        """The rows of a table, files in the order of their names."""
        arrow = _pyarrow()
        from pyarrow import parquet

        names = list(TABLES[table])
        for path in self._files(table):
            try:
                with parquet.ParquetFile(path) as file:
                    for batch in file.iter_batches(batch_size=10_000, columns=names):
                        columns = [batch.column(name).to_pylist() for name in names]
                        yield from zip(*columns, strict=True)
            except (OSError, arrow.ArrowInvalid, KeyError) as error:
                raise SourceError(f"{path} cannot be read: {error}") from error

    def _files(self, table: Table) -> list[Path]:
        whole, parts = self.folder / f"{table}.parquet", self.folder / table
        if whole.is_file():
            return [whole]
        if parts.is_dir():
            return sorted(parts.glob("part-*.parquet"))
        raise SourceError(f"{self.folder} has no table {table}: neither {whole.name} nor a folder {table}")


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Put the manifest beside the tables."""
    data = {"format": FORMAT, **manifest}
    (folder / MANIFEST).write_bytes(orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ExportError(f"Parquet needs pyarrow: {install_hint('parquet')}") from error
    return pyarrow
