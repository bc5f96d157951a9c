"""What every request passes first: who asks, how much is sent and how fast, what comes back with every answer.

Bodies are received here, whole, before anything looks at them: nothing is parsed of what is refused.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from ipaddress import ip_address
from typing import Any

from granola.service.incoming import problem_page
from granola.service.incoming.body_parsing import LARGE, SMALL, BodyRoute
from granola.service.incoming.headers import ALWAYS, NOTHING_RUNS, POLICY
from granola.service.incoming.problems import (
    MEDIA_TYPE,
    TOO_MANY_WAIT,
    HTTPProblem,
    overloaded,
    problem_of,
    too_large,
    too_many_of_one,
)
from granola.service.service_settings import ServiceSettings
from granola.service.serving.prometheus_metrics import Metrics
from granola.service.work.snapshot_pool import SnapshotPool

# Who may ask: by the name that the service is asked under, by where a request comes from, and how much at a time.
#
# A web page elsewhere can have its own name resolve to this machine and then ask, and read, what listens here (DNS
# rebinding): such requests carry the page's name as their host. An address in figures cannot be rebound.

_MOST_KEPT = 1_000
_LONGEST = 300  # letters of a host


class AccessChecks:
    """The checks of one process."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._hosts = settings.hosts
        self._judged: dict[bytes, bool] = {}
        self._most = settings.per_client
        self._under_way: dict[str, int] = {}

    def check(self, method: str, headers: Mapping[bytes, bytes]) -> None:
        """Raise HTTPProblem for a host that this service is not, and for what another site's page sends."""
        host = headers.get(b"host", b"")
        if self._hosts is not None and not self._is_ours(host):
            raise HTTPProblem(
                421, "host", "this service is not asked under that name; whoever runs it can add it: --allow-host"
            )
        if method == "POST" and headers.get(b"sec-fetch-site") == b"cross-site":
            raise HTTPProblem(403, "cross-site", "pages of other sites may not send requests to this service")

    def _is_ours(self, host: bytes) -> bool:
        if not host or len(host) > _LONGEST:
            return not host
        known = self._judged.get(host)
        if known is None:
            if len(self._judged) >= _MOST_KEPT:
                self._judged.clear()
            known = self._judged[host] = is_address(host) or name_of(host) in (self._hosts or ())
        return known

    def enter(self, client: str) -> bool:
        """Count a request of a client; False where it has as many as it may, and then nothing is counted."""
        if self._most is None:
            return True
        count = self._under_way.get(client, 0)
        if count >= self._most:
            return False
        self._under_way[client] = count + 1
        return True

    def leave(self, client: str) -> None:
        """Count a request off that was let in."""
        count = self._under_way.get(client, 0) - 1
        if count > 0:
            self._under_way[client] = count
        else:
            self._under_way.pop(client, None)


def name_of(host: bytes) -> str:
    """The name in a Host header, without its port."""
    text = host.decode("latin-1").strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0].rstrip(".") if ":" in text else text.rstrip(".")


def is_address(host: bytes) -> bool:
    """Whether a Host header has an address in figures."""
    try:
        ip_address(name_of(host))
    except ValueError:
        return False
    return True


# What every request passes.


Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN = frozenset({"/v1/health/live", "/v1/health/ready"})  # asked by whoever watches the process, without a token
LINGER_SECONDS = 2.0
WORKING = frozenset({"/v1/ladder", "/v1/link", "/v1/aggregate", "/v1/attribution/check"})
SNAPSHOT_HEADER = "granola-snapshot"
_SNAPSHOT = SNAPSHOT_HEADER.encode()
log = logging.getLogger("granola.service")


class _GoneError(Exception):
    """The client has left."""


class Middleware:
    """ASGI middleware around the whole application."""

    def __init__(
        self,
        app: App,
        *,
        settings: ServiceSettings,
        desk: SnapshotPool,
        metrics: Metrics,
        lanes: Mapping[str, BodyRoute],
    ) -> None:
        self._app = app
        self._lanes = lanes
        self._settings = settings
        self._desk = desk
        self._metrics = metrics
        self._buffered = 0
        self._guard = AccessChecks(settings)
        self._full = _Refusal(overloaded(TOO_MANY_WAIT), metrics)
        self._greedy = _Refusal(too_many_of_one(), metrics)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or hand on what is none."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        if path in WORKING and self._desk.is_full:
            await self._full(send)
            return
        client = (scope["client"] or ("",))[0]
        counted = path not in OPEN
        if counted and not self._guard.enter(client):
            await self._greedy(send)
            return
        began = time.perf_counter()
        answer = _Answer(send, self._desk)
        self._metrics.in_flight.inc()
        try:
            await self._serve(scope, receive, answer)
        except _GoneError:
            answer.status = answer.status or 499
        except asyncio.CancelledError:  # the service ends, and has waited long enough
            answer.status = answer.status or 499
        except Exception as error:
            if answer.status and isinstance(error, RuntimeError) and isinstance(error.__cause__, Exception):
                error = error.__cause__  # as Starlette tells what is raised after an answer has begun
            problem = problem_of(error)
            if problem.status == 500:
                log.exception("%s %s failed", _method(scope), _route(scope))
            if answer.status:
                return  # too late for another answer: the server cuts the connection, so that nobody takes it for whole
            await self._refuse(problem, scope, receive, answer)
        finally:
            self._metrics.in_flight.dec()
            if counted:
                self._guard.leave(client)
            status = answer.status or 499
            self._metrics.answered(_route(scope), _method(scope), status, time.perf_counter() - began)

    async def _serve(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        headers = dict(scope["headers"])
        path = scope["path"]
        self._guard.check(scope["method"], headers)
        if self._settings.token is not None and path not in OPEN and not _is_known(headers, self._settings.token):
            raise HTTPProblem(401, "token", "this service wants its token: Authorization: Bearer TOKEN")
        if scope["method"] not in ("POST", "PUT", "PATCH"):
            if scope["method"] == "HEAD":  # as GET; the server leaves the body out
                inner = {**scope, "method": "GET"}
                await self._app(inner, receive, answer)
                scope["route"] = inner.get("route")
            else:
                await self._app(scope, receive, answer)
            return
        most = self._settings.body if path in LARGE else min(self._settings.body, SMALL)
        held = self._length(headers, most)
        body = bytearray()
        try:
            await self._receive(receive, body, held, most)
        finally:
            self._buffered -= len(body)
        whole = bytes(body)
        lane = self._lanes.get(path) if scope["method"] == "POST" else None
        if lane is None:
            await self._app(scope, _replay(whole, receive), answer)
        else:
            scope["route"] = lane
            response = await lane.answer(headers.get(b"content-type", b""), scope["query_string"], whole)
            await response(scope, receive, answer)

    def _length(self, headers: Mapping[bytes, bytes], most: int) -> int:
        said = headers.get(b"content-length", b"")
        length = int(said) if said.isdigit() else 0
        if length > most:
            raise too_large(most)
        return length

    async def _receive(self, receive: Receive, body: bytearray, length: int, most: int) -> None:
        if self._buffered + length > self._settings.buffered:
            raise overloaded("too much is being received at the moment", retry_after=2)
        more = True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                raise _GoneError
            part = message.get("body", b"")
            body += part
            self._buffered += len(part)
            if len(body) > most:
                raise too_large(most)
            if self._buffered > self._settings.buffered:
                raise overloaded("too much is being received at the moment", retry_after=2)
            more = message.get("more_body", False)

    async def _refuse(self, problem: HTTPProblem, scope: Scope, receive: Receive, answer: _Answer) -> None:
        """Answer a problem; where a body is still coming, read it away for a moment, so that the answer is seen."""
        self._metrics.refused.labels(problem.code).inc()
        in_words = problem_page.is_wanted(scope)
        body = problem_page.page(problem) if in_words else problem.body()
        media_type = problem_page.MEDIA_TYPE if in_words else MEDIA_TYPE
        closing = [(b"connection", b"close")] if problem.status in (408, 413) else []
        policy = [(POLICY, problem_page.POLICY.encode())] if in_words else []
        headers = _encoded(problem, body, *closing, *policy, media_type=media_type)
        await answer({"type": "http.response.start", "status": problem.status, "headers": headers})
        await answer({"type": "http.response.body", "body": body, "more_body": bool(closing)})
        if closing:
            try:
                async with asyncio.timeout(LINGER_SECONDS):
                    more = True
                    while more:
                        message = await receive()
                        more = message["type"] == "http.request" and message.get("more_body", False)
            except TimeoutError:
                pass
            await answer({"type": "http.response.body", "body": b"", "more_body": False})


class _Refusal:
    """A refusal that costs next to nothing, for there may be thousands a second."""

    def __init__(self, problem: HTTPProblem, metrics: Metrics) -> None:
        self._body = problem.body()
        headers = _encoded(problem, self._body, *ALWAYS, NOTHING_RUNS)
        self._start = {"type": "http.response.start", "status": problem.status, "headers": headers}
        self._counter = metrics.refused.labels(problem.code)

    async def __call__(self, send: Send) -> None:
        self._counter.inc()
        await send(self._start)
        await send({"type": "http.response.body", "body": self._body})


class _Answer:
    """`send`, with the headers of every answer; keeps the status."""

    def __init__(self, send: Send, desk: SnapshotPool) -> None:
        self._send = send
        self._desk = desk
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message["headers"], *ALWAYS]
            names = {name for name, _ in headers}
            if POLICY not in names:
                headers.append(NOTHING_RUNS)
            if self._desk.is_open and _SNAPSHOT not in names:
                headers.append((_SNAPSHOT, self._desk.snapshot_id.encode()))
            message = {**message, "headers": headers}
        await self._send(message)


def _encoded(
    problem: HTTPProblem, body: bytes, *more: tuple[bytes, bytes], media_type: str = MEDIA_TYPE
) -> list[tuple[bytes, bytes]]:
    """A problem's headers as ASGI has them."""
    headers = {"content-type": media_type, "content-length": str(len(body)), **problem.headers()}
    return [*((key.lower().encode(), value.encode()) for key, value in headers.items()), *more]


def _replay(body: bytes, receive: Receive) -> Receive:
    """`receive` for what has been received; afterwards it waits for the client to leave."""
    sent = False

    async def replayed() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed


def _route(scope: Scope) -> str:
    return getattr(scope.get("route"), "path", None) or "other"


def _method(scope: Scope) -> str:
    method = str(scope["method"])
    return method if method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS") else "other"


def _is_known(headers: dict[bytes, bytes], token: str) -> bool:
    """Whether the token comes along: as a bearer's, or as the password of a browser's own question."""
    kind, *rest = headers.get(b"authorization", b"").split(maxsplit=1)[:2] or [b""]
    given = rest[0] if rest else b""
    if kind.lower() == b"basic":
        try:
            given = base64.b64decode(given.strip(), validate=True).partition(b":")[2]
        except binascii.Error:
            return False
    elif kind.lower() != b"bearer":
        return False
    return hmac.compare_digest(given.strip(), token.encode())
