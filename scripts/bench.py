"""Figures on real data: snapshots, ladders and scores. `make bench` runs it.

    python scripts/bench.py [--data ../shared/data] [--parts snapshot,ladders,scores]

Without the data only the scores are measured, on the bundled sample.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "granola" / "demo"
GRANOLA = [sys.executable, "-c", "from granola.cli.main import main; main()"]
PREDICTIONS = 20_000


def granola(*arguments: str | Path) -> tuple[int, float, str]:
    """Run the command line in a process of its own; its exit status, seconds and standard output."""
    start = time.perf_counter()
    done = subprocess.run([*GRANOLA, *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=False)
    return done.returncode, time.perf_counter() - start, done.stdout


def snapshots(data: Path, into: Path) -> Path:
    """Build from every file of real entities and say what came of it."""
    print("snapshot build: source, exit status, entities, statements, seconds, peak MiB so far, file MB")
    wikidata = data / "wikidata"
    whole = into / "entities.sqlite"
    sources = ["entities.json.gz", "full_entities_sample.ndjson.gz", "property_P279.json.gz", "lexeme_L3354.json"]
    for name in sources:
        out = whole if name == sources[0] else into / f"{name}.sqlite"
        status, seconds, _ = granola("snapshot", "build", wikidata / name, "--out", out)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        if not out.exists():
            print(f"  {name}: exit {status}, no snapshot")
            continue
        info = json.loads(granola("snapshot", "info", out, "--json")[2])
        size = out.stat().st_size / 1e6
        print(
            f"  {name}: exit {status}, {info['entities']:,} entities, {info['statements']:,} statements, "
            f"{seconds:.1f} s, {peak:.0f} MiB, {size:.1f} MB"
        )
    status, seconds, _ = granola("snapshot", "verify", whole)
    print(f"  verify {whole.name}: exit {status}, {seconds:.1f} s")
    return whole


def scores(into: Path) -> None:
    """Predictions a second against the ladders of the bundled sample, one process."""
    from abstraction.rows import read_tiered
    from granola.matching import matcher
    from granola.scoring.predictions import read_predictions

    granola("snapshot", "build", DEMO / "wikidata.json", "--out", into / "demo.sqlite")
    tiered = into / "tiers.jsonl"
    granola("tiers", DEMO / "questions.jsonl", "--snapshot", into / "demo.sqlite", "--out", tiered)
    rows = {row.id: row for row in read_tiered(tiered)}
    pairs = [
        (prediction.text, [level.names() for level in rows[prediction.id].levels], rows[prediction.id].question)
        for name in ("specific", "cautious")
        for prediction in read_predictions(DEMO / f"predictions-{name}.jsonl").predictions.values()
    ]
    pairs = (pairs * (PREDICTIONS // len(pairs) + 1))[:PREDICTIONS]
    print(f"matching {PREDICTIONS:,} predictions against {len(rows)} ladders, one core")
    for name in ("em", "f1", "rules"):
        chosen = matcher(name)
        start = time.perf_counter()
        for text, levels, question in pairs:
            chosen.match(text, levels, question=question)
        print(f"  {name}: {PREDICTIONS / (time.perf_counter() - start):,.0f} predictions/s")


def main() -> None:
    """Run the chosen parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of real data")
    parser.add_argument("--parts", default="snapshot,ladders,scores", help="which parts, comma-separated")
    settings = parser.parse_args()
    parts = settings.parts.split(",")
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder)
        if settings.data.is_dir():
            if "snapshot" in parts or "ladders" in parts:
                whole = snapshots(settings.data, into)
            if "ladders" in parts:
                measure = ROOT / "scripts" / "measure_ladders.py"
                subprocess.run([sys.executable, str(measure), str(whole), "--data", str(settings.data)], check=True)
        else:
            print(f"no real data at {settings.data}: snapshots and ladders are not measured")
        if "scores" in parts:
            scores(into)


if __name__ == "__main__":
    main()
