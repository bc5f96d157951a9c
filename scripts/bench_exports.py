"""Exports, differences and Spark, measured on real entities. `make bench` runs it.

    python scripts/bench_exports.py [--data ../shared/data] [--spark]

Every line is a process of its own: seconds, CPU seconds and peak memory are its own. `--spark` decodes the dump once
more on two local executors.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GRANOLA = [sys.executable, "-c", "from granola.cli.main import main; main()"]


def granola(name: str, *arguments: str | Path) -> None:
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
    granola(
        "build from the Parquet tables", "snapshot", "build", "--from", "parquet", into / "parquet", "--out",
        into / "back.sqlite",
    )  # fmt: skip
    granola("diff with itself", "snapshot", "diff", snapshot, into / "back.sqlite")


def main() -> None:
    """Run what can be run here."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = ROOT.parent / "shared"
    parser.add_argument("--data", type=Path, default=shared / "data", help="folder of real data")
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
