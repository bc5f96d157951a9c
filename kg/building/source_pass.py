"""One pass over the sources of a build: workers read blocks, and results return in the order of the sources."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from kg.building.checkpoint import BuildFolder
from kg.building.extraction import BlockRows
from kg.building.worker_pool import Task, WorkerPool
from kg.reading.dump import Block, DumpReader


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How far a build is. `bytes_total` of the packed sources is None with standard input among them."""

    phase: str
    bytes_read: int
    bytes_total: int | None
    entities: int


class SourcePass:
    """One pass over the sources, continuing after the last checkpoint of `work`.

    Memory is bounded by the blocks in progress, whatever the sources' sizes. After the pass: `damage`, and `unclosed`,
    the sources with an array that no later source closes.
    """

    def __init__(
        self,
        sources: Sequence[tuple[Path | str, str]],
        crew: WorkerPool,
        work: BuildFolder,
        *,
        limit: int | None,
        keep_partial: bool,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._crew = crew
        self._work = work
        self._limit = limit
        self._progress = progress
        self._readers = [DumpReader(path, name=name, keep_partial=keep_partial) for path, name in sources]
        state = work.state.get("reading") or {}
        self._at: int = state.get("source", 0)
        self._end: int = state.get("end", 0)  # byte position after the last block taken
        self._finished: list[dict[str, Any]] = state.get("finished", [])
        self.entities: int = state.get("entities", 0)
        self.damage: list[tuple[str, str]] = [(name, what) for name, what in state.get("damage", ())]
        self.unclosed: list[str] = list(state.get("unclosed", ()))

    def run(self, phase: str, take: Callable[[str, BlockRows], None], keep: Callable[[], None]) -> None:
        """Give what came of every block to `take`, with its source, in order, up to the limit.

        `keep` makes a checkpoint.
        """
        decode = msgspec.msgpack.Decoder(BlockRows).decode
        while self._at < len(self._readers) and self._limit != self.entities:
            reader = self._readers[self._at]
            for block, task in self._tasks(reader):
                found = decode(task())
                if self._limit is not None and found.entities > self._limit - self.entities:
                    found = decode(self._crew.here(block, self._limit - self.entities))
                take(reader.name, found)
                self.entities += found.entities
                self._end = block.end
                if self._work.due:
                    keep()
                self._tell(phase)
                if self._limit == self.entities:
                    return
            if reader.damage is not None:
                self.damage.append((reader.name, reader.damage))
            elif reader.brackets > 0:
                self.unclosed.append(reader.name)
            elif reader.brackets < 0:  # a dump in pieces
                self.unclosed = self.unclosed[:-1]
            self._finished.append(reader.describe())
            self._at += 1
            self._end = 0

    def _tasks(self, reader: DumpReader) -> Iterator[tuple[Block, Task]]:
        waiting: deque[tuple[Block, Task]] = deque()
        with closing(reader.blocks(self._end)) as blocks:
            for block in blocks:
                waiting.append((block, self._crew.submit(block)))
                if len(waiting) >= self._crew.ahead:
                    yield waiting.popleft()
            yield from waiting

    def _tell(self, phase: str) -> None:
        if self._progress is None:
            return
        sizes = [reader.size for reader in self._readers]
        done = sum(size or 0 for size in sizes[: self._at]) + self._readers[self._at].bytes_read
        total = None if None in sizes else sum(size or 0 for size in sizes)
        self._progress(Progress(phase=phase, bytes_read=done, bytes_total=total, entities=self.entities))

    def state(self) -> dict[str, Any]:
        """The position from which to continue after the last block taken."""
        return {
            "source": self._at,
            "end": self._end,
            "finished": self._finished,
            "entities": self.entities,
            "damage": self.damage,
            "unclosed": self.unclosed,
        }

    def describe(self) -> list[dict[str, Any]]:
        """Name, size, time and hash of each source; no hash for one that was not taken to its end."""
        # Up to a limit it is chance how far blocks were read ahead: maybe to the end.
        others = (reader.describe() | {"sha256": None} for reader in self._readers[len(self._finished) :])
        return [*self._finished, *others]
