"""Snapshots built from a benchmark dump, beside a plain script that only reads it. `make bench` runs it.

    python scripts/bench_dump.py [--shared ../shared] [--dump FILE] [--mb 400] [--rounds 3]

The dump is made by `tools/gen_dump.py` of the shared folder (kind `mixed`, mean 14 400) unless `--dump` names one
without its ending: FILE.gz and FILE.bz2. Every job is a process of its own, its start included; the jobs take turns,
and the median of the rounds counts. Absolute times drift with the machine, ratios less.
"""

from __future__ import annotations

import gzip
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import DATA, GRANOLA, arguments, cost_of

PLAIN = """
import bz2, gzip, json, sys
with (bz2 if sys.argv[1].endswith(".bz2") else gzip).open(sys.argv[1], "rt", encoding="utf-8") as lines:
    for line in lines:
        text = line.strip().rstrip(",")
        if len(text) > 1:
            json.loads(text)
"""


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
    plain = [sys.executable, "-c", PLAIN]
    build = [*GRANOLA, "snapshot", "build", "--force", "--out", str(out / "ours.sqlite")]
    return {
        "plain script, .gz read": [*plain, gz],
        "plain script, .bz2 read": [*plain, bz2],
        "snapshot of .gz in English": [*build, gz, "--languages", "en"],
        "snapshot of .gz in all languages": [*build, gz],
        "snapshot of .gz, cities in English": [*build, gz, "--languages", "en", "--instances-of", "Q515"],
        "snapshot of .bz2 in English": [*build, bz2, "--languages", "en"],
    }


def main() -> None:
    """Run the jobs in turns and print the medians, as shares of the plain script's too."""
    parser = arguments(__doc__, data=False)
    parser.add_argument("--shared", type=Path, default=DATA.parent)
    parser.add_argument("--dump", type=Path, help="a dump's path without .gz and .bz2")
    parser.add_argument("--mb", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    settings = parser.parse_args()
    if settings.dump is None and not (settings.shared / "tools" / "gen_dump.py").is_file():
        print(f"no tool that makes a dump in {settings.shared}: dumps are not measured")
        return
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        commands = jobs(settings.dump or made(settings.shared, out, settings.mb), out)
        times: dict[str, list[float]] = {name: [] for name in commands}
        last: dict[str, tuple[float, float]] = {}
        for _ in range(settings.rounds):
            for name, command in commands.items():
                seconds, *last[name] = cost_of(command)
                times[name].append(seconds)
    median = {name: statistics.median(one) for name, one in times.items()}
    print(f"{settings.rounds} rounds: job, median s, CPU s, peak MiB, times as fast as the plain script")
    for name, seconds in median.items():
        plain = median[f"plain script, {'.bz2' if '.bz2' in name else '.gz'} read"]
        cpu, peak = last[name]
        print(f"  {name}: {seconds:.2f} s, {cpu:.1f} s CPU, {peak:.0f} MiB, {plain / seconds:.2f}")


if __name__ == "__main__":
    main()
