"""One pass over the sources of a build: worker processes read blocks; results return in the order of the sources."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from kg.building.extraction import BlockRows, ExtractionPlan, Extractor
from kg.building.ingestion import BuildFolder
from kg.errors import WorkerError
from kg.reading.dump import Block, DumpReader

_ALONE = 2  # blocks that are read in this process: a small source is read before workers would be up
_AHEAD = 8  # blocks under way for each worker

_extractor: Extractor | None = None  # in a worker process
_encode, _decode = msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder(BlockRows).decode


def available_cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1


class _Worker(SpawnProcess):
    """A process that needs nothing of the caller's main module, which `multiprocessing` would run again in each."""

    @staticmethod
    def _Popen(process: Any) -> Any:  # noqa: N802  # named by multiprocessing
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            return SpawnProcess._Popen(process)
        finally:
            sys.modules["__main__"] = main


class _Workers(SpawnContext):
    Process = _Worker


def _start_worker(plan: ExtractionPlan) -> None:
    """Set up a worker process: its extractor, and that it ends with its parent and never writes to standard output."""
    global _extractor
    _extractor = Extractor(plan)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt from the keyboard is for the caller alone
    os.dup2(2, 1)  # whatever prints must not print into the output of the build
    gc.disable()  # saves time; blocks have no reference cycles, so reference counts free them
    threading.Thread(target=_exit_when_parent_ends, daemon=True).start()


def _exit_when_parent_ends() -> None:
    parent = parent_process()
    assert parent is not None  # a worker has one
    parent.join()
    os._exit(1)


def _extract_in_worker(block: Block) -> bytes:
    assert _extractor is not None
    return _encode(_extractor.extract(block))


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How far a build is. `bytes_total` of the packed sources is None with standard input among them."""

    phase: str
    bytes_read: int
    bytes_total: int | None
    entities: int


class SourcePass:
    """One pass over the sources by a plan, continuing after the last checkpoint of `work`.

    `workers`: number of processes (None: one for each core); the result does not depend on it, and with one, blocks are
    read here. Memory is bounded by the blocks in progress, whatever the sources' sizes. After the pass: `damage`, and
    `unclosed`, the sources with an array that no later source closes.
    """

    def __init__(
        self,
        sources: Sequence[tuple[Path | str, str]],
        plan: ExtractionPlan,
        work: BuildFolder,
        *,
        workers: int | None,
        limit: int | None,
        keep_partial: bool,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._plan = plan
        self._extractor = Extractor(plan)
        self._work = work
        self._workers = workers or available_cores()
        self._executor: ProcessPoolExecutor | None = None
        self._submitted = 0
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

    def run(
        self, phase: str, take_block: Callable[[str, BlockRows], None], make_checkpoint: Callable[[], None]
    ) -> None:
        """Call `take_block` with the source's name and the rows of each block, in order, up to the limit.

        `make_checkpoint` is called where a checkpoint is due. Raises WorkerError where a worker process was killed.
        """
        try:
            while self._at < len(self._readers) and self._limit != self.entities:
                self._take_blocks_of_source(self._readers[self._at], phase, take_block, make_checkpoint)
        except BrokenProcessPool as error:
            raise WorkerError(
                "a worker process was ended from outside; if memory ran out, use fewer --workers."
                " The same command goes on"
            ) from error
        finally:
            if self._executor is not None:
                self._executor.shutdown(cancel_futures=True)

    def _take_blocks_of_source(
        self,
        reader: DumpReader,
        phase: str,
        take_block: Callable[[str, BlockRows], None],
        make_checkpoint: Callable[[], None],
    ) -> None:
        for block, future in self._submit_blocks_ahead(reader):
            found = self._read_in_this_process(block) if future is None else _decode(future.result())
            if self._limit is not None and found.entities > self._limit - self.entities:
                found = self._read_in_this_process(
                    block, self._limit - self.entities
                )  # read again up to the limit, which workers do not know
            take_block(reader.name, found)
            self.entities += found.entities
            self._end = block.end
            if self._work.is_checkpoint_due:
                make_checkpoint()
            self._report_progress(phase)
            if self._limit == self.entities:
                return
        if reader.damage is not None:
            self.damage.append((reader.name, reader.damage))
        elif reader.brackets > 0:
            self.unclosed.append(reader.name)
        elif reader.brackets < 0:  # this file closes the array that an earlier file of the same dump opened
            self.unclosed = self.unclosed[:-1]
        self._finished.append(reader.describe())
        self._at += 1
        self._end = 0

    def _submit_blocks_ahead(self, reader: DumpReader) -> Iterator[tuple[Block, Future[bytes] | None]]:
        """(block, future of the worker that reads it) in order; some are submitted ahead. None: to be read here."""
        ahead = _AHEAD * self._workers if self._workers > 1 else 1
        waiting: deque[tuple[Block, Future[bytes] | None]] = deque()
        with closing(reader.blocks(self._end)) as blocks:
            for block in blocks:
                self._submitted += 1
                if self._executor is None and self._workers > 1 and self._submitted > _ALONE:
                    self._executor = ProcessPoolExecutor(
                        self._workers, mp_context=_Workers(), initializer=_start_worker, initargs=(self._plan,)
                    )
                waiting.append((block, self._executor.submit(_extract_in_worker, block) if self._executor else None))
                if len(waiting) >= ahead:
                    yield waiting.popleft()
            yield from waiting

    def _read_in_this_process(self, block: Block, limit: int | None = None) -> BlockRows:
        return _decode(_encode(self._extractor.extract(block, limit)))

    def _report_progress(self, phase: str) -> None:
        if self._progress is None:
            return
        sizes = [reader.size for reader in self._readers]
        done = sum(size or 0 for size in sizes[: self._at]) + self._readers[self._at].bytes_read
        total = None if None in sizes else sum(size or 0 for size in sizes)
        self._progress(Progress(phase=phase, bytes_read=done, bytes_total=total, entities=self.entities))

    def resume_state(self) -> dict[str, Any]:
        """The position in the sources after the last block taken, from which a later pass continues."""
        return {
            "source": self._at,
            "end": self._end,
            "finished": self._finished,
            "entities": self.entities,
            "damage": self.damage,
            "unclosed": self.unclosed,
        }

    def describe_sources(self) -> list[dict[str, Any]]:
        """Name, size, time and hash of each source; the hash is None where the source was not read to its end."""
        # With a limit it depends on timing how far blocks were read ahead, perhaps to the end.
        others = (reader.describe() | {"sha256": None} for reader in self._readers[len(self._finished) :])
        return [*self._finished, *others]
