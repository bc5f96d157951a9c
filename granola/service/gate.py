"""The gate before every route: checks of host, origin, token, and size and speed of bodies; headers of responses.

A body is received whole before it is parsed, so that nothing of a refused body is parsed. Every route has limits: one
without a `Bound` cannot be added. The JSON of a body is validated by the type of the route's parameter `asked`, and
its sizes are checked before the route's method is called.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_type_hints
from urllib.parse import parse_qsl, quote

import orjson
from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer

from granola import __version__
from granola.service.limits import SMALL, SNAPSHOT_HEADER, ServiceSettings
from granola.service.problems import (
    HTTPProblem,
    overload_problem,
    problem_of_errors,
    time_limit_problem,
    too_many_problem,
)
from granola.service.schemas import read_body

if TYPE_CHECKING:
    from granola.service.application import Service

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

ALWAYS = (
    (b"granola-version", __version__.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)
POLICY = b"content-security-policy"  # a page's own policy; NOTHING_RUNS is for all other responses
NOTHING_RUNS = (POLICY, b"default-src 'none'; frame-ancestors 'none'")
LINGER_SECONDS = 2.0  # for reading the rest of a refused body, without which clients see a broken connection
_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")  # request ids of clients that are safe in a log
_OTHER = "other"  # label of unknown paths and methods: labels of metrics must be a closed set
access_log = logging.getLogger("granola.access")

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
PARAMETER = "asked"  # parameter name of endpoints that take a JSON body
BODY = "granola.body"  # key of the received body in the ASGI scope
AT_ONCE = 1 << 16  # bytes: larger bodies are parsed in a thread, so that other requests need not wait
_GRACE = 1.0  # seconds for writing the answer, added to those of the work
_TOKEN_DOCUMENTATION = Depends(HTTPBearer(auto_error=False, description="The secret of GRANOLA_TOKEN, if one is set."))


def no_product_limit(asked: Any, settings: ServiceSettings) -> None:
    """Check nothing: for requests whose types already limit all their sizes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bound:
    """The limits of the requests of a route.

    `body` is the size of the body: none, small for one question, large for many rows. `products` gets the parsed body
    and the settings, and raises HTTPProblem or RowError where sizes that are allowed singly are too large together.
    `seconds` names the setting that limits the time until the response begins. Routes with `token` false are open to
    everyone.
    """

    products: Callable[[Any, ServiceSettings], None]
    body: Literal["none", "small", "large"] = "none"
    seconds: Literal["seconds", "batch_seconds"] = "seconds"
    token: bool = True

    def most_body_bytes(self, settings: ServiceSettings) -> int:
        """The largest allowed body in bytes."""
        return {"none": 0, "small": min(SMALL, settings.body), "large": settings.body}[self.body]


READING = Bound(products=no_product_limit)


def route(path: str, bound: Bound, **more: Any) -> Callable[[Endpoint], Endpoint]:
    """Mark a method as a route with a path and limits; `more` are further arguments of `FastAPI.add_api_route`."""
    how = {"path": path, "methods": ["GET" if bound.body == "none" else "POST"], **more}

    def mark(endpoint: Endpoint) -> Endpoint:
        endpoint.bound, endpoint.route = bound, how  # type: ignore[attr-defined]  # functions take attributes
        return endpoint

    return mark


def add_routes(app: FastAPI, routes: object) -> None:
    """Add to `app` the methods of an object that `route` has marked, in the order of their definition."""
    for name in vars(type(routes)):
        endpoint = getattr(routes, name)
        if asked := getattr(endpoint, "route", None):
            app.add_api_route(endpoint=endpoint, **asked)


class BoundedRoute(APIRoute):
    """A route with limits, `bound`. Raises TypeError for a function without them."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        bound = getattr(endpoint, "bound", None)
        if not isinstance(bound, Bound):
            raise TypeError(f"{path}: {endpoint.__name__} has no bound; put @route(PATH, Bound(...)) above it")
        self.bound = bound
        more["dependencies"] = [*(more.get("dependencies") or ()), *([_TOKEN_DOCUMENTATION] if bound.token else [])]
        super().__init__(path, endpoint, **more)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """See `APIRoute.get_route_handler`: limits the body and the time, and turns errors into responses."""
        kind = get_type_hints(self.endpoint).get(PARAMETER)
        inner = super().get_route_handler() if kind is None else self._handler_reading_body(kind)

        async def handle_within_time(request: Request) -> Response:
            service: Service = request.app.state.served
            seconds = getattr(service.settings, self.bound.seconds) + _GRACE
            try:
                async with asyncio.timeout(seconds):
                    return await inner(request)
            except TimeoutError:
                error: Exception = time_limit_problem(seconds)
            except RequestValidationError as refused:
                error = problem_of_errors(refused.errors())
            except Exception as failed:
                error = failed
            return service.count_and_log_problem(error).response()

        return handle_within_time

    def _handler_reading_body(self, kind: Any) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        async def handle_body(request: Request) -> Response:
            service: Service = request.app.state.served
            media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if media != "application/json" and not (media.startswith("application/") and media.endswith("+json")):
                raise HTTPProblem(415, "media-type", "send JSON, with the header Content-Type: application/json")
            if query := parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True):
                names = ", ".join(sorted({name for name, _ in query}))[:100]
                raise HTTPProblem(422, "request", f"{names} is in the address; {self.path} reads its body alone")
            body = request.scope[BODY]

            def read_and_check() -> Any:
                asked = read_body(body, kind)
                self.bound.products(asked, service.settings)
                return asked

            if len(body) <= AT_ONCE:
                asked = read_and_check()
            else:
                seconds = getattr(service.settings, self.bound.seconds)
                asked = await service.run_large_read(read_and_check, seconds=seconds)
            answer: Response = await self.endpoint(asked)
            return answer

        return handle_body


class _GoneError(Exception):
    """The client has left."""


def check_host_and_site(settings: ServiceSettings, method: str, headers: Mapping[bytes, bytes]) -> None:
    """Raise HTTPProblem for an unknown host name, and for POST requests from pages of other sites.

    A web page elsewhere can make its own name resolve to this machine and then read from this service (DNS rebinding).
    Such requests have the page's name as their host. A numeric address cannot be rebound.
    """
    host = headers.get(b"host", b"").decode("latin-1").strip().lower()
    name = host[1:].partition("]")[0] if host.startswith("[") else re.sub(r":\d*$", "", host).rstrip(".")
    if settings.hosts is not None and host and name not in settings.hosts and not _is_ip_address(name[:50]):
        raise HTTPProblem(
            421, "host", "this service is not asked under that name; whoever runs it can add it: --allow-host"
        )
    if method == "POST" and headers.get(b"sec-fetch-site") == b"cross-site":
        raise HTTPProblem(403, "cross-site", "pages of other sites may not send requests to this service")


def _is_ip_address(name: str) -> bool:
    with suppress(ValueError):
        return bool(ip_address(name))
    return False


class Gate:
    """ASGI middleware around the whole application."""

    def __init__(self, app: FastAPI, service: Service) -> None:
        self.app = app
        self._service = service
        self._settings = service.settings
        routes = [route for route in app.routes if isinstance(route, BoundedRoute)]
        bodies = [route for route in routes if route.bound.body != "none"]
        self._most = {route.path: route.bound.most_body_bytes(self._settings) for route in bodies}
        self._open = {route.path for route in routes if not route.bound.token}
        self._buffered = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request; other kinds of connection are closed or ignored."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})  # refused, as 403
        if scope["type"] != "http":
            return
        headers = dict(scope["headers"])
        answer = _Answer(send, self._service, headers)
        self._service.metrics.in_flight += 1
        try:
            await self._check_and_serve(scope, headers, receive, answer)
        except _GoneError:
            pass
        except Exception as error:
            if answer.status and isinstance(error, RuntimeError) and isinstance(error.__cause__, Exception):
                error = error.__cause__  # Starlette's way to report an error after an answer has begun
            problem = self._service.count_and_log_problem(error)
            if not answer.status:  # or it is too late: the connection is cut, so that nobody takes it for whole
                await self._send_problem(problem, scope, receive, answer)
        finally:
            self._service.metrics.in_flight -= 1
            self._count_and_log(scope, answer)

    async def _check_and_serve(
        self, scope: Scope, headers: Mapping[bytes, bytes], receive: Receive, answer: _Answer
    ) -> None:
        settings, path, method = self._settings, scope["path"], scope["method"]
        check_host_and_site(settings, method, headers)
        if settings.token is not None and path not in self._open and not _has_token(headers, settings.token):
            raise HTTPProblem(401, "token", "this service wants its token: Authorization: Bearer TOKEN")
        if answer.is_unread or (method == "POST" and path in self._most):
            most = self._most.get(path, SMALL) if method == "POST" else SMALL  # a body that no route reads is discarded
            scope[BODY] = await self._receive_body(receive, headers, most)
            answer.is_unread = False
        if method == "HEAD":  # as GET; the server leaves the body out
            scope["method"] = "GET"
        await self.app(scope, receive, answer)

    async def _receive_body(self, receive: Receive, headers: Mapping[bytes, bytes], most: int) -> bytes:
        """Return the body. Raises HTTPProblem for one that is too large or too slow, and where all bodies that are
        being received are too large together.
        """
        said = headers.get(b"content-length", b"")
        length = int(said[:19]) if said.isdigit() else 0
        body = bytearray()
        more = True
        try:
            async with asyncio.timeout(self._settings.body_seconds):
                while more and max(length, len(body)) <= most:
                    if self._buffered + max(0, length - len(body)) > self._settings.buffered:
                        raise overload_problem("too much is being received at the moment", retry_after=2)
                    message = await receive()
                    if message["type"] != "http.request":
                        raise TimeoutError  # or the client has left, and then nobody reads the answer
                    body += message.get("body", b"")
                    self._buffered += len(message.get("body", b""))
                    more = message.get("more_body", False)
        except TimeoutError:
            detail = f"the body took more than {self._settings.body_seconds:g} s to arrive, or stopped"
            raise HTTPProblem(408, "body-time", detail) from None
        finally:
            self._buffered -= len(body)
        if max(length, len(body)) > most:
            raise too_many_problem("body-size", f"the body has more than {most:,} bytes; send less at a time", most)
        return bytes(body)

    async def _send_problem(self, problem: HTTPProblem, scope: Scope, receive: Receive, answer: _Answer) -> None:
        """Send a problem. Where the body has not been read, discard it for a moment first: closing at once would lose
        the response.
        """
        refusal = problem.response()
        if not answer.is_unread:
            await refusal(scope, receive, answer)
            return
        headers = [*refusal.raw_headers, (b"connection", b"close")]
        await answer({"type": "http.response.start", "status": problem.status, "headers": headers})
        await answer({"type": "http.response.body", "body": refusal.body, "more_body": True})
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while (message := await receive())["type"] == "http.request" and message.get("more_body", False):
                    pass
        await answer({"type": "http.response.body", "body": b"", "more_body": False})

    def _count_and_log(self, scope: Scope, answer: _Answer) -> None:
        """Count the request and log client, method, path and status, but nothing of its content."""
        route, method = scope.get("route"), scope["method"]
        path = route.path if isinstance(route, BoundedRoute) else _OTHER
        if not isinstance(route, BoundedRoute) or method not in (route.methods or ()):  # a client may invent one
            method = _OTHER
        status, seconds = answer.status or 499, time.perf_counter() - answer.began
        self._service.metrics.count_request(path, method, status, seconds)
        if self._settings.access_log:
            told = {
                "time": datetime.now(UTC).isoformat(timespec="milliseconds"), "id": answer.id.decode(),
                "client": (scope.get("client") or ("-",))[0], "method": scope["method"][:20],
                "path": quote(scope["path"][:200], safe="/{}"), "status": status, "bytes": answer.size,
                "milliseconds": round(1000 * seconds, 1),
            }  # fmt: skip
            access_log.info(orjson.dumps(told).decode())


class _Answer:
    """A `send` that adds the headers of every response and limits the time of writing; stores status, size and request
    id.
    """

    def __init__(self, send: Send, service: Service, headers: Mapping[bytes, bytes]) -> None:
        self._send = send
        self._service = service
        self.began = time.perf_counter()
        self.status = self.size = 0
        self.is_unread = headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
        asked = headers.get(b"x-request-id", b"")
        self.id = asked if _ID.fullmatch(asked) else secrets.token_hex(8).encode()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message["headers"], *ALWAYS, (b"x-request-id", self.id)]
            names = {name for name, _ in headers}
            if POLICY not in names:
                headers.append(NOTHING_RUNS)
            if self._service.snapshots.is_open and SNAPSHOT_HEADER.encode() not in names:
                headers.append((SNAPSHOT_HEADER.encode(), self._service.snapshots.current.snapshot_id.encode()))
            message = {**message, "headers": headers}
        self.size += len(message.get("body", b""))
        try:
            async with asyncio.timeout(self._service.settings.write_seconds):
                await self._send(message)
        except TimeoutError:
            raise _GoneError from None


def _has_token(headers: Mapping[bytes, bytes], token: str) -> bool:
    """Whether the Authorization header has the token, as Bearer or as the password of Basic."""
    kind, _, given = headers.get(b"authorization", b"").strip().partition(b" ")
    if kind.lower() == b"basic":
        try:
            given = base64.b64decode(given.strip(), validate=True).partition(b":")[2]
        except binascii.Error:
            return False
    elif kind.lower() != b"bearer":
        return False
    return hmac.compare_digest(given.strip(), token.encode())
