"""How long a build will take and how much disk it will fill, from the first megabytes of the first source."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import msgspec

from kg.building.extraction import ExtractionPlan, Extractor
from kg.building.worker_pool import cores
from kg.errors import SourceError
from kg.reading.dump import STDIN, DumpReader
from kg.scope import Scope
from kg.store import filling
from kg.terms import fallback_chain

SAMPLE = 24 << 20  # plain bytes
_IDLE = 1.25  # blocks wait for each other, the disk for the blocks
_BESIDE = 1.5  # the finished file, and half of it for what waits to be sorted


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildEstimate:
    """What a build may cost. Dumps begin with their largest entities, so that this is rather too much.

    `source_bytes` are packed; `entities`: how many the sources hold; `readings`: how often they are read;
    `entity_bytes`: of an entity in the snapshot; `snapshot_bytes`: of the snapshot, None where only the reading
    shows how much is selected; `free_bytes`: of the disk.
    """

    source_bytes: int
    entities: int
    seconds: float
    readings: int
    entity_bytes: float
    snapshot_bytes: int | None
    free_bytes: int

    @property
    def fits(self) -> bool:
        """Whether the disk has room for the snapshot and for what is kept beside it while it is built."""
        return _BESIDE * (self.snapshot_bytes or 0) <= self.free_bytes


def estimate(
    sources: Sequence[Path | str],
    out: Path | str,
    *,
    scope: Scope | None = None,
    languages: Collection[str] | None = None,
    limit: int | None = None,
    workers: int | None = None,
) -> BuildEstimate:
    """Read all that the first megabytes hold into a snapshot in memory, and reckon from that.

    Raises SourceError and FileNotFoundError as a build does, SourceError also for a pipe, which can be read once only.
    """
    scope = scope or Scope()
    if any(str(source) == STDIN or not Path(source).is_file() for source in sources):
        raise SourceError("an estimate needs sources that can be read twice: files, not pipes")
    kept = None if languages is None else frozenset().union(*map(fallback_chain, languages))
    extractor = Extractor(ExtractionPlan(languages=kept, everything=True))
    reader = DumpReader(str(sources[0]), keep_partial=True)
    plain = entities = 0
    held: set[int] = set()
    began = time.process_time()
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection, closing(reader.blocks()) as blocks:
        filling.prepare(connection)
        for block in blocks:
            batch = extractor.read(block)
            records = {record[0]: record for record in map(msgspec.msgpack.decode, batch.records)}
            filling.insert(connection, [record for number, record in records.items() if number not in held])
            held |= records.keys()
            entities += batch.entities
            plain += len(block.data)
            if plain >= SAMPLE:
                break
        filling.seal(connection, {}, (), ())
        connection.execute("COMMIT")
        (pages,), (page,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    seconds = time.process_time() - began
    sizes = [Path(source).stat().st_size for source in sources]
    times = sum(sizes) / (sizes[0] if plain < SAMPLE else max(1, reader.bytes_read))
    if limit is not None:
        times = min(times, limit / max(1, entities))
    readings = 2 if scope.needs_graph else 1
    folder = next(parent for parent in Path(out).absolute().parents if parent.exists())
    return BuildEstimate(
        source_bytes=sum(sizes),
        entities=int(entities * times),
        seconds=seconds * times * readings * _IDLE / min(workers or cores(), cores()),
        readings=readings,
        entity_bytes=pages * page / max(1, entities),
        snapshot_bytes=int(pages * page * times) if scope.everything else None,
        free_bytes=shutil.disk_usage(folder).free,
    )
