"""A folder of the tables that `kg.reading.parquet_tables` reads: written of a snapshot, or of a dump by Spark.

Executors call the functions that one machine calls (`kg.reading`, `kg.building`); Spark sorts and writes. Executors
need this package installed, the dump at the same path, and the output folder at the same path (a shared file system).

Spark reads .json and .json.bz2 in pieces, all at once; a .gz is one piece, however long: pack it anew as .bz2 first.
One entity a line is asked for, as in WikiData's own dumps.
"""

from __future__ import annotations

import os
import pickle
import sys
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import msgspec
import orjson
from msgspec.structs import replace

from kg.base.files import MANIFEST, atomic_path, new_output_folder
from kg.base.model import id_of, with_fallback_languages
from kg.base.packages import install_hint
from kg.building.extraction import ExtractionPlan, Extractor
from kg.errors import EngineError, SourceError
from kg.reading.dump import Block, file_facts
from kg.reading.parquet_tables import (
    FORMAT,
    OF_ENTITIES,
    TABLES,
    Table,
    arrow_schema,
    import_pyarrow,
    record_batch,
    rows_of,
)
from kg.store.entity_rows import entity_of
from kg.store.sqlite import SQLiteStore

_ROWS = 100_000  # rows of a row group of a table that is not about entities
_BATCH = 5_000  # entities at a time, whose rows are a row group of each table


@dataclass(frozen=True, kw_only=True, slots=True)
class TablesReport:
    """Rows by table; of a dump also repeated entities, rejects by reason, and the file that lists them."""

    rows: Mapping[str, int]
    duplicates: int = 0
    rejects: Mapping[str, int] = field(default_factory=dict)
    rejects_path: Path | None = None


def export_parquet(
    snapshot: Path | str, out: Path | str, *, force: bool = False, progress: Callable[[int], None] | None = None
) -> TablesReport:
    """Write a snapshot to the folder `out`; `progress` is called with the number of entities written so far.

    Raises ExportError where `out` exists and `force` is not set, or pyarrow is missing; and the errors of
    `SQLiteStore.open`.
    """
    import_pyarrow()
    from pyarrow import parquet  # type: ignore[import-untyped]  # ships no stubs

    written: dict[str, int] = dict.fromkeys(TABLES, 0)
    with SQLiteStore.open(snapshot) as store, new_output_folder(out, source=snapshot, force=force) as folder:
        with ExitStack() as stack:
            writers = {  # a table without rows has a file, too
                table: stack.enter_context(
                    parquet.ParquetWriter(folder / f"{table}.parquet", arrow_schema(table), compression="zstd")
                )
                for table in TABLES
            }

            def write_rows(table: Table, rows: Iterable[tuple[Any, ...]]) -> None:
                source = iter(rows)
                while group := list(islice(source, _ROWS)):
                    writers[table].write_batch(record_batch(group, arrow_schema(table)))
                    written[table] += len(group)

            entities = store.all_entities()
            while batch := list(islice(entities, _BATCH)):
                for table, rows in rows_of(batch).items():
                    write_rows(table, rows)
                if progress is not None:
                    progress(written["entities"])
            write_rows("redirects", store.redirects())
            write_rows("value_counts", _value_counts_in_source_and_here(store))
            write_rows("property_counts", _property_counts_in_source_and_here(store))
        write_manifest(folder, store.manifest())
    return TablesReport(rows=written)


def _value_counts_in_source_and_here(store: SQLiteStore) -> Iterator[tuple[str, str, int, int]]:
    """(property, target, entities of the whole source with this value, entities of the snapshot with it), by number."""
    # Two ordered scans side by side: a join finds no index, as the column `value` has no type of its own.
    held_rows = store.stream_rows(
        "SELECT property, value, count(DISTINCT subject) FROM statement INDEXED BY statement_target"
        " WHERE type = 2 AND rank > 0 GROUP BY property, value ORDER BY property, value"
    )
    row = next(held_rows, None)
    query = "SELECT property, target, entities FROM value_count ORDER BY property, target"
    for prop, target, entities in store.stream_rows(query):
        while row is not None and row[:2] < (prop, target):
            row = next(held_rows, None)
        here = row[2] if row is not None and row[:2] == (prop, target) else 0
        yield f"P{prop}", id_of(target), entities, here


def _property_counts_in_source_and_here(store: SQLiteStore) -> Iterator[tuple[str, int, int]]:
    """(property, entities of the whole source with it, entities of the snapshot with it), by number."""
    query = (
        "SELECT property, entities, coalesce(here, 0) FROM property_count LEFT JOIN (SELECT property,"
        " count(DISTINCT subject) AS here FROM statement WHERE rank > 0 AND type <> 1 GROUP BY property)"
        " USING (property) ORDER BY property"
    )
    for prop, entities, here in store.stream_rows(query):
        yield f"P{prop}", entities, here


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest next to the tables."""
    data = {"format": FORMAT, **manifest}
    (folder / MANIFEST).write_bytes(orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


LOCAL = "local[*]"


@contextmanager
def spark_session(master: str | None = None, *, name: str = "granola") -> Iterator[Any]:
    """A Spark session at `master` (None: from spark-submit or the environment, else this machine's cores).

    A session that is active already is used and left running. Raises EngineError without pyspark or Java.
    """
    try:
        import pandas  # noqa: F401  # checked here, because pyspark reports its absence only later
        import pyspark
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise EngineError(f"Spark needs {error.name}: {install_hint('spark')}") from error
    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    # Executors start the first `python3` they find, which is seldom the one that has this package.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    given = master or os.environ.get("MASTER")
    builder = SparkSession.builder.appName(name).config("spark.ui.showConsoleProgress", "false")
    if given or not os.environ.get("SPARK_CONF_DIR"):
        builder = builder.master(given or LOCAL)
    if (given or LOCAL).startswith("local"):
        # The machine's own host name may not resolve, and then executors die at once.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "localhost")
        os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
        builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        builder = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "8")
    try:
        spark = builder.getOrCreate()
    except (PySparkException, RuntimeError, OSError) as error:
        raise EngineError(
            f"Spark does not start; it needs Java 17 or newer on the PATH or JAVA_HOME: {error}"
        ) from error
    spark.sparkContext.setLogLevel("ERROR")  # warnings are of Spark's own working
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def raising_engine_error(what: str) -> Iterator[None]:
    """Convert errors of Spark into one error whose message is the line with the cause."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        java = error.java_exception.getMessage() if isinstance(error, Py4JJavaError) else str(error)
        lines = [line.strip() for line in str(java or error).splitlines() if line.strip()]
        causes = [line for line in lines if "Error:" in line or "Exception:" in line] or lines
        raise EngineError(f"Spark gave up {what}: {causes[-1] if causes else error}") from error


REJECTS_SUFFIX = ".rejects.jsonl"
_ITEM, _PROPERTY, _REJECT = 0, 1, 2  # values of the column `side`; items come before properties, as in the tables
_LONG = 100_000  # entities a partition
_MOST = 4_096  # partitions
_HANDED_OVER = 20_000  # rows that an executor hands over together
_DECODED = "side tinyint, number long, source int, block long, place long, payload binary"
_SPARK_TYPES = {"string": "string", "int8": "tinyint", "int32": "int", "int64": "long"}


def convert_dump_to_parquet(
    sources: Sequence[Path | str],
    out: Path | str,
    *,
    master: str | None = None,
    languages: Collection[str] | None = None,
    partitions: int | None = None,
    force: bool = False,
    command: str | None = None,
    software: str | None = None,
) -> TablesReport:
    """Decode dumps into the folder `out` of Parquet tables, for `kg.building.other_sources.build_from_parquet`.

    All their entities are taken; of a repeated entity the last occurrence is kept, in the order of `sources` and of
    their lines. `languages`: the languages whose terms to keep, each with its fallbacks (None: all). `partitions`:
    number of files of a table (None: by the number of entities). Rejects are listed in `out` + ".rejects.jsonl".
    Raises EngineError without Spark or where it gives up, SourceError where there is no entity, ExportError,
    FileNotFoundError.
    """
    paths = [Path(source) for source in sources]
    if not paths:
        raise SourceError("no source given; name at least one dump file")
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(2, "no such file", str(path))
    term_languages = with_fallback_languages(languages)
    with (
        spark_session(master) as spark,
        new_output_folder(Path(out), source=paths[0], force=force) as folder,
        raising_engine_error("decoding the dump"),
    ):
        decoded = _decode_lines(spark, paths, term_languages)
        total = decoded.filter(f"side < {_REJECT}").count()
        if not total:
            raise SourceError(f"{', '.join(map(str, paths))}: no item or property in it")
        files = partitions or max(spark.sparkContext.defaultParallelism, min(_MOST, -(-total // _LONG)))
        rows = _write_tables_of_entities_and_redirects(decoded, folder, files) | _write_count_tables(spark, folder)
        rejects, rejects_path = _write_rejects(decoded, Path(f"{out}{REJECTS_SUFFIX}"))
        duplicates = total - rows["entities"]
        write_manifest(
            folder,
            {
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "software": software,
                "command": command,
                "sources": [file_facts(path, path.name) for path in paths],
                "selection": {"everything": True},
                "languages": None if term_languages is None else sorted(term_languages),
                "limit": None,
                "source_entities": rows["entities"],
                "duplicates": duplicates,
                "rejects": rejects,
            },
        )
    return TablesReport(rows=rows, duplicates=duplicates, rejects=rejects, rejects_path=rejects_path)


def _decode_lines(spark: Any, paths: Sequence[Path], languages: frozenset[str] | None) -> Any:
    """A row for each entity and reject; decoded once, kept on the executors' disks."""
    from pyspark import StorageLevel
    from pyspark.sql import functions

    lines = None
    for number, path in enumerate(paths):
        read = spark.read.option("lineSep", "\n").text(path.absolute().as_uri())
        part = read.select(
            functions.lit(number).alias("source"),
            functions.col("_metadata.file_block_start").alias("block"),
            # Read as bytes: decoding to text would hide damage in a line that is no UTF-8.
            functions.col("value").cast("binary").alias("line"),
        )
        lines = part if lines is None else lines.unionAll(part)
    names = [path.name for path in paths]
    return lines.mapInArrow(partial(_decode_batches, names, languages), _DECODED).persist(StorageLevel.DISK_ONLY)  # type: ignore[union-attr]


def _decode_batches(names: Sequence[str], languages: frozenset[str] | None, batches: Iterable[Any]) -> Iterator[Any]:
    """Lines -> decoded entities: (side, number, place in the source, rows and merged ids)."""
    import pyarrow

    schema = pyarrow.schema(
        [
            ("side", pyarrow.int8()), ("number", pyarrow.int64()), ("source", pyarrow.int32()),
            ("block", pyarrow.int64()), ("place", pyarrow.int64()), ("payload", pyarrow.binary()),
        ]
    )  # fmt: skip
    place, extractor = 0, Extractor(ExtractionPlan(everything=True, languages=languages))
    for batch in batches:
        rows: list[tuple[int, int, int, int, int, bytes]] = []
        for source, block, line in _rows_of_columns([batch], "source", "block", "line"):
            for side, number, payload in _decode_line(extractor, line, names[source], block):
                rows.append((side, number, source, block, place, payload))
                place += 1
        if rows:
            yield record_batch(rows, schema)


def _decode_line(extractor: Extractor, line: bytes, source: str, block: int) -> Iterator[tuple[int, int, bytes]]:
    if block == 0:
        line = line.removeprefix(BOM_UTF8)  # Spark treats a byte order mark as text
    batch = extractor.extract(Block(line=0, data=line, single=True))
    for reject in batch.rejects:
        # `block`: where its piece of the file begins; Spark numbers no lines.
        record = {"source": source, "block": block, **replace(reject, line=None).to_json()}
        yield _REJECT, 0, orjson.dumps(record)
    merged = [(id_of(old), id_of(target)) for old, target in batch.redirects]
    for encoded in batch.records:
        entity = entity_of(msgspec.msgpack.decode(encoded))
        rows = rows_of([entity]) | {"redirects": [pair for pair in merged if pair[1] == entity.id]}
        side = _ITEM if entity.id[0] == "Q" else _PROPERTY
        # pickled into one column, as each table has other columns
        yield side, int(entity.id[1:]), pickle.dumps(rows, protocol=5)


def _write_tables_of_entities_and_redirects(decoded: Any, folder: Path, files: int) -> dict[str, int]:
    """Write the tables of entities and redirects, in the order of the entities; return the number of rows of each."""
    from pyspark import StorageLevel

    ordered = (
        decoded.filter(f"side < {_REJECT}")
        .repartitionByRange(files, "side", "number")  # the files of a table, by name, are in the order of entities
        .sortWithinPartitions("side", "number", "source", "block", "place")
        .persist(StorageLevel.DISK_ONLY)
    )
    tables: tuple[Table, ...] = (*OF_ENTITIES, "redirects")
    rows: dict[str, int] = {}
    for table in tables:
        columns = ", ".join(f"`{name}` {_SPARK_TYPES[of]}" for name, of in TABLES[table].items())
        rows[table] = _write_table(ordered.mapInArrow(partial(_batches_of_table, table), columns), folder, table)
    return rows


def _write_table(frame: Any, folder: Path, table: Table) -> int:
    """Write the parts of a table, in the order of the partitions, and return how many rows it has."""
    from pyarrow import parquet

    unmarked = frame.write.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
    unmarked.option("compression", "zstd").parquet((folder / table).absolute().as_uri())
    for checksum in (folder / table).glob(".*.crc"):  # Hadoop's checksums: Parquet files contain their own
        checksum.unlink()
    return sum(parquet.read_metadata(path).num_rows for path in (folder / table).glob("part-*.parquet"))


def _batches_of_table(table: Table, batches: Iterable[Any]) -> Iterator[Any]:
    """The rows of a table, in batches, from decoded entities in order; of a repeated entity the last one is used."""
    schema = arrow_schema(table)
    held: list[tuple[Any, ...]] = []
    for _, group in groupby(_rows_of_columns(batches, "side", "number", "payload"), key=lambda row: row[:2]):
        *_, (_, _, last) = group
        held += pickle.loads(last)[table]  # safe to unpickle: our own executors wrote it
        if len(held) >= _HANDED_OVER:
            yield record_batch(held, schema)
            held = []
    if held:
        yield record_batch(held, schema)


def _rows_of_columns(batches: Iterable[Any], *names: str) -> Iterator[tuple[Any, ...]]:
    for batch in batches:
        yield from zip(*(batch.column(name).to_pylist() for name in names), strict=True)


def _write_rejects(decoded: Any, path: Path) -> tuple[dict[str, int], Path | None]:
    """(numbers of rejects by reason, the file that lists them); without rejects, an earlier list is removed."""
    counts: Counter[str] = Counter()
    rejected = decoded.filter(f"side = {_REJECT}").orderBy("source", "block", "place")
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        for row in rejected.toLocalIterator():
            payload = bytes(row["payload"])
            counts[orjson.loads(payload)["reason"]] += 1
            stream.write(payload + b"\n")
    if not counts:
        path.unlink()
    return dict(sorted(counts.items())), path if counts else None


def _write_count_tables(spark: Any, folder: Path) -> dict[str, int]:
    """Write the tables with the number of entities per value and per property; return their numbers of rows."""
    from pyspark.sql import functions

    col = functions.col

    def read_table(name: str) -> Any:
        return spark.read.parquet((folder / name).absolute().as_uri())

    stated = read_table("statements").filter(col("rank") != "deprecated")
    number = functions.regexp_extract(col("property"), "[0-9]+", 0).cast("long")
    carried = functions.countDistinct("subject").alias("entities")
    values = (
        stated.filter((col("kind") == "value") & (col("type") == "wikibase-entityid"))
        .join(read_table("entities").select(col("id").alias("target")), "target", "left_semi")
        .groupBy("property", "target")
        .agg(carried)
    )
    target = functions.regexp_extract(col("target"), "[0-9]+", 0).cast("long")
    target = functions.when(col("target").startswith("P"), -target).otherwise(target)
    properties = stated.filter(col("kind") != "novalue").groupBy("property").agg(carried)
    here = col("entities").alias("here")
    return {
        "value_counts": _write_table(values.orderBy(number, target).select("*", here), folder, "value_counts"),
        "property_counts": _write_table(properties.orderBy(number).select("*", here), folder, "property_counts"),
    }
