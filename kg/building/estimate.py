"""How long a build will take and how much disk it will fill, from a sample of the first source."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from kg.building.extraction import ExtractionPlan, Extractor
from kg.building.worker_pool import cores
from kg.errors import SourceError
from kg.reading.dump import STDIN, DumpReader
from kg.scope import Scope
from kg.store import filling
from kg.terms import fallback_chain
from kg.walks.closure import edges_needed

SAMPLE = 24 << 20  # plain bytes
_EDGE = 22  # bytes of an edge in the table of a survey, its share of the index included
_NOTE = 60  # bytes of a name that waits to be sorted, and of its sorting
_IDLE = 1.25  # blocks wait for each other, the disk for the blocks


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildEstimate:
    """What a build of a scope may cost. Dumps begin with their largest entities, so that this is rather too much.

    `source_bytes` (None: a pipe is among the sources, then all but `readings` and `entity_bytes` is None too) are
    packed; `entities`: how many the sources hold; `readings`: how often they are read; `entity_bytes`: of an
    entity in the snapshot; `snapshot_bytes`: of the snapshot, None where only the graph knows how much is
    selected; `work_bytes`: beside it while it is built; `free_bytes`: of the disk.
    """

    source_bytes: int | None
    entities: int | None
    seconds: float | None
    readings: int
    entity_bytes: float
    snapshot_bytes: int | None
    work_bytes: int | None
    free_bytes: int

    @property
    def fits(self) -> bool:
        """Whether the disk has room for all that is known to be needed."""
        return (self.work_bytes or 0) + (self.snapshot_bytes or 0) <= self.free_bytes


def estimate(
    sources: Sequence[Path | str],
    out: Path | str,
    *,
    scope: Scope | None = None,
    languages: Collection[str] | None = None,
    limit: int | None = None,
    workers: int | None = None,
) -> BuildEstimate:
    """Read the first megabytes of the first source that can be read twice and reckon from them.

    Raises SourceError and FileNotFoundError as a build does.
    """
    scope = scope or Scope()
    folder = next(parent for parent in (Path(out).absolute()).parents if parent.exists())
    readable = _readable(sources)
    kept = None if languages is None else frozenset().union(*map(fallback_chain, languages))
    sample = _sampled(readable[0], scope, kept)
    per_entity = sample.size / max(1, sample.entities)
    unknown = BuildEstimate(
        source_bytes=None,
        entities=None,
        seconds=None,
        readings=2 if scope.needs_graph else 1,
        entity_bytes=per_entity,
        snapshot_bytes=None,
        work_bytes=None,
        free_bytes=shutil.disk_usage(folder).free,
    )
    if len(readable) < len(sources):
        return unknown
    sizes = [Path(source).stat().st_size for source in readable]
    packed = sum(sizes)
    times = packed / (sizes[0] if sample.is_whole else max(1, sample.bytes_read))
    total = int(sample.entities * times)
    if limit is not None and total > limit:
        times *= limit / total
        total = limit
    waiting = (sample.names * times * _NOTE if scope.everything else 0.0) + sample.edges * times * _EDGE
    return replace(
        unknown,
        source_bytes=packed,
        entities=total,
        seconds=_work(sample, scope) * times * _IDLE / min(workers or cores(), cores()),
        snapshot_bytes=_snapshot_bytes(scope, total, per_entity),
        work_bytes=int(waiting),
    )


def _readable(sources: Sequence[Path | str]) -> list[str]:
    readable = [str(source) for source in sources if str(source) != STDIN and Path(source).is_file()]
    if not readable:
        raise SourceError("an estimate needs a source that can be read twice: a file, not a pipe")
    return readable


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sample:
    """What the first megabytes of a source hold, and the seconds of work on them.

    `bytes_read`: packed; `size`: of the snapshot that they make. `unpacking`: of one reading; `taking`: all rows;
    `selecting`: what the scope takes or surveys, 0 where it takes all; `loading`: the rows into a snapshot.
    """

    is_whole: bool
    bytes_read: int
    entities: int
    names: int
    edges: int
    size: int
    unpacking: float
    taking: float
    selecting: float
    loading: float


def _sampled(source: str, scope: Scope, languages: frozenset[str] | None) -> _Sample:
    reader = DumpReader(source, keep_partial=True)
    selection = _selection(scope, languages)
    extractor = Extractor(ExtractionPlan(languages=languages, everything=True))
    selector = None if selection is None else Extractor(selection)
    plain = entities = edges = names = 0
    taking = selecting = loading = 0.0
    began = time.process_time()
    store = _Store()
    with closing(store), closing(reader.blocks()) as blocks:
        for block in blocks:
            start = time.process_time()
            batch = extractor.read(block)
            names += sum(map(len, batch.names))
            taking += time.process_time() - start
            if selector is not None:
                start = time.process_time()
                if scope.needs_graph:
                    edges += len(selector.survey(block).edges)
                else:
                    selector.read(block)
                selecting += time.process_time() - start
            start = time.process_time()
            store.add(batch.records)
            loading += time.process_time() - start
            entities += batch.entities
            plain += len(block.data)
            if plain >= SAMPLE:
                break
        start = time.process_time()
        size = store.finish()
        loading += time.process_time() - start
    return _Sample(
        is_whole=plain < SAMPLE,
        bytes_read=reader.bytes_read,
        entities=entities,
        names=names,
        edges=edges,
        size=size,
        unpacking=max(0.0, time.process_time() - began - taking - selecting - loading),
        taking=taking,
        selecting=selecting,
        loading=loading,
    )


def _selection(scope: Scope, languages: frozenset[str] | None) -> ExtractionPlan | None:
    """What a build takes from a block where it does not take all, or surveys to know what to take."""
    if scope.needs_graph:
        return ExtractionPlan(languages=languages, keys=scope.keys(), along=edges_needed(scope))
    return None if scope.everything else ExtractionPlan(languages=languages, keys=scope.keys())


def _work(sample: _Sample, scope: Scope) -> float:
    """The seconds of one worker that the sample stands for: of one reading, and of the survey before it."""
    # Who is not selected is only sketched; where nearly all are, the rows are what takes time.
    work = sample.taking + sample.loading if scope.everything else sample.selecting
    surveying = sample.unpacking + sample.selecting if scope.needs_graph else 0.0
    return sample.unpacking + work + surveying


def _snapshot_bytes(scope: Scope, entities: int, per_entity: float) -> int | None:
    if scope.everything:
        return int(entities * per_entity)
    return None if scope.needs_graph else int((len(scope.ids) + 2 * len(scope.names)) * per_entity)


class _Store:
    """A snapshot of the sample, for its size and for what it takes to fill it; in memory, as the disk may be full."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        filling.prepare(self._connection)
        self._seen: set[int] = set()

    def add(self, records: list[Any]) -> None:
        decoded = [msgspec.msgpack.decode(record) for record in records]
        fresh = {record[0]: record for record in decoded if record[0] not in self._seen}
        self._seen.update(fresh)
        filling.insert(self._connection, list(fresh.values()))

    def finish(self) -> int:
        filling.seal(self._connection, {}, (), ())
        self._connection.execute("COMMIT")
        (pages,), (size,) = (
            self._connection.execute(f"PRAGMA {pragma}").fetchone() for pragma in ("page_count", "page_size")
        )
        return int(pages * size)

    def close(self) -> None:
        self._connection.close()
