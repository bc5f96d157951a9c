"""Running over the sources of a build: blocks out to the workers, what came of them back in the sources' order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kg.building.checkpoint import BuildFolder
from kg.building.worker_pool import Task, WorkerPool
from kg.errors import SourceError
from kg.reading.dump import Block, DumpReader, Mark


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How far a build is. `bytes_total` of the packed sources is None with standard input among them."""

    phase: str
    bytes_read: int
    bytes_total: int | None
    entities: int


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockResult:
    """A block of a source and the encoded result of it."""

    source: str
    block: Block
    result: bytes


class SourcePass:
    """One run over the sources. Memory is bounded by the blocks under way, whatever the sources' sizes.

    `keep` makes a checkpoint in the work, which tells when one is due: after an answer, and of what was read before a
    source's damage or an interrupt; of an answer that was taken in half, none. After the run: `damage`, and `unclosed`,
    the sources with an array that no later one closes. `state` tells how to go on behind the last answer taken.
    """

    def __init__(
        self,
        sources: Sequence[tuple[Path | str, str]],
        crew: WorkerPool,
        work: BuildFolder,
        keep: Callable[[], None],
        *,
        limit: int | None,
        keep_partial: bool,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._crew = crew
        self._work = work
        self._keep = keep
        self._limit = limit
        self._progress = progress
        self._readers = [DumpReader(path, name=name, keep_partial=keep_partial) for path, name in sources]
        state = work.state.get("reading") or {}
        self._at: int = state.get("source", 0)
        end, packed, digest = state.get("mark") or (0, 0, "")
        self._mark: Mark | None = (end, packed, digest) if end else None
        self._finished: list[dict[str, Any]] = state.get("finished", [])
        self.entities: int = state.get("entities", 0)
        self.damage: list[tuple[str, str]] = [(name, what) for name, what in state.get("damage", ())]
        self.unclosed: list[str] = list(state.get("unclosed", ()))
        self._last: Block | None = None  # taken
        self._given: Block | None = None
        self._settled = True  # whether all that was given has been taken whole: `state` may be kept

    @property
    def left(self) -> int | None:
        """How many entities may still be read, None without a limit."""
        return None if self._limit is None else self._limit - self.entities

    def _counted(self, entities: int) -> None:
        """The last answer was taken whole; so many entities it held."""
        self.entities += entities
        self._last = self._given
        self._settled = True
        if self._work.due:
            self._checkpoint()

    def _checkpoint(self) -> None:
        self._settled = False
        self._keep()
        self._settled = True

    def run(self, phase: str, take: Callable[[BlockResult], int]) -> None:
        """Give every block's answer to `take`, in order, or up to the limit; it returns how many entities it had."""
        try:
            for answer in self._answers(phase):
                self._counted(take(answer))
        except (SourceError, KeyboardInterrupt):
            if self._work.worth_keeping and self._settled:
                self._checkpoint()
            raise

    def _answers(self, phase: str) -> Iterator[BlockResult]:
        while self._at < len(self._readers) and self.left != 0:
            reader = self._readers[self._at]
            for block, task in self._tasks(reader):
                result = task()
                self._given = block
                self._settled = False
                yield BlockResult(source=reader.name, block=block, result=result)
                self._tell(phase)
                if self.left == 0:
                    return
            if reader.damage is not None:
                self.damage.append((reader.name, reader.damage))
            elif reader.brackets > 0:
                self.unclosed.append(reader.name)
            elif reader.brackets < 0:  # a dump in pieces
                self.unclosed = self.unclosed[:-1]
            self._finished.append(reader.describe())
            self._at += 1
            self._mark = self._last = self._given = None

    def _tasks(self, reader: DumpReader) -> Iterator[tuple[Block, Task]]:
        waiting: deque[tuple[Block, Task]] = deque()
        with closing(reader.blocks(self._mark)) as blocks:
            while True:
                try:
                    block = next(blocks, None)
                except SourceError:  # what was read before it counts
                    yield from waiting
                    raise
                if block is None:
                    break
                waiting.append((block, self._crew.submit(block)))
                while len(waiting) >= self._crew.ahead:
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
        """How to go on behind the last answer; for `resume`."""
        return {
            "source": self._at,
            "mark": self._last.mark if self._last is not None else self._mark,
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
