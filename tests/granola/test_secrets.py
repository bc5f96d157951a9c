"""A secret in any address that a command takes: it is in no output, no file and no message."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import orjson
import pytest

from kg.store import open_store
from tests.conftest import Run

pytestmark = pytest.mark.thorough("abstraction/models", "granola/commands")

DEMO = Path(__file__).resolve().parents[2] / "granola" / "demo"
CANARY = "c4n4ry9"
SIGNS = (CANARY, base64.b64encode(f"me:{CANARY}".encode()).decode())
PLACES = (  # of a server HOST:PORT
    "{scheme}://me:" + CANARY + "@{host}",
    "{scheme}://me:" + CANARY,
    "{scheme}://{host}/?key=" + CANARY,
    "{scheme}://{host}/x?token=" + CANARY + "&" + CANARY,
    "{scheme}://[" + CANARY,
)


class Handler(BaseHTTPRequestHandler):
    """Says what it was asked and by whom; an API and an endpoint on the paths that are called so."""

    def do_GET(self) -> None:  # the name that http.server calls
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append((self.path, self.headers.get("Authorization")))  # type: ignore[attr-defined]
        if self.path.startswith("/api"):
            body = {"entities": {"Q1": {"type": "item", "id": "Q1", "labels": {}}}}
            self._answer(200, "application/json", orjson.dumps(body))
        elif self.path.startswith("/sparql"):
            row = {
                "s": {"type": "uri", "value": "http://www.wikidata.org/entity/Q1"},
                "p": {"type": "uri", "value": "http://www.w3.org/2000/01/rdf-schema#label"},
                "o": {"type": "literal", "value": "one", "xml:lang": "en"},
                "n": {"type": "literal", "value": "1"},
            }
            self._answer(200, "application/sparql-results+json", orjson.dumps({"results": {"bindings": [row]}}))
        else:
            self._answer(404, "text/html", f"{self.path} {self.headers.as_string()} {CANARY}".encode())

    do_POST = do_GET  # noqa: N815

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def contact(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRANOLA_CONTACT", "tests@example.org")
    monkeypatch.chdir(tmp_path)


@contextmanager
def nothing_told(run: Run, tmp_path: Path) -> Iterator[Run]:
    """Commands within are run, and their words and files looked through."""

    def call(*words: object) -> tuple[int, str, str]:
        code, out, err = run(*words)
        for text in (out, err):
            assert not any(sign in text for sign in SIGNS), (words, text)
        return code, out, err

    yield call
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert not any(sign.encode() in path.read_bytes() for sign in SIGNS), path


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("scheme", ["bolt", "http"])
def test_addresses_of_snapshots(run: Run, tmp_path: Path, server: ThreadingHTTPServer, scheme: str, place: str) -> None:
    where = place.format(scheme=scheme, host=f"127.0.0.1:{server.server_port}")
    qa = tmp_path / "qa.jsonl"
    qa.write_bytes((DEMO / "questions.jsonl").read_bytes())
    snapshot = tmp_path / "s.sqlite"
    run("snapshot", "build", DEMO / "wikidata.json", "--out", snapshot)
    with nothing_told(run, tmp_path) as call:
        for words in (
            ("snapshot", "info", where),
            ("snapshot", "push", snapshot, where),
            ("tiers", qa, "--snapshot", where, "--out", tmp_path / "t.jsonl"),
            ("serve", "--snapshot", where, "--port", "0"),
        ):
            assert call(*words)[0] in (1, 2), words


@pytest.mark.parametrize("place", PLACES)
def test_addresses_of_models(run: Run, tmp_path: Path, server: ThreadingHTTPServer, place: str) -> None:
    model = "openai:" + place.format(scheme="http", host=f"127.0.0.1:{server.server_port}") + "#m"
    qa = tmp_path / "qa.jsonl"
    qa.write_bytes((DEMO / "questions.jsonl").read_bytes())
    with nothing_told(run, tmp_path) as call:
        for words in (
            ("answer", qa, "--model", model, "--out", tmp_path / "p.jsonl"),
            ("tiers", qa, "--snapshot", DEMO / "x", "--phrase", model, "--out", tmp_path / "t.jsonl"),
            ("score", qa, qa, "--matcher", f"judge:{model}"),
        ):
            assert call(*words)[0] == 2, words


@pytest.mark.parametrize("kind", ["api", "sparql"])
@pytest.mark.parametrize("place", PLACES)
def test_addresses_of_sources(run: Run, tmp_path: Path, server: ThreadingHTTPServer, kind: str, place: str) -> None:
    where = place.format(scheme="http", host=f"127.0.0.1:{server.server_port}")
    with nothing_told(run, tmp_path) as call:
        code, _, err = call("snapshot", "build", "--from", kind, where, "--ids", "Q1", "--out", tmp_path / "s")
    assert code == 2
    if "me:" in where and "@" in where:
        assert "GRANOLA_SOURCE_USER and GRANOLA_SOURCE_PASSWORD" in err


@pytest.mark.parametrize("kind", ["api", "sparql"])
@pytest.mark.parametrize("query", [f"key={CANARY}", CANARY, f"a=b&c={CANARY}"])
def test_what_is_built_shows_no_key(
    run: Run, tmp_path: Path, server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch, kind: str, query: str
) -> None:
    url = f"http://127.0.0.1:{server.server_port}/{kind}?{query}"
    monkeypatch.setenv("GRANOLA_SOURCE_USER", "me")
    monkeypatch.setenv("GRANOLA_SOURCE_PASSWORD", CANARY)
    out = tmp_path / "s"
    with nothing_told(run, tmp_path) as call:
        code, _, err = call("snapshot", "build", "--from", kind, url, "--ids", "Q1", "--no-properties", "--out", out)
        assert code == 0, err
        assert "***" in call("snapshot", "info", out)[1]
        with open_store(out) as store:
            command, source = store.manifest()["command"], store.manifest()["sources"][0]["name"]
    (again,) = (word for word in command.replace("'", "").split() if "://" in word)
    assert again == source
    asked = server.asked  # type: ignore[attr-defined]
    assert all(query in path and sign == f"Basic {SIGNS[1]}" for path, sign in asked)
