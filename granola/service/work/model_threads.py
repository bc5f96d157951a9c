"""A chat model for those requests that want one, asked on threads of its own: nobody else waits for it.

Work that needs replies runs where other work runs, on a reader or the bench, and never waits there. It is given a
`Relay`; where that lacks replies the work ends, they are fetched, and the work is done again from its beginning.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from abstraction.models import ChatModel, Request, Result, Totals, open_spec, parse_model_spec
from granola.service.incoming.problems import HTTPProblem, overloaded, too_slow
from granola.service.service_settings import ServiceSettings
from granola.service.work.snapshot_session import OverTimeError
from granola.service.work.work_thread import Stopper

T = TypeVar("T")
TRIES = 2
ROUNDS = 10  # a reply that cannot be read is asked for once more, and no work asks in more than a few steps
_LOOK = 0.2


class NeedsReplies(Exception):  # noqa: N818 - no error: it tells what to fetch
    """Work has ended because these requests have no replies yet."""

    def __init__(self, requests: Sequence[Request]) -> None:
        super().__init__(f"{len(requests)} replies are needed")
        self.requests = requests


class Relay:
    """A chat model that has the replies that were fetched, and raises NeedsReplies where it lacks any."""

    totals = Totals()

    def __init__(self, identity: Mapping[str, Any]) -> None:
        self.identity = identity
        self._known: dict[str, Result] = {}

    def learn(self, results: Iterable[Result]) -> None:
        """Take replies in, failures too."""
        for result in results:
            self._known[result.request.key()] = result

    def generate(self, requests: Iterable[Request]) -> Iterator[Result]:
        """As `ChatModel.generate`."""
        asked = list(requests)
        lacking = {key: request for request in asked if (key := request.key()) not in self._known}
        if lacking:
            raise NeedsReplies(list(lacking.values()))
        return iter([replace(self._known[request.key()], request=request) for request in asked])

    def close(self) -> None:
        """See `ChatModel.close`."""


def attempt(work: Callable[[], T]) -> T | NeedsReplies:
    """What the work finds, or which replies it needs."""
    try:
        return work()
    except NeedsReplies as needs:
        return needs


@dataclass(slots=True, eq=False)
class _Call:
    until: float
    answer: asyncio.Future[list[Result]]
    stopper: Stopper


class ModelThreads:
    """The model of one process; `settings.model_requests` bounds the requests that ask it at a time."""

    def __init__(self, settings: ServiceSettings) -> None:
        """Raises ModelError and its kinds where the model cannot be opened."""
        assert settings.model is not None
        self._settings = settings
        self._model = opened(settings)
        self._calls: set[_Call] = set()
        self._turn = None if parse_model_spec(settings.model).kind == "openai" else threading.Lock()

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model's identity."""
        return self._model.identity

    def until(self) -> float:
        """When a request that begins now has used up its time."""
        return time.monotonic() + self._settings.model_seconds

    async def through(
        self, work: Callable[[Relay], Awaitable[T | NeedsReplies]], until: float, relay: Relay | None = None
    ) -> T:
        """What `work` comes to when it has all the replies that it needs, beside those that `relay` has already.

        Raises what it raises, ModelError, and HTTPProblem where the model is asked too much or is too slow.
        """
        relay = relay or Relay(self.identity)
        for _ in range(ROUNDS):
            outcome = await work(relay)
            if not isinstance(outcome, NeedsReplies):
                return outcome
            relay.learn(await self.ask(outcome.requests, until))
        raise HTTPProblem(503, "model", "the model was asked again and again without an end", retry_after=30)

    async def ask(self, requests: Sequence[Request], until: float) -> list[Result]:
        """The model's results, failures among them. Raises as `through`."""
        if len(self._calls) >= self._settings.model_requests:
            raise overloaded("the model is asked by as many requests as may at a time", retry_after=2)
        call = _Call(until, asyncio.get_running_loop().create_future(), Stopper())
        self._calls.add(call)
        # A daemon: a call that is under way keeps nobody from ending the service.
        threading.Thread(
            target=self._do, args=(call, requests, asyncio.get_running_loop()), name="model", daemon=True
        ).start()
        try:
            return await call.answer
        except OverTimeError:
            raise too_slow(self._settings.model_seconds) from None

    def sweep(self, now: float) -> None:
        """Give up what is beyond its time."""
        for call in [pending for pending in self._calls if now > pending.until]:
            if not call.answer.done():
                call.answer.set_exception(OverTimeError())
            call.stopper.stop(call)

    def close(self) -> None:
        """Release connections and files; calls that are under way end by themselves."""
        with suppress(Exception):
            self._model.close()

    def _do(self, call: _Call, requests: Sequence[Request], loop: asyncio.AbstractEventLoop) -> None:
        results: list[Result] = []
        failed: Exception | None = None
        try:
            results = call.stopper.run(call, lambda: self._asked(requests))
        except Exception as error:
            failed = error
        with suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(self._settle, call, results, failed)

    def _asked(self, requests: Sequence[Request]) -> list[Result]:
        turn = self._turn
        if turn is None:
            return list(self._model.generate(requests))
        while not turn.acquire(timeout=_LOOK):
            pass
        try:
            return list(self._model.generate(requests))
        finally:
            turn.release()

    def _settle(self, call: _Call, results: list[Result], failed: Exception | None) -> None:
        self._calls.discard(call)
        if call.answer.done():
            return
        if failed is None:
            call.answer.set_result(results)
        else:
            call.answer.set_exception(failed)


def opened(settings: ServiceSettings) -> ChatModel:
    """The model that the settings name; where its word says nothing of time, two tries fit into a request's."""
    assert settings.model is not None
    share = max(0.1, (settings.model_seconds - 1) / (TRIES + 0.2))  # a second for the wait between them
    spec = parse_model_spec(settings.model)
    if spec.kind == "openai":
        spec = replace(spec, settings={"timeout": share, "tries": TRIES, **spec.settings})
    return open_spec(spec, cache=settings.answers)


def no_model() -> HTTPProblem:
    """The refusal where there is none."""
    return HTTPProblem(
        422, "no-model", "this service was started without a model; whoever runs it can give it one: --model MODEL"
    )
