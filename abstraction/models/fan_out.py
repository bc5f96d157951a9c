"""Requests asked side by side by threads, answered in their order, a bounded number ahead."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue

from abstraction.models.chat_model import Completion, Failure, FailureReason, Reply, Request, Result
from abstraction.models.pace import Stopped

_LOOK = 0.5  # seconds after which who waits looks whether all has ended
AHEAD = 4  # requests taken ahead of the results, as a multiple of the threads


class CallFailed(Exception):  # noqa: N818 - it becomes a Failure, a result like others
    """A call is given up."""

    def __init__(self, reason: FailureReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class RequestTask:
    """A request under way. `completions`: its completions by number, None for those lacking."""

    __slots__ = ("cached", "completions", "done", "failure", "key", "lock", "pending", "request")

    def __init__(self, request: Request, key: str, completions: list[Completion | None]) -> None:
        self.request = request
        self.key = key
        self.completions = completions
        self.cached = sum(completion is not None for completion in completions)
        self.pending = 0
        self.failure: CallFailed | None = None
        self.lock = threading.Lock()
        self.done = threading.Event()

    def lacking(self) -> list[range]:
        """The numbers without a completion, in unbroken runs."""
        runs: list[range] = []
        for at, completion in enumerate(self.completions):
            if completion is None:
                if runs and runs[-1].stop == at:
                    runs[-1] = range(runs[-1].start, at + 1)
                else:
                    runs.append(range(at, at + 1))
        return runs

    def result(self, request: Request) -> Result:
        """What came of it, for a request that asks the same and for no more."""
        asked = self.completions[: request.sampling.n]
        completions = tuple(completion for completion in asked if completion is not None)
        if len(completions) == len(asked):
            return Reply(request=request, completions=completions, cached=min(self.cached, len(completions)))
        failure = self.failure or CallFailed(FailureReason.BAD_ANSWER, "fewer answers than asked for")
        return Failure(request=request, reason=failure.reason, message=str(failure), completions=completions)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some of a task's completions, to be asked for in one call."""

    task: RequestTask
    samples: range


Ask = Callable[[RequestTask, range, threading.Event], Sequence[Completion]]


class FanOut:
    """Asks for requests with some threads.

    `ask(task, samples, stop)` brings at least one of the samples, from the first on, or raises CallFailed, Stopped, or
    whatever is to end all; `known(request, key)` gives what is had already; `split(samples)` tells in which calls to
    ask. What a call did not bring is asked for one by one.
    """

    def __init__(
        self,
        *,
        ask: Ask,
        known: Callable[[Request, str], list[Completion | None]],
        split: Callable[[range], list[range]],
        threads: int,
    ) -> None:
        self._ask = ask
        self._known = known
        self._split = split
        self._most = threads
        self._threads = 0
        self._lock = threading.Lock()
        self._queue: SimpleQueue[_Piece | None] = SimpleQueue()
        self._stop = threading.Event()
        self._fatal: BaseException | None = None

    def run(self, requests: Iterable[Request]) -> Iterator[Result]:
        """One result for each request, in order. Raises what `ask` raised to end all."""
        window: deque[tuple[Request, RequestTask]] = deque()
        under_way: dict[str, RequestTask] = {}  # by key: the same question is not asked twice at once
        try:
            for request in requests:
                window.append((request, self._begin(request, under_way)))
                while window and (window[0][1].done.is_set() or len(window) >= AHEAD * self._most):
                    yield self._finish(window, under_way)
            while window:
                yield self._finish(window, under_way)
        finally:
            with self._lock:
                self._stop.set()
                for _ in range(self._threads):
                    self._queue.put(None)

    def _begin(self, request: Request, under_way: dict[str, RequestTask]) -> RequestTask:
        key = request.key()
        same = under_way.get(key)
        if same is not None:
            if len(same.completions) >= request.sampling.n:
                return same
            self._wait(same)  # then what it brought is known
        task = RequestTask(request, key, self._known(request, key))
        if same is not None:
            task.completions[: len(same.completions)] = same.completions
        under_way[key] = task
        pieces = [_Piece(task, part) for run in task.lacking() for part in self._split(run)]
        task.pending = len(pieces)
        if not pieces:
            task.done.set()
        for piece in pieces:
            self._put(piece)
        return task

    def _finish(self, window: deque[tuple[Request, RequestTask]], under_way: dict[str, RequestTask]) -> Result:
        request, task = window.popleft()
        self._wait(task)
        if under_way.get(task.key) is task:
            del under_way[task.key]
        return task.result(request)

    def _wait(self, task: RequestTask) -> None:
        while not task.done.wait(_LOOK):
            if self._fatal is not None:
                break
        if self._fatal is not None:
            raise self._fatal

    def _put(self, piece: _Piece) -> None:
        with self._lock:
            if self._stop.is_set():
                return
            self._queue.put(piece)
            if self._threads < self._most:
                # Daemons: a call that is under way keeps nobody from ending the program.
                self._threads += 1
                threading.Thread(target=self._work, name=f"model-call-{self._threads}", daemon=True).start()

    def _work(self) -> None:
        while (piece := self._queue.get()) is not None:
            self._do(piece)

    def _do(self, piece: _Piece) -> None:
        task, samples = piece.task, piece.samples
        lacking: list[_Piece] = []
        try:
            if self._stop.is_set():
                raise Stopped
            if task.failure is None:
                completions = self._ask(task, samples, self._stop)
                for sample, completion in zip(samples, completions, strict=False):
                    task.completions[sample] = completion
                lacking = [_Piece(task, range(sample, sample + 1)) for sample in samples[len(completions) :]]
        except CallFailed as failure:
            task.failure = failure
        except Stopped:
            pass
        except BaseException as error:
            self._fatal = self._fatal or error
            self._stop.set()
        with task.lock:
            task.pending += len(lacking) - 1
            over = task.pending == 0 or self._fatal is not None
        for single in lacking:
            self._put(single)
        if over:
            task.done.set()
