"""How long a build will take and how much disk it will fill, from a sample of the first source."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
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
    readable = [str(source) for source in sources if str(source) != STDIN and Path(source).is_file()]
    if not readable:
        raise SourceError("an estimate needs a source that can be read twice: a file, not a pipe")
    kept = None if languages is None else frozenset().union(*map(fallback_chain, languages))
    recipes = [ExtractionPlan(languages=kept, everything=True)]
    if scope.needs_graph:
        recipes.append(ExtractionPlan(languages=kept, keys=scope.keys(), along=edges_needed(scope)))
    elif not scope.everything:
        recipes.append(ExtractionPlan(languages=kept, keys=scope.keys()))
    reader = DumpReader(readable[0], keep_partial=True)
    harvesters = [Extractor(recipe) for recipe in recipes]
    spent = [0.0] * len(recipes)
    plain = entities = edges = names = 0
    began = time.process_time()
    size, loading = 0, 0.0
    store = _Store()
    with closing(store), closing(reader.blocks()) as blocks:
        for block in blocks:
            for at, harvester in enumerate(harvesters):
                start = time.process_time()
                if at == 0:
                    batch = harvester.read(block)
                    names += sum(map(len, batch.names))
                elif scope.needs_graph:
                    edges += len(harvester.survey(block).edges)
                else:
                    harvester.read(block)
                spent[at] += time.process_time() - start
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
    whole_sample = plain < SAMPLE
    unpacking = max(0.0, time.process_time() - began - sum(spent) - loading)
    given = [Path(source) for source in readable]
    packed = sum(path.stat().st_size for path in given) if len(readable) == len(sources) else None
    read = given[0].stat().st_size if whole_sample else max(1, reader.bytes_read)
    free = shutil.disk_usage(folder).free
    per_entity = size / max(1, entities)
    readings = 2 if scope.needs_graph else 1
    if packed is None:
        return BuildEstimate(
            source_bytes=None,
            entities=None,
            seconds=None,
            readings=readings,
            entity_bytes=per_entity,
            snapshot_bytes=None,
            work_bytes=None,
            free_bytes=free,
        )
    times = packed / read
    total = int(entities * times)
    if limit is not None and total > limit:
        times *= limit / total
        total = limit
    whole = scope.everything
    # Who is not selected is only sketched; where nearly all are, the rows are what takes time.
    work = (unpacking + spent[0] + loading) if whole else (unpacking + spent[-1])
    if scope.needs_graph:
        work += unpacking + spent[1]
    snapshot = int(total * per_entity) if whole else None
    if not whole and not scope.needs_graph:
        snapshot = int((len(scope.ids) + 2 * len(scope.names)) * per_entity)
    waiting = names * times * _NOTE * (1 if whole else 0) + edges * times * _EDGE
    return BuildEstimate(
        source_bytes=packed,
        entities=total,
        seconds=work * times * _IDLE / min(workers or cores(), cores()),
        readings=readings,
        entity_bytes=per_entity,
        snapshot_bytes=snapshot,
        work_bytes=int(waiting),
        free_bytes=free,
    )


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
            self._connection.execute(f"PRAGMA {one}").fetchone() for one in ("page_count", "page_size")
        )
        return int(pages * size)

    def close(self) -> None:
        self._connection.close()
