"""Connections that cost nothing lasting: heads that do not come, answers that nobody reads, too many at once.

uvicorn bounds none of these by itself. A sweep once a second looks at every connection.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from granola.service.incoming.headers import ALWAYS, NOTHING_RUNS
from granola.service.incoming.problems import MEDIA_TYPE, HTTPProblem, overloaded
from granola.service.service_settings import ServiceSettings
from granola.service.serving.prometheus_metrics import Metrics


class Connection(HttpToolsProtocol):
    """A client's connection. `settings` and `metrics` are set once, before the first."""

    settings: ServiceSettings
    metrics: Metrics

    def connection_made(self, transport: Any) -> None:
        """Greet a client; where there are too many, one that asks for nothing makes room, or this one is sent away."""
        super().connection_made(transport)
        self._since: float | None = time.monotonic()  # when it was first waited for the head of a request
        self._waits = True  # for a head
        self._head = 0  # bytes of heads, and of what comes after bodies, that no request has yet
        self._body_since: float | None = None  # when the head of the request was whole whose body is still coming
        self._idle_since = self._since
        self._unsent = 0
        self._stuck: float | None = None
        self.metrics.connections.inc()
        if len(self.connections) > self.settings.connections:
            idle = [one for one in self.connections if isinstance(one, Connection) and one is not self and one.is_idle]
            if idle:
                min(idle, key=lambda one: one._idle_since or 0.0).transport.close()
            else:
                self._dismiss(overloaded("too many connections are open", retry_after=2))

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it off."""
        self.metrics.connections.dec()
        super().connection_lost(exc)

    @property
    def is_idle(self) -> bool:
        """Whether nothing of a request has come and nothing is being answered."""
        return self._waits and not self._head and self._is_answered() and not self.transport.is_closing()

    def data_received(self, data: bytes) -> None:
        """Take what has come in; a head is bounded in size, and in time from its first byte."""
        if self.transport.is_closing():
            return
        if self._waits:
            if self._since is None:
                self._since = time.monotonic()
            self._head += len(data)
        super().data_received(data)
        if self._waits and self._head > self.settings.head_bytes:
            self._too_long()

    def on_message_begin(self) -> None:
        """A head begins."""
        self._fields = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Part of the address."""
        self._fields += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A field of the head, or one behind a body in pieces: those are counted and mean nothing."""
        self._fields += len(name) + len(value) + 4
        if self._fields > self.settings.head_bytes:
            self._too_long()
        elif self._waits:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is whole."""
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (hosts == 0 and self.parser.get_http_version() == "1.1"):
            self._dismiss(HTTPProblem(400, "http", f"a request has one Host header; this one has {hosts}"))
        if self.transport.is_closing():
            raise ValueError("sent away")  # so that nothing behind it is looked at
        self._waits, self._since, self._head, self._fields = False, None, 0, 0
        self._body_since = time.monotonic()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The body is whole."""
        self._body_since = None
        self._waits = True
        self._idle_since = time.monotonic()
        super().on_message_complete()

    def shutdown(self) -> None:
        """The service ends: what has come is answered, what is still coming is not waited for."""
        if self._body_since is not None and self.cycle is not None and not self.cycle.response_started:
            self._dismiss(overloaded("the service is ending"))
        else:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP."""
        self._dismiss(HTTPProblem(400, "http", msg))

    def sweep(self, now: float) -> None:
        """Let go of a client that is too slow: with its head, its body, or with reading what was written to it."""
        unsent = self.transport.get_write_buffer_size()
        if unsent == 0 or unsent < self._unsent or self._stuck is None:
            self._stuck = now if unsent else None
        elif now - self._stuck > self.settings.write_seconds:
            self.transport.abort()
        self._unsent = unsent
        if self._since is not None and now - self._since > self.settings.head_seconds and self._is_answered():
            if self._head:
                self._dismiss(HTTPProblem(408, "head-time", "the head of the request took too long to arrive"))
            else:
                self.transport.close()
        if self._body_since is not None and now - self._body_since > self.settings.body_seconds:
            self._body_since = None
            if self.pipeline or self.cycle is None or self.cycle.response_complete:
                self.transport.close()  # an answer is on its way, or was given before the body had come
            elif not self.cycle.response_started:
                most = self.settings.body_seconds
                self._dismiss(HTTPProblem(408, "body-time", f"the body took more than {most:g} s to arrive"))

    def _is_answered(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _too_long(self) -> None:
        self._dismiss(HTTPProblem(431, "head-size", f"the head has more than {self.settings.head_bytes:,} bytes"))

    def _dismiss(self, problem: HTTPProblem) -> None:
        if self.transport.is_closing():
            return
        self.metrics.refused.labels(problem.code).inc()
        if self._is_answered() or (self.cycle is not None and not self.cycle.response_started and not self.pipeline):
            body = problem.body()
            headers = {"Content-Type": MEDIA_TYPE, "Content-Length": len(body), "Connection": "close"}
            title = problem.to_json()["title"]
            fields = [f"{name}: {value}" for name, value in {**headers, **problem.headers()}.items()]
            fields += [f"{name.decode()}: {value.decode()}" for name, value in (*ALWAYS, NOTHING_RUNS)]
            self.transport.write("\r\n".join([f"HTTP/1.1 {problem.status} {title}", *fields, "", ""]).encode() + body)
        self.transport.close()


def sweep(connections: Iterable[Any]) -> None:
    """Look at all connections once."""
    now = time.monotonic()
    for connection in list(connections):
        if isinstance(connection, Connection):
            connection.sweep(now)
