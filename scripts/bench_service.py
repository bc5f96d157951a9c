"""Requests a second of `granola serve`, latencies and batches, measured with wrk on this machine.

    python scripts/bench_service.py [--snapshot sample.sqlite] [--workers 1 2] [--seconds 15]

Needs wrk (Debian's package) and the questions of ../shared/data. wrk runs on the same cores. So that figures of a busy
machine mean something, processor time a request is given beside the wall clock's rate.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import requests
from bench_common import DATA, GRANOLA, arguments

from abstraction.pipeline import LadderMaker
from abstraction.rows import QARow, read_questions
from kg.snapshot import build
from kg.store import open_store

TICKS = os.sysconf("SC_CLK_TCK")
QUESTIONS = 4_000
SCRIPT = """
local bodies, at = {}, 0
for line in io.lines("%(bodies)s") do bodies[#bodies + 1] = line end
function init(args) math.randomseed(tonumber(tostring({}):sub(10), 16) or 1); at = math.random(#bodies) end
function request()
  at = at %% #bodies + 1
  return wrk.format("POST", "/v1/ladder", {["Content-Type"] = "application/json"}, bodies[at])
end
%(delay)s
function done(summary, latency)
  local form = '{"requests": %%d, "seconds": %%f, "refused": %%d, "broken": %%d, "p50": %%f, "p99": %%f, "max": %%f'
  io.stderr:write(string.format(form,
    summary.requests, summary.duration / 1e6, summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3) .. "}\\n")
end
"""


class Service:
    """A running service and the processor time and memory of its processes."""

    def __init__(self, process: subprocess.Popen[bytes], address: str) -> None:
        self.process = process
        self.address = address

    def pids(self) -> list[int]:
        """The worker processes."""
        own = self.process.pid
        children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
        return [int(child) for child in children] or [own]

    def processor_seconds(self) -> float:
        """User and system time of the workers so far."""
        total = 0
        for pid in self.pids():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
        return total / TICKS

    def memory(self) -> float:
        """What the workers hold of their own, in MiB."""
        found = [re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{pid}/status").read_text()) for pid in self.pids()]
        return sum(int(one[1]) for one in found if one) / 1024


@contextmanager
def served(snapshot: Path, workers: int) -> Iterator[Service]:
    """`granola serve` on a free port."""
    with tempfile.NamedTemporaryFile("r+") as told:
        command = [*GRANOLA, "serve", "--port", "0"]
        began = time.perf_counter()
        process = subprocess.Popen([*command, "--snapshot", str(snapshot), "--workers", str(workers)], stderr=told)
        while not (found := re.search(r"at (http://\S+)\n", Path(told.name).read_text())):
            if process.poll() is not None:
                raise SystemExit(Path(told.name).read_text())
            time.sleep(0.02)
        print(f"{workers} worker(s): ready after {time.perf_counter() - began:.1f} s")
        try:
            yield Service(process, found[1])
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def wrk(service: Service, folder: Path, seconds: int, connections: int, *, delay: int = 0) -> dict[str, Any]:
    """One run; `delay` is how many milliseconds each connection rests between two requests."""
    script = folder / "wrk.lua"
    waits = f"function delay() return {delay} end" if delay else ""
    script.write_text(SCRIPT % {"bodies": folder / "bodies.jsonl", "delay": waits})
    before = service.processor_seconds()
    options = ["-t", "1", "-c", str(connections), "-d", f"{seconds}s", "--timeout", "10s", "-s", str(script)]
    done = subprocess.run(["wrk", *options, service.address], capture_output=True, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stderr.strip().splitlines()[-1])
    told["processor"] = service.processor_seconds() - before
    return told


def line(name: str, told: dict[str, Any]) -> None:
    """One run in words."""
    answered = told["requests"] - told["refused"]
    rate = told["requests"] / told["seconds"]
    print(
        f"  {name}: {rate:,.0f} requests/s ({answered / told['seconds']:,.0f} answered, {told['refused']:.0f} refused, "
        f"{told['broken']:.0f} broken); p50 {told['p50']:.1f} ms, p99 {told['p99']:.1f} ms, max {told['max']:.0f} ms; "
        f"{1e3 * told['processor'] / max(told['requests'], 1):.2f} ms of processor a request; "
        f"memory {told['memory']:.0f} MiB"
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--snapshot", type=Path)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=int, default=15)
    given = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is not installed; apt-get install wrk")
    print(
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; the client is wrk with one thread, on the same cores"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        snapshot = given.snapshot or folder / "sample.sqlite"
        if given.snapshot is None:
            build([DATA / "wikidata" / "entities.json.gz"], snapshot)
        rows = list(read_questions(sorted((DATA / "entityquestions" / "dev").glob("*.json"))))
        rows = rows[:: max(1, len(rows) // QUESTIONS)]
        bodies = [
            json.dumps({"id": row.id, "question": row.question, "relation": row.relation, "answer": row.answers})
            for row in rows
        ]
        (folder / "bodies.jsonl").write_text("\n".join(bodies) + "\n")
        library = in_library(rows, snapshot)
        for workers in given.workers:
            with served(snapshot, workers) as service:
                measure(service, folder, bodies, given, library)


def in_library(rows: list[QARow], snapshot: Path) -> tuple[float, float]:
    """Ladders a second, and seconds of processor a ladder, the second time that they are made."""
    with closing(open_store(snapshot)) as store:
        maker = LadderMaker(store)
        for _ in maker.make_all(rows):
            pass
        began, wall = time.process_time(), time.perf_counter()
        made = sum(1 for _ in maker.make_all(rows))
        seconds, passed = time.process_time() - began, time.perf_counter() - wall
    print(
        f"library: {made / passed:,.0f} ladders/s, {1e3 * seconds / made:.2f} ms of processor each ({made:,} questions)"
    )
    return made / passed, seconds / made


def measure(
    service: Service, folder: Path, bodies: list[str], given: argparse.Namespace, library: tuple[float, float]
) -> None:
    """Singles, half the load, batches."""
    for _ in range(2):  # every worker has seen every question
        wrk(service, folder, given.seconds, 16)
    whole = wrk(service, folder, given.seconds, 16)
    line("as fast as it goes, 16 connections", whole | {"memory": service.memory()})
    sustained = (whole["requests"] - whole["refused"]) / whole["seconds"]
    half = steady(service, folder, given.seconds, sustained / 2, 32)
    line("half of that, 32 connections", half | {"memory": service.memory()})
    batches(service, bodies, library)


def steady(service: Service, folder: Path, seconds: int, rate: float, connections: int) -> dict[str, Any]:
    """A run at a steady rate: how long connections rest is told by a short run before."""
    rest = 1_000 * connections / rate
    trial = wrk(service, folder, 2, connections, delay=max(1, round(rest)))
    taken = 1_000 * connections * trial["seconds"] / max(trial["requests"], 1) - max(1, round(rest))
    return wrk(service, folder, seconds, connections, delay=max(1, round(rest - taken)))


def batches(service: Service, bodies: list[str], library: tuple[float, float]) -> None:
    """One batch of all questions."""
    body = "\n".join(bodies).encode()
    before, began = service.processor_seconds(), time.perf_counter()
    got = requests.post(f"{service.address}/v1/ladders", data=body, timeout=600)
    passed, lines = time.perf_counter() - began, got.content.count(b"\n")
    cost = service.processor_seconds() - before
    print(
        f"  a batch of {lines:,}: {lines / passed:,.0f} ladders/s, {lines / passed / library[0]:.2f} of the library; "
        f"{1e3 * cost / lines:.2f} ms of processor each, by which it is {library[1] * lines / cost:.2f} of it"
    )


if __name__ == "__main__":
    main()
