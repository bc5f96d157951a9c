"""Spark: a dump decoded on a cluster into the tables of `kg.export.flat_columns`.

Nothing here decodes: executors call the functions that one machine calls (`kg.reading`, `kg.export`). They need this
package installed, the dump at the same path, and the output folder at the same path (a shared file system); what
they write is put in place by renaming, so a task that is run twice writes once.

Spark reads .json and .json.bz2 in pieces, all at once; a .gz is one piece, however long: pack it anew as .bz2 first.
One entity a line is asked for, as in WikiData's own dumps.
"""

from __future__ import annotations

import pickle
import shutil
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson

from kg.errors import SourceError
from kg.export.flat_columns import OF_ENTITIES, Rows, Table, rows_of
from kg.export.output_streams import folder_out
from kg.export.parquet import TablesWriter, write_manifest
from kg.export.spark_session import explaining_spark_errors, session
from kg.files import atomic_path
from kg.reading.dump import Block, DamagedLine, brackets, parse, unclosed
from kg.reading.entity_json import Reject, decode
from kg.terms import fallback_chain

REJECTS_SUFFIX = ".rejects.jsonl"
_ITEM, _PROPERTY, _REJECT, _BRACKET = 0, 1, 2, 3  # sides, in the order of the tables
_LONG = 100_000  # entities a partition
_MOST = 4_096  # partitions
_DECODED = "side tinyint, number long, source int, block long, place long, payload binary"
_WRITTEN = "what string, payload binary"


@dataclass(frozen=True, kw_only=True, slots=True)
class SparkReport:
    """What was written: rows by table, rejects by reason and the file that lists them, entities that came again.

    `incomplete`: the sources with an array that is never closed, also by no later one.
    """

    rows: Mapping[str, int]
    duplicates: int = 0
    rejects: Mapping[str, int] = field(default_factory=dict)
    rejects_path: Path | None = None
    incomplete: Sequence[str] = ()


def decode_dump(
    sources: Sequence[Path | str],
    out: Path | str,
    *,
    master: str | None = None,
    languages: Collection[str] | None = None,
    partitions: int | None = None,
    force: bool = False,
    command: str | None = None,
    software: str | None = None,
) -> SparkReport:
    """Decode dumps into the folder `out` of Parquet tables, which `kg.building.build_from_parquet` reads.

    Everything in them is taken; of an entity that occurs again the last occurrence stays, by the order of
    `sources` and of their lines. `languages`: whose terms to keep, each with its fallbacks (None: all).
    `partitions`: how many files a table has (None: by the number of entities). What cannot be read is listed in
    `out` + ".rejects.jsonl".

    Raises EngineError without Spark or where it gives up, SourceError where there is no entity, ExportError,
    FileNotFoundError.
    """
    if not sources:
        raise SourceError("no source given; name at least one dump file")
    paths = [Path(source) for source in sources]
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(2, "no such file", str(path))
    term_languages = None if languages is None else frozenset().union(*map(fallback_chain, languages))
    rejects_path = Path(f"{out}{REJECTS_SUFFIX}")
    with (
        session(master) as spark,
        folder_out(Path(out), source=paths[0], force=force) as folder,
        explaining_spark_errors("decoding the dump"),
    ):
        decoded = _decoded(spark, paths, term_languages)
        try:
            total = decoded.filter(f"side < {_REJECT}").count()
            if not total:
                raise SourceError(f"{', '.join(map(str, paths))}: no item or property in it")
            files = partitions or max(spark.sparkContext.defaultParallelism, min(_MOST, -(-total // _LONG)))
            driver_side = _DriverSide(folder)
            incomplete = _unclosed(decoded, paths)
            ordered = (
                decoded.filter(f"side <> {_BRACKET}")
                .repartitionByRange(files, "side", "number")
                .sortWithinPartitions("side", "number", "source", "block", "place")
            )
            for row in ordered.mapInArrow(_TableWriting(str(folder)), _WRITTEN).toLocalIterator():
                driver_side.take(row["what"], bytes(row["payload"]))
        finally:
            decoded.unpersist()
        rows = driver_side.finish()
        rows |= _count(spark, folder)
        write_manifest(
            folder,
            {
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "software": software,
                "command": command,
                "sources": [_described(path) for path in paths],
                "selection": {"everything": True},
                "languages": None if term_languages is None else sorted(term_languages),
                "limit": None,
                "source_entities": rows["entities"],
                "duplicates": driver_side.duplicates,
                **({"incomplete": incomplete} if incomplete else {}),
                "warnings": [unclosed(name) for name in incomplete],
                "rejects": dict(sorted(driver_side.rejects.items())),
            },
        )
        if driver_side.rejects:
            with atomic_path(rejects_path) as temporary:
                shutil.move(folder / driver_side.REJECTED, temporary)
        else:
            rejects_path.unlink(missing_ok=True)  # of an earlier run
        (folder / driver_side.REJECTED).unlink(missing_ok=True)
    return SparkReport(
        rows=rows,
        duplicates=driver_side.duplicates,
        rejects=dict(sorted(driver_side.rejects.items())),
        rejects_path=rejects_path if driver_side.rejects else None,
        incomplete=incomplete,
    )


def _unclosed(decoded: Any, paths: Sequence[Path]) -> list[str]:
    """The names of sources whose array is closed neither in them nor in a later one."""
    rows = decoded.filter(f"side = {_BRACKET}").groupBy("source").sum("number").collect()
    names: list[str] = []
    for source, opened in sorted(map(tuple, rows)):
        if opened > 0:
            names.append(paths[source].name)
        elif opened < 0:
            names = names[:-1]
    return names


def _described(path: Path) -> dict[str, Any]:
    stat = path.stat()
    modified = datetime.fromtimestamp(stat.st_mtime, UTC).isoformat(timespec="seconds")
    return {"name": path.name, "size": stat.st_size, "modified": modified, "sha256": None}


def _decoded(spark: Any, paths: Sequence[Path], languages: frozenset[str] | None) -> Any:
    """A row for each entity, reject and bracket; decoded once, kept on the executors' disks."""
    from pyspark import StorageLevel
    from pyspark.sql import functions

    lines = None
    for number, path in enumerate(paths):
        read = spark.read.option("lineSep", "\n").text(path.absolute().as_uri())
        part = read.select(
            functions.lit(number).alias("source"),
            functions.col("_metadata.file_block_start").alias("block"),
            # As bytes: a line that is no UTF-8 is damaged, and text would hide it.
            functions.col("value").cast("binary").alias("line"),
        )
        lines = part if lines is None else lines.unionAll(part)
    names = [path.name for path in paths]
    return lines.mapInArrow(_Decoding(names, languages), _DECODED).persist(StorageLevel.DISK_ONLY)  # type: ignore[union-attr]


class _Decoding:
    """Lines -> decoded entities: (side, number, where it stood, rows and merged ids)."""

    def __init__(self, names: Sequence[str], languages: frozenset[str] | None) -> None:
        self._names = names
        self._languages = languages

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow  # type: ignore[import-untyped]  # ships no stubs

        schema = pyarrow.schema(
            [
                ("side", pyarrow.int8()), ("number", pyarrow.int64()), ("source", pyarrow.int32()),
                ("block", pyarrow.int64()), ("place", pyarrow.int64()), ("payload", pyarrow.binary()),
            ]
        )  # fmt: skip
        place = 0
        for batch in batches:
            rows: list[tuple[int, int, int, int, int, bytes]] = []
            for source, block, line in _columns([batch], "source", "block", "line"):
                for side, number, payload in self._line(line, source, block):
                    rows.append((side, number, source, block, place, payload))
                    place += 1
            if rows:
                columns = zip(zip(*rows, strict=True), schema.types, strict=True)
                yield pyarrow.RecordBatch.from_arrays([pyarrow.array(c, type=of) for c, of in columns], schema=schema)

    def _line(self, line: bytes, source: int, block: int) -> Iterator[tuple[int, int, bytes]]:
        if block == 0:
            line = line.removeprefix(BOM_UTF8)
        if opened := brackets(line):
            yield _BRACKET, opened, b""
        for _, parsed in parse(Block(line=0, data=line, single=True)):
            if isinstance(parsed, DamagedLine):
                yield _REJECT, 0, self._reject(source, block, parsed.reject, parsed.excerpt)
                continue
            decoded = decode(parsed, languages=self._languages)
            for reject in decoded.rejects:
                yield _REJECT, 0, self._reject(source, block, reject, None)
            if (entity := decoded.entity) is not None:
                side = _ITEM if entity.id[0] == "Q" else _PROPERTY
                payload = pickle.dumps((rows_of([entity]), decoded.redirects), protocol=5)
                yield side, int(entity.id[1:]), payload

    def _reject(self, source: int, block: int, reject: Reject, excerpt: str | None) -> bytes:
        record = {
            "source": self._names[source],
            "block": block,  # where its piece of the file begins; Spark numbers no lines
            "reason": reject.reason,
            "detail": reject.detail,
            "entity": reject.entity,
            "statement": reject.statement,
            "excerpt": excerpt,
        }
        return orjson.dumps({key: value for key, value in record.items() if value is not None})


class _TableWriting:
    """Ordered rows of a partition -> its file of each table; hands back counts, merged ids and rejects."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        messages: list[tuple[str, bytes]] = []
        repeats = 0

        def rows() -> Iterator[Rows]:
            nonlocal repeats
            keyed = groupby(_columns(batches, "side", "number", "payload"), key=lambda row: row[:2])
            for (side, _), group in keyed:
                last = None
                for _, _, payload in group:
                    if side == _REJECT:
                        messages.append(("reject", payload))
                    else:
                        repeats += last is not None
                        last = payload
                if last is not None:
                    of_entity, merged = pickle.loads(last)
                    subject = of_entity["entities"][0][0]
                    messages.extend(("redirect", orjson.dumps([old, subject])) for old in merged)
                    yield of_entity

        counts = _written(Path(self._folder), rows())
        messages.append(("counts", orjson.dumps({"rows": counts, "duplicates": repeats})))
        yield _record_batch(messages)


class _CountWriting:
    """Ordered counts of a partition -> its file of one table."""

    def __init__(self, folder: str, table: Table) -> None:
        self._folder = folder
        self._table = table

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        from kg.export.flat_columns import TABLES

        rows: Rows = {self._table: list(_columns(batches, *TABLES[self._table]))}
        counts = _written(Path(self._folder), [rows] if rows[self._table] else [])
        yield _record_batch([("counts", orjson.dumps({"rows": counts, "duplicates": 0}))])


def _columns(batches: Iterable[Any], *names: str) -> Iterator[tuple[Any, ...]]:
    for batch in batches:
        yield from zip(*(batch.column(name).to_pylist() for name in names), strict=True)


def _record_batch(rows: Sequence[tuple[str, bytes]]) -> Any:
    import pyarrow

    what, payload = zip(*rows, strict=True)
    arrays = [pyarrow.array(what, type=pyarrow.string()), pyarrow.array(payload, type=pyarrow.binary())]
    return pyarrow.RecordBatch.from_arrays(arrays, names=["what", "payload"])


def _written(folder: Path, batches: Iterable[Rows]) -> dict[str, int]:
    """Write this partition's files under names of this attempt, then rename them: whoever is last, they are whole."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None  # only executors come here
    attempt = folder / f".attempt-{context.taskAttemptId()}"
    attempt.mkdir()
    try:
        with TablesWriter(attempt, part=context.partitionId()) as writer:
            for rows in batches:
                writer.write_rows(rows)
        for path in attempt.glob("*/*.parquet"):
            final = folder / path.parent.name / path.name
            final.parent.mkdir(exist_ok=True)
            path.replace(final)
    finally:
        shutil.rmtree(attempt, ignore_errors=True)
    return writer.rows


class _DriverSide:
    """What the executors hand back, on the driver."""

    REJECTED = ".rejects"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stream = (folder / self.REJECTED).open("wb")
        self._redirects: dict[str, str] = {}
        self._rows: Counter[str] = Counter()
        self.rejects: Counter[str] = Counter()
        self.duplicates = 0

    def take(self, what: str, payload: bytes) -> None:
        message = orjson.loads(payload)
        if what == "redirect":
            self._redirects[message[0]] = message[1]
        elif what == "reject":
            self.rejects[message["reason"]] += 1
            self._stream.write(payload + b"\n")
        else:
            self._rows.update(message["rows"])
            self.duplicates += message["duplicates"]

    def finish(self) -> dict[str, int]:
        self._stream.close()
        for table in OF_ENTITIES:
            (self._folder / table).mkdir(exist_ok=True)
        with TablesWriter(self._folder) as writer:
            writer.write("redirects", sorted(self._redirects.items()))
        return {**self._rows, **writer.rows}


def _count(spark: Any, folder: Path) -> dict[str, int]:
    """Write how many entities carry each value and each property, and return how many rows that are."""
    from pyspark.sql import functions

    col = functions.col

    def table(name: str) -> Any:
        return spark.read.parquet((folder / name).absolute().as_uri())

    stated = table("statements").filter(col("rank") != "deprecated")
    number = functions.regexp_extract(col("property"), "[0-9]+", 0).cast("long")
    carried = functions.countDistinct("subject").alias("entities")
    values = (
        stated.filter((col("kind") == "value") & (col("type") == "wikibase-entityid"))
        .join(table("entities").select(col("id").alias("target")), "target", "left_semi")
        .groupBy("property", "target")
        .agg(carried)
    )
    target = functions.regexp_extract(col("target"), "[0-9]+", 0).cast("long")
    target = functions.when(col("target").startswith("P"), -target).otherwise(target)
    properties = stated.filter(col("kind") != "novalue").groupBy("property").agg(carried)
    rows: Counter[str] = Counter()
    orders: tuple[tuple[Table, Any, Callable[[Any], Any]], ...] = (
        ("value_counts", values, lambda counted: counted.orderBy(number, target)),
        ("property_counts", properties, lambda counted: counted.orderBy(number)),
    )
    for name, counted, in_order in orders:
        (folder / name).mkdir()
        both = in_order(counted.withColumn("here", col("entities")))
        for row in both.mapInArrow(_CountWriting(str(folder), name), _WRITTEN).collect():
            rows.update(orjson.loads(bytes(row["payload"]))["rows"])
        rows.setdefault(name, 0)
    return dict(rows)
