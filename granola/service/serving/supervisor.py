"""The process above the workers: it starts them, replaces those that end or hang, and ends them when told to. With
them it shares memory that says until when each is known to be well.

A worker tells from its event loop, some times in `hang_seconds`, that it is well. Work that never gives the
interpreter's lock away keeps the loop from that, and no signal handler of the worker runs either: it is killed. Nor
does the worker tell it while work that gives the lock away, and heeds nothing, goes on far beyond its time.
"""

from __future__ import annotations

import logging
import mmap
import os
import select
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from granola.errors import GranolaError
from granola.service.service_settings import ServiceSettings

# Memory that a supervisor shares with its workers: until when each is known to be well, and how many were replaced.

REASONS = ("hung", "ended")  # why a worker was replaced: it did not answer any more, or its process ended by itself
_SIZE = 8  # bytes of a double: it is written at once, so that no reader sees half of it


class Heartbeats:
    """Of `workers` processes that are forks of this one. Times are those of `time.monotonic`, in seconds."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._values = memoryview(mmap.mmap(-1, _SIZE * (workers + len(REASONS)))).cast("d")

    def beat(self, worker: int, until: float) -> None:
        """Tell that the worker need not be heard of before `until`."""
        self._values[worker] = until

    def until(self, worker: int) -> float:
        """What was told last."""
        return self._values[worker]

    def count(self, reason: str) -> None:
        """Count a worker that was replaced. Of the supervisor alone."""
        self._values[self._workers + REASONS.index(reason)] += 1

    def replaced(self) -> Mapping[str, int]:
        """How many workers were replaced so far, by reason."""
        return {reason: int(self._values[self._workers + at]) for at, reason in enumerate(REASONS)}


# The supervisor.


START_SECONDS = 300.0  # in which a worker has to be ready
RESTART_SECONDS = 1.0  # between two starts of one worker, so that one that cannot live does not take the processor
LOOK_SECONDS = 0.25
PAUSE_SECONDS = 2.0  # between two looks: longer means that this process was stopped, and so perhaps were the workers
ENDING = 14 / 15  # of the grace, after which what is left is killed: ending takes time, too, where much else runs
_HANDLED = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
FAILED = 3  # the exit status of a worker that could not start
log = logging.getLogger("granola.service")


@dataclass(slots=True)
class _ServiceWorker:
    """A running worker process: `place` is its number from 0, which its successor has too."""

    place: int
    started: float
    is_hung: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerCalls:
    """What a worker needs of its supervisor: `ready` and `beat` are called by it, `supervisor` is readable when the
    supervisor has ended."""

    ready: Callable[[], None]
    beat: Callable[[], None]
    supervisor: int
    heartbeats: Heartbeats


class Supervisor:
    """Keeps `workers` forks going, each of which runs `serve`. `ready` is called once, when all answer requests."""

    def __init__(
        self,
        settings: ServiceSettings,
        workers: int,
        *,
        serve: Callable[[WorkerCalls], None],
        ready: Callable[[], None],
        close: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._count = workers
        self._serve = serve
        self._ready = ready
        self._close = close  # ends listening, or clients would wait while workers finish
        self._heartbeats = Heartbeats(workers)
        self._workers: dict[int, _ServiceWorker] = {}  # by process id
        self._due: dict[int, float] = {}  # place -> when its next worker is started
        self._begun = 0
        self._failed = False
        self._stop_until: float | None = None
        self._looked = self._resumed = time.monotonic()
        self._alive = os.pipe()  # closed, and so felt by the workers, when this process ends in any way
        self._told = os.pipe()  # a byte for each worker that is ready
        self._signals = os.pipe()  # a byte for each signal

    def run(self) -> None:
        """Watch until told to stop. Raises GranolaError where a worker cannot start."""
        for pipe in (self._told, self._signals):
            for end in pipe:
                os.set_blocking(end, False)
        signal.set_wakeup_fd(self._signals[1], warn_on_full_buffer=False)
        for sign in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sign, lambda number, _: self._stop(number))
        signal.signal(signal.SIGHUP, lambda *_: self._tell(signal.SIGHUP))
        signal.signal(signal.SIGCHLD, lambda *_: None)  # so that the wait for news ends
        for place in range(self._count):
            self._start(place)
        while self._workers or (self._due and self._stop_until is None):
            self._wait()
            self._reap()
            self._look_for_hung()
            self._start_due()
        if self._failed:
            raise GranolaError("a worker could not start; the lines above say why")

    def _wait(self) -> None:
        """Wait for news: a signal, or a worker that is ready."""
        until = float("inf") if self._stop_until is None else self._stop_until
        seconds = max(0.0, min(LOOK_SECONDS, until - time.monotonic()))
        for end in select.select([self._told[0], self._signals[0]], [], [], seconds)[0]:
            with suppress(BlockingIOError):
                news = os.read(end, 1 << 10)
                if end == self._told[0] and self._begun < self._count:
                    self._begun += len(news)
                    if self._begun >= self._count and self._stop_until is None:
                        self._ready()

    def _reap(self) -> None:
        """See which workers have ended; each that was not told to is replaced."""
        from prometheus_client import multiprocess

        for pid, worker in list(self._workers.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if not ended:
                continue
            del self._workers[pid]
            if self._count > 1:
                multiprocess.mark_process_dead(pid)  # type: ignore[no-untyped-call]  # the library has no types here
            if self._stop_until is not None:
                continue
            if self._begun < self._count:
                self._failed = True
                self._stop(signal.SIGTERM)
                continue
            if not worker.is_hung:
                log.error("worker %d ended (%s); another takes its place", pid, _how(status))
            self._heartbeats.count("hung" if worker.is_hung else "ended")
            self._due[worker.place] = worker.started + RESTART_SECONDS

    def _look_for_hung(self) -> None:
        """Kill workers that have not been heard of for too long, and all that are left when the grace is over."""
        now = time.monotonic()
        if now - self._looked > PAUSE_SECONDS:
            self._resumed = now
        self._looked = now
        if self._stop_until is not None:
            if now > self._stop_until and self._workers:
                log.error("%d worker(s) did not end in %g s and are killed", len(self._workers), self._grace)
                self._tell(signal.SIGKILL)
                self._stop_until = float("inf")
            return
        for pid, worker in self._workers.items():
            until = max(self._heartbeats.until(worker.place), self._resumed + self._settings.hang_seconds)
            if now > until and not worker.is_hung:
                worker.is_hung = True
                log.error(
                    "worker %d has not answered for %g s and is killed; another takes its place",
                    pid, self._settings.hang_seconds,
                )  # fmt: skip
                os.kill(pid, signal.SIGKILL)

    @property
    def _grace(self) -> float:
        return ENDING * self._settings.stop_seconds

    def _start_due(self) -> None:
        now = time.monotonic()
        if self._stop_until is None:
            for place in [place for place, at in self._due.items() if now >= at]:
                del self._due[place]
                self._start(place)

    def _start(self, place: int) -> None:
        self._heartbeats.beat(place, time.monotonic() + START_SECONDS)
        kept = signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED)  # or a worker might do what is the supervisor's
        try:
            if self._stop_until is not None:
                return
            pid = os.fork()
            if not pid:
                self._work(place)
            self._workers[pid] = _ServiceWorker(place, time.monotonic())
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, kept)

    def _work(self, place: int) -> None:
        """Be a worker. Does not return."""
        status = FAILED
        try:
            signal.set_wakeup_fd(-1)
            for sign in (*_HANDLED, signal.SIGCHLD):
                signal.signal(sign, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED - {signal.SIGHUP})  # which waits for its handler
            for end in (self._alive[1], self._told[0], *self._signals):
                os.close(end)
            calls = WorkerCalls(
                ready=lambda: self._tell_begun(place),
                beat=lambda: self._beat(place),
                supervisor=self._alive[0],
                heartbeats=self._heartbeats,
            )
            self._serve(calls)
            status = 0
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else FAILED
        except BaseException:
            log.exception("a worker failed")
        finally:
            logging.shutdown()
            os._exit(status)

    def _tell_begun(self, place: int) -> None:
        self._beat(place)
        os.write(self._told[1], b"+")

    def _beat(self, place: int) -> None:
        self._heartbeats.beat(place, time.monotonic() + self._settings.hang_seconds)

    def _stop(self, sign: int) -> None:
        """End gracefully; at a second SIGINT at once."""
        if self._stop_until is None:
            self._stop_until = time.monotonic() + self._grace
            self._close()
            self._tell(signal.SIGTERM)
        elif sign == signal.SIGINT:
            self._stop_until = float("inf")
            self._tell(signal.SIGKILL)

    def _tell(self, sign: int) -> None:
        for pid in self._workers:
            with suppress(ProcessLookupError):
                os.kill(pid, sign)


def _how(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"signal {-code}" if code < 0 else f"status {code}"
