"""Worker processes, each with what it needs to do its tasks."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from types import ModuleType
from typing import Any

from kg.errors import WorkerError

_ALONE = 2  # tasks that are done in this process: a small source is done before workers would be up

Handler = Callable[..., bytes]  # a task's own part -> its result
Task = Callable[[], bytes]  # waits for the result; raises what the handler raised, or WorkerError

_made: tuple[Path, Handler] | None = None  # in a worker process: the file of its function, and the function


def cores() -> int:
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


class WorkerPool:
    """A pool of worker processes; with one worker none, and tasks run here when their result is requested.

    `setup` defines the task: a function made by `factory(*arguments)`, which must be importable and its arguments
    picklable. Results do not depend on the number of workers.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or cores()
        self.executor: ProcessPoolExecutor | None = None
        self._made: tuple[Any, ...] = ()
        self._file: Path | None = None  # pickled factory and arguments of the function, for the workers
        self._folder = tempfile.TemporaryDirectory(prefix="granola-workers-")
        self._given = self._setups = 0
        self._local: Handler | None = None

    @property
    def ahead(self) -> int:
        """How many tasks to have under way."""
        return 8 * self.workers if self.workers > 1 else 1

    def setup(self, factory: Callable[..., Handler], *arguments: Any) -> None:
        """Say what is done from now on. No task may be under way."""
        self._made = (factory, *arguments)
        self._file = self._local = None
        self._given = 0

    def submit(self, given: Any) -> Task:
        """Have something done; its result is asked for later."""
        self._given += 1
        if self.executor is None and self.workers > 1 and self._given > _ALONE:
            self.executor = ProcessPoolExecutor(self.workers, mp_context=_Workers(), initializer=_begin)
        if self.executor is None:
            return lambda: self.here(given)
        if self._file is None:
            self._setups += 1
            self._file = Path(self._folder.name) / str(self._setups)
            self._file.write_bytes(pickle.dumps(self._made))
        with _telling_ends():
            future = self.executor.submit(_call, self._file, given)

        def result() -> bytes:
            with _telling_ends():
                return future.result()

        return result

    def here(self, *given: Any) -> bytes:
        """Run a task in this process at once and return its result."""
        if self._local is None:
            factory, *arguments = self._made
            self._local = factory(*arguments)
        return self._local(*given)

    def close(self) -> None:
        """End the processes once each has done what it is doing."""
        if self.executor is not None:
            self.executor.shutdown(cancel_futures=True)
            self.executor = None
        self._folder.cleanup()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def _telling_ends() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool as error:
        raise WorkerError(
            "a worker process was ended from outside; if memory ran out, use fewer --workers. The same command goes on"
        ) from error


def _begin() -> None:
    """The beginning of a worker's life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt from the keyboard is for the caller alone
    os.dup2(2, 1)  # whatever prints must not print into the output of the build
    gc.disable()  # saves time; blocks have no reference cycles, so reference counts free them
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None  # a worker has one
    parent.join()
    os._exit(1)


def _call(file: Path, given: Any) -> bytes:
    global _made
    if _made is None or _made[0] != file:
        factory, *arguments = pickle.loads(file.read_bytes())
        _made = file, factory(*arguments)
    return _made[1](given)
