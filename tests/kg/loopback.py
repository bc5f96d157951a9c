"""HTTP servers on loopback whose answers go wrong where they are told to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, TypeVar


class Loopback(ThreadingHTTPServer):
    daemon_threads = True
    path = "/"

    def __init__(self, handler: type[Answering]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}{self.path}"


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    usual: ClassVar[str]

    def begin(self, status: int, kind: str, length: int, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def answer(self, body: Any, status: int = 200, kind: str | None = None, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.begin(status, kind or self.usual, len(data), **headers)
        self.wfile.write(data)

    def cut(self, body: bytes, promised: int) -> None:
        """Less than was promised, and no more."""
        self.begin(200, self.usual, promised)
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


# Bad days that servers have alike; each tells whether it answered.


def silent(handler: Answering, _: object) -> bool:
    handler.close_connection = True
    return True


def slow(handler: Answering, _: object) -> bool:
    time.sleep(5)  # in a thread that nobody waits for
    return False


S = TypeVar("S", bound=Loopback)


@contextmanager
def running(server: S) -> Iterator[S]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
