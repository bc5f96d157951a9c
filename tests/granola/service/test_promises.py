"""What docs/service.md promises, as any server would have to keep it: asked from outside, of a running service."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest
import requests

from abstraction.files.rows import read_questions
from abstraction.files.writing import json_line
from abstraction.maker.pipeline import make_ladders
from kg.building.snapshot import build
from kg.store import open_store
from tests.granola.service.conftest import (
    DEMO,
    OBAMA,
    ROOT,
    Running,
    batch,
    children,
    is_well,
    limited,
    received,
    serving,
    wait_until,
)
from tests.granola.service.sent_requests import BODIES

pytestmark = pytest.mark.thorough("granola/service")

QUESTIONS = (DEMO / "questions.jsonl").read_bytes()
HEAD = b"POST /v1/ladder HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HEALTH = b"GET /v1/health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
NGINX = shutil.which("nginx")


# Connections.


@contextmanager
def proxied(service: Running) -> Iterator[str]:
    """The socket of nginx in front of a service, as scripts/nginx.conf has it."""
    with tempfile.TemporaryDirectory() as folder:
        listening = f"{folder}/socket"  # a file: a port that is free now may be taken when nginx starts
        text = (
            (ROOT / "scripts" / "nginx.conf")
            .read_text(encoding="utf-8")
            .replace("listen 80;", f"listen unix:{listening};")
        )
        host, port = service.place
        Path(folder, "nginx.conf").write_text(text.replace("127.0.0.1:8080", f"{host}:{port}"))
        options = f"daemon off; pid {folder}/pid; error_log {folder}/log;"
        process = subprocess.Popen([str(NGINX), "-p", folder, "-c", f"{folder}/nginx.conf", "-g", options])
        try:
            wait_until(lambda: Path(listening).exists() or process.poll() is not None)
            if process.poll() is not None:
                pytest.skip("nginx does not start here")
            yield listening
        finally:
            process.terminate()
            process.wait()


Place = tuple[str, int] | str


@pytest.fixture(scope="module", params=["alone", "behind nginx"])
def place(request: pytest.FixtureRequest, demo_snapshot: Path) -> Iterator[Place]:
    """Where a service is reached, alone or behind the proxy that is documented."""
    if request.param != "alone" and NGINX is None:
        pytest.skip("nginx is not installed")
    with limited(demo_snapshot, workers=2, body_seconds=20) as service:
        if request.param == "alone":
            yield service.place
        else:
            with proxied(service) as listening:
                yield listening


def connected(place: Place) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX if isinstance(place, str) else socket.AF_INET)
    connection.settimeout(40)
    connection.connect(place)
    return connection


def asked(place: Place, data: bytes) -> bytes:
    with closing(connected(place)) as connection:
        connection.sendall(data)
        return received(connection)


def test_health_is_told_whoever_else_is_slow(place: Place) -> None:
    with ExitStack() as held:
        for begun in (b"G", b"", HEAD + b"Content-Length: 100\r\n\r\n{"):
            for _ in range(100):
                held.enter_context(closing(connected(place))).sendall(begun)
        assert asked(place, HEALTH).startswith(b"HTTP/1.1 200 ")


def _takes_a_batch(service: Running) -> bool:
    with suppress(requests.RequestException):  # a client that has no processor for a second reads too slowly, too
        return requests.post(f"{service.address}/v1/ladders", data=batch(2), timeout=20).status_code == 200
    return False


def test_who_does_not_read_holds_a_place_of_a_batch_for_a_while_only(demo_snapshot: Path) -> None:
    with limited(demo_snapshot, batches=1, write_seconds=1) as service:
        body = batch(9_000)
        head = b"POST /v1/ladders HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
        with closing(socket.socket()) as silent:
            silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            silent.connect(service.place)
            silent.sendall(head + body)
            assert silent.recv(12) == b"HTTP/1.1 200"
            wait_until(lambda: _takes_a_batch(service))
        assert "Traceback" not in service.log.read_text()


SMUGGLED = b"GET /v1/snapshot HTTP/1.1\r\nHost: localhost\r\n\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(SMUGGLED)
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n"


@pytest.mark.parametrize(
    "head",
    [
        HEAD + b"Connection: Upgrade\r\nUpgrade: websocket\r\n" + LENGTH,
        HEAD + LENGTH + b"Transfer-Encoding: chunked\r\n",
        HEAD + b"Content-Length: 0\r\n" + LENGTH,
        HEAD + b"Content-Length: +5\r\n",
        HEAD + b"Transfer-Encoding : chunked\r\n" + LENGTH,
        CHUNKED + b"\r\nzz\r\n{}\r\n0\r\n",
        CHUNKED + b"\r\n2\r\n{}" + b"x" * 10,
        b"\x16\x03\x01 no http\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n",
        b"GET /?q=" + b"a" * 40_000 + b" HTTP/1.1\r\nHost: a\r\n",
    ],
)
def test_no_body_is_taken_for_a_request(place: Place, head: bytes) -> None:
    """A POST's body that looks like a request gets no answer of its own: it is no JSON, or the head is refused."""
    answer = asked(place, head + b"\r\n" + SMUGGLED + HEALTH)
    assert b'"snapshot_id"' not in answer
    assert answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 501 "))


# Processes.


def workers_are(service: Running, number: int, but: int = 0) -> Callable[[], bool]:
    return lambda: len([pid for pid in children(service.process.pid) if pid != but]) == number


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGSTOP])
def test_a_worker_that_dies_or_hangs_is_replaced(demo_snapshot: Path, sign: signal.Signals) -> None:
    with limited(demo_snapshot, workers=2, hang_seconds=3) as service:
        first = children(service.process.pid)[0]
        os.kill(first, sign)
        wait_until(workers_are(service, 2, but=first))
        wait_until(lambda: _told(service))
        assert "Traceback" not in service.log.read_text()
        metrics = requests.get(f"{service.address}/v1/metrics", timeout=20).text
        assert "granola_workers_replaced_total{reason=" in metrics


def _told(service: Running) -> bool:
    with suppress(requests.RequestException):
        return is_well(service)
    return False


def test_sigterm_ends_what_was_begun_and_then_the_service(demo_snapshot: Path) -> None:
    with serving(demo_snapshot) as service:
        with requests.post(f"{service.address}/v1/ladders", data=batch(1_500), stream=True, timeout=30) as got:
            lines = got.iter_lines()
            next(lines)
            service.process.send_signal(signal.SIGTERM)
            assert sum(1 for _ in lines) == 1_499
        assert service.process.wait(timeout=60) == 0


def test_workers_end_with_what_watches_them(demo_snapshot: Path) -> None:
    with limited(demo_snapshot, workers=2) as service:
        workers = children(service.process.pid)
        service.process.kill()
        service.process.wait()
        wait_until(lambda: not any(_runs(pid) for pid in workers))


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def test_a_worker_that_has_to_go_is_replaced_without_a_lost_request(demo_snapshot: Path) -> None:
    workers = 2
    with limited(demo_snapshot, workers=workers, stuck_seconds=-1) as service:  # none is kept for long
        answers, rows = [], 2_000

        def ask() -> None:
            while service.log.read_text().count("is replaced") < 4 * workers:
                answers.append(requests.post(f"{service.address}/v1/ladder", json=OBAMA, timeout=60).status_code)
                got = requests.post(f"{service.address}/v1/ladders", data=batch(rows), timeout=60)
                answers.append(got.status_code if len(got.content.splitlines()) == rows else 0)

        with ThreadPoolExecutor(3) as pool:
            for one in [pool.submit(ask) for _ in range(3)]:
                one.result()
        assert set(answers) == {200}
        assert len(children(service.process.pid)) <= 2 * workers
        assert "Traceback" not in service.log.read_text()


def test_a_full_disk_for_temporary_files_stops_nobody(
    demo_snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = tmp_path / "full"
    full.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(full)], capture_output=True)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        with suppress(OSError):
            (full / "x").write_bytes(b"x" * 200_000)
        monkeypatch.setenv("TMPDIR", str(full))
        with limited(demo_snapshot, workers=2, access_log=True) as service:
            for path, body in BODIES.items():
                assert requests.post(service.address + path, json=body, timeout=60).status_code == 200
            assert "granola_requests_total" in requests.get(f"{service.address}/v1/metrics", timeout=20).text
    finally:
        subprocess.run(["umount", str(full)], check=False)


# Snapshots.


def expected(snapshot: Path) -> tuple[str, bytes]:
    with closing(open_store(snapshot)) as store:
        made = make_ladders(read_questions([DEMO / "questions.jsonl"]), store)
        lines = b"".join(json_line(({} if n else {"schema_version": 1}) | row.to_json()) for n, row in enumerate(made))
        return str(store.manifest()["snapshot_id"]), lines


def put(snapshot: Path, place: Path) -> None:
    """Rename a copy of a snapshot onto a place."""
    copy = place.with_suffix(".new")
    shutil.copy(snapshot, copy)
    copy.replace(place)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot of half of the sample."""
    folder = tmp_path_factory.mktemp("other")
    half = json.loads((DEMO / "wikidata.json").read_text("utf-8"))
    (folder / "half.json").write_text(json.dumps(half[: len(half) // 2]), "utf-8")
    build([folder / "half.json"], folder / "other.sqlite")
    return folder / "other.sqlite"


def test_a_renamed_snapshot_is_taken_up_without_a_lost_request(
    demo_snapshot: Path, other: Path, tmp_path: Path
) -> None:
    place = tmp_path / "served.sqlite"
    put(demo_snapshot, place)
    lines_of = dict(expected(one) for one in (demo_snapshot, other))
    stop = threading.Event()
    seen: list[str] = []
    wrong: list[str] = []

    def ask(service: Running) -> None:
        with requests.Session() as session:
            while not stop.is_set():
                got = session.post(f"{service.address}/v1/ladders", data=QUESTIONS, timeout=60)
                name = got.headers["Granola-Snapshot"]
                seen.append(name)
                if got.status_code != 200 or got.content != lines_of[name]:
                    wrong.append(f"{got.status_code} {name} {got.text[:200]}")

    with limited(place, workers=2) as service, ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(ask, service) for _ in range(3)]
        try:
            for new in (other, demo_snapshot):
                put(new, place)
                name, start = expected(new)[0], len(seen)
                service.process.send_signal(signal.SIGHUP)  # which means nothing, and harms nobody
                wait_until(lambda name=name, start=start: seen[start:].count(name) > 5 or bool(wrong), 120)
        finally:
            stop.set()
        for one in asking:
            one.result()
    assert not wrong


def test_a_snapshot_that_cannot_be_opened_is_told_once_and_changes_nothing(
    demo_snapshot: Path, other: Path, tmp_path: Path
) -> None:
    place = tmp_path / "served.sqlite"
    put(demo_snapshot, place)
    wrong = tmp_path / "wrong"
    wrong.write_bytes(b"no snapshot")
    with limited(place) as service:
        put(wrong, place)
        wait_until(lambda: service.log.read_text().count("is not replaced") == 1)
        assert is_well(service)
        os.kill(children(service.process.pid)[0], signal.SIGKILL)
        ready = f"{service.address}/v1/health/ready"
        wait_until(lambda: requests.get(ready, timeout=20).status_code == 503)  # nobody is left who has the old one
        assert "cannot open the snapshot" in service.log.read_text()
        put(other, place)
        name = expected(other)[0]
        wait_until(lambda: requests.get(ready, timeout=20).headers.get("Granola-Snapshot") == name, 120)
        assert "Traceback" not in service.log.read_text()
