"""Worker processes that take bytes and give bytes back.

Workers are plain interpreters started anew: nothing is forked, and no guard around the caller's main module is needed.
A worker ends when its connection closes, so none outlives us.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, Pipe, wait
from queue import SimpleQueue
from typing import Any

from kg.errors import WorkerError

_HELD = 2  # blocks that a worker holds: one at work, one waiting
_SETUP = 0  # no kind of task is 0
_DONE, _FAILED = b"\x00", b"\x01"

Handler = Callable[[memoryview], bytes]


def cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1


class Task:
    """Bytes given to the crew, and in time what became of them."""

    __slots__ = ("_answer", "_crew", "data", "error", "kind")

    def __init__(self, crew: WorkerPool, kind: int, data: bytes) -> None:
        self._crew = crew
        self._answer: bytes | None = None
        self.kind = kind
        self.data = data
        self.error: BaseException | None = None

    @property
    def done(self) -> bool:
        """Whether the result is there."""
        return self._answer is not None or self.error is not None

    def settle(self, answer: bytes | None, error: BaseException | None = None) -> None:
        """The result or the error of it."""
        self._answer, self.error, self.data = answer, error, b""

    def result(self) -> bytes:
        """Wait for the result. Raises what the handler raised, or `WorkerError`."""
        self._crew.wait(self)
        if self.error is not None:
            raise self.error
        assert self._answer is not None  # settled without an error
        return self._answer


class _PoolWorker:
    """Our end of one worker process."""

    def __init__(self) -> None:
        self.connection, theirs = Pipe()
        serving = f"from kg.building.worker_pool import serve; serve({theirs.fileno()})"
        self.process = subprocess.Popen(
            [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; {serving}"],
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            env=_environment(),
            start_new_session=True,  # an interrupt from the keyboard is for us alone
        )
        theirs.close()
        self.tasks: deque[Task] = deque()

    def give(self, task: Task) -> None:
        self.tasks.append(task)
        self.send(task.kind, task.data)

    def send(self, kind: int, data: bytes) -> None:
        with self._hearing():
            self.connection.send_bytes(bytes((kind,)) + data)

    def receive(self) -> None:
        """One answer, which is there or on its way."""
        with self._hearing():
            answer = self.connection.recv_bytes()
        task = self.tasks.popleft()
        if answer[:1] == _DONE:
            task.settle(answer[1:])
        else:
            task.settle(None, pickle.loads(answer[1:]))  # from our own worker

    @contextlib.contextmanager
    def _hearing(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, OSError) as error:
            status = self.process.wait()
            how = f"by signal {-status} ({signal.Signals(-status).name})" if status < 0 else f"with status {status}"
            raise WorkerError(
                f"a worker process was ended {how}; if memory ran out, use fewer --workers. The same command goes on"
            ) from error

    def stop(self) -> None:
        self.process.kill()
        self.connection.close()
        self.process.wait()


class WorkerPool:
    """Some worker processes, or with one worker none: then the work is done here, when its result is asked for.

    `setup` gives the handlers: {kind: function}, made by `factory(*arguments)`, which must be importable and its
    arguments picklable. A handler takes a view of bytes, which it must not keep, and returns bytes. The processes
    start with the first task that has company: a small source is done before they would be up. Results do not depend
    on how many there are.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or cores()
        self._crew: dict[Connection, _PoolWorker] = {}
        self._waiting: deque[Task] = deque()
        self._made: tuple[Any, ...] | None = None
        self._handlers: dict[int, Handler] = {}

    @property
    def ahead(self) -> int:
        """How many tasks of a kind to have under way."""
        return 8 * self.workers if self.workers > 1 else 1

    @property
    def started(self) -> bool:
        """Whether there are processes."""
        return bool(self._crew)

    def setup(self, factory: Callable[..., dict[int, Handler]], *arguments: Any) -> None:
        """Say what the kinds of task mean from now on. No task may be under way."""
        self._made = (factory, arguments)
        self._handlers = {}
        for worker in self._crew.values():
            worker.send(_SETUP, pickle.dumps(self._made))

    def local(self) -> dict[int, Handler]:
        """The handlers in this process."""
        if not self._handlers and self._made is not None:
            factory, arguments = self._made
            self._handlers = factory(*arguments)
        return self._handlers

    def submit(self, kind: int, *parts: bytes) -> Task:
        """Have something done with the parts in one; its result is asked for later."""
        task = Task(self, kind, b"".join(parts))
        self._waiting.append(task)
        if not self._crew and self.workers > 1 and len(self._waiting) > 2:
            self._start()
        if self._crew:
            self._dispatch()
        return task

    def wait(self, task: Task) -> None:
        """Return when the task is settled."""
        while not task.done:
            if not self._crew:
                first = self._waiting.popleft()
                try:
                    first.settle(self.local()[first.kind](memoryview(first.data)))
                except Exception as error:
                    first.settle(None, error)
                continue
            self._dispatch()
            if not task.done:  # else nothing might come any more
                self._collect()

    def _start(self) -> None:
        for _ in range(self.workers):
            worker = _PoolWorker()
            self._crew[worker.connection] = worker
        for worker in self._crew.values():
            worker.send(_SETUP, pickle.dumps(self._made))

    def _dispatch(self) -> None:
        while self._waiting:
            self._collect(0)  # who has done something has room, though nobody asked for it yet
            worker = min(self._crew.values(), key=lambda worker: len(worker.tasks))
            if len(worker.tasks) >= _HELD:
                return
            worker.give(self._waiting.popleft())

    def _collect(self, timeout: float | None = None) -> None:
        """Take in what the workers have done; wait for the first of it unless `timeout` is 0."""
        for connection in wait(list(self._crew), timeout):
            self._crew[connection].receive()  # type: ignore[index]  # only connections were given

    def close(self) -> None:
        """End the processes, whatever they are doing."""
        for worker in self._crew.values():
            worker.stop()
        self._crew.clear()
        self._waiting.clear()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _environment() -> dict[str, str]:
    """Ours, and for glibc: keep and enlarge the pages of blocks, which are freed and taken again all the time."""
    variables = dict(os.environ)
    settings = "glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=67108864:glibc.malloc.hugetlb=1"
    variables["GLIBC_TUNABLES"] = ":".join(filter(None, (settings, variables.get("GLIBC_TUNABLES"))))
    return variables


def serve(handle: int) -> None:
    """A worker's life: take calls from a connection and answer them, until it closes."""
    import gc

    gc.disable()  # what is made for a block is dropped with it; there are no cycles
    os.dup2(2, 1)  # whatever prints must not print into the output of the build
    connection = Connection(handle)
    calls: SimpleQueue[bytes | None] = SimpleQueue()

    def read() -> None:
        # Always reading: else each of us could wait for the other to take what was sent.
        with contextlib.suppress(EOFError, OSError):
            while True:
                calls.put(connection.recv_bytes())
        calls.put(None)

    threading.Thread(target=read, daemon=True).start()
    handlers: dict[int, Handler] = {}
    with contextlib.suppress(OSError):
        while (call := calls.get()) is not None:
            kind, data = call[0], memoryview(call)[1:]
            if kind == _SETUP:
                factory, arguments = pickle.loads(data)  # from the process that started us
                handlers = factory(*arguments)
                continue
            try:
                answer = _DONE + handlers[kind](data)
            except Exception as error:
                answer = _FAILED + pickle.dumps(error)
            connection.send_bytes(answer)
