"""A chat model behind any server that speaks OpenAI's chat completions.

vLLM, llama.cpp, Ollama, `transformers serve`, hosted ones. They differ in what they pass over: many give one answer
whatever `n` says, so answers are counted and the lacking ones asked for one by one, each with its own seed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from abstraction.errors import ModelAccessError, ModelError, ModelUnreachableError
from abstraction.models import wire
from abstraction.models.chat_model import Completion, FailureReason, Request, Result, Totals
from abstraction.models.fan_out import CallFailed, FanOut, RequestTask
from abstraction.models.http_call import ApiKey, Broken, HTTPAnswer, NoConnection, Poster, TooSlow
from abstraction.models.ledger import Call, Ledger, Prices
from abstraction.models.pace import Pace, Stopped
from kg.web.rate_limits import RetryDelays, excerpt, retry_after

_REFUSING = {401, 402, 403, 404, 405}  # who asks, or what for, is wrong: until an answer came, for every request
_ALWAYS_REFUSING = {401, 402}
_SPENT = {"insufficient_quota", "billing_hard_limit_reached"}  # a 429 that no waiting helps
_PASSING = {408, 409, 425}
_FIRST_TRIES = 3  # at a server that has never been reached
_KEPT = 2000  # characters of an answer that is no JSON


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerSettings:
    """How a server is asked.

    `concurrency`: calls under way at most. `rate`: calls begun a second at most. `limit_name`: what the server calls
    the limit of tokens. `sends_stop`: False for one that fails over stop texts; answers are then cut here. `extra`:
    more fields of the request, such as top_k. `patience`: tries, waits and time limits.
    """

    concurrency: int = 64
    rate: float | None = None
    limit_name: str = "max_tokens"
    sends_stop: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)
    patience: RetryDelays = field(
        default_factory=lambda: RetryDelays(tries=6, base=0.5, cap=60.0, longest=900.0, timeout=300.0)
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Trouble:
    """Why a call brought nothing, but another may. `after`: seconds to wait at least; `crowded`: asked for less."""

    reason: FailureReason
    message: str
    after: float | None = None
    crowded: bool = False


class OpenAIModel:
    """One model of one server. Safe for several threads."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: ApiKey | None = None,
        settings: ServerSettings | None = None,
        prices: Prices | None = None,
        cache: Path | str | None = None,
        log: Path | str | None = None,
    ) -> None:
        """`url` is the server's address up to /v1; `model` the name that the server knows it by.

        `cache` keeps answers, `log` every call. Raises ModelError for an address or a file that cannot be used.
        """
        check_address(url)
        self.settings = settings or ServerSettings()
        self.url = url.rstrip("/")
        self.model = model
        self._key = key
        self._ledger = Ledger(self.identity, cache=cache, log=log, prices=prices)
        self._pace = Pace(self.settings.concurrency, self.settings.rate)
        self._poster = Poster(
            f"{self.url}/chat/completions", key.header() if key else {}, self.settings.patience.timeout
        )
        self._one_by_one = False  # n is passed over or refused
        self._answered_at: float | None = None
        self._given_up = 0  # requests in a row for the server's own faults

    @property
    def identity(self) -> Mapping[str, Any]:
        """The address, the name and what else is sent with each request."""
        return {"kind": "openai", "url": self.url, "model": self.model, "extra": dict(self.settings.extra)}

    @property
    def totals(self) -> Totals:
        """What was done until now."""
        return self._ledger.totals

    @property
    def shown(self) -> str:
        """For messages."""
        return f"{self.model} at {self.url}"

    def generate(self, requests: Iterable[Request]) -> Iterator[Result]:
        """As `ChatModel.generate`.

        Raises ModelAccessError where the server refuses the key or has no such model, ModelUnreachableError where it
        is not there or fails whatever it is asked.
        """
        return FanOut(
            ask=self._ask, known=self._ledger.known, split=self._split, threads=self.settings.concurrency
        ).run(requests)

    def close(self) -> None:
        """Release connections and files."""
        self._poster.close()
        self._ledger.close()

    def _split(self, samples: range) -> list[range]:
        if self._one_by_one:
            return [range(sample, sample + 1) for sample in samples]
        return [samples]

    def _ask(self, task: RequestTask, samples: range, stop: threading.Event) -> Sequence[Completion]:
        try:
            completions = self._patiently(task, samples, stop)
        except CallFailed as failure:
            if len(samples) == 1 or failure.reason is not FailureReason.REFUSED:
                raise
            # llama.cpp refuses more answers than it has slots.
            completions = self._patiently(task, samples[:1], stop)
        if len(completions) == 1 and len(samples) > 1:
            self._one_by_one = True
        return completions

    def _patiently(self, task: RequestTask, samples: range, stop: threading.Event) -> Sequence[Completion]:
        patience = self.settings.patience
        begun, waited, tries, calls = time.monotonic(), 0.0, 0, 0
        while True:
            with self._pace.passing(stop) as call_begun:
                calls += 1
                outcome = self._call(task, samples, calls)
            if not isinstance(outcome, _Trouble):
                self._pace.went_well()
                self._answered_at, self._given_up = time.monotonic(), 0
                return outcome
            tries += not outcome.crowded
            wait = patience.delay(min(calls, 20) - 1, outcome.after)
            if outcome.crowded:
                self._pace.slow_down(wait, call_begun)
            waited += wait
            unreached = outcome.reason is FailureReason.UNREACHABLE and self._answered_at is None
            if tries >= (min(_FIRST_TRIES, patience.tries) if unreached else patience.tries):
                self._give_up(outcome, f"{self.shown}: {outcome.message} ({calls} calls)", begun)
            if waited > patience.longest or (outcome.after or 0.0) > patience.longest:
                self._give_up(
                    outcome, f"{self.shown}: {outcome.message}; no answer after waiting {patience.longest:g} s", begun
                )
            if not outcome.crowded and stop.wait(wait):
                raise Stopped

    def _give_up(self, trouble: _Trouble, message: str, begun: float) -> None:
        """Raise CallFailed for this request, or ModelUnreachableError where no other would fare better."""
        if trouble.reason is FailureReason.UNREACHABLE and (self._answered_at is None or self._answered_at < begun):
            raise ModelUnreachableError(f"{message}; is the server running, and the address right?")
        self._given_up += 1
        if self._given_up > max(20, self.settings.concurrency):
            raise ModelUnreachableError(f"{message}; so did the {self._given_up - 1} requests before it")
        raise CallFailed(trouble.reason, message)

    def _call(self, task: RequestTask, samples: range, attempt: int) -> Sequence[Completion] | _Trouble:
        body = wire.body_of(
            task.request,
            model=self.model,
            first=samples.start,
            count=len(samples),
            limit_name=self.settings.limit_name,
            sends_stop=self.settings.sends_stop,
            extra=self.settings.extra,
        )
        begun = time.monotonic()

        def call(status: int | None, received: object, error: str | None = None) -> Call:
            return Call(
                request=task.request,
                key=task.key,
                samples=samples,
                attempt=attempt,
                sent=body,
                status=status,
                received=received,
                seconds=time.monotonic() - begun,
                error=error,
            )

        try:
            payload = orjson.dumps(body)
        except TypeError as error:  # half a surrogate pair
            raise CallFailed(FailureReason.REFUSED, f"the messages are no UTF-8: {error}") from error
        answer: HTTPAnswer | None = None
        received: object = None
        try:
            answer = self._poster.post(payload)
            received = self._received(answer)
            if answer.status == 200:
                parsed = wire.parse(received, task.request, first=samples.start, count=len(samples))
                self._ledger.answered(
                    call(200, received),
                    parsed.completions,
                    prompt_tokens=parsed.prompt_tokens,
                    completion_tokens=parsed.completion_tokens,
                )
                return parsed.completions
            trouble = self._judged(answer, received)
        except NoConnection as error:
            trouble = _Trouble(reason=FailureReason.UNREACHABLE, message=str(error))
        except Broken as error:
            trouble = _Trouble(reason=FailureReason.BAD_ANSWER, message=str(error))
        except TooSlow as error:
            trouble = _Trouble(reason=FailureReason.TIME_LIMIT, message=str(error))
        except wire.BadReply as error:
            text = f"{error}: {received}" if isinstance(received, str) else str(error)
            trouble = self._bad_reply(error, text[:400])
        except (CallFailed, ModelAccessError) as error:
            self._ledger.failed(call(None if answer is None else answer.status, received, str(error)))
            raise
        message = self._key.scrubbed(trouble.message) if self._key else trouble.message
        self._ledger.failed(call(None if answer is None else answer.status, received, message))
        return _Trouble(reason=trouble.reason, message=message, after=trouble.after, crowded=trouble.crowded)

    def _bad_reply(self, error: wire.BadReply, message: str) -> _Trouble:
        if error.code in _SPENT:
            raise ModelAccessError(f"{self.shown}: {self._scrubbed(message)}")
        if error.code == "429":
            return _Trouble(reason=FailureReason.OVERLOADED, message=message, crowded=True)
        return _Trouble(reason=FailureReason.BAD_ANSWER, message=message)

    def _received(self, answer: HTTPAnswer) -> object:
        """The body as JSON, else the beginning of its text; without the key either way."""
        try:
            parsed: object = orjson.loads(answer.body)
        except orjson.JSONDecodeError:
            # Before it is cut, which could leave the key's beginning.
            return excerpt(self._key.scrubbed_bytes(answer.body) if self._key else answer.body, _KEPT)
        return self._key.scrubbed_json(parsed, refused=answer.status != 200) if self._key else parsed

    def _scrubbed(self, text: str) -> str:
        return self._key.scrubbed(text) if self._key else text

    def _judged(self, answer: HTTPAnswer, received: object) -> _Trouble:
        """What an answer other than 200 means. Raises CallFailed or ModelAccessError where asking again is no use."""
        status = answer.status
        text = self._scrubbed(wire.error_text(received)) or "no reason given"
        message = f"status {status}: {text}"
        after = retry_after(answer.headers)
        if status == 429:
            if wire.error_code(received) in _SPENT:
                raise ModelAccessError(f"{self.shown}: {message}")
            return _Trouble(reason=FailureReason.OVERLOADED, message=message, after=after, crowded=True)
        if status >= 500 or status in _PASSING:
            crowded = status == 503 and after is not None
            reason = FailureReason.OVERLOADED if crowded else FailureReason.SERVER_ERROR
            return _Trouble(reason=reason, message=message, after=after, crowded=crowded)
        if status in _ALWAYS_REFUSING or (status in _REFUSING and self._answered_at is None):
            how = f"the key in {self._key.variable}" if self._key else "no key was sent (key=VARIABLE names one)"
            raise ModelAccessError(
                f"{self.shown}: {message}; {how}; is the address right, up to /v1, and the model's name?"
            )
        if 300 <= status < 400 or status < 200:
            raise ModelAccessError(f"{self.shown}: status {status} leads elsewhere; give the address it leads to")
        raise CallFailed(FailureReason.REFUSED, f"{self.shown}: {message}")


def check_address(url: str) -> None:
    """Raises ModelError for what is no address of a server. Its message repeats no password."""
    try:
        parts = urlsplit(url)
        port_is_well = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_well = None, False
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname or not port_is_well:
        raise ModelError("no address of a server: http:// or https://, a host, and the path up to /v1")
    if "?" in url or "#" in url:
        raise ModelError("an address with a query: settings follow as ?NAME=VALUE, joined by &")
    if parts.username is not None or parts.password is not None:
        raise ModelError("an address with a name or password: put the key into the environment and give key=VARIABLE")
