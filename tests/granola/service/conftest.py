"""A real service on loopback: the command itself, in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from granola.service.limits import ServiceSettings
from granola.service.snapshots import SnapshotSession
from kg.building.snapshot import build

ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "granola" / "demo"


@dataclass(frozen=True)
class Running:
    """A service: its process, where it listens, the snapshot that it serves, what it has said."""

    process: subprocess.Popen[bytes]
    address: str
    snapshot: Path
    log: Path

    @property
    def place(self) -> tuple[str, int]:
        """(host, port)."""
        parts = urlsplit(self.address)
        return parts.hostname or "", parts.port or 0


_COMMAND = "from granola.commands.cli.main import main; main()"
_LIMITED = """
import json, sys
from granola.service.server import open_listening_socket, run_service
from granola.service.limits import ServiceSettings
settings = json.loads(sys.argv[1])
sock = open_listening_socket("127.0.0.1", 0)
told = f"serving snapshot x at http://127.0.0.1:{sock.getsockname()[1]}"
ready = lambda: print(told, file=sys.stderr, flush=True)
run_service(ServiceSettings(**settings), sock, workers=int(sys.argv[2]), ready=ready)
"""


@contextmanager
def serving(snapshot: Path | str, *options: str, token: str | None = None) -> Iterator[Running]:
    """`granola serve` on a snapshot, until the block ends."""
    arguments = ["serve", "--snapshot", str(snapshot), "--port", "0", *options]
    with started([_COMMAND, *arguments], snapshot, token) as running:
        yield running


@contextmanager
def limited(snapshot: Path, *, workers: int = 1, **limits: float | str) -> Iterator[Running]:
    """A service with limits that the command line has no options for."""
    settings = json.dumps({"snapshot": str(snapshot), **limits})
    with started([_LIMITED, settings, str(workers)], snapshot, None) as running:
        yield running


@contextmanager
def started(arguments: list[str], snapshot: Path | str, token: str | None = None) -> Iterator[Running]:
    """A service that Python starts with these arguments of `-c`, until the block ends."""
    environment = {key: value for key, value in os.environ.items() if key != "GRANOLA_TOKEN"}
    if token is not None:
        environment["GRANOLA_TOKEN"] = token
    with tempfile.NamedTemporaryFile("r+", prefix="granola-serve-", encoding="utf-8") as told:
        process = subprocess.Popen([sys.executable, "-c", *arguments], stderr=told, cwd=ROOT, env=environment)
        try:
            until = time.monotonic() + 120
            while not (found := re.search(r"serving snapshot \w+ at (http://\S+)\n", Path(told.name).read_text())):
                assert process.poll() is None, told.read()
                assert time.monotonic() < until, told.read()
                time.sleep(0.01)
            yield Running(process=process, address=found[1], snapshot=Path(snapshot), log=Path(told.name))
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)  # at once, without waiting for connections
            try:
                process.wait(timeout=40)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


OBAMA = {"question": "Where was Barack Obama born?", "answer": "Honolulu"}


def is_well(service: Running) -> bool:
    """Whether it makes a ladder."""
    got = requests.post(f"{service.address}/v1/ladder", json=OBAMA, timeout=30)
    return got.status_code == 200 and len(got.json()["levels"]) > 2


def sent(service: Running, data: bytes) -> socket.socket:
    """A connection on which these bytes were sent."""
    connection = socket.create_connection(service.place, timeout=40)
    connection.sendall(data)
    return connection


def received(connection: socket.socket) -> bytes:
    """All that comes until the server closes."""
    parts = []
    with suppress(ConnectionResetError):
        while part := connection.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


def batch(rows: int) -> bytes:
    """A batch of one question again and again."""
    return "\n".join(json.dumps({**OBAMA, "id": str(number)}) for number in range(rows)).encode()


def children(pid: int) -> list[int]:
    """The ids of a process's children."""
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    if not listed.exists():
        pytest.skip("no /proc that tells children")
    return [int(word) for word in listed.read_text().split()]


def session_of(snapshot: Path) -> SnapshotSession:
    """A snapshot opened as a worker's thread opens it."""
    return SnapshotSession(ServiceSettings(snapshot=str(snapshot)))


def wait_until(happens: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for what happens soon, if the machine has nothing else to do; fail after so many seconds."""
    until = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.fixture(scope="session")
def demo_snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot of the bundled sample."""
    path = tmp_path_factory.mktemp("service") / "demo.sqlite"
    build([DEMO / "wikidata.json"], path)
    return path


@pytest.fixture(scope="session")
def service(demo_snapshot: Path) -> Iterator[Running]:
    """One service for all tests that leave it as it was."""
    with serving(demo_snapshot) as running:
        yield running
