"""Ladders on a Spark cluster: a `LadderMaker` in every executor, rows in the order of the questions.

Every executor opens the snapshot for itself, so a file must be at the same path everywhere; a mirror at bolt:// needs
only the network. Questions and rows pass through the driver, ladders are made by the executors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

from abstraction.base.faults import OnReject, RejectedRow
from abstraction.files.rows import QARow, TieredRow
from abstraction.maker.pipeline import LadderMakers
from kg.errors import EngineError
from kg.export.parquet import raising_engine_error, spark_session
from kg.store import is_address, open_store

_LEAST_QUESTIONS = 200  # questions per task, since each task opens the snapshot
_TASKS = 4  # per core, so that one slow task does not delay the end


def ladders_on_spark(
    rows: Iterable[QARow],
    snapshot: str,
    *,
    language: str = "en",
    linker: str = "question",
    master: str | None = None,
    on_reject: OnReject | None = None,
) -> Iterator[TieredRow]:
    """Tiered rows of the questions, in order; equal to those of `abstraction.maker.pipeline.make_ladders`, row for row.

    A row at which the program fails goes to `on_reject`; without it, EngineError is raised. `snapshot` is a file or an
    address; for `master` see `kg.export.parquet.spark_session`. The questions are kept in memory. Raises EngineError
    without Spark or where it fails, UnknownRelationError for a malformed relation.
    """
    questions = list(rows)
    if not questions:
        return
    where = snapshot if is_address(snapshot) else str(Path(snapshot).absolute())
    with spark_session(master, name="granola tiers") as spark, raising_engine_error("making ladders"):
        # Rounded up.
        tasks = min(-(-len(questions) // _LEAST_QUESTIONS), _TASKS * spark.sparkContext.defaultParallelism)
        spread = spark.sparkContext.parallelize(questions, tasks)
        made = spread.mapPartitions(partial(_make_executor_ladders, snapshot=where, language=language, linker=linker))
        for row in made.toLocalIterator(prefetchPartitions=True):
            if isinstance(row, TieredRow):
                yield row
            elif on_reject is None:
                raise EngineError(f"{row.source}: {row.reason}")
            else:
                on_reject(row)


def _make_executor_ladders(
    rows: Iterable[QARow], *, snapshot: str, language: str, linker: str
) -> Iterator[TieredRow | RejectedRow]:
    """The tiered rows of an executor's questions, in order."""
    with closing(open_store(snapshot)) as store:
        yield from LadderMakers(store, language=language, linker=linker).make_each(rows)
