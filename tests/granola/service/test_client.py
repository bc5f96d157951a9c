"""The client: the library's calls over HTTP, the same bytes, and patience with a service that has much to do."""

from __future__ import annotations

import json
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

from abstraction.pipeline import LadderMaker, make_ladders
from abstraction.rows import QARow, RejectedRow, read_questions, write_tiered
from granola.errors import ServiceUnusableError
from granola.matching import matcher
from granola.service.client import Client
from kg.snapshot import build
from kg.store import open_store
from tests.command_line import run_granola
from tests.granola.service.conftest import DEMO, Running, limited, serving

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


def test_fields_that_are_called_as_settings_are_handed_on(service: Running, client: Client, tmp_path: Path) -> None:
    row = replace(ROWS[0], extra={"language": "de", "linker": "mine", "phrase": ["in Honolulu"]})
    with closing(open_store(service.snapshot)) as store:
        made = LadderMaker(store).make(row)
    assert client.make(row).to_json() == made.to_json()
    (tmp_path / "qa.jsonl").write_text(json.dumps({"question": row.question, "answer": "Honolulu", **row.extra}) + "\n")
    outs = []
    for where in (str(service.snapshot), service.address):
        done = run_granola("tiers", str(tmp_path / "qa.jsonl"), "--snapshot", where, "--out", "-")
        assert "language" not in done.stderr  # the row's own language counts
        outs.append(done.stdout)
    assert outs[0] == outs[1]
    url = f"{service.address}/v1/ladders"
    for query, named in (("", "language, linker, phrase"), ("?language=de", "linker, phrase")):
        got = requests.post(url + query, data=(tmp_path / "qa.jsonl").read_bytes(), timeout=10)
        assert got.headers["Granola-Unheeded"] == named
    plain = json.dumps({"question": row.question, "answer": "Honolulu", "language": "en"})
    assert "Granola-Unheeded" not in requests.post(url, data=plain, timeout=10).headers


def test_granola_tiers_takes_a_service_for_a_snapshot(service: Running, tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_bytes((DEMO / "questions.jsonl").read_bytes() + b'{"question": "Who?"}\n')
    for name, where in (("file", str(service.snapshot)), ("service", service.address)):
        done = run_granola("tiers", str(questions), "--snapshot", where, "--out", str(tmp_path / name))
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
    verdicts = [matcher("rules").match(one, levels, "Where?") for one in said]
    assert client.match_all(said, levels, "Where?") == verdicts
    assert [client.match(one, levels, "Where?") for one in said] == verdicts
    rows = list(client.make_ladders(ROWS[:3]))
    scores = client.score(rows, {row.id: row.answers[0] for row in rows}, resamples=10)
    assert scores["metrics"]["granola_accuracy"]["value"] == 1.0
    assert "lambda:0.3" in client.score(rows, {row.id: "x" for row in rows}, lambda_=0.3, resamples=10)["signature"]
    assert client.link(ROWS[0])["links"]
    entity = client.entity("Q76")
    assert entity is not None
    assert entity["labels"]["en"] == "Barack Obama"
    assert client.entity("Q999999999") is None
    assert client.search("Honolulu")["found"]


def test_a_text_is_no_list_of_its_letters(client: Client) -> None:
    with pytest.raises(TypeError, match="match_all takes several"):
        client.match(["Hawaii"], [["Hawaii"]])  # type: ignore[arg-type]
    calls: tuple[tuple[Callable[..., object], tuple[object, ...]], ...] = (
        (client.match_all, ("Hawaii", [["Hawaii"]])), (client.match, ("Hawaii", ["Hawaii"])),
        (client.match, ("Hawaii", "Hawaii")), (client.aggregate, ("Where?", "Honolulu")),
    )  # fmt: skip
    for call, given in calls:
        with pytest.raises(TypeError, match=r"must be a list of texts, not '(Hawaii|H|Honolulu)'"):
            call(*given)


def test_rows_that_the_service_rejects_are_handed_out(client: Client, tmp_path: Path) -> None:
    long = QARow(id="long", question="Where? " * 1000, answers=("x",), answer_qids=(None,), source="q.jsonl:2")
    rejected: list[RejectedRow] = []
    made = list(client.make_ladders([ROWS[0], long, ROWS[1]], on_reject=rejected.append))
    assert [row.id for row in made] == [ROWS[0].id, ROWS[1].id]
    assert [row.source for row in rejected] == ["q.jsonl:2"]
    assert "the service rejects it" in rejected[0].reason
    with pytest.raises(ServiceUnusableError, match=r"q\.jsonl:2: the service rejects it"):
        list(client.make_ladders([long]))
    questions = tmp_path / "questions.jsonl"
    lines = [{"id": row.id, "question": row.question, "answer": row.answers[0]} for row in (ROWS[0], long)]
    questions.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    done = run_granola("tiers", str(questions), "--snapshot", client.address, "--out", str(tmp_path / "tiers.jsonl"))
    assert done.returncode == 1, done.stderr
    assert len((tmp_path / "tiers.jsonl").read_text("utf-8").splitlines()) == 1
    assert "questions.jsonl:2" in (tmp_path / "tiers.jsonl.rejects.jsonl").read_text("utf-8")


def test_requests_are_made_smaller_until_the_service_takes_them(demo_snapshot: Path) -> None:
    rejected: list[RejectedRow] = []
    wide = QARow(id="wide", question="?", answers=("x",), answer_qids=(None,), extra={"note": "y" * 5_000})
    with limited(demo_snapshot, rows=3, body=4_000) as service, Client(service.address) as client:
        made = [row.id for row in client.make_ladders([*ROWS[:8], wide, *ROWS[8:10]], on_reject=rejected.append)]
    assert made == [row.id for row in ROWS[:10]]
    assert [(row.source, "4,000 bytes" in row.reason) for row in rejected] == [("wide", True)]


def test_many_clients_on_a_busy_service_get_all_their_rows(
    demo_snapshot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_store(demo_snapshot)) as store:
        expected = [row.to_json() for row in make_ladders(ROWS, store)]
    results: list[list[object]] = []

    def ask(address: str) -> None:
        with Client(address) as client:
            results.append([row.to_json() for row in client.make_ladders(ROWS)])

    # The service says that it may be asked again after 5 s; ten times as often will do.
    monkeypatch.setattr(time, "sleep", lambda seconds, sleep=time.sleep: sleep(seconds / 10))
    with limited(demo_snapshot, batches=1) as service:
        threads = [threading.Thread(target=ask, args=(service.address,)) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(200)
    assert results == [expected] * 5


def test_the_token_is_sent(demo_snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(demo_snapshot, token="a-secret-of-many-letters") as service:
        with Client(service.address) as client, pytest.raises(ServiceUnusableError, match="wants its token"):
            client.manifest()
        monkeypatch.setenv("GRANOLA_TOKEN", "a-secret-of-many-letters")
        with Client(service.address) as client:
            assert client.manifest()


def test_a_client_follows_a_new_snapshot_and_a_batch_does_not(demo_snapshot: Path, tmp_path: Path) -> None:
    place, other = tmp_path / "served.sqlite", tmp_path / "other.sqlite"
    shutil.copy(demo_snapshot, place)
    build([DEMO / "wikidata.json"], other, limit=50)

    with serving(place) as service, Client(service.address) as client, Client(service.address, pinned=True) as pinned:
        before = client.snapshot_id
        assert pinned.snapshot_id == before
        many = [replace(row, id=f"{n}-{row.id}") for n in range(100) for row in ROWS]
        rows = client.make_ladders(many)
        next(rows)
        other.rename(place)
        service.process.send_signal(signal.SIGHUP)
        until = time.monotonic() + 120
        while client.manifest()["snapshot_id"] == before and time.monotonic() < until:
            time.sleep(0.02)
        assert client.snapshot_id != before
        assert client.match("Hawaii", [["Hawaii"]]).level == 1
        assert client.make(ROWS[0]).levels[0].tiers
        with pytest.raises(ServiceUnusableError, match="taken up another snapshot"):
            list(rows)
        with pytest.raises(ServiceUnusableError, match="taken up another snapshot"):
            pinned.manifest()


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
        with Client(f"http://127.0.0.1:{server.server_port}", pinned=True) as client:
            assert [row.id for row in client.make_ladders(rows)] == ["0", "1", "2", "3", "4"]
            assert _Cutting.requests == 3
            with pytest.raises(ServiceUnusableError, match="another snapshot"):
                list(client.make_ladders(rows))
        server.shutdown()


@pytest.mark.parametrize(
    "arguments",
    [("ladder", "Where was he born?", "Honolulu", "--snapshot", "http://127.0.0.1:8080"),
     ("snapshot", "info", "http://127.0.0.1:8080"), ("audit", "tiers.jsonl", "--snapshot", "http://127.0.0.1:8080")],
)  # fmt: skip
def test_commands_that_ask_no_service_say_which_does(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "tiers.jsonl").write_text('{"question": "?", "levels": ["a"], "answer": "a"}\n', "utf-8")
    done = run_granola(*[str(tmp_path / one) if one == "tiers.jsonl" else one for one in arguments])
    assert done.returncode == 2
    assert "only granola tiers asks a granola service" in done.stderr


def test_who_has_never_answered_is_not_waited_for_long(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("granola.service.client.UNKNOWN_SECONDS", 1.3)
    monkeypatch.setattr("granola.service.client.TOLD_SECONDS", 0.1)
    with Client("http://127.0.0.1:9") as nobody, pytest.raises(ServiceUnusableError, match=r"asked for 1\.3 s in vain"):
        nobody.manifest()
    assert [record.message.partition("; ")[2] for record in caplog.records] == ["asking again for up to 1.3 s"]


def test_what_is_no_service_is_told() -> None:
    with pytest.raises(ServiceUnusableError, match="no address"):
        Client("http://user:secret@localhost")
    with Client("http://127.0.0.1:9", patience=0.2) as nobody, pytest.raises(ServiceUnusableError, match="refused"):
        nobody.manifest()
