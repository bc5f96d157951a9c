"""A SPARQL endpoint on loopback with rdflib's engine behind it, and the bad days of real ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs

import orjson
import rdflib
from loopback import Answering, Loopback, running
from rdflib_literals import lexical_forms

Fault = Callable[["Handler", bytes], bool]  # given the true answer; whether it answered


class Server(Loopback):
    path = "/sparql"

    def __init__(self, path: Path, rows: int) -> None:
        super().__init__(Handler)
        with lexical_forms():
            self.graph = rdflib.Graph().parse(path)
        self.rows = rows
        self.faults: list[Fault] = []
        self.always: Fault | None = None
        self.queries: list[str] = []
        self.headers: list[dict[str, str]] = []


class Handler(Answering):
    usual = "application/sparql-results+json"
    server: Server

    def do_GET(self) -> None:  # noqa: N802  # the name that http.server calls
        self.answer(b"a question by GET", 405, "text/plain")

    def do_POST(self) -> None:  # noqa: N802
        server = self.server
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        query = form["query"][0]
        with server.lock, lexical_forms():  # one at a time, as rdflib wants it
            server.queries.append(query)
            server.headers.append(dict(self.headers.items()))
            fault = server.faults.pop(0) if server.faults else server.always
            found = orjson.loads(server.graph.query(query).serialize(format="json") or b"")
        del found["results"]["bindings"][server.rows :]
        body = orjson.dumps(found)
        if fault is None or not fault(self, body):
            self.answer(body)


def too_many(handler: Handler, _: bytes) -> bool:
    handler.answer(b"Too Many Requests", 429, "text/plain", Retry_After="0.05")
    return True


def blocked(handler: Handler, _: bytes) -> bool:
    handler.answer(b"Please set a user agent that names you", 200, "text/plain")
    return True


def error_page(handler: Handler, _: bytes) -> bool:
    handler.answer(b"<html><h1>502 Bad Gateway</h1>", 502, "text/html")
    return True


def forbidden(handler: Handler, _: bytes) -> bool:
    handler.answer(b"Forbidden", 403, "text/html")
    return True


def timed_out(handler: Handler, _: bytes) -> bool:
    handler.answer(b"SPARQL-QUERY: ... java.util.concurrent.TimeoutException", 500, "text/plain")
    return True


def timed_out_as_qlever(handler: Handler, _: bytes) -> bool:
    handler.answer(b'{"exception": "Operation timed out.", "status": "ERROR"}', 429, "application/json")
    return True


def partial(handler: Handler, body: bytes) -> bool:
    handler.answer(body, X_SQL_State="S1TAT", X_SQL_Message="RC...: Returning incomplete results, query interrupted")
    return True


def half_sent(handler: Handler, body: bytes) -> bool:
    handler.cut(body[: len(body) // 2], len(body) + 1000)
    return True


def cut_when_long(handler: Handler, body: bytes) -> bool:
    """A server that runs out of time while it streams, with status 200."""
    if orjson.loads(body)["results"]["bindings"][60:]:
        handler.answer(body[: len(body) * 2 // 3])
        return True
    return False


def dripping(handler: Handler, body: bytes) -> bool:
    handler.begin(200, handler.usual, len(body))
    for at in range(8):
        try:
            handler.wfile.write(body[at : at + 1])
            handler.wfile.flush()
        except OSError:
            break
        time.sleep(0.1)
    handler.close_connection = True
    return True


@contextmanager
def serving(path: Path, *, rows: int = 10**9) -> Iterator[Server]:
    with running(Server(path, rows)) as server:
        yield server
