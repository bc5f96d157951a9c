"""A snapshot as files for `neo4j-admin database import full`, in the model that `kg.store.neo4j` tells.

The import makes nodes and relationships alone. `granola snapshot push` of the same snapshot then finds the marker
:Snapshot in the database, makes constraints and indexes, checks the counts and marks the mirror complete.

CSV by RFC 4180. An absent property is nothing between two commas, an empty text is "".
"""

from __future__ import annotations

import csv
import io
import multiprocessing
import re
import shlex
import sqlite3
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Literal

import orjson

from kg.errors import ExportError
from kg.export.output_streams import MANIFEST, folder_out
from kg.extras import install_hint
from kg.store import neo4j_rows
from kg.store.neo4j_rows import RowPiece
from kg.store.sqlite import SQLiteStore

Format = Literal["csv", "parquet"]

MODEL = 1
_PUSHED = 1_000  # past every phase of a push: what is left to do is what follows them
_BATCH = 5_000  # rows
_SMALL = 16 << 20  # bytes of a snapshot that is not worth the start of processes
# The longest tables first, as they are handed to processes; and as the report lists them.
_NAMES = ("relationships", "entities", "names", "missing", "redirects", "property_counts", "value_lists", "snapshot")
_ORDER = (*_NAMES[1:], "relationships")
_HEADER = re.compile(r"[A-Za-z0-9_.-]+\Z")
_BUFFER = 4 << 20  # bytes of the longest field that the import tool takes by default


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportReport:
    """What was written: rows by file, the longest row in bytes, and the command that imports them."""

    rows: Mapping[str, int]
    command: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Table:
    name: str
    labels: str | None  # None: relationships
    columns: tuple[tuple[str, str], ...]  # name in the header (with its role), type in Neo4j's words
    rows: Iterable[Sequence[Any]]

    def identified(self) -> _Table:
        """The table with an id column, which in Parquet every node must have."""
        if any(":" in name for name, _ in self.columns):
            return self
        name = f":ID({self.labels})"
        return replace(
            self,
            columns=((name, "string"), *self.columns),
            rows=((str(number), *row) for number, row in enumerate(self.rows)),
        )


def export_neo4j(
    snapshot: Path | str,
    out: Path | str,
    *,
    format: Format = "csv",
    force: bool = False,
    database: str = "neo4j",
    workers: int = 2,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Write the files into the folder `out`; `progress` is told the number of rows written so far,
    one table after another. Each table is written by one of `workers` processes.

    The command in the report names the files where they are now. Memory does not grow with the snapshot.
    Raises ExportError where `out` exists and `force` is not set, or pyarrow is missing; as `SQLiteStore.open`.
    """
    with SQLiteStore.open(snapshot) as store:
        manifest = dict(store.manifest())
    with folder_out(out, source=snapshot, force=force) as folder:
        jobs = [
            _ExportJob(snapshot=Path(snapshot), manifest=manifest, folder=folder, format=format, table=t)
            for t in _NAMES
        ]
        files: list[_Written] = []
        with ExitStack() as stack:
            run: Callable[..., Iterable[_Written]] = map
            if workers > 1 and Path(snapshot).stat().st_size > _SMALL:
                # Not forked: a progress bar has a thread, and threads do not survive that.
                context = multiprocessing.get_context("spawn")
                run = stack.enter_context(ProcessPoolExecutor(min(workers, len(jobs)), mp_context=context)).map
            for file in run(_write, jobs):
                files.append(file)
                if progress is not None:
                    progress(sum(file.rows for file in files))
        files.sort(key=lambda file: _ORDER.index(file.table))
        command = _command(files, Path(out).absolute(), format, database)
        rows = {file.table: file.rows for file in files}
        about = {"model": MODEL, "snapshot_id": manifest["snapshot_id"], "rows": rows, "command": command}
        (folder / MANIFEST).write_bytes(orjson.dumps(about, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return ImportReport(rows=rows, command=command)


@dataclass(frozen=True, kw_only=True, slots=True)
class _ExportJob:
    """One table to write, in a process of its own."""

    snapshot: Path
    manifest: Mapping[str, Any]
    folder: Path
    format: Format
    table: str


def _write(job: _ExportJob) -> _Written:
    uri = f"{job.snapshot.absolute().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        (table,) = (table for table in _tables(connection, job.manifest) if table.name == job.table)
        if job.format == "parquet":
            table = table.identified()
        writer = (_Parquet if job.format == "parquet" else _CSV)(job.folder, table)
        with writer:
            for batch in _batched(table.rows):
                writer.write(batch)
        return writer.done()


def _tables(connection: sqlite3.Connection, manifest: Mapping[str, Any]) -> Iterator[_Table]:
    terms = {
        "label": "SELECT DISTINCT language FROM term WHERE kind = 0 ORDER BY language",
        "aliases": "SELECT DISTINCT language FROM term WHERE kind = 1 ORDER BY language",
        "description": "SELECT DISTINCT language FROM term WHERE kind = 2 ORDER BY language",
    }
    texts = [f"{kind}_{code}" for kind, query in terms.items() for (code,) in connection.execute(query)]
    for name in texts:
        if not _HEADER.match(name):
            raise ExportError(f"the language code in {name!r} cannot stand in an import header; push the snapshot")
    names = ["datatype", *texts, "statements", "value_counts"]
    yield _Table(
        name="entities",
        labels="Entity",
        columns=(
            ("id:ID(Entity)", "string"), ("number", "long"), ("sitelinks", "long"), *((n, "string") for n in names)
        ),
        rows=(
            (node["id"], node["number"], node["sitelinks"], *map(node.get, names))
            for piece in neo4j_rows.entities(connection)
            for node in piece.rows
        ),
    )  # fmt: skip
    yield _Table(
        name="missing",
        labels="Entity:Missing",
        columns=(("id:ID(Entity)", "string"), ("number", "long")),
        rows=_rows(neo4j_rows.missing(connection)),
    )
    yield _Table(
        name="names",
        labels="Name",
        columns=(("key", "string"), ("carriers", "string")),
        rows=_rows(neo4j_rows.names(connection)),
    )
    yield _Table(
        name="redirects",
        labels="Redirect",
        columns=(("id", "string"), ("target", "string")),
        rows=_rows(neo4j_rows.redirects(connection)),
    )
    yield _Table(
        name="property_counts",
        labels="PropertyCount",
        columns=(("property", "string"), ("entities", "long")),
        rows=_rows(neo4j_rows.property_counts(connection)),
    )
    yield _Table(
        name="value_lists",
        labels="ValueList",
        columns=(("property", "string"), ("block", "long"), ("targets", "long[]"), ("entities", "long[]")),
        rows=(
            (prop, block, _listed(targets), _listed(entities))
            for prop, block, targets, entities in _rows(neo4j_rows.value_lists(connection))
        ),
    )
    load = str(uuid.uuid5(uuid.NAMESPACE_OID, manifest["snapshot_id"]))  # the same files for the same snapshot
    marker = {
        "slot": 1,
        "model": MODEL,
        "snapshot_id": manifest["snapshot_id"],
        "manifest": orjson.dumps(manifest).decode(),
        "load": load,
        "phase": _PUSHED,
        "complete": False,
    }
    kinds = {"slot": "long", "model": "long", "phase": "long", "complete": "boolean"}
    yield _Table(
        name="snapshot",
        labels="Snapshot",
        columns=tuple((key, kinds.get(key, "string")) for key in marker),
        rows=[tuple(marker.values())],
    )
    properties = ("id", "rank", "ordinal", "datatype", "qualifiers", "start", "end")
    longs = ("ordinal", "start", "end")
    yield _Table(
        name="relationships",
        labels=None,
        columns=(
            (":START_ID(Entity)", "string"),
            (":END_ID(Entity)", "string"),
            (":TYPE", "string"),
            *((name, "long" if name in longs else "string") for name in properties),
        ),
        rows=(
            (subject, target, kind, *map(given.get, properties))
            for piece in neo4j_rows.relationships(connection)
            for subject, stated in piece.rows
            for target, kind, given in stated
        ),
    )


def _rows(pieces: Iterable[RowPiece]) -> Iterator[Sequence[Any]]:
    for piece in pieces:
        yield from piece.rows


def _batched(rows: Iterable[Sequence[Any]]) -> Iterator[list[Sequence[Any]]]:
    source = iter(rows)
    while batch := list(islice(source, _BATCH)):
        yield batch


@dataclass(frozen=True, kw_only=True, slots=True)
class _Written:
    table: str
    labels: str | None
    files: tuple[str, ...]
    rows: int
    longest: int = 0  # bytes of a field
    multiline: bool = False


class _CSV:
    """A header file and a data file."""

    def __init__(self, folder: Path, table: _Table) -> None:
        self._table = table
        self._names = (f"{table.name}-header.csv", f"{table.name}.csv")
        header = ",".join(name if of == "string" or name[0] == ":" else f"{name}:{of}" for name, of in table.columns)
        (folder / self._names[0]).write_text(header + "\n", encoding="utf-8")
        self._stream: BinaryIO = (folder / self._names[1]).open("wb", buffering=1 << 20)
        self._rows = self._longest = 0
        self._multiline = False

    def write(self, rows: list[Sequence[Any]]) -> None:
        """Add rows."""
        text = _text(rows)
        self._rows += len(rows)
        data = text.encode()
        if not self._multiline and (text.count("\n") != len(rows) or text.count("\r") != len(rows)):
            self._multiline = True
        if len(data) > _BUFFER // 2:  # only a batch this long can hold a field that needs a larger buffer
            fields = (len(field.encode()) for row in rows for field in row if type(field) is str)
            self._longest = max(self._longest, *fields, 0)
        self._stream.write(data)

    def done(self) -> _Written:
        """What was written."""
        return _Written(
            table=self._table.name,
            labels=self._table.labels,
            files=self._names,
            rows=self._rows,
            longest=self._longest,
            multiline=self._multiline,
        )

    def __enter__(self) -> _CSV:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


def _text(rows: list[Sequence[Any]]) -> str:
    """Rows by RFC 4180, lines ending in CRLF; an absent property is nothing, an empty text is \"\"."""
    if any("" in row for row in rows):  # `csv` writes both as nothing
        return "".join([",".join(map(_field, row)) + "\r\n" for row in rows])
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue()


def _field(value: Any) -> str:
    if value is None:
        return ""
    return '"' + value.replace('"', '""') + '"' if type(value) is str else str(value)


def _listed(numbers: Sequence[int]) -> str:
    return ";".join(map(str, numbers))


class _Parquet:
    """One file; its columns are named as in a header of CSV."""

    def __init__(self, folder: Path, table: _Table) -> None:
        try:
            import pyarrow  # type: ignore[import-untyped]  # ships no stubs
            from pyarrow import parquet
        except ImportError as error:
            raise ExportError(f"Parquet needs pyarrow: {install_hint('parquet')}") from error
        types = {
            "string": pyarrow.string(), "long": pyarrow.int64(), "boolean": pyarrow.bool_(),
            "long[]": pyarrow.string(),  # the import tool knows no lists of Parquet's own
        }  # fmt: skip
        self._arrow = pyarrow
        self._schema = pyarrow.schema(
            [(f"{name}:{of}" if of == "long[]" else name, types[of]) for name, of in table.columns]
        )
        self._table = table
        self._name = f"{table.name}.parquet"
        self._stack = ExitStack()
        writer = parquet.ParquetWriter(folder / self._name, self._schema, compression="zstd")
        self._writer = self._stack.enter_context(writer)
        self._rows = 0

    def write(self, rows: list[Sequence[Any]]) -> None:
        """Add rows."""
        columns = [
            self._arrow.array(column, type=field.type)
            for column, field in zip(zip(*rows, strict=True), self._schema, strict=True)
        ]
        self._writer.write_table(self._arrow.Table.from_arrays(columns, schema=self._schema))
        self._rows += len(rows)

    def done(self) -> _Written:
        """What was written."""
        return _Written(table=self._table.name, labels=self._table.labels, files=(self._name,), rows=self._rows)

    def __enter__(self) -> _Parquet:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def _command(files: Sequence[_Written], folder: Path, format: Format, database: str) -> str:
    words = ["neo4j-admin", "database", "import", "full", database]
    if format == "parquet":
        words.append("--input-type=parquet")
    for file in files:
        if file.rows:  # the tool refuses files without rows
            paths = ",".join(str(folder / name) for name in file.files)
            words.append(f"--relationships={paths}" if file.labels is None else f"--nodes={file.labels}={paths}")
    if any(file.multiline for file in files):
        words.append("--multiline-fields=true")
    longest = max(file.longest for file in files)
    if longest > _BUFFER // 2:
        words.append(f"--read-buffer-size={2 * longest}")
    return shlex.join(words)
