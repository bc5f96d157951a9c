"""A thread that does one piece of work after another, each within its time.

Work that goes on beyond its time is stopped wherever it is in Python code: an exception is raised in the thread, as no
thread can be ended from outside. Nothing of what it was about to find is used.
"""

from __future__ import annotations

import asyncio
import ctypes
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

from granola.service.incoming.problems import HTTPProblem
from granola.service.work.snapshot_session import OverTimeError

T = TypeVar("T")
GRACE = 0.25  # seconds beyond its time after which work is stopped that did not stop by itself
SWEEP_SECONDS = 0.1
TELL_AGAIN = 3.0  # seconds; long enough for work to end that was told


class Context(Protocol):
    """What a worker's thread works with."""

    def begin(self, until: float) -> None:
        """A piece of work begins that has its time until then, by `time.monotonic`."""

    @property
    def may_stop(self) -> bool:
        """Whether the work may be stopped where it is just now."""

    @property
    def is_preparing(self) -> bool:
        """Whether it makes ready what later work needs, which may take longer than the work's time."""

    def interrupted(self) -> None:
        """A piece of work has ended in the middle."""

    def close(self) -> None:
        """There is no more work."""


C = TypeVar("C", bound=Context)


class _Stop(BaseException):
    """Raised in a thread to stop its work; no handler of errors takes it for one."""


class Stopper:
    """Does a thread's work so that other threads can stop it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._doing: object = None
        self._thread = 0
        self._told = 0.0  # when it was told to stop

    def run(self, key: object, work: Callable[[], T]) -> T:
        """The result of the work that `key` names. Raises what it raises, and OverTimeError where it was stopped."""
        try:
            with self._lock:
                self._doing, self._thread, self._told = key, threading.get_ident(), 0.0
            try:
                return work()
            finally:
                with self._lock:
                    self._doing = None
                    if self._told:  # and not felt yet
                        _raise_in(self._thread, None)
        except _Stop:
            self._doing = None
            raise OverTimeError from None

    def stop(self, key: object) -> None:
        """Stop that work, if it is being done; work that has not heeded that may be told again after a while."""
        now = time.monotonic()
        with self._lock:
            if self._doing is key and now - self._told > TELL_AGAIN:
                self._told = now
                _raise_in(self._thread, _Stop)


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Raise an exception in a thread as soon as it runs Python code; None takes back one that was not raised yet."""
    told = ctypes.py_object(error) if error else ctypes.py_object()
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), told)


@dataclass(slots=True, eq=False)
class _Ticket(Generic[C]):
    work: Callable[[C], Any]
    until: float
    answer: asyncio.Future[Any]


class WorkThread(threading.Thread, Generic[C]):
    """The thread with its queue. `opened` tells when it is ready, or why it cannot be.

    Everything but the work itself happens on the loop's thread.
    """

    def __init__(self, name: str, open_context: Callable[[], C]) -> None:
        super().__init__(name=name, daemon=True)
        self.opened: Future[C] = Future()
        self.leases = 0
        self._open_context = open_context
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[_Ticket[C] | None] = SimpleQueue()
        self._tickets: set[_Ticket[C]] = set()
        self._stopper = Stopper()
        self._retired = False

    @property
    def waiting(self) -> int:
        """Pieces of work that wait or are being done."""
        return len(self._tickets)

    def put(self, work: Callable[[C], T], seconds: float) -> asyncio.Future[T]:
        """Queue a piece of work. Its result raises what it raises, and OverTimeError where it has used up its time."""
        ticket = _Ticket(work, time.monotonic() + seconds, self._loop.create_future())
        self._tickets.add(ticket)
        self._queue.put(ticket)
        return ticket.answer

    def sweep(self, now: float) -> None:
        """Give up what is beyond its time."""
        for ticket in [one for one in self._tickets if now > one.until + GRACE]:
            if not ticket.answer.done():
                ticket.answer.set_exception(OverTimeError())
            if self.opened.result().may_stop:
                self._stopper.stop(ticket)

    def overdue(self, now: float) -> float:
        """For how many seconds the oldest work has gone on beyond its time; such is stopped, unless it cannot be."""
        if not self._tickets or self.opened.result().is_preparing:
            return 0.0
        return max(0.0, now - min(ticket.until for ticket in self._tickets))

    def retire(self) -> None:
        """End when all that was queued, and every lease, is done."""
        self._retired = True
        if not self.leases:
            self._queue.put(None)

    def release(self) -> None:
        """Give a lease back."""
        self.leases -= 1
        if self._retired and not self.leases:
            self._queue.put(None)

    def run(self) -> None:
        """The thread's own part."""
        try:
            context = self._open_context()
        except BaseException as error:
            self.opened.set_exception(error)
            return
        self.opened.set_result(context)
        while (ticket := self._queue.get()) is not None:
            result: Any = None
            failed: BaseException | None = None
            if not ticket.answer.done():
                try:
                    result = self._done(ticket, context)
                except (Exception, _Stop) as error:
                    failed = error if isinstance(error, Exception) else OverTimeError()
                    context.begin(float("inf"))
                    if not isinstance(error, HTTPProblem):  # which is an answer, and no accident
                        context.interrupted()
            try:
                self._loop.call_soon_threadsafe(self._settle, ticket, result, failed)
            except RuntimeError:  # the loop was closed meanwhile
                break
        context.close()

    def _done(self, ticket: _Ticket[C], context: C) -> Any:
        if time.monotonic() > ticket.until:
            raise OverTimeError
        context.begin(ticket.until)
        work = ticket.work
        return self._stopper.run(ticket, lambda: work(context))

    def _settle(self, ticket: _Ticket[C], result: Any, failed: BaseException | None) -> None:
        self._tickets.discard(ticket)
        if ticket.answer.done():
            return
        if failed is None:
            ticket.answer.set_result(result)
        else:
            ticket.answer.set_exception(failed)
