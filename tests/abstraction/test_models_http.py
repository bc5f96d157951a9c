"""One call over HTTP, however the answer is packed; its time limit holds for the whole of it."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from abstraction.errors import ModelUnreachableError
from abstraction.models.chat_model import FailureReason, NoAnswer
from abstraction.models.http_client import ServerClient
from abstraction.models.model_settings import ServerSettings
from kg.web.rate_limits import RetryDelays

pytestmark = pytest.mark.thorough("abstraction/models")

BODY = b'{"choices": "' + b"x" * 100_000 + b'"}'
Writer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def answering(write: Writer) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            write(self)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def head(handler: BaseHTTPRequestHandler, **headers: str) -> None:
    handler.send_response(200)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()


def plain(handler: BaseHTTPRequestHandler) -> None:
    head(handler, Content_Length=str(len(BODY)))
    handler.wfile.write(BODY)


def chunked(handler: BaseHTTPRequestHandler) -> None:
    head(handler, Transfer_Encoding="chunked")
    for at in range(0, len(BODY), 999):
        part = BODY[at : at + 999]
        handler.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
    handler.wfile.write(b"0\r\n\r\n")


def zipped(handler: BaseHTTPRequestHandler) -> None:
    packed = gzip.compress(BODY)
    head(handler, Content_Length=str(len(packed)), Content_Encoding="gzip")
    handler.wfile.write(packed)


def until_closed(handler: BaseHTTPRequestHandler) -> None:
    head(handler, Connection="close")
    handler.wfile.write(BODY)


def cut(handler: BaseHTTPRequestHandler) -> None:
    head(handler, Content_Length=str(len(BODY)), Connection="close")
    handler.wfile.write(BODY[:5000])


def dripping(handler: BaseHTTPRequestHandler) -> None:
    head(handler, Content_Length="1000")
    try:
        for _ in range(1000):
            handler.wfile.write(b"x")
            threading.Event().wait(0.02)
    except OSError:
        pass  # the other side has had enough


def asked(url: str, timeout: float = 10.0, times: int = 1) -> list[Any]:
    client = ServerClient(
        url, "m", ServerSettings(concurrency=1), patience=RetryDelays(tries=1, timeout=timeout)
    )

    async def ask(_: int) -> Any:
        return await client.post("/x", {}, lambda answer: answer)

    try:
        return list(client.in_order(range(times), ask))
    finally:
        client.close()


@pytest.mark.parametrize("write", [plain, chunked, zipped, until_closed])
def test_answers_arrive_however_they_are_packed(write: Writer) -> None:
    with answering(write) as url:
        assert asked(url, times=3) == [json.loads(BODY)] * 3


def test_an_answer_that_is_cut_off_is_no_answer() -> None:
    with answering(cut) as url, pytest.raises(NoAnswer) as told:
        asked(url)
    assert told.value.reason is FailureReason.BAD_ANSWER


def test_an_answer_that_drips_does_not_outlast_its_time() -> None:
    begun = time.monotonic()
    with answering(dripping) as url, pytest.raises(NoAnswer, match=r"within 0\.3 s"):
        asked(url, 0.3)
    assert time.monotonic() - begun < 5


def test_a_host_that_is_none_is_told_without_the_library_s_words() -> None:
    with pytest.raises(ModelUnreachableError, match="is the server running") as told:
        asked("http://no-such-host.invalid/v1")
    assert "object at" not in str(told.value)


def test_proxies_of_the_environment_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(plain) as proxy:
        monkeypatch.setenv("http_proxy", proxy.removesuffix("/v1"))
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        assert asked("http://models.invalid/v1") == [json.loads(BODY)]
