"""Figures of the Neo4j mirror: push, push again, and ladders beside those from the file.

    python scripts/bench_neo4j.py [--snapshot FILE] [--data ../shared/data] [--neo4j ../shared/neo4j/neo4j]
                                  [--rounds 1] [--questions 3000] [--parts push,ladders]

The server is started by the script that --neo4j names (`SCRIPT start|stop|kill HOME ...`), empty and cold for
every measurement, in a temporary folder. Rates are printed twice: of relationships (statements whose value is an
item) and of all statements, each over the whole wall-clock time of the job, constraints, terms, names and indexes
included.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench_common import GRANOLA, ROOT, arguments, sample_snapshot

from kg.store.neo4j_push import PushProgress, push


class Server:
    """A server in a folder of its own, started and stopped by the script."""

    def __init__(self, script: Path, home: Path) -> None:
        self._script, self.home = str(script), home
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"bolt://127.0.0.1:{self.port}"

    def _call(self, verb: str, *arguments: str) -> None:
        environment = {**os.environ, "NEO4J_HEAP": "2g", "NEO4J_PASSWORD": ""}
        done = subprocess.run(
            [self._script, verb, str(self.home), *arguments], env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"{verb} of the server: {done.stdout[-2000:]}{done.stderr[-2000:]}")

    @contextmanager
    def running(self) -> Iterator[str]:
        """Its address, until it is stopped."""
        self._call("start", str(self.port))
        try:
            yield self.address
        finally:
            self._call("stop")


@contextmanager
def fresh(script: Path) -> Iterator[tuple[Server, str]]:
    """An empty server, cold."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(script, Path(folder))
        with server.running() as address:
            yield server, address


def timed(job: Callable[[], object]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def pushes(snapshot: Path, script: Path, rounds: int) -> None:
    """Into an empty database, over the full one, and in its place; seconds, rates and what each phase took."""
    connection = sqlite3.connect(f"{snapshot.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    statements, related = connection.execute("SELECT count(*), sum(type = 2) FROM statement").fetchone()
    for number in range(1, rounds + 1):
        with fresh(script) as (_, address):
            phases: list[tuple[str, float]] = []

            def note(state: PushProgress, phases: list[tuple[str, float]] = phases) -> None:
                if not phases or phases[-1][0] != state.phase:
                    phases.append((state.phase, time.perf_counter()))

            first = timed(lambda where=address: push(snapshot, where, progress=note))  # type: ignore[misc]
            end = time.perf_counter()
            ends = [begun for _, begun in phases[1:]] + [end]
            spent = ", ".join(f"{name} {b - a:.1f}" for (name, a), b in zip(phases, ends, strict=True))
            print(
                f"round {number}: push into an empty database {first:.1f} s: {related / first:,.0f} relationships"
                f" ({statements / first:,.0f} statements) a second; seconds: {spent}"
            )
            again = timed(lambda where=address: push(snapshot, where))  # type: ignore[misc]
            print(f"round {number}: again over the full one, which compares counts: {again:.2f} s")
            anew = timed(lambda where=address: push(snapshot, where, replace=True))  # type: ignore[misc]
            rate = f"{related / anew:,.0f} relationships a second"
            print(f"round {number}: with --replace over the full one {anew:.1f} s: {rate}")


def sampled(data: Path, questions: int, into: Path) -> list[Path]:
    """Files of about so many questions, spread over all relations."""
    files = sorted((data / "entityquestions" / "test").glob("*.json"))
    made = []
    for path in files:
        rows = json.loads(path.read_text(encoding="utf-8"))
        made.append(into / path.name)
        made[-1].write_text(json.dumps(rows[:: max(1, len(rows) * len(files) // questions)]), encoding="utf-8")
    return made


def ladders(snapshot: Path, script: Path, data: Path, questions: int) -> None:
    """Ladders a second from either store, in turn, and whether they are the same bytes."""
    from abstraction.pipeline import LadderMaker
    from abstraction.rows import read_questions
    from kg.store import open_store

    with tempfile.TemporaryDirectory() as folder, fresh(script) as (_, address):
        files = sampled(data, questions, Path(folder))
        rows = list(read_questions(files))
        push(snapshot, address)
        stores = (("file", str(snapshot)), ("mirror", address))
        rates: dict[str, list[float]] = {}
        for _ in range(2):
            for name, where in stores:
                with open_store(where) as store:
                    start = time.perf_counter()
                    maker = LadderMaker(store)
                    begun = time.perf_counter() - start
                    taken = timed(lambda maker=maker: list(maker.make_all(rows)))  # type: ignore[misc]
                rates.setdefault(name, []).append(len(rows) / taken)
                rate = f"{len(rows) / taken:,.0f} a second, {len(rows) / (taken + begun):,.0f} with the start"
                print(f"ladders from the {name}: {rate} ({len(rows):,} questions; start {begun:.1f} s)")
        share = statistics.median(rates["mirror"]) / statistics.median(rates["file"])
        print(f"the mirror makes {share:.2f} of the file's ladders a second")
        outs = []
        for name, where in stores:
            outs.append(Path(folder) / f"{name}.jsonl")
            words = ["tiers", *map(str, files), "--snapshot", where, "--out", str(outs[-1])]
            subprocess.run([*GRANOLA, *words], stdout=subprocess.DEVNULL, check=False)
        same = "the same bytes" if outs[0].read_bytes() == outs[1].read_bytes() else "DIFFERENT FILES"
        print(f"granola tiers, {len(rows):,} questions: {same} from both")


def main() -> int:
    """Run the chosen parts."""
    parser = arguments(__doc__, data=True)
    parser.add_argument("--neo4j", type=Path, default=ROOT.parent / "shared" / "neo4j" / "neo4j", help="server script")
    parser.add_argument("--rounds", type=int, default=1, help="how often the push is run")
    parser.add_argument("--questions", type=int, default=3000, help="questions for the ladders")
    parser.add_argument("--parts", default="push,ladders", help="which parts, comma-separated")
    given = parser.parse_args()
    if not (given.neo4j.is_file() and given.data.is_dir() and shutil.which("java")):
        print(f"no server script {given.neo4j}, no real data at {given.data} or no java: the mirror is not measured")
        return 0
    for name in ("NEO4J_USER", "NEO4J_PASSWORD", "NEO4J_DATABASE"):
        os.environ.pop(name, None)
    parts = set(given.parts.split(","))
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    with sample_snapshot(given.data, given.snapshot) as snapshot:
        if "push" in parts:
            pushes(snapshot, given.neo4j, given.rounds)
        if "ladders" in parts:
            ladders(snapshot, given.neo4j, given.data, given.questions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
