"""The client: the library's calls over HTTP, the same bytes, and patience with a service that has much to do."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from abstraction.pipeline import LadderMaker, make_ladders
from abstraction.rows import QARow, read_questions, write_tiered
from granola.errors import ServiceUnusableError
from granola.matching import matcher
from granola.service.client import Client
from kg.store import open_store
from tests.granola.service.conftest import DEMO, ROOT, Running, limited, serving

ROWS = list(read_questions([DEMO / "questions.jsonl"]))


@pytest.fixture
def client(service: Running) -> Iterator[Client]:
    with Client(service.address) as opened:
        yield opened


def test_ladders_are_those_of_the_library_to_the_byte(service: Running, client: Client, tmp_path: Path) -> None:
    with closing(open_store(service.snapshot)) as store:
        write_tiered(make_ladders(ROWS, store), tmp_path / "library.jsonl")
        maker = LadderMaker(store)
        assert client.make(ROWS[0]).to_json() == maker.make(ROWS[0]).to_json()
        assert client.manifest()["snapshot_id"] == client.snapshot_id == store.manifest()["snapshot_id"]
    write_tiered(client.make_ladders(ROWS), tmp_path / "client.jsonl")
    assert (tmp_path / "client.jsonl").read_bytes() == (tmp_path / "library.jsonl").read_bytes()


def test_granola_tiers_takes_a_service_for_a_snapshot(service: Running, tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_bytes((DEMO / "questions.jsonl").read_bytes() + b'{"question": "Who?"}\n')
    for name, where in (("file", str(service.snapshot)), ("service", service.address)):
        done = subprocess.run(
            [sys.executable, "-c", "from granola.cli.main import main; main()", "tiers", str(questions),
             "--snapshot", where, "--out", str(tmp_path / name)],
            capture_output=True, text=True, cwd=ROOT,
        )  # fmt: skip
        assert done.returncode == 1, done.stderr
    assert (tmp_path / "file").read_bytes() == (tmp_path / "service").read_bytes()
    record = [json.loads((tmp_path / f"{name}.run.json").read_text("utf-8")) for name in ("file", "service")]
    assert record[0]["snapshot"] == record[1]["snapshot"]
    assert record[0]["coverage"] == record[1]["coverage"]


def test_a_subject_ids_and_foreign_fields_come_along(service: Running, client: Client) -> None:
    row = QARow(
        id="x", question="Where was he born?", answers=("Honolulu", "Hawaii"), answer_qids=("Q18094", None),
        relation="P19", subject_text="Obama", subject_qid="Q76", 
        extra={"note": {"deep": [1, None, 2.5]}, "split": "dev"},
    )  # fmt: skip
    with closing(open_store(service.snapshot)) as store:
        expected = LadderMaker(store).make(row).to_json()
    (made,) = client.make_ladders([row])
    assert made.to_json() == expected == client.make(row).to_json()
    assert made.extra["note"] == {"deep": [1, None, 2.5]}


def test_verdicts_scores_links_and_entities(client: Client) -> None:
    levels = [["Honolulu"], ["Hawaii"]]
    said = ["in Hawaii", "Oahu", "no idea"]
    assert client.match(said, levels, "Where?") == [matcher("rules").match(one, levels, "Where?") for one in said]
    rows = list(client.make_ladders(ROWS[:3]))
    scores = client.score(rows, {row.id: row.answers[0] for row in rows}, resamples=10)
    assert scores["metrics"]["granola_accuracy"]["value"] == 1.0
    assert client.link(ROWS[0])["links"]
    entity = client.entity("Q76")
    assert entity is not None
    assert entity["labels"]["en"] == "Barack Obama"
    assert client.entity("Q999999999") is None
    assert client.search("Honolulu")["found"]


def test_many_clients_on_a_busy_service_get_all_their_rows(demo_snapshot: Path, tmp_path: Path) -> None:
    with closing(open_store(demo_snapshot)) as store:
        expected = [row.to_json() for row in make_ladders(ROWS, store)]
    results: list[list[object]] = []

    def ask(address: str) -> None:
        with Client(address) as client:
            results.append([row.to_json() for row in client.make_ladders(ROWS)])

    with limited(demo_snapshot, batches=1) as service:
        threads = [threading.Thread(target=ask, args=(service.address,)) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert results == [expected] * 5


def test_the_token_is_sent(demo_snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(demo_snapshot, token="a-secret-of-many-letters") as service:
        with Client(service.address) as client, pytest.raises(ServiceUnusableError, match="wants its token"):
            client.manifest()
        monkeypatch.setenv("GRANOLA_TOKEN", "a-secret-of-many-letters")
        with Client(service.address) as client:
            assert client.manifest()


class _Cutting(BaseHTTPRequestHandler):
    """Cuts the first answer after two lines, refuses the second request, then answers."""

    requests = 0
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        rows = [json.loads(line) for line in self.rfile.read(int(self.headers["Content-Length"])).splitlines()]
        type(self).requests += 1
        if self.requests == 2:
            self.send_response(503)
            body = b'{"detail": "busy", "code": "overloaded"}'
            self.send_header("Retry-After", "0.1")
        else:
            lines = [
                json.dumps({"id": row["id"], "question": "?", "answer": ["x"], "levels": [{"tiers": [{"text": "x"}]}]})
                for row in rows
            ]
            self.send_response(200)
            body = "".join(line + "\n" for line in (lines[:2] if self.requests == 1 else lines)).encode()
            self.send_header("Granola-Snapshot", "b" * 8 if self.requests == 4 else "a" * 8)
        self.send_header("Content-Length", str(len(body) + (50 if self.requests == 1 else 0)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = self.requests == 1

    def log_message(self, *_: object) -> None:
        """Nothing."""


def test_a_batch_that_is_cut_goes_on_where_it_stopped() -> None:
    rows = [QARow(id=str(n), question="?", answers=("x",), answer_qids=(None,)) for n in range(5)]
    with ThreadingHTTPServer(("127.0.0.1", 0), _Cutting) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with Client(f"http://127.0.0.1:{server.server_port}") as client:
            assert [row.id for row in client.make_ladders(rows)] == ["0", "1", "2", "3", "4"]
            assert _Cutting.requests == 3
            with pytest.raises(ServiceUnusableError, match="another snapshot"):
                list(client.make_ladders(rows))
        server.shutdown()


def test_what_is_no_service_is_told() -> None:
    with pytest.raises(ServiceUnusableError, match="no address"):
        Client("http://user:secret@localhost")
    with Client("http://127.0.0.1:9", patience=0.2) as nobody, pytest.raises(ServiceUnusableError, match="refused"):
        nobody.manifest()
