"""A service under bodies that are wrong in every way: what is promised of it in docs/service.md, held for as long.

    python scripts/soak_service.py --requests 100000 --workers 2 --snapshot sample.sqlite
    python scripts/soak_service.py --requests 500                    # the bundled sample

Requests are made of right ones by long runs, near-misses of dates and phrases, halves of surrogate pairs, deep nesting,
wrong types, huge numbers, repeated items and damaged bytes. Watched are statuses, the slowest answers, a health check
every 0.2 s, and each worker's memory. A table is printed; the exit status is 1 where a promise is broken, and each
broken one is told with the seed of a request that broke it (`--show SEED` prints that request).
"""

from __future__ import annotations

import argparse
import copy
import http.client
import json
import math
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
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from kg.snapshot import build
from kg.store import open_store
from kg.terms import best_text

DEMO = Path(__file__).resolve().parents[1] / "granola" / "demo"
SECONDS = 10.0  # the time limit of a request; a batch and a file to score have 60 times as much
LATE = 1.0  # how much later an answer may come, and how late a health check
HEALTH_EVERY = 0.2
MOST_MEMORY = 700.0  # MiB that a worker holds of its own
GROWTH = 1.2  # of a worker's memory, from the second quarter of the requests to the last
NAMES = 3_000  # labels of the snapshot that questions are made of
SHOWN = 5
BATCHES = ("/v1/ladders", "/v1/score")
RELATIONS = ("P19", "P20", "P131", "P69", "P106", "P569", "P36", "P27", "P17", "P50", "P1082", "P2048")
LANGUAGES = ("en", "de", "fr", "es", "pl", "en-gb", "aaa", "en-x-y")
RUNS = (
    " ",
    "a",
    "s",
    "1",
    ".",
    ",",
    "-",
    "*",
    "ß",
    "(",
    ")",
    '"',
    "\n",
    "é",
    "\u0301",
    "\U0001f334",
    "\x00",
    "\u2028",
    "Aa",
    "ab ",
    "a, ",
    "1 ",
    "c.",
    "not ",
    "or ",
    "( )",
    "1961 ",
    "central-",
    "the ",
    "of the ",
    "St. ",
    "1,",
    "II ",
    "%",
    "\\",
    "/",
    "{}",
    "km ",
    "two ",
    "no. ",
)
MISSES = (
    "central-*x",
    "1961 c.*x",
    "language of the Aa* x",
    "Step 1: x.\n*x Step 2:",
    "a* not",
    "1*st",
    "(*",
    "19*th ce",
    "between 1*",
    "Hamlet *(",
    "http://*",
    "- *\n",
    "**bold* ",
    "A. *",
    "1e*",
    "Q1*",
    "en-*",
    "the * of",
)
VALUES = (
    "null",
    "true",
    "-1",
    "0",
    "1e308",
    "1e999",
    "NaN",
    "-Infinity",
    "9" * 400,
    "9" * 5_000,
    "[]",
    "{}",
    '""',
    '" "',
    '"( )"',
    '","',
    '"\\ud800"',
    '"a\\udfffb"',
    '"\\u0000"',
    '"\\ud83d\\ude00"',
    "[" * 90 + "]" * 90,
    "[" * 300 + "]" * 300,
    "[" * 5_000 + "]" * 5_000,
    '{"a":' * 200 + "1" + "}" * 200,
    '{"\\ud800": 1}',
)
RAW = (b"\xed\xa0\x80", b"\xff", b"\xc0\x80", b"\xf8\x88\x80\x80\x80", b"\xef\xbf\xbf")


@dataclass(frozen=True)
class Request:
    """What is sent."""

    method: str
    path: str
    body: bytes
    media_type: str = "application/json"

    @property
    def route(self) -> str:
        """What it counts for in the table."""
        path = self.path.partition("?")[0]
        return path if path in ROUTES else "/v1/entity/" if path.startswith("/v1/entity/") else "other"


ROUTES = ("/v1/ladder", "/v1/ladders", "/v1/link", "/v1/aggregate", "/v1/match", "/v1/score", "/v1/search", "/")


def question(chance: random.Random, names: list[str]) -> dict[str, Any]:
    """A question as users ask it, or nearly."""
    about, answer = chance.choice(names), chance.choice(names)
    ways = ("Where was {} born?", "What is the capital of {}?", "Who wrote {}?", "When was {} founded?", "In which {}?")
    out: dict[str, Any] = {"question": chance.choice(ways).format(about), "answer": answer, "id": str(chance.random())}
    if chance.random() < 0.5:
        out |= {"relation": chance.choice(RELATIONS), "question_entity": {"text": about}}
    if chance.random() < 0.1:
        out["answer"] = [chance.choice(names) for _ in range(chance.randint(1, 8))]
    return out


def tiered(chance: random.Random, names: list[str], key: str) -> dict[str, Any]:
    """A tiered row."""
    levels = [
        {"tiers": [{"text": chance.choice(names), "aliases": chance.choices(names, k=3), "bits": 9.0 - depth}]}
        for depth in range(chance.randint(1, 4))
    ]
    asked = question(chance, names)
    return {**asked, "id": key, "answer": [levels[0]["tiers"][0]["text"]], "levels": levels}


def right(chance: random.Random, names: list[str]) -> tuple[str, Any]:
    """The path and the body of a request that is well formed."""
    kind = chance.random()
    asked = question(chance, names)
    if kind < 0.35:
        return "/v1/ladder", {**asked, "language": chance.choice(LANGUAGES) if chance.random() < 0.1 else "en"}
    if kind < 0.45:
        return "/v1/link", asked
    if kind < 0.6:
        method = {"method": chance.choice(("drag-graph", "self-consistency")), "counting": "alias"}
        return "/v1/aggregate", {**asked, "samples": chance.choices(names, k=chance.randint(1, 10)), **method}
    said = [f"{chance.choice(('', 'in ', 'not ', 'I think '))}{chance.choice(names)}" for _ in range(4)]
    if kind < 0.7:
        return "/v1/match", {"predictions": said, "levels": [chance.choices(names, k=3) for _ in range(3)]}
    if kind < 0.85:
        return "/v1/match", {"predictions": said, "row": tiered(chance, names, "1")}
    if kind < 0.95:
        rows = [tiered(chance, names, str(number)) for number in range(chance.randint(1, 5))]
        predictions = [{"id": row["id"], "prediction": text} for row, text in zip(rows, said, strict=False)]
        asked = {
            "rows": rows,
            "predictions": predictions,
            "allow_missing": True,
            "resamples": chance.choice((10, 1_000)),
        }
        return "/v1/score", asked
    return "/v1/ladders", [question(chance, names) for _ in range(chance.randint(1, 8))]


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a value that JSON can hold."""
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*at, key))


def changed(value: Any, at: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    """The value with another in that place."""
    if not at:
        return change(value)
    out = copy.copy(value)
    out[at[0]] = changed(value[at[0]], at[1:], change)
    return out


def run(chance: random.Random) -> str:
    """A long run of a few characters, or a near-miss of what patterns look for; most are short, few very long."""
    length = int(math.exp(chance.uniform(0, math.log(4_200) if chance.random() < 0.97 else math.log(60_000))))
    if chance.random() < 0.5:
        sign = chance.choice(RUNS)
        return sign * max(1, length // len(sign)) + chance.choice(("", "x", " x", "!"))
    begins, _, ends = chance.choice(MISSES).partition("*")
    return begins + chance.choice((begins[-2:], *RUNS)) * (length // 2) + ends


def mutated(chance: random.Random, body: Any) -> bytes:
    """The bytes of a body with something wrong in it."""
    marks: list[tuple[str, bytes]] = []
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        at = chance.choice(list(places(body)))
        kind = chance.random()
        if kind < 0.45:
            text = run(chance)
            body = changed(body, at, lambda _, text=text: text)
        elif kind < 0.75:
            mark = f"@mark{len(marks)}@"
            raw = chance.choice(VALUES).encode() if chance.random() < 0.8 else b'"' + chance.choice(RAW) + b'"'
            marks.append((mark, raw))
            body = changed(body, at, lambda _, mark=mark: mark)
        else:
            body = changed(body, at, lambda old: more_of(chance, old))
    out = json.dumps(body, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    for mark, raw in marks:
        out = out.replace(f'"{mark}"'.encode(), raw)
    return out


def more_of(chance: random.Random, old: Any) -> Any:
    """More of a list, a text that is doubled, a field more or less."""
    times = int(math.exp(chance.uniform(0, math.log(30) if chance.random() < 0.97 else math.log(1_500))))
    if isinstance(old, list) and old:
        grown = [one if chance.random() < 0.5 else altered(one, number) for number, one in enumerate(old * times)]
        return grown[:3_000]
    if isinstance(old, dict) and old:
        out = dict(old)
        if chance.random() < 0.5:
            del out[chance.choice(list(out))]
        return {**out, run(chance)[:300]: run(chance)[:300]}
    return [old] * times if chance.random() < 0.5 else f"{old} " * times


def altered(one: Any, number: int) -> Any:
    """One of many that are alike."""
    if isinstance(one, str):
        return f"{one} {number}"
    return {**one, "id": str(number), "relation": f"P{number + 1}"} if isinstance(one, dict) else one


def request_of(seed: int, names: list[str]) -> Request:
    """The request of a seed: four of five are wrong in some way."""
    chance = random.Random(seed)
    if chance.random() < 0.08:
        return asked_for(chance, names)
    path, body = right(chance, names)
    if chance.random() < 0.2:
        return Request("POST", path, json.dumps(body).encode())
    if path in ("/v1/ladders", "/v1/score") and chance.random() < 0.02:
        rows = [question(chance, names) for _ in range(2_000)]
        return Request("POST", "/v1/ladders", "\n".join(map(json.dumps, rows)).encode())
    out = mutated(chance, body)
    kind = chance.random()
    if kind < 0.03:
        out = out[: chance.randrange(len(out) + 1)]
    elif kind < 0.06:
        out = json.dumps(body).encode(chance.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig")))
    elif kind < 0.09 and out:
        spot = chance.randrange(len(out))
        out = out[:spot] + bytes([chance.randrange(256)]) + out[spot + 1 :]
    elif kind < 0.1:
        return Request(chance.choice(("PUT", "DELETE", "GET", "PATCH")), path, out)
    elif kind < 0.11:
        return Request("POST", path, out, chance.choice(("text/plain", "application/json; charset=utf-16", "x" * 900)))
    return Request("POST", path, out)


def asked_for(chance: random.Random, names: list[str]) -> Request:
    """A request without a body."""
    wild = run(chance)[:2_000] if chance.random() < 0.5 else chance.choice(names)
    text = quote(wild, errors="surrogatepass") if chance.random() < 0.8 else "%ED%A0%80%FF%00" * 3
    paths = (
        f"/v1/search?name={text}",
        f"/v1/entity/{text[:60]}",
        f"/v1/entity/Q{chance.randrange(10_000)}?language=de",
        f"/?question=Where+was+{text}+born%3F&answer={quote(chance.choice(names))}&predictions={text}%0A{text}",
        f"/?question={text}&answer=x&language={text[:20]}&relation={text[:20]}&subject={text}",
        f"/{text[:100]}",
        f"/v1/search?{text}={text}&" + "a&" * chance.randrange(2_000),
        "/v1/snapshot",
        "/v1/metrics",
        "/v1/openapi.json",
    )
    return Request(chance.choice(("GET", "GET", "GET", "HEAD", "POST")), chance.choice(paths), b"")


@dataclass
class Found:
    """What the requests of one client came to: statuses by route, slowest answers, and what was promised otherwise."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def add(self, other: Found) -> None:
        """Take in another's."""
        self.statuses += other.statuses
        for route, seconds in other.seconds.items():
            self.seconds.setdefault(route, []).extend(seconds)
        self.broken += other.broken


def ask(address: str, seeds: range, names: list[str], threads: int) -> Found:
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
                found.broken += faults(asked, seed, status, told, passed)

    workers = [threading.Thread(target=one_after_another) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return found


def faults(asked: Request, seed: int, status: int, told: bytes, passed: float) -> list[str]:
    """What an answer breaks of what is promised."""
    limit = SECONDS * (60 if asked.route in BATCHES else 1)
    out = []
    if status == 0 or (status >= 500 and status != 503):
        out.append(f"seed {seed}: {asked.method} {asked.route} answered {status or told.decode()}")
    if passed > limit + LATE:
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
        asking = [pool.submit(ask, address, part, names, given.threads) for part in parts]
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
    broken = found.broken + grown(held)
    print(f"slowest health check: {slowest.value:.2f} s; workers replaced: {again or 'none'}")
    if slowest.value > LATE:
        broken.append(f"a health check took {slowest.value:.2f} s")
    if again:
        broken.append(f"workers were replaced: {again}")
    return broken


def table(found: Found, passed: float) -> None:
    """Statuses and times by route."""
    total = found.statuses.total()
    print(f"{total:,} requests in {passed:.0f} s, {total / passed:.0f} a second")
    print(f"{'route':16}{'requests':>10}{'p50':>9}{'p99':>9}{'slowest':>9}  statuses")
    for route in sorted(found.seconds):
        seconds = sorted(found.seconds[route])
        told = ", ".join(f"{status}: {n:,}" for (one, status), n in sorted(found.statuses.items()) if one == route)
        p50, p99 = seconds[len(seconds) // 2], seconds[int(0.99 * len(seconds))]
        print(f"{route:16}{len(seconds):>10,}{p50:>8.3f}s{p99:>8.3f}s{seconds[-1]:>8.2f}s  {told}")


def grown(held: list[dict[int, float]]) -> list[str]:
    """What the workers' memory breaks; prints it at the quarters."""
    broken = []
    for pid in held[0]:
        told = [one[pid] for one in held if pid in one]
        quarters = [max(told[len(told) * at // 4 : len(told) * (at + 1) // 4] or [0.0]) for at in range(4)]
        print(
            f"worker {pid}: {told[0]:.0f} MiB at the start; most in each quarter: "
            + ", ".join(f"{one:.0f}" for one in quarters)
        )
        if max(told) > MOST_MEMORY:
            broken.append(f"worker {pid} held {max(told):.0f} MiB, promised are {MOST_MEMORY:.0f}")
        if len(told) > 100 and quarters[3] > GROWTH * quarters[1]:
            broken.append(f"worker {pid} grew from {quarters[1]:.0f} to {quarters[3]:.0f} MiB in the second half")
    return broken


if __name__ == "__main__":
    main()
