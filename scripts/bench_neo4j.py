"""Figures of the Neo4j mirror: push, push again, and ladders beside those from the file.

    python scripts/bench_neo4j.py [--snapshot FILE] [--data ../shared/data] [--neo4j ../shared/neo4j/neo4j]
                                  [--rounds 1] [--questions 3000]

The server is started by the script that --neo4j names (`SCRIPT start|stop HOME [PORT]`), empty and cold for every
measurement, in a temporary folder. Rates are printed twice: of relationships (statements whose value is an item) and
of all statements, each over the whole wall-clock time of the job, constraints, terms, names and indexes included.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from measuring import GRANOLA, ROOT, arguments, relation_files, sample_snapshot

from kg.store.neo4j_push import push


@contextmanager
def fresh(script: Path) -> Iterator[str]:
    """The address of an empty server, cold, in a folder of its own, until it is stopped."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "NEO4J_HEAP": "2g", "NEO4J_PASSWORD": ""}
    with tempfile.TemporaryDirectory() as home:
        subprocess.run([script, "start", home, str(port)], env=environment, stdout=subprocess.DEVNULL, check=True)
        try:
            yield f"bolt://127.0.0.1:{port}"
        finally:
            subprocess.run([script, "stop", home], env=environment, stdout=subprocess.DEVNULL, check=True)


def timed(job: Callable[[], object]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def pushes(snapshot: Path, script: Path) -> None:
    """Into an empty database, over the full one, and in its place; seconds, rates and what each phase took."""
    connection = sqlite3.connect(f"{snapshot.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    statements, related = connection.execute("SELECT count(*), sum(type = 2) FROM statement").fetchone()
    began: dict[str, float] = {}

    def note(phase: str, *_: int) -> None:
        began.setdefault(phase, time.perf_counter())

    with fresh(script) as address:
        first = timed(lambda: push(snapshot, address, progress=note))
        ends = [*list(began.values())[1:], time.perf_counter()]
        spent = ", ".join(f"{name} {end - at:.1f}" for (name, at), end in zip(began.items(), ends, strict=True))
        print(
            f"push into an empty database {first:.1f} s: {related / first:,.0f} relationships"
            f" ({statements / first:,.0f} statements) a second; seconds: {spent}"
        )
        again = timed(lambda: push(snapshot, address))
        anew = timed(lambda: push(snapshot, address, replace=True))
        print(f"again over the full one, which compares counts: {again:.2f} s")
        print(f"with --replace over it {anew:.1f} s: {related / anew:,.0f} relationships a second", flush=True)


def sampled(data: Path, questions: int, into: Path) -> list[Path]:
    """Files of about so many questions, spread over all relations."""
    files, made = relation_files(data).values(), []
    for path in files:
        rows = json.loads(path.read_text(encoding="utf-8"))
        made.append(into / path.name)
        made[-1].write_text(json.dumps(rows[:: max(1, len(rows) * len(files) // questions)]), encoding="utf-8")
    return made


def ladders(snapshot: Path, script: Path, data: Path, questions: int) -> None:
    """Ladders a second from either store, in turn, and whether they are the same bytes."""
    from abstraction.files.rows import read_questions
    from abstraction.maker.pipeline import LadderMaker
    from kg.store import open_store

    with tempfile.TemporaryDirectory() as folder, fresh(script) as address:
        files = sampled(data, questions, Path(folder))
        rows = list(read_questions(files))
        push(snapshot, address)
        stores = {"file": str(snapshot), "mirror": address}
        rates: dict[str, list[float]] = {name: [] for name in stores}
        for name, where in [*stores.items()] * 2:
            with open_store(where) as store:
                maker = LadderMaker(store)
                taken = timed(lambda maker=maker: list(maker.make_all(rows)))  # type: ignore[misc]
            rates[name].append(len(rows) / taken)
            print(f"ladders from the {name}: {len(rows) / taken:,.0f} a second ({len(rows):,} questions)", flush=True)
        share = statistics.median(rates["mirror"]) / statistics.median(rates["file"])
        print(f"the mirror makes {share:.2f} of the file's ladders a second")
        for name, where in stores.items():
            words = ["tiers", *map(str, files), "--snapshot", where, "--out", f"{folder}/{name}.jsonl"]
            subprocess.run([*GRANOLA, *words], stdout=subprocess.DEVNULL, check=False)
        made = {(Path(folder) / f"{name}.jsonl").read_bytes() for name in stores}
        print(f"granola tiers: {'the same bytes' if len(made) == 1 else 'DIFFERENT FILES'} from both")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--snapshot", type=Path, help="a snapshot of the sample; by default one is built")
    parser.add_argument("--neo4j", type=Path, default=ROOT.parent / "shared" / "neo4j" / "neo4j", help="server script")
    parser.add_argument("--rounds", type=int, default=1, help="how often the push is run")
    parser.add_argument("--questions", type=int, default=3000, help="questions for the ladders")
    given = parser.parse_args()
    if not (given.neo4j.is_file() and given.data.is_dir() and shutil.which("java")):
        print(f"no server script {given.neo4j}, no real data at {given.data} or no java: the mirror is not measured")
        return
    for name in ("NEO4J_USER", "NEO4J_PASSWORD"):
        os.environ.pop(name, None)
    with sample_snapshot(given.data, given.snapshot) as snapshot:
        for _ in range(given.rounds):
            pushes(snapshot, given.neo4j)
        if given.questions:
            ladders(snapshot, given.neo4j, given.data, given.questions)


if __name__ == "__main__":
    main()
