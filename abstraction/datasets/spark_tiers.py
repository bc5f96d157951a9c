"""Ladders on a Spark cluster: the same `LadderMaker` in every executor, rows in the order of the questions.

Every executor opens the snapshot for itself, so a file must be at the same path everywhere; a mirror at bolt://
needs only the network. Questions and rows pass through the driver, ladders are made by the executors.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from abstraction.faults import OnReject
from abstraction.pipeline import LadderMakers
from abstraction.rows import QARow, TieredRow
from kg.errors import EngineError
from kg.export.spark_session import explaining_spark_errors, session
from kg.store import is_address, open_store

CHUNK = 200  # questions that travel together
_TASKS = 4  # a core, so that a slow one does not hold up the end


def ladders_on_spark(
    rows: Iterable[QARow],
    snapshot: str,
    *,
    language: str = "en",
    linker: str = "question",
    master: str | None = None,
    on_reject: OnReject | None = None,
) -> Iterator[TieredRow]:
    """Tiered rows of the questions, in order: what `abstraction.pipeline.make_ladders` gives, row for row.

    A row with which the program is at fault goes to `on_reject`; without it, EngineError is raised.
    `snapshot` is a file or an address, `master` as in `kg.export.spark_session.session`. The questions are held in
    memory.
    Raises EngineError without Spark or where it gives up, UnknownRelationError for a malformed relation.
    """
    source = iter(rows)
    chunks: list[bytes] = []
    while chunk := list(islice(source, CHUNK)):
        chunks.append(pickle.dumps(chunk, protocol=5))
    if not chunks:
        return
    where = snapshot if is_address(snapshot) else str(Path(snapshot).absolute())
    with session(master, name="granola tiers") as spark, explaining_spark_errors("making ladders"):
        import pyarrow  # type: ignore[import-untyped]  # ships no stubs

        table = pyarrow.table(
            {"place": pyarrow.array(range(len(chunks)), pyarrow.int64()), "payload": pyarrow.array(chunks)}
        )
        tasks = min(len(chunks), _TASKS * spark.sparkContext.defaultParallelism)
        spread = spark.createDataFrame(table).repartitionByRange(tasks, "place").sortWithinPartitions("place")
        parts = spread.mapInArrow(_Making(where, language, linker), "place long, payload binary")
        for expected, part in enumerate(parts.toLocalIterator(prefetchPartitions=True)):
            if part["place"] != expected:
                raise EngineError(f"Spark handed back chunk {part['place']} where {expected} was due; report this")
            for row in pickle.loads(bytes(part["payload"])):
                if isinstance(row, TieredRow):
                    yield row
                elif on_reject is None:
                    raise EngineError(f"{row.source}: {row.reason}")
                else:
                    on_reject(row)


class _Making:
    """Chunks of questions -> chunks of tiered rows."""

    def __init__(self, snapshot: str, language: str, linker: str) -> None:
        self._snapshot = snapshot
        self._language = language
        self._linker = linker

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        with closing(open_store(self._snapshot)) as store:
            maker: LadderMakers | None = None
            for batch in batches:
                for place, payload in zip(
                    batch.column("place").to_pylist(), batch.column("payload").to_pylist(), strict=True
                ):
                    maker = maker or LadderMakers(store, language=self._language, linker=self._linker)
                    done = pickle.dumps(list(maker.make_each(pickle.loads(payload))), protocol=5)
                    arrays = [pyarrow.array([place], pyarrow.int64()), pyarrow.array([done], pyarrow.binary())]
                    yield pyarrow.RecordBatch.from_arrays(arrays, names=["place", "payload"])
