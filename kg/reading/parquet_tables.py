"""A folder of Parquet tables, read in order. The tables are described in `kg.reading.flat_columns`.

A folder contains one file per table (statements.parquet) or, as a cluster writes it, one folder per table
(statements/part-00000.parquet ..., in the order of their names), and manifest.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from kg.base.extras import install_hint
from kg.base.model import Entity
from kg.errors import ExportError, SourceError
from kg.reading.flat_columns import OF_ENTITIES, TABLES, Table, entities_of

FORMAT = 1  # version of the folder's format, increased with every change of columns
MANIFEST = "manifest.json"


def arrow_schema(table: Table) -> Any:
    """The Arrow schema of a table."""
    arrow = import_pyarrow()
    return arrow.schema([(name, getattr(arrow, of)()) for name, of in TABLES[table].items()])


def record_batch(rows: Sequence[tuple[Any, ...]], schema: Any) -> Any:
    """Rows as a batch of Arrow."""
    arrow = import_pyarrow()
    columns = zip(zip(*rows, strict=True), schema.types, strict=True)
    return arrow.RecordBatch.from_arrays([arrow.array(column, type=of) for column, of in columns], schema=schema)


class ParquetTables:
    """An exported folder, read through in order. Raises SourceError for a folder that is none."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        import_pyarrow()
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
        arrow = import_pyarrow()
        from pyarrow import parquet  # type: ignore[import-untyped]  # ships no stubs

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


def import_pyarrow() -> Any:
    """The library. Raises ExportError where it is not installed."""
    try:
        import pyarrow
    except ImportError as error:
        raise ExportError(f"Parquet needs pyarrow: {install_hint('parquet')}") from error
    return pyarrow
