"""Requests a second of `granola serve`, latencies, batches, and what overload does, measured with wrk on this machine.

    python scripts/bench_service.py [--snapshot sample.sqlite] [--workers 1 2] [--seconds 15]
    python scripts/bench_service.py --snapshot sample.sqlite --overload [60]

Needs wrk (Debian's package) and the questions of ../shared/data. wrk runs on the same cores. So that figures of a busy
machine mean something, processor time a request is given beside the wall clock's rate. `--overload` sends four times
what the service sustains, at a steady rate, for so many seconds, to the last of the numbers of workers.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import requests

from abstraction.pipeline import LadderMaker
from abstraction.rows import QARow, read_questions
from granola.service.client import question_json
from kg.snapshot import build
from kg.store import open_store

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
TICKS = os.sysconf("SC_CLK_TCK")
QUESTIONS = 4_000
CROWD = 160  # connections of an overload
ASKED = {"question": "Where was Barack Obama born?", "answer": "Honolulu"}
SCRIPT = """
local bodies, at = {}, 0
for line in io.lines("%(bodies)s") do bodies[#bodies + 1] = line end
function init(args) math.randomseed(tonumber(tostring({}):sub(10), 16) or 1); at = math.random(#bodies) end
function request()
  at = at %% #bodies + 1
  return wrk.format("POST", "/v1/ladder", {["Content-Type"] = "application/json"}, bodies[at])
end
%(delay)s
%(counting)s
function done(summary, latency)
  local form = '{"requests": %%d, "seconds": %%f, "refused": %%d, "broken": %%d, "p50": %%f, "p99": %%f, "max": %%f'
  io.stderr:write(string.format(form,
    summary.requests, summary.duration / 1e6, summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3) .. statuses() .. "}\\n")
end
"""
COUNTING = """
local thread
counts = {}
function setup(one) thread = one end
function response(status) counts[tostring(status)] = (counts[tostring(status)] or 0) + 1 end
function statuses()
  local told = {}
  for status, number in pairs(thread:get("counts")) do told[#told + 1] = '"' .. status .. '": ' .. number end
  return ', "statuses": {' .. table.concat(told, ", ") .. "}"
end
"""
NOT_COUNTING = 'function statuses() return "" end'


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
        command = [sys.executable, "-c", "from granola.cli.main import main; main()", "serve", "--port", "0"]
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


def wrk(
    service: Service, folder: Path, seconds: int, connections: int, *, delay: int = 0, counting: bool = False
) -> dict[str, Any]:
    """One run; `delay` is how many milliseconds each connection rests between two requests."""
    script = folder / "wrk.lua"
    waits = f"function delay() return {delay} end" if delay else ""
    counted = COUNTING if counting else NOT_COUNTING
    script.write_text(SCRIPT % {"bodies": folder / "bodies.jsonl", "delay": waits, "counting": counted})
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--snapshot", type=Path)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--overload", type=int, nargs="?", const=60, default=0, help="seconds at four times the load")
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
        bodies = [json.dumps(question_json(row)) for row in rows]
        (folder / "bodies.jsonl").write_text("\n".join(bodies) + "\n")
        library = in_library(rows, snapshot)
        for workers in given.workers:
            with served(snapshot, workers) as service:
                sustained = measure(service, folder, bodies, given, library)
                if given.overload and workers == given.workers[-1]:
                    overload(service, folder, given.overload, sustained)


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
) -> float:
    """Singles, half the load, batches. Returns the ladders a second that it sustains."""
    for _ in range(2):  # every worker has seen every question
        wrk(service, folder, given.seconds, 16)
    whole = wrk(service, folder, given.seconds, 16)
    line("as fast as it goes, 16 connections", whole | {"memory": service.memory()})
    sustained: float = (whole["requests"] - whole["refused"]) / whole["seconds"]
    half = steady(service, folder, given.seconds, sustained / 2, 32)
    line("half of that, 32 connections", half | {"memory": service.memory()})
    batches(service, bodies, library)
    return sustained


def steady(
    service: Service, folder: Path, seconds: int, rate: float, connections: int, *, counting: bool = False
) -> dict[str, Any]:
    """A run at a steady rate: how long connections rest is told by a short run before."""
    rest = 1_000 * connections / rate
    trial = wrk(service, folder, 2, connections, delay=max(1, round(rest)))
    taken = 1_000 * connections * trial["seconds"] / max(trial["requests"], 1) - max(1, round(rest))
    return wrk(service, folder, seconds, connections, delay=max(1, round(rest - taken)), counting=counting)


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


def overload(service: Service, folder: Path, seconds: int, sustained: float) -> None:
    """Four times what the service sustains; how soon refusals come, and how soon all is well again."""
    memory: list[float] = []
    refused: list[float] = []
    strange: list[int] = []
    stop = threading.Event()

    def watch() -> None:
        asked = 0
        with requests.Session() as session:
            while not stop.wait(0.05):
                if asked % 20 == 0:
                    memory.append(service.memory())
                asked += 1
                began = time.perf_counter()
                status = session.post(f"{service.address}/v1/ladder", json=ASKED, timeout=10).status_code
                if status == 503:
                    refused.append(1e3 * (time.perf_counter() - began))
                elif status != 200:
                    strange.append(status)

    watching = threading.Thread(target=watch)
    watching.start()
    told = steady(service, folder, seconds, 4 * sustained, CROWD, counting=True)
    ended = time.perf_counter()
    stop.set()
    taken = well_again(service, ended)
    watching.join()
    line(
        f"overload, {4 * sustained:,.0f} requests/s wanted, {CROWD} connections, {seconds} s",
        told | {"memory": memory[-1]},
    )
    print(f"    statuses: {told['statuses']}; of one more client's, other than 200 and 503: {strange or 'none'}")
    refused.sort()
    if refused:
        late = sum(one > 100 for one in refused)
        print(
            f"    {len(refused)} refusals seen by that client: p50 {refused[len(refused) // 2]:.0f} ms, "
            f"p99 {refused[int(0.99 * len(refused))]:.0f} ms, max {refused[-1]:.0f} ms, {late} of them over 100 ms"
        )
    parts = [f"{memory[len(memory) * at // 4]:.0f}" for at in range(4)] + [f"{memory[-1]:.0f}"]
    print(f"    memory at the quarters: {', '.join(parts)} MiB, most {max(memory):.0f}")
    print(f"    well again, 20 requests in a row in 50 ms each, {taken:.2f} s after the end")


def well_again(service: Service, ended: float) -> float:
    """Seconds from the end until the first of twenty requests in a row that are answered within 50 ms each."""
    since, row = time.perf_counter(), 0
    while row < 20:
        began = time.perf_counter()
        got = requests.post(f"{service.address}/v1/ladder", json=ASKED, timeout=10)
        if got.status_code == 200 and time.perf_counter() - began < 0.05:
            row += 1
        else:
            since, row = time.perf_counter(), 0
        if began - ended > 60:
            raise SystemExit("not well again within a minute")
    return since - ended


if __name__ == "__main__":
    main()
