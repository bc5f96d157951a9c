"""A service under requests that are wrong in every way: what docs/service.md promises, held for as long.

    python scripts/soak_service.py sample.sqlite --requests 100000 --workers 2

Requests of every route of the application are mutated (tests/granola/service/sent_requests.py). Watched are statuses,
a health check every 0.2 s, and each worker's memory. The exit status is 1 where a promise is broken; each broken one is
told, with the seed of its request (`--show SEED` prints that).
"""

from __future__ import annotations

import http.client
import sys
import threading
import time
from collections import Counter
from itertools import count
from multiprocessing import Pool
from pathlib import Path
from typing import Any

from measuring import ROOT, ServiceProcess, arguments, serving

from tests.granola.service.sent_requests import application, mutated

SECONDS, LATE, EACH = 10.0, 1.0, 100
BATCHES = {route.path for route in application() if route.bound.seconds != "seconds"}  # which have 60 times as long


def ask(asked: tuple[str, range]) -> tuple[Counter[tuple[str, int]], list[str]]:
    """Send the requests of some seeds on one connection: statuses by path, and what was broken."""
    place, seeds = asked
    statuses: Counter[tuple[str, int]] = Counter()
    broken = []
    connection = http.client.HTTPConnection(place, timeout=90)
    for seed in seeds:
        sent = mutated(seed)
        began = time.perf_counter()
        try:
            connection.request(sent.method, sent.path, sent.body or None, {"Content-Type": sent.media_type})
            answer = connection.getresponse()
            status, told = answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            status, told = 0, repr(error).encode()
            connection.close()
        path = sent.path.partition("?")[0]
        shown = "/v1/entity/" if path.startswith("/v1/entity/") else path
        statuses[shown if path.startswith("/v1/") else "/", status] += 1
        limit = SECONDS * (60 if path in BATCHES else 1) + LATE
        late = (passed := time.perf_counter() - began) > limit
        if late or status == 0 or (status >= 500 and status != 503) or b"problem:internal" in told:
            broken.append(f"seed {seed}: {sent.method} {path} answered {status} after {passed:.1f} s: {told[:200]!r}")
    connection.close()
    return statuses, broken


def watch(service: ServiceProcess, place: str, ended: threading.Event, told: dict[str, Any]) -> None:
    """Ask for health every 0.2 s, each time on a new connection, and look at the memory."""
    while not ended.wait(0.2):
        began = time.perf_counter()
        connection = http.client.HTTPConnection(place, timeout=30)
        try:
            connection.request("GET", "/v1/health/live")
            connection.getresponse().read()
        except OSError:
            told["health"] = 30.0
        connection.close()
        told["health"] = max(told["health"], time.perf_counter() - began)
        for pid, held in service.memory().items():
            told["memory"][pid] = max(told["memory"].get(pid, 0.0), held)


def main() -> None:
    parser = arguments(__doc__, data=False)
    parser.add_argument("snapshot", type=Path, nargs="?")
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0, help="of the first request")
    parser.add_argument("--memory", type=float, default=700.0, help="MiB that a worker may hold of its own")
    parser.add_argument("--late", type=float, default=LATE, help="seconds that a health check may take here")
    parser.add_argument("--show", type=int, help="print the request of a seed, and no more")
    given = parser.parse_args()
    if given.show is not None:
        print(mutated(given.show))
        return
    if given.snapshot is None:
        parser.error("name a snapshot")
    ended, told = threading.Event(), {"health": 0.0, "memory": {}}
    with serving(given.snapshot.resolve(), "--workers", str(given.workers), program=ROOT) as service:
        place = service.address.removeprefix("http://")
        watching = threading.Thread(target=watch, args=(service, place, ended, told))
        watching.start()
        began, statuses, broken = time.perf_counter(), Counter(), []
        last = given.seed + given.requests
        parts = [(place, range(at, min(at + EACH, last))) for at in range(given.seed, last, EACH)]
        with Pool(4) as pool:
            for done, (counted, wrong) in zip(count(1), pool.imap_unordered(ask, parts)):
                statuses += counted
                broken += wrong
                if done % 50 == 0:
                    print(f"{EACH * done:,} requests; most memory {told['memory']}", file=sys.stderr, flush=True)
        passed = time.perf_counter() - began
        ended.set()
        watching.join()
        log = service.log.read_text()
    for path in sorted({path for path, _ in statuses}):
        shown = (f"{status}: {n:,}" for (one, status), n in sorted(statuses.items()) if one == path)
        print(f"{path:24}", ", ".join(shown))
    print(f"{statuses.total():,} requests in {passed:.0f} s; slowest health check {told['health']:.2f} s")
    print(f"most MiB of each worker: {told['memory']}; log: {log.count(chr(10))} lines; the last:\n{log[-500:]}")
    if told["health"] > given.late:
        broken.append(f"a health check took {told['health']:.2f} s")
    broken += [f"worker {pid} held {held:.0f} MiB" for pid, held in told["memory"].items() if held > given.memory]
    print("\n".join(broken[:20]) if broken else "all promises held")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
