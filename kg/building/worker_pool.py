"""Worker processes that take bytes and give bytes back.

Blocks travel through memory that a worker shares with us, two blocks a worker, larger ones through its pipe;
results come back the same way. Workers are plain interpreters started anew: nothing is forked, and no guard
around the caller's main module is needed. A worker ends when its pipe closes, so none outlives us.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import pickle
import selectors
import signal
import struct
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from typing import IO, Any

from kg.errors import WorkerError

AREA = 2 << 20  # bytes of a block or of a result in shared memory; a block is about 1 MiB
_SLOTS = 2  # blocks that a worker holds: one at work, one waiting
_CALL = struct.Struct("<BBQ")  # what to do or how it went, slot, length
_SETUP = 0  # no kind of task is 0
_DONE, _FAILED = 1, 2
_ELSEWHERE = 0x80  # added to the slot: the bytes follow in the pipe

Handler = Callable[[memoryview], bytes]


def cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1


class Task:
    """Bytes given to the crew, and in time what became of them."""

    __slots__ = ("_answer", "_crew", "error", "kind", "parts", "size")

    def __init__(self, crew: WorkerPool, kind: int, parts: tuple[bytes, ...]) -> None:
        self._crew = crew
        self._answer: bytes | None = None
        self.kind = kind
        self.parts = parts
        self.size = sum(map(len, parts))
        self.error: BaseException | None = None

    @property
    def done(self) -> bool:
        """Whether the result is there."""
        return self._answer is not None or self.error is not None

    def settle(self, answer: bytes | None, error: BaseException | None = None) -> None:
        """The result or the error of it."""
        self._answer, self.error = answer, error

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
        shared = _shared_memory()
        self.memory = mmap.mmap(shared, 2 * _SLOTS * AREA)
        start = f"import sys; sys.path[:] = {sys.path!r}; from kg.building.worker_pool import serve; serve({shared})"
        self.process = subprocess.Popen(
            [sys.executable, "-c", start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            pass_fds=(shared,),
            env=_environment(),
            start_new_session=True,  # an interrupt from the keyboard is for us alone
        )
        os.close(shared)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.calls: IO[bytes] = self.process.stdin
        self.answers: IO[bytes] = self.process.stdout
        self.tasks: dict[int, Task] = {}
        self.large = False  # whether bytes may be on their way through the pipe

    def takes(self, task: Task) -> bool:
        if task.size > AREA:  # nothing else may be under way, or each of us could wait for the other
            return not self.tasks
        return len(self.tasks) < _SLOTS and not self.large

    def give(self, task: Task) -> None:
        slot = 0 if 0 not in self.tasks else 1
        self.tasks[slot] = task
        if task.size > AREA:
            self.large = True
            _write(self.calls, _CALL.pack(task.kind, slot | _ELSEWHERE, task.size))
            for part in task.parts:
                _write(self.calls, part)
        else:
            at = 2 * slot * AREA
            for part in task.parts:
                self.memory[at : at + len(part)] = part
                at += len(part)
            _write(self.calls, _CALL.pack(task.kind, slot, task.size))

    def receive(self) -> None:
        """One answer, which is there or on its way."""
        status, slot, size = _CALL.unpack(_read(self.answers, _CALL.size))
        if slot & _ELSEWHERE:
            answer = _read(self.answers, size)
        else:
            at = (2 * slot + 1) * AREA
            answer = self.memory[at : at + size]
        task = self.tasks.pop(slot & ~_ELSEWHERE)
        self.large = False
        if status == _DONE:
            task.settle(answer)
        else:
            task.settle(None, pickle.loads(answer))  # from our own worker

    def stop(self) -> None:
        for stream in (self.calls, self.answers):
            with contextlib.suppress(OSError):
                stream.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.memory.close()


class WorkerPool:
    """Some worker processes, or with one worker none: then the work is done here, when its result is asked for.

    `setup` gives the handlers: {kind: function}, made by `factory(*arguments)`, which must be importable and its
    arguments picklable. A handler takes a view of bytes, which it must not keep, and returns bytes. The processes
    start with the first task that has company: a small source is done before they would be up. Results do not depend
    on how many there are.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or cores()
        self._crew: list[_PoolWorker] = []
        self._waiting: deque[Task] = deque()
        self._selector = selectors.DefaultSelector()
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
        if self._crew:
            message = pickle.dumps(self._made)
            for worker in self._crew:
                self._send_setup(worker, message)

    def local(self) -> dict[int, Handler]:
        """The handlers in this process."""
        if not self._handlers and self._made is not None:
            factory, arguments = self._made
            self._handlers = factory(*arguments)
        return self._handlers

    def submit(self, kind: int, *parts: bytes) -> Task:
        """Have something done with the parts in one; its result is asked for later."""
        task = Task(self, kind, parts)
        self._waiting.append(task)
        if self._crew:
            self._dispatch()
        elif self.workers > 1 and len(self._waiting) > 2:
            self._start()
            self._dispatch()
        return task

    def wait(self, task: Task) -> None:
        """Return when the task is settled."""
        while not task.done:
            if not self._crew:
                first = self._waiting.popleft()
                try:
                    first.settle(self.local()[first.kind](memoryview(b"".join(first.parts))))
                except Exception as error:
                    first.settle(None, error)
                continue
            self._dispatch()
            if not task.done:  # else nothing might come any more
                self._collect()

    def _start(self) -> None:
        message = pickle.dumps(self._made)
        for _ in range(self.workers):
            worker = _PoolWorker()
            self._crew.append(worker)
            self._selector.register(worker.answers, selectors.EVENT_READ, worker)
        for worker in self._crew:
            self._send_setup(worker, message)

    def _send_setup(self, worker: _PoolWorker, message: bytes) -> None:
        with self._hearing(worker):
            _write(worker.calls, _CALL.pack(_SETUP, _ELSEWHERE, len(message)))
            _write(worker.calls, message)

    def _dispatch(self) -> None:
        while self._waiting:
            self._collect(0)  # who has done something has room, though nobody asked for it yet
            task = self._waiting[0]
            free = [worker for worker in self._crew if worker.takes(task)]
            if not free:
                return
            self._waiting.popleft()
            worker = min(free, key=lambda worker: len(worker.tasks))
            with self._hearing(worker):
                worker.give(task)

    def _collect(self, timeout: float | None = None) -> None:
        """Take in what the workers have done; wait for the first of it unless `timeout` is 0."""
        for key, _ in self._selector.select(timeout):
            worker: _PoolWorker = key.data
            with self._hearing(worker):
                worker.receive()

    @contextlib.contextmanager
    def _hearing(self, worker: _PoolWorker) -> Iterator[None]:
        try:
            yield
        except (EOFError, BrokenPipeError) as error:
            status = worker.process.wait()
            how = f"by signal {-status} ({signal.Signals(-status).name})" if status < 0 else f"with status {status}"
            raise WorkerError(
                f"a worker process was ended {how}; if memory ran out, use fewer --workers. The same command goes on"
            ) from error

    def close(self) -> None:
        """End the processes, whatever they are doing."""
        self._selector.close()
        for worker in self._crew:
            worker.process.kill()
            worker.stop()
        self._crew.clear()
        self._waiting.clear()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _shared_memory() -> int:
    """A file that has no name and, where the system can do it, no place on a disk."""
    if sys.platform == "linux":
        descriptor = os.memfd_create("granola-blocks")
    else:
        descriptor, name = tempfile.mkstemp()
        os.unlink(name)
    os.truncate(descriptor, 2 * _SLOTS * AREA)
    return descriptor


def _environment() -> dict[str, str]:
    """Ours, and for glibc: keep and enlarge the pages of blocks, which are freed and taken again all the time."""
    variables = dict(os.environ)
    settings = "glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=67108864:glibc.malloc.hugetlb=1"
    variables["GLIBC_TUNABLES"] = ":".join(filter(None, (settings, variables.get("GLIBC_TUNABLES"))))
    return variables


def _write(stream: IO[bytes], data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[stream.write(view) :]


def _read(stream: IO[bytes], size: int) -> bytes:
    parts = []
    while size:
        part = stream.read(size)
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def serve(shared: int) -> None:
    """A worker's life: take calls from standard input, answer on standard output, until the input closes."""
    import gc

    gc.disable()  # what is made for a block is dropped with it; there are no cycles
    calls, answers = open(0, "rb", buffering=0), open(os.dup(1), "wb", buffering=0)  # noqa: SIM115
    os.dup2(2, 1)  # whatever prints must not print into the answers
    memory = mmap.mmap(shared, 2 * _SLOTS * AREA)
    shared_view = memoryview(memory)
    handlers: dict[int, Handler] = {}
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            kind, slot, size = _CALL.unpack(_read(calls, _CALL.size))
            if kind == _SETUP:
                factory, arguments = pickle.loads(_read(calls, size))  # from the process that started us
                handlers = factory(*arguments)
                continue
            at = 2 * (slot & ~_ELSEWHERE) * AREA
            data = memoryview(_read(calls, size)) if slot & _ELSEWHERE else shared_view[at : at + size]
            slot &= ~_ELSEWHERE
            try:
                status, answer = _DONE, handlers[kind](data)
            except Exception as error:
                status, answer = _FAILED, pickle.dumps(error)
            if len(answer) > AREA:
                _write(answers, _CALL.pack(status, slot | _ELSEWHERE, len(answer)))
                _write(answers, answer)
            else:
                at += AREA
                memory[at : at + len(answer)] = answer
                _write(answers, _CALL.pack(status, slot, len(answer)))
