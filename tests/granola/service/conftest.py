"""A real service on loopback: the command itself, in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from kg.snapshot import build

for _library in ("fastapi", "uvicorn", "httptools", "prometheus_client"):
    pytest.importorskip(_library, reason="the extra 'service' is not installed")

ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "granola" / "demo"


@dataclass(frozen=True)
class Running:
    """A service: its process, where it listens, the snapshot that it serves."""

    process: subprocess.Popen[str]
    address: str
    snapshot: Path

    @property
    def place(self) -> tuple[str, int]:
        """(host, port)."""
        parts = urlsplit(self.address)
        return parts.hostname or "", parts.port or 0


@contextmanager
def serving(snapshot: Path, *options: str, token: str | None = None) -> Iterator[Running]:
    """A service of a snapshot, until the block ends."""
    command = [sys.executable, "-c", "from granola.cli.main import main; main()", "serve"]
    environment = {key: value for key, value in os.environ.items() if key != "GRANOLA_TOKEN"}
    if token is not None:
        environment["GRANOLA_TOKEN"] = token
    process = subprocess.Popen(
        [*command, "--snapshot", str(snapshot), "--port", "0", *options],
        stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment,
    )  # fmt: skip
    try:
        told = ""
        assert process.stderr is not None
        for line in process.stderr:
            told += line
            if found := re.search(r"serving snapshot \w+ at (http://\S+)", line):
                break
        else:
            raise AssertionError(f"the service did not start: {told}")
        yield Running(process=process, address=found[1], snapshot=snapshot)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=40)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


@pytest.fixture(scope="session")
def demo_snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot of the bundled sample."""
    path = tmp_path_factory.mktemp("service") / "demo.sqlite"
    build([DEMO / "wikidata.json"], path)
    return path


@pytest.fixture(scope="module")
def service(demo_snapshot: Path) -> Iterator[Running]:
    """One service for the tests of a module."""
    with serving(demo_snapshot) as running:
        yield running
