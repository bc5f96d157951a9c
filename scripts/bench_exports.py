"""Exports, differences, Neo4j's import tool and Spark, measured on real entities. `make bench` runs it.

    python scripts/bench_exports.py [--data ../shared/data] [--neo4j ../shared/neo4j/neo4j] [--spark]

Every line is a process of its own: seconds, CPU seconds and peak memory are its own. The import tool and the push
go into the same server one after another: `export`, `import` and what `push` has left to do after an import, against
a push into an empty database. `--spark` decodes the dump once more on two local executors.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GRANOLA = [sys.executable, "-c", "from granola.cli.main import main; main()"]


def run(name: str, command: list[str], *, quiet: bool = False) -> tuple[float, str]:
    """Run a process, print what it took, and return its seconds and standard output."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, errors = process.communicate()
    seconds = time.perf_counter() - start
    if process.returncode not in (0, 1):
        sys.exit(f"{name}: exit status {process.returncode}: {errors[-2000:]}{out[-2000:]}")
    if not quiet:
        print(f"  {name}: {seconds:.1f} s")
    return seconds, out


def granola(name: str, *arguments: str | Path) -> tuple[float, str]:
    """A command of ours, with its own peak memory."""
    # The shell's time would need a tool; a child of a child has its own highest mark.
    code = (
        "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:]).returncode;"
        " used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        " print(f'{used.ru_utime + used.ru_stime:.1f} s CPU, {used.ru_maxrss / 1024:.0f} MiB', file=sys.stderr);"
        " sys.exit(done)"
    )
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *GRANOLA, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    if done.returncode not in (0, 1):
        sys.exit(f"{name}: exit status {done.returncode}: {done.stderr[-2000:]}")
    print(f"  {name}: {seconds:.1f} s ({done.stderr.strip().splitlines()[-1]})")
    return seconds, done.stdout


def size(path: Path) -> float:
    """MB of a file or of all files of a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def exports(snapshot: Path, into: Path) -> None:
    """Every format, and back."""
    print(f"exports of {snapshot.name} ({size(snapshot):.0f} MB)")
    for format, name in (("nt", "x.nt"), ("nt", "x.nt.gz"), ("ttl", "x.ttl"), ("parquet", "parquet")):
        granola(f"export {name}", "snapshot", "export", snapshot, "--format", format, "--out", into / name)
        print(f"    {size(into / name):.0f} MB")
    granola("import of the Parquet tables", "snapshot", "import", into / "parquet", "--out", into / "back.sqlite")
    granola("diff with itself", "snapshot", "diff", snapshot, into / "back.sqlite")


def mirror(snapshot: Path, script: Path, into: Path) -> None:
    """Push into an empty database, against export and import."""
    print("Neo4j: the same snapshot by push, and by export and import")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    address = f"bolt://127.0.0.1:{port}"
    home = into / "pushed"
    run("server", [str(script), "start", str(home), port], quiet=True)
    pushed, _ = granola("push into an empty database", "snapshot", "push", snapshot, address)
    run("server", [str(script), "stop", str(home)], quiet=True)
    home = into / "imported"
    exported, command = granola(
        "export", "snapshot", "export", snapshot, "--format", "neo4j-csv", "--out", into / "files"
    )
    imported, _ = run("import", [str(script), "import", str(home), *shlex.split(command)[3:]])
    run("server", [str(script), "start", str(home), port], quiet=True)
    finished, _ = granola("indexes, by push", "snapshot", "push", snapshot, address)
    granola("verify", "snapshot", "verify", address, "--against", snapshot)
    run("server", [str(script), "stop", str(home)], quiet=True)
    print(f"  push / (export + import): {pushed / (exported + imported):.1f} x")
    print(f"  push / (export + import + indexes): {pushed / (exported + imported + finished):.1f} x")


def main() -> None:
    """Run what can be run here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = ROOT.parent / "shared"
    parser.add_argument("--data", type=Path, default=shared / "data", help="folder of real data")
    parser.add_argument("--neo4j", type=Path, default=shared / "neo4j" / "neo4j", help="script that runs a server")
    parser.add_argument("--spark", action="store_true", help="also decode the dump on two local executors")
    settings = parser.parse_args()
    source = settings.data / "wikidata" / "entities.json.gz"
    if not source.is_file():
        sys.exit(f"no real entities at {source}: nothing is measured")
    os.environ.pop("NEO4J_PASSWORD", None)
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder)
        snapshot = into / "entities.sqlite"
        granola("snapshot build", "snapshot", "build", source, "--out", snapshot)
        exports(snapshot, into)
        if settings.neo4j.is_file():
            mirror(snapshot, settings.neo4j, into)
        else:
            print(f"no server to start at {settings.neo4j}: the mirror is not measured")
        if settings.spark:
            packed = into / "entities.json.bz2"
            with packed.open("wb") as stream:
                unpacked = subprocess.Popen(["gzip", "-dc", str(source)], stdout=subprocess.PIPE)
                subprocess.run(["bzip2", "-c"], stdin=unpacked.stdout, stdout=stream, check=True)
            granola(
                "Spark, local-cluster of 2", "snapshot", "spark", packed, "--out", into / "spark",
                "--master", "local-cluster[2,1,1024]",
            )  # fmt: skip
            shutil.rmtree(into / "spark")


if __name__ == "__main__":
    main()
