"""The one client of model servers: calls side by side, answered in order, tried again where that may help.

httpx2 sends and tenacity repeats; the OpenAI SDK stands on httpx2 too, but knows one provider's paths and not /rerank
or /predict, reads variables of the environment that nobody named, keeps one call's wait from the other calls, and does
not tell what was sent and what came back. httpx2 is what httpx's author goes on with; huggingface_hub needs it as well.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import orjson

from abstraction.errors import ModelAccessError, ModelError, ModelSpecError, ModelUnreachableError
from abstraction.models.chat_model import FailureReason
from kg.web.rate_limits import RetryDelays, excerpt, retry_after

if TYPE_CHECKING:
    import httpx2

CONNECT = 10.0  # seconds for the connection alone
LARGEST = 64 << 20  # bytes of an answer
AHEAD = 4  # items taken ahead of the results, as a multiple of the calls at once
_KEPT = 2000  # characters of an answer that is no JSON
_LOOK = 0.5  # seconds after which who waits for a result can be interrupted
_FIRST_TRIES = 3  # at a server that has never been reached
_ALWAYS_REFUSING = {401, 402}
_REFUSING = {403, 404, 405}  # who asks, or what for, is wrong: until an answer came, for every request
_PASSING = {408, 409, 425}
_SPENT = {"insufficient_quota", "billing_hard_limit_reached"}  # a 429 that no waiting helps
_SHOWN = "[key]"
_TELLING = 8  # characters from which a key is no word that a text might hold by chance
T = TypeVar("T")
R = TypeVar("R")


class ApiKey:
    """The key that an environment variable holds: shown to its server, never part of a repr, a pickle or a message."""

    __slots__ = ("_value", "variable")

    def __init__(self, variable: str) -> None:
        """Read it. Raises ModelSpecError where the variable is not set or holds what no header can carry."""
        self.variable = variable
        self._value = os.environ.get(variable, "").strip()
        if not self._value:
            raise ModelSpecError(f"{variable} is not set: put the server's key there, or leave out key={variable}")
        if not all("!" <= letter <= "~" for letter in self._value):
            raise ModelSpecError(f"what {variable} holds is no key: letters, digits and signs of ASCII, without spaces")

    def header(self) -> dict[str, str]:
        """What shows it to the server."""
        return {"Authorization": f"Bearer {self._value}"}

    def scrubbed(self, body: bytes, *, refused: bool = False) -> bytes:
        """A server's answer without the key, also where the server repeats it.

        A short key, such as the EMPTY that servers without keys are given, is a word that an answer may hold: it goes
        only where the request was `refused`.
        """
        if len(self._value) < _TELLING and not refused:
            return body
        whole = body.replace(self._value.encode(), _SHOWN.encode())
        return whole.replace(self._value.replace("/", "\\/").encode(), _SHOWN.encode())  # as JSON may write a slash

    def __repr__(self) -> str:
        return f"ApiKey({self.variable!r})"

    def __reduce__(self) -> str:
        raise TypeError("a key is not pickled")


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerSettings:
    """How a server is asked.

    `concurrency`: calls under way at most. `rate`: calls begun a second at most. `patience`: tries, waits and time
    limits. Of chat alone: `limit`, what the server calls the limit of tokens; `body`, more fields, such as top_k.
    """

    concurrency: int = 64
    rate: float | None = None
    patience: RetryDelays = field(
        default_factory=lambda: RetryDelays(tries=6, base=0.5, cap=60.0, longest=900.0, timeout=300.0)
    )
    limit: str = "max_tokens"
    body: Mapping[str, Any] = field(default_factory=dict)


class CallFailed(Exception):  # noqa: N818 - it becomes a Failure, a result like others
    """A call is given up."""

    def __init__(self, reason: FailureReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Trouble(Exception):  # noqa: N818 - no error yet: the server is asked again
    """A call brought nothing, another may. `after`: seconds to wait at least; `crowded`: the server asks for less."""

    def __init__(
        self, reason: FailureReason, message: str, *, after: float | None = None, crowded: bool = False, code: str = ""
    ) -> None:
        super().__init__(message)
        self.reason, self.after, self.crowded, self.code = reason, after, crowded, code


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One call, for a log: its number from 1, status and JSON (or text) that came, seconds, and what went wrong."""

    number: int
    status: int | None
    received: object
    seconds: float
    error: str | None = None


class ServerClient:
    """One model of one server. Safe for several threads; calls are made by one thread of its own."""

    def __init__(
        self, url: str, model: str, *, key: ApiKey | None = None, settings: ServerSettings | None = None
    ) -> None:
        """`url` is what stands before the path of a call, as a rule up to /v1. Raises ModelError for no address."""
        check_address(url)
        self.url, self.model, self.key = url.rstrip("/"), model, key
        self.settings = settings or ServerSettings()
        self.answered_at: float | None = None
        self._given_up = 0  # requests in a row for the server's own faults
        self._next = self._closed_until = 0.0  # when the rate, and the server, let the next call begin
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def shown(self) -> str:
        """For messages."""
        return f"{self.model} at {self.url}"

    def in_order(self, items: Iterable[T], ask: Callable[[T], Awaitable[R]]) -> Iterator[R]:
        """What `ask` brings for each item, in their order, while more are asked; the first error is raised.

        Items are taken as they are needed. Close the iterator, or use it up, to end what is under way.
        """
        window: deque[Future[R]] = deque()
        failed: Future[None] = Future()  # done when asking on is no use, so that nobody waits for those before it

        async def asked(item: T) -> R:
            try:
                return await ask(item)
            except Exception as error:
                if not failed.done():
                    failed.set_exception(error)
                raise

        try:
            for item in items:
                window.append(asyncio.run_coroutine_threadsafe(asked(item), self._running()))
                while window and (window[0].done() or len(window) >= AHEAD * self.settings.concurrency):
                    yield _result(window.popleft(), failed)
            while window:
                yield _result(window.popleft(), failed)
        finally:
            for waiting in window:
                waiting.cancel()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # A daemon: a call that is under way keeps nobody from ending the program.
                threading.Thread(target=self._loop.run_forever, name="model-calls", daemon=True).start()
                asyncio.run_coroutine_threadsafe(self._open(), self._loop).result()
            return self._loop

    async def _open(self) -> None:
        import httpx2

        most = self.settings.concurrency
        self._places = asyncio.Semaphore(most)
        self._http = httpx2.AsyncClient(
            headers={"Accept": "application/json", **(self.key.header() if self.key else {})},
            timeout=httpx2.Timeout(None, connect=min(CONNECT, self.settings.patience.timeout)),
            limits=httpx2.Limits(max_connections=most, max_keepalive_connections=most),
            follow_redirects=False,  # who asks and with what key is not another host's business
        )

    async def post(
        self,
        path: str,
        body: Mapping[str, Any],
        read: Callable[[Any], R],
        *,
        told: Callable[[Attempt, R | None], None] = lambda attempt, answer: None,
    ) -> R:
        """What `read` makes of the answer's JSON; it raises Trouble for what is no answer. `told` sees every call.

        Raises CallFailed for this request; ModelAccessError and ModelUnreachableError where no other would fare better.
        """
        from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

        try:
            payload = orjson.dumps(body)
        except TypeError as error:  # half a surrogate pair
            raise CallFailed(FailureReason.REFUSED, f"the messages are no UTF-8: {error}") from error
        patience, begun, failed, waited = self.settings.patience, time.monotonic(), 0, 0.0

        def delay(state: RetryCallState) -> float:
            """Seconds until the next try; raises where there is none."""
            nonlocal failed, waited
            trouble: Any = state.outcome.exception() if state.outcome else None
            seconds = patience.delay(min(state.attempt_number, 20) - 1, trouble.after)
            failed, waited = failed + (not trouble.crowded), waited + seconds
            unreached = trouble.reason is FailureReason.UNREACHABLE and self.answered_at is None
            if failed >= (min(_FIRST_TRIES, patience.tries) if unreached else patience.tries):
                self._give_up(trouble, f"{self.shown}: {trouble} ({state.attempt_number} calls)", begun)
            if waited > patience.longest or (trouble.after or 0.0) > patience.longest:
                self._give_up(
                    trouble, f"{self.shown}: {trouble}; no answer after waiting {patience.longest:g} s", begun
                )
            if not trouble.crowded:
                return seconds
            self._closed_until = max(self._closed_until, time.monotonic() + seconds)  # the others wait, too
            return 0.0

        async for attempt in AsyncRetrying(wait=delay, retry=retry_if_exception_type(Trouble)):
            with attempt:
                return await self._call(path, payload, read, told, attempt.retry_state.attempt_number)
        raise AssertionError("tenacity ends with an answer or an error")

    def _give_up(self, trouble: Trouble, message: str, begun: float) -> None:
        """Raise CallFailed for this request, or ModelUnreachableError where no other would fare better."""
        if trouble.reason is FailureReason.UNREACHABLE and (self.answered_at is None or self.answered_at < begun):
            raise ModelUnreachableError(f"{message}; is the server running, and the address right?")
        self._given_up += 1
        if self._given_up > max(20, self.settings.concurrency):
            raise ModelUnreachableError(f"{message}; so did the {self._given_up - 1} requests before it")
        raise CallFailed(trouble.reason, message)

    async def _call(
        self,
        path: str,
        payload: bytes,
        read: Callable[[Any], R],
        told: Callable[[Attempt, R | None], None],
        number: int,
    ) -> R:
        status: int | None = None
        received: object = None
        async with self._turn():
            begun = time.monotonic()
            try:
                status, headers, content = await self._sent(path, payload)
                received = self._read(content, refused=status != 200)
                if status != 200:
                    raise self._judged(path, status, headers, received)
                answer = read(received)
            except (Trouble, CallFailed, ModelError) as error:
                seconds = time.monotonic() - begun
                told(Attempt(number=number, status=status, received=received, seconds=seconds, error=str(error)), None)
                if isinstance(error, Trouble) and error.code in _SPENT:
                    raise ModelAccessError(f"{self.shown}: {error}") from None
                raise
        self.answered_at, self._given_up = time.monotonic(), 0
        told(Attempt(number=number, status=200, received=received, seconds=self.answered_at - begun), answer)
        return answer

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """A place among the calls at once, when the rate allows it and no other call was told to wait."""
        async with self._places:
            while (wait := max(self._closed_until, self._next) - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            if self.settings.rate is not None:
                self._next = max(time.monotonic(), self._next) + 1.0 / self.settings.rate
            yield

    async def _sent(self, path: str, payload: bytes) -> tuple[int, httpx2.Headers, bytes]:
        import httpx2

        limit = self.settings.patience.timeout  # for the whole answer, so that one that drips does not outlast it
        try:
            async with (
                asyncio.timeout(limit),
                self._http.stream(
                    "POST", f"{self.url}{path}", content=payload, headers={"Content-Type": "application/json"}
                ) as response,
            ):
                body = bytearray()
                async for part in response.aiter_bytes():
                    body += part
                    if len(body) > LARGEST:
                        raise Trouble(FailureReason.BAD_ANSWER, f"an answer of more than {LARGEST >> 20} MiB")
                return response.status_code, response.headers, bytes(body)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise Trouble(FailureReason.UNREACHABLE, _reason(error)) from error
        except TimeoutError as error:
            raise Trouble(FailureReason.TIME_LIMIT, f"no whole answer within {limit:g} s") from error
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            raise Trouble(FailureReason.BAD_ANSWER, _reason(error)) from error

    def _read(self, body: bytes, *, refused: bool) -> object:
        """The body as JSON, else the beginning of its text; without the key either way."""
        try:
            parsed: object = orjson.loads(body if self.key is None else self.key.scrubbed(body, refused=refused))
        except orjson.JSONDecodeError:
            # Before it is cut, which could leave the key's beginning.
            return excerpt(body if self.key is None else self.key.scrubbed(body, refused=True), _KEPT)
        return parsed

    def _judged(self, path: str, status: int, headers: Mapping[str, str], received: object) -> Exception:
        """What an answer other than 200 means: Trouble, where asking again may help."""
        message = f"status {status}: {error_text(received) or 'no reason given'}"
        after = retry_after(headers)
        if status == 429 or (status == 503 and after is not None):
            return Trouble(
                FailureReason.OVERLOADED, message, after=after, crowded=True,
                code=error_code(received) if status == 429 else "",
            )  # fmt: skip
        if status >= 500 or status in _PASSING:
            return Trouble(FailureReason.SERVER_ERROR, message, after=after)
        if status in _ALWAYS_REFUSING or (status in _REFUSING and self.answered_at is None):
            how = f"the key in {self.key.variable}" if self.key else "no key was sent (key=VARIABLE names one)"
            return ModelAccessError(
                f"{self.shown}: {message}; {how}; is the address right, up to /v1, and the model's name, and does the"
                f" server know {path}?"
            )
        if 300 <= status < 400 or status < 200:
            return ModelAccessError(f"{self.shown}: status {status} leads elsewhere; give the address it leads to")
        return CallFailed(FailureReason.REFUSED, f"{self.shown}: {message}")

    def close(self) -> None:
        """End what is under way, and release connections."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            with suppress(Exception):
                asyncio.run_coroutine_threadsafe(self._ended(), loop).result(5.0)
            loop.call_soon_threadsafe(loop.stop)

    async def _ended(self) -> None:
        # Tasks that are dropped unended would be told of on standard error.
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._http.aclose()


def _result(future: Future[R], failed: Future[None]) -> R:
    while not future.done():
        if failed.done():
            failed.result()
        futures: list[Future[Any]] = [future, failed]
        wait(futures, timeout=_LOOK, return_when=FIRST_COMPLETED)
    return future.result()


def _reason(error: BaseException) -> str:
    """What went wrong, by the error below the library's own, which names it."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    number = getattr(error, "errno", None)
    return os.strerror(number) if number and number > 0 else str(error)[:200] or type(error).__name__


def error_text(answer: Any) -> str:
    """What an answer says went wrong, on one line of at most 300 characters; empty where it says nothing."""
    error = answer.get("error", answer.get("detail", answer.get("message"))) if isinstance(answer, dict) else answer
    if isinstance(error, dict):
        error = error.get("message", error)
    return "" if error is None else " ".join(str(error).split())[:300]


def error_code(answer: Any) -> str:
    """The code or type by which an answer names what went wrong."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict):
        return ""
    return str(error.get("code") or error.get("type") or "")


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
