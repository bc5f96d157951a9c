"""Reading a benchmark dump: ratios to plain scripts that do the same, in one run. `make bench` runs it.

    python scripts/bench_dump.py [--shared ../shared] [--dump FILE] [--mb 400] [--rounds 3]

The dump is made by `tools/gen_dump.py` of the shared folder (kind `mixed`, mean 14 400) unless `--dump` names one
without its ending: FILE.gz and FILE.bz2. Every job is a process of its own, its start included; the jobs take turns,
and the median of the rounds counts. Absolute times drift with the machine, ratios less. Before anything is timed it
is checked that records are the same bytes, whoever makes them.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
JOBS = [sys.executable, str(ROOT / "scripts" / "dump_jobs.py")]
GRANOLA = [sys.executable, "-c", "from granola.cli.main import main; main()"]


def run(command: list[str]) -> tuple[float, float, float]:
    """Seconds and CPU seconds of a process and its children, and the peak MiB of the process."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        if status:
            errors.seek(0)
            sys.exit(f"{command}: exit status {os.waitstatus_to_exitcode(status)}: {errors.read()[-2000:].decode()}")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def made(shared: Path, into: Path, mb: int) -> Path:
    """A benchmark dump, its path without the ending."""
    fixture = into / "fixture.ndjson"
    packed = shared / "data" / "wikidata" / "full_entities_sample.ndjson.gz"
    with gzip.open(packed, "rb") as source, fixture.open("wb") as target:
        shutil.copyfileobj(source, target)
    tool = [sys.executable, str(shared / "tools" / "gen_dump.py"), "--kind", "mixed", "--mean", "14400"]
    subprocess.run([*tool, "--mb", str(mb), "--formats", "gz,bz2", str(fixture), str(into)], check=True)
    return into / "mixed.json"


def jobs(dump: Path, out: Path) -> dict[str, list[str]]:
    """The commands by name."""
    gz, bz2 = f"{dump}.gz", f"{dump}.bz2"
    build = [*GRANOLA, "snapshot", "build", "--force", "--out", str(out / "ours.sqlite")]
    found = {
        "plain script, .gz to records": [*JOBS, "plain-records", gz, str(out / "plain.jsonl")],
        "plain script, .gz to SQLite": [*JOBS, "plain-snapshot", gz, str(out / "plain.sqlite")],
        "plain script, .bz2 to records": [*JOBS, "plain-records", bz2, str(out / "plain-bz2.jsonl")],
        "ours, .gz to records": [*JOBS, "records", gz, str(out / "ours.jsonl")],
        "ours, .bz2 to records": [*JOBS, "records", bz2, str(out / "ours-bz2.jsonl")],
        "ours, .gz to snapshot": [*build, gz, "--languages", "en"],
        "ours, .gz to snapshot, all languages": [*build, gz],
        "ours, .gz to snapshot, cities": [*build, gz, "--languages", "en", "--instances-of", "Q515"],
    }
    if shutil.which("lbzip2"):
        found["lbzip2 -n2 alone"] = ["lbzip2", "-n2", "-dc", bz2]
    return found


def main() -> None:
    """Run the jobs in turns and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--dump", type=Path, help="a dump's path without .gz and .bz2")
    parser.add_argument("--mb", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    settings = parser.parse_args()
    if settings.dump is None and not (settings.shared / "tools" / "gen_dump.py").is_file():
        print(f"no tool that makes a dump in {settings.shared}: dumps are not measured")
        return
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        dump = settings.dump or made(settings.shared, out, settings.mb)
        commands = jobs(dump, out)
        times: dict[str, list[float]] = {name: [] for name in commands}
        last: dict[str, tuple[float, float]] = {}
        for _ in range(settings.rounds):
            for name, command in commands.items():
                (out / "plain.sqlite").unlink(missing_ok=True)
                seconds, *last[name] = run(command)
                times[name].append(seconds)
        expected = (out / "plain.jsonl").read_bytes()
        for name in ("plain-bz2", "ours", "ours-bz2"):
            if (out / f"{name}.jsonl").read_bytes() != expected:
                sys.exit(f"{name}: other records than the plain script's")
    median = {name: statistics.median(one) for name, one in times.items()}
    print(f"{dump.name}, {settings.rounds} rounds, records the same bytes: job, median s, CPU s, peak MiB")
    for name, seconds in median.items():
        cpu, peak = last[name]
        print(f"  {name}: {seconds:.2f} s, {cpu:.1f} s CPU, {peak:.0f} MiB")

    def ratio(name: str, plain: str, bar: str) -> None:
        if plain in median:
            print(f"  {name}: {median[plain] / median[name]:.2f} x {plain} ({bar})")

    ratio("ours, .gz to records", "plain script, .gz to records", "bar 4.5")
    ratio("ours, .gz to snapshot", "plain script, .gz to SQLite", "bar 2.6, goal 4: the same extraction")
    ratio("ours, .gz to snapshot", "plain script, .gz to records", "no bar: a narrower job")
    ratio("ours, .bz2 to records", "plain script, .bz2 to records", "bar 2.7")
    ratio("ours, .bz2 to records", "lbzip2 -n2 alone", "bar 0.75")


if __name__ == "__main__":
    main()
