"""Connections that cost nothing lasting: heads that do not come, answers that nobody reads, too many at once.

uvicorn bounds none of these by itself. A sweep once a second looks at every connection.
"""

from __future__ import annotations

import time
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from granola.service.metrics import Metrics
from granola.service.problems import MEDIA_TYPE, Problem, overloaded
from granola.service.settings import Settings


class Connection(HttpToolsProtocol):
    """A client's connection. `settings` and `metrics` are set once, before the first."""

    settings: Settings
    metrics: Metrics

    def connection_made(self, transport: Any) -> None:
        """Greet a client, or send it away where there are too many."""
        super().connection_made(transport)
        self._since: float | None = time.monotonic()  # when it was first waited for the head of a request
        self._head = 0
        self._body_since: float | None = None  # when the head of the request was whole whose body is still coming
        self._unsent = 0
        self._stuck: float | None = None
        self.metrics.connections.inc()
        if len(self.connections) > self.settings.connections:
            self._dismiss(overloaded("too many connections are open", retry_after=2))

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it off."""
        self.metrics.connections.dec()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what has come in; a head is bounded in size, and in time from its first byte."""
        if self.transport.is_closing():
            return
        if self._is_idle():
            if self._since is None:
                self._since = time.monotonic()
            self._head += len(data)
        super().data_received(data)
        if self._since is not None and self._head > self.settings.head_bytes:
            self._dismiss(Problem(431, "head-size", f"the head has more than {self.settings.head_bytes:,} bytes"))

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._since, self._head = None, 0
        self._body_since = time.monotonic()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The body is whole."""
        self._body_since = None
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP."""
        self._dismiss(Problem(400, "http", msg))

    def sweep(self, now: float) -> None:
        """Let go of a client that is too slow: with its head, or with reading what was written to it."""
        unsent = self.transport.get_write_buffer_size()
        if unsent == 0 or unsent < self._unsent or self._stuck is None:
            self._stuck = now if unsent else None
        elif now - self._stuck > self.settings.write_seconds:
            self.transport.abort()
        self._unsent = unsent
        if self._since is not None and now - self._since > self.settings.head_seconds and self._is_idle():
            if self._head:
                self._dismiss(Problem(408, "head-time", "the head of the request took too long to arrive"))
            else:
                self.transport.close()

        if self._body_since is not None and now - self._body_since > self.settings.body_seconds:
            self._body_since = None
            if self.pipeline:
                self.transport.close()  # an answer to an earlier request is on its way
            elif self.cycle is not None and not self.cycle.response_started:
                most = self.settings.body_seconds
                self._dismiss(Problem(408, "body-time", f"the body took more than {most:g} s to arrive"))

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _dismiss(self, problem: Problem) -> None:
        if self.transport.is_closing():
            return
        self.metrics.refused.labels(problem.code).inc()
        body = problem.body()
        headers = {"Content-Type": MEDIA_TYPE, "Content-Length": len(body), "Connection": "close", **problem.headers()}
        lines = [f"HTTP/1.1 {problem.status} {problem.to_json()['title']}", *(f"{k}: {v}" for k, v in headers.items())]
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
        self.transport.close()


def sweep(connections: set[Any]) -> None:
    """Look at all connections once."""
    now = time.monotonic()
    for connection in list(connections):
        if isinstance(connection, Connection):
            connection.sweep(now)
