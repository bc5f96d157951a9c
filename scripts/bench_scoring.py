"""How long `granola score` takes and how much memory it holds, on a made-up file of any size.

    python scripts/bench_scoring.py [--rows 1000000] [--gz] [--out] [--shuffled] [--folder FOLDER] [-- MORE OPTIONS]

Rows have three levels of one or two tiers with names, bits and evidence, and one prediction each: of ten, four state
the answer, three a coarser level, two are wrong, one declines. All is drawn from a seed. Prints one JSON object with
seconds and peak memory of the process that scored; the files stay in --folder, where it is given, for the next run.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson
from bench_common import GRANOLA

SEED = 11
RELATIONS = ("P19", "P20", "P27", "P69", "P106", "P131", "P159", "P495")
SYLLABLES = ("ba", "cor", "del", "fin", "gar", "hol", "ka", "lin", "mor", "nes", "or", "pen", "ro", "sta", "ton", "ve")
REGIONS, COUNTRIES = 5_000, 200


def place(drawing: random.Random, number: int, kind: str, bits: float) -> dict[str, Any]:
    """A tier with aliases and the statement that entails it."""
    text = "".join(drawing.choices(SYLLABLES, k=3)).title() + f" {kind}{number:x}"
    return {
        "text": text,
        "qid": f"Q{number + 1}",
        "aliases": [f"{text} {suffix}" for suffix in ("Region", "Land")[: number % 3]],
        "bits": bits,
        "evidence": [
            {
                "kind": "statement",
                "subject": "Q100",
                "property": "P131",
                "value": f"Q{number + 1}",
                "statement": f"Q100${number:032x}",
                "labels": {"Q100": "a place", "P131": "located in", f"Q{number + 1}": text},
            },
            {
                "kind": "description",
                "subject": "Q100",
                "language": "en",
                "text": f"a place in {text}, known for its cheese",
                "span": [11, 11 + len(text)],
                "labels": {"Q100": "a place"},
            },
        ],
    }


def rows(count: int) -> Iterator[tuple[dict[str, Any], str]]:
    """Tiered rows and what is predicted for each."""
    drawing = random.Random(SEED)
    regions = [place(drawing, number, "r", round(8 + number % 400 / 100, 3)) for number in range(REGIONS)]
    countries = [place(drawing, number, "c", round(2 + number % 300 / 100, 3)) for number in range(COUNTRIES)]
    for number in range(count):
        own = place(drawing, number, "", round(drawing.uniform(14, 20), 3))
        region, country = regions[number % REGIONS], countries[number % COUNTRIES]
        levels = [[own], [region, regions[(number * 7 + 1) % REGIONS]], [country]]
        kind = drawing.randrange(10)
        said = drawing.choice(levels[0 if kind < 4 else 1 + kind % 2 if kind < 7 else 0])["text"]
        if kind >= 7:
            said = "I don't know." if kind == 9 else f"the town of {drawing.choice(SYLLABLES)}{number:x}"
        elif kind % 2:
            said = f"It was in {said}, I believe."
        yield (
            {
                "schema_version": 1,
                "id": f"question-{number}",
                "question": f"Where was person {number} born?",
                "relation": RELATIONS[number % len(RELATIONS)],
                "question_entity": {"text": f"person {number}", "qid": f"Q{10_000_000 + number}"},
                "answer": [own["text"]],
                "levels": [{"tiers": tiers} for tiers in levels],
                "popularity": drawing.randrange(100_000),
            },
            said,
        )


def write(folder: Path, count: int, *, packed: bool, shuffled: bool) -> tuple[Path, Path]:
    """The tiered file and the predictions, made unless they are there."""
    end = ".jsonl.gz" if packed else ".jsonl"
    tiered = folder / f"tiers-{count}{end}"
    predictions = folder / f"{'shuffled' if shuffled else 'said'}-{count}{end}"
    if tiered.exists() and predictions.exists():
        return tiered, predictions
    said: list[bytes] = []
    with opened(tiered) as stream:
        for row, text in rows(count):
            stream.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
            said.append(orjson.dumps({"id": row["id"], "prediction": text}, option=orjson.OPT_APPEND_NEWLINE))
    if shuffled:
        random.Random(SEED).shuffle(said)
    with opened(predictions) as stream:
        stream.writelines(said)
    return tiered, predictions


def opened(path: Path) -> Any:
    return gzip.open(path, "wb", compresslevel=1) if path.name.endswith(".gz") else path.open("wb")


def measured(command: list[str], output: Path) -> dict[str, Any]:
    """Seconds and peak memory of a process with its own peak, and the signature that it printed."""
    begin = time.perf_counter()
    with output.open("wb") as stream:
        actions = [(os.POSIX_SPAWN_DUP2, stream.fileno(), 1)]
        pid = os.posix_spawn(command[0], command, dict(os.environ), file_actions=actions)
        _, status, used = os.wait4(pid, 0)
    return {
        "exit": os.waitstatus_to_exitcode(status),
        "seconds": round(time.perf_counter() - begin, 1),
        "processor_seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak_megabytes": round(used.ru_maxrss / (1 << 10 if sys.platform != "darwin" else 1 << 20)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--verb", default="score", choices=("score", "compare"))
    parser.add_argument("--gz", action="store_true", help="packed inputs")
    parser.add_argument("--out", action="store_true", help="write the items")
    parser.add_argument("--shuffled", action="store_true", help="predictions in another order than the rows")
    parser.add_argument("--folder", type=Path, help="where the files are made and stay")
    parser.add_argument("more", nargs="*", help="options handed on to the verb")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:  # or its peak would count as the scorer's
            made = pool.submit(write, folder, given.rows, packed=given.gz, shuffled=given.shuffled)
            tiered, predictions = made.result()
        command = [*GRANOLA, given.verb, str(tiered)]
        command += [str(predictions)] * (2 if given.verb == "compare" else 1)
        command += ["--json", *(["--out", f"{temporary}/items.jsonl"] if given.out else []), *given.more]
        found = measured(command, folder / "scores.json")
        print(json.dumps({"rows": given.rows, "packed": given.gz, "out": given.out, **found}))


if __name__ == "__main__":
    main()
