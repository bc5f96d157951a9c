"""A service under bodies that are wrong in every way: what is promised of it in docs/service.md, held for as long.

    python scripts/soak_service.py --requests 100000 --workers 2 --snapshot sample.sqlite
    python scripts/soak_service.py --requests 500                    # the bundled sample

Requests are made of right ones by long runs, near-misses of dates and phrases, halves of surrogate pairs, deep nesting,
wrong types, huge numbers, repeated items and damaged bytes. Watched are statuses, the slowest answers, a health check
every 0.2 s, and each worker's memory, which may not exceed `--memory` MiB. A table is printed; the exit status is 1
where a promise is broken, and each broken one is told, with the seed of a request that broke it if it is one's
(`--show SEED` prints that request).
"""

from __future__ import annotations

import argparse
import http.client
import multiprocessing
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from soak_requests import ROUTES, Request, request_of

from kg.snapshot import build
from kg.store import open_store
from kg.terms import best_text

DEMO = Path(__file__).resolve().parents[1] / "granola" / "demo"
SECONDS = 10.0  # the time limit of a request; a batch and a file to score have 60 times as much
LATE = 1.0  # seconds that an answer may come behind its limit, and a health check may take
HEALTH_EVERY = 0.2
MOST_MEMORY = 700.0  # MiB that a worker holds of its own, of a sample of 76,000 entities and of the bundled one
GROWTH = 1.15  # of a worker's memory at most, from the third quarter of the requests to the last
WARM = 20_000  # requests after which caches are full, so that growth tells something
NAMES = 3_000  # labels of the snapshot that questions are made of
SHOWN = 5
BATCHES = ("/v1/ladders", "/v1/score")


@dataclass
class Found:
    """What the requests of one client came to: statuses by route, slowest answers, and what was promised otherwise."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    slowest: dict[str, tuple[float, int]] = field(default_factory=dict)  # with their seeds
    broken: list[str] = field(default_factory=list)

    def add(self, other: Found) -> None:
        """Take in another's."""
        self.statuses += other.statuses
        for route, seconds in other.seconds.items():
            self.seconds.setdefault(route, []).extend(seconds)
        for route, one in other.slowest.items():
            self.slowest[route] = max(self.slowest.get(route, one), one)
        self.broken += other.broken


def ask(address: str, seeds: range, names: list[str], threads: int, late: float) -> Found:
    """Send the requests of the seeds; of a process of its own."""
    found, lock, waiting = Found(), threading.Lock(), iter(seeds)

    def one_after_another() -> None:
        connection: http.client.HTTPConnection | None = None
        while True:
            with lock:
                seed = next(waiting, None)
            if seed is None:
                break
            asked = request_of(seed, names)
            connection = connection or http.client.HTTPConnection(
                urlsplit(address).hostname or "", urlsplit(address).port, timeout=90
            )
            began = time.perf_counter()
            status, told = 0, b""
            try:
                headers = {"Content-Type": asked.media_type, "Accept": "application/json"}
                connection.request(asked.method, asked.path, asked.body or None, headers)
                answer = connection.getresponse()
                status, told = answer.status, answer.read()
                if answer.will_close:
                    connection.close()
                    connection = None
            except (OSError, http.client.HTTPException) as error:
                told = repr(error).encode()
                connection.close()
                connection = None
            passed = time.perf_counter() - began
            with lock:
                found.statuses[asked.route, status] += 1
                found.seconds.setdefault(asked.route, []).append(passed)
                found.slowest[asked.route] = max(found.slowest.get(asked.route, (0.0, 0)), (passed, seed))
                found.broken += faults(asked, seed, status, told, passed, late)

    workers = [threading.Thread(target=one_after_another) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return found


def faults(asked: Request, seed: int, status: int, told: bytes, passed: float, late: float = LATE) -> list[str]:
    """What an answer breaks of what is promised."""
    limit = SECONDS * (60 if asked.route in BATCHES else 1)
    out = []
    if status == 0 or (status >= 500 and status != 503):
        out.append(f"seed {seed}: {asked.method} {asked.route} answered {status or told.decode()}")
    if passed > limit + late:
        out.append(f"seed {seed}: {asked.route} answered {status} after {passed:.1f} s, limit {limit:g} s")
    if b'"problem":' in told and b"urn:granola:problem:internal" in told:
        out.append(f"seed {seed}: {asked.route} was cut off by a fault")
    return out


def watch(address: str, ended: Any, slowest: Any) -> None:
    """Ask for health every 0.2 s, each time on a new connection; of a process of its own."""
    place = urlsplit(address)
    while not ended.wait(HEALTH_EVERY):
        began = time.perf_counter()
        try:
            with closing(http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)) as connection:
                connection.request("GET", "/v1/health/live")
                assert connection.getresponse().status == 200
        except (OSError, http.client.HTTPException, AssertionError):
            slowest.value = max(slowest.value, 30.0)
        slowest.value = max(slowest.value, time.perf_counter() - began)


def memory(pid: int) -> dict[int, float]:
    """MiB that each worker of a service holds of its own."""
    out = {}
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        held = re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{child}/status").read_text())
        out[int(child)] = int(held[1]) / 1024 if held else 0.0
    return out


@contextmanager
def served(snapshot: Path, workers: int) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """`granola serve` and its address."""
    with tempfile.NamedTemporaryFile("r+") as log:
        command = [sys.executable, "-c", "from granola.cli.main import main; main()", "serve", "--port", "0"]
        options = ["--snapshot", str(snapshot), "--workers", str(workers), "--seconds", str(SECONDS)]
        process = subprocess.Popen([*command, *options], stderr=log)
        try:
            while not (found := re.search(r"at (http://\S+)\n", Path(log.name).read_text())):
                if process.poll() is not None:
                    raise SystemExit(Path(log.name).read_text())
                time.sleep(0.02)
            yield process, found[1]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
            told = Path(log.name).read_text()
            print(f"\nlog of the service, {told.count(chr(10))} lines; the last:\n{told[-1_500:]}")


def labels(snapshot: Path) -> list[str]:
    """English labels from all over a snapshot."""
    with closing(open_store(snapshot)) as store:
        ids = list(store.ids())
        chosen = random.Random(0).sample(ids, min(NAMES, len(ids)))
        found = store.entities(chosen, languages=["en"], properties=())
        return [label[0] for one in found.values() if (label := best_text(one.labels, "en"))]


def replaced(address: str) -> str:
    """How many workers were replaced, as the service tells it."""
    place = urlsplit(address)
    with closing(http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)) as connection:
        connection.request("GET", "/v1/metrics")
        page = connection.getresponse().read().decode()
    return ", ".join(re.findall(r'granola_workers_replaced_total(\{reason="\w+"\} [1-9]\S*)', page))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--snapshot", type=Path)
    parser.add_argument("--clients", type=int, default=2, help="client processes")
    parser.add_argument("--threads", type=int, default=4, help="of each client")
    parser.add_argument("--seed", type=int, default=0, help="of the first request")
    parser.add_argument(
        "--late",
        type=float,
        default=LATE,
        help="seconds that an answer or a health check may be late here",
    )
    parser.add_argument("--memory", type=float, default=MOST_MEMORY, help="MiB that a worker may hold of its own")
    parser.add_argument("--show", type=int, help="print the request of a seed, and no more")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        snapshot = given.snapshot or Path(folder) / "demo.sqlite"
        if given.snapshot is None:
            build([DEMO / "wikidata.json"], snapshot)
        names = labels(snapshot)
        if given.show is not None:
            print(request_of(given.show, names))
            return
        with served(snapshot, given.workers) as (process, address):
            broken = soak(given, process.pid, address, names)
        if process.returncode:
            broken.append(f"the service ended with status {process.returncode}")
    for one in broken[: 4 * SHOWN]:
        print(f"broken: {one}")
    print(f"{len(broken)} promises broken" if broken else "all promises held")
    sys.exit(1 if broken else 0)


def soak(given: argparse.Namespace, pid: int, address: str, names: list[str]) -> list[str]:
    """Send all requests, print the table, and return what was broken."""
    context = multiprocessing.get_context("spawn")
    ended, slowest = context.Event(), context.Value("d", 0.0)
    watching = context.Process(target=watch, args=(address, ended, slowest))
    watching.start()
    held: list[dict[int, float]] = [memory(pid)]
    found, began = Found(), time.perf_counter()
    share = max(1, min(200, given.requests // given.clients))
    parts = [
        range(at, min(at + share, given.seed + given.requests))
        for at in range(given.seed, given.seed + given.requests, share)
    ]
    with ProcessPoolExecutor(given.clients, mp_context=context) as pool:
        asking = [pool.submit(ask, address, part, names, given.threads, given.late) for part in parts]
        while not all(one.done() for one in asking):
            time.sleep(0.5)
            held.append(memory(pid))
        for one in asking:
            found.add(one.result())
    passed = time.perf_counter() - began
    again = replaced(address)
    ended.set()
    watching.join()
    table(found, passed)
    broken = found.broken + grown(held, given.requests, given.memory)
    print(f"slowest health check: {slowest.value:.2f} s; workers replaced: {again or 'none'}")
    if slowest.value > given.late:
        broken.append(f"a health check took {slowest.value:.2f} s")
    if again:
        broken.append(f"workers were replaced: {again}")
    return broken


def table(found: Found, passed: float) -> None:
    """Statuses and times by route."""
    total = found.statuses.total()
    print(f"{total:,} requests in {passed:.0f} s, {total / passed:.0f} a second")
    print(f"{'route':16}{'requests':>10}{'p50':>9}{'p99':>9}{'slowest':>9}  statuses")
    for route in sorted(found.seconds, key=lambda one: (one not in ROUTES, one)):
        seconds = sorted(found.seconds[route])
        told = ", ".join(f"{status}: {n:,}" for (one, status), n in sorted(found.statuses.items()) if one == route)
        p50, p99 = seconds[len(seconds) // 2], seconds[int(0.99 * len(seconds))]
        print(
            f"{route:16}{len(seconds):>10,}{p50:>8.3f}s{p99:>8.3f}s{seconds[-1]:>8.2f}s  {told} "
            f"(slowest: seed {found.slowest[route][1]})"
        )


def grown(held: list[dict[int, float]], requests: int, most: float = MOST_MEMORY) -> list[str]:
    """What the workers' memory breaks; prints it at the quarters."""
    broken = []
    for pid in held[0]:
        told = [one[pid] for one in held if pid in one]
        quarters = [max(told[len(told) * at // 4 : len(told) * (at + 1) // 4] or [0.0]) for at in range(4)]
        print(
            f"worker {pid}: {told[0]:.0f} MiB at the start; most in each quarter: "
            + ", ".join(f"{one:.0f}" for one in quarters)
        )
        if max(told) > most:
            broken.append(f"worker {pid} held {max(told):.0f} MiB, promised are {most:.0f}")
        if requests >= WARM and quarters[3] > GROWTH * quarters[2]:
            broken.append(f"worker {pid} grew from {quarters[2]:.0f} to {quarters[3]:.0f} MiB in the last quarter")
    return broken


if __name__ == "__main__":
    main()
