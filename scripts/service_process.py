"""`granola serve` in a process of its own, with the processor time and the memory of its workers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class ServiceProcess:
    """A running service; it was ready `seconds` after its start."""

    process: subprocess.Popen[bytes]
    address: str
    log: Path
    seconds: float

    def workers(self) -> list[int]:
        """Their process ids."""
        own = self.process.pid
        return [int(child) for child in Path(f"/proc/{own}/task/{own}/children").read_text().split()] or [own]

    def processor_seconds(self) -> float:
        """User and system time of the workers so far."""
        stats = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in self.workers()]
        return sum(int(fields[11]) + int(fields[12]) for fields in stats) / _TICKS

    def memory(self) -> dict[int, float]:
        """MiB that each worker holds of its own, beside the pages of the snapshot."""
        told = {pid: Path(f"/proc/{pid}/status").read_text() for pid in self.workers()}
        found = {pid: re.search(r"RssAnon:\s+(\d+)", text) for pid, text in told.items()}
        return {pid: int(size[1]) / 1024 for pid, size in found.items() if size}


@contextmanager
def serving(snapshot: Path, *options: str, program: Path, python: str = sys.executable) -> Iterator[ServiceProcess]:
    """The service of a clone of the program on a free port, until the block ends."""
    command = [python, "-c", "from granola.commands.cli.main import main; main()", "serve", "--port", "0", "--snapshot"]
    with tempfile.NamedTemporaryFile("r+") as told:
        began = time.perf_counter()
        environment = {**os.environ, "PYTHONPATH": str(program)}
        process = subprocess.Popen([*command, str(snapshot), *options], stderr=told, cwd=program, env=environment)
        log = Path(told.name)
        while not (found := re.search(r"at (http://\S+)\n", log.read_text())):
            if process.poll() is not None:
                raise SystemExit(log.read_text())
            time.sleep(0.02)
        try:
            yield ServiceProcess(process, found[1], log, time.perf_counter() - began)
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
