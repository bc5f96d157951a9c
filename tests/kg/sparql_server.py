"""A SPARQL endpoint on loopback with rdflib's engine behind it, and the bad days of real ones."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import orjson
import rdflib

from kg.reading.rdf import lexical_forms

Fault = Callable[["Handler", bytes], bool]  # given the true answer; whether it answered
JSON = "application/sparql-results+json"


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, path: Path, rows: int) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        with lexical_forms():
            self.graph = rdflib.Graph().parse(path)
        self.rows = rows
        self.faults: list[Fault] = []
        self.always: Fault | None = None
        self.queries: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/sparql"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        self.answer(b"a question by GET", 405, "text/plain")

    def do_POST(self) -> None:
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

    def answer(self, body: bytes, status: int = 200, kind: str = JSON, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


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
    handler.send_response(200)
    handler.send_header("Content-Type", JSON)
    handler.send_header("Content-Length", str(len(body) + 1000))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])
    handler.close_connection = True
    return True


def silent(handler: Handler, _: bytes) -> bool:
    handler.close_connection = True
    return True


def slow(handler: Handler, _: bytes) -> bool:
    time.sleep(0.6)
    return False


def cut_when_long(handler: Handler, body: bytes) -> bool:
    """A server that runs out of time while it streams, with status 200."""
    if orjson.loads(body)["results"]["bindings"][60:]:
        handler.answer(body[: len(body) * 2 // 3])
        return True
    return False


def dripping(handler: Handler, body: bytes) -> bool:
    handler.send_response(200)
    handler.send_header("Content-Type", JSON)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
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
    server = Server(path, rows)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
