"""How long `granola score` takes and how much memory it holds, on a made-up file of any size.

    python scripts/bench_scoring.py [--rows 1000000] [-- MORE OPTIONS]

Rows have three levels of one or two tiers with names, bits and evidence, and one prediction each: of ten, four state
the answer, three a coarser level, two are wrong, one declines. All is drawn from a seed.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson
from measuring import GRANOLA, SYLLABLES, arguments, cost_of

SEED = 11
RELATIONS = ("P19", "P20", "P27", "P69", "P106", "P131", "P159", "P495")
REGIONS, COUNTRIES = 5_000, 200


def place(drawing: random.Random, number: int, kind: str, bits: float) -> dict[str, Any]:
    """A tier with aliases, the statement that entails it, and the span of a description that does."""
    qid = f"Q{number + 1}"
    text = "".join(drawing.choices(SYLLABLES, k=3)).title() + f" {kind}{number:x}"
    stated = {"kind": "statement", "subject": "Q100", "property": "P131", "value": qid, "statement": f"Q100${number:x}",
              "labels": {"Q100": "a place", "P131": "located in", qid: text}}  # fmt: skip
    described = {"kind": "description", "subject": "Q100", "language": "en", "span": [11, 11 + len(text)],
                 "text": f"a place in {text}, known for its cheese", "labels": {"Q100": "a place"}}  # fmt: skip
    aliases = [f"{text} {suffix}" for suffix in ("Region", "Land")[: number % 3]]
    return {"text": text, "qid": qid, "aliases": aliases, "bits": bits, "evidence": [stated, described]}


def rows(count: int) -> Iterator[tuple[dict[str, Any], str]]:
    """Tiered rows and what is predicted for each."""
    drawing = random.Random(SEED)
    regions = [place(drawing, number, "r", round(8 + number % 400 / 100, 3)) for number in range(REGIONS)]
    countries = [place(drawing, number, "c", round(2 + number % 300 / 100, 3)) for number in range(COUNTRIES)]
    for number in range(count):
        own = place(drawing, number, "", round(drawing.uniform(14, 20), 3))
        levels = [[own], [regions[number % REGIONS], regions[(number * 7 + 1) % REGIONS]],
                  [countries[number % COUNTRIES]]]  # fmt: skip
        kind = drawing.randrange(10)
        said = drawing.choice(levels[0 if kind < 4 else 1 + kind % 2 if kind < 7 else 0])["text"]
        if kind >= 7:
            said = "I don't know." if kind == 9 else f"the town of {drawing.choice(SYLLABLES)}{number:x}"
        elif kind % 2:
            said = f"It was in {said}, I believe."
        row = {
            "schema_version": 1, "id": f"question-{number}", "question": f"Where was person {number} born?",
            "relation": RELATIONS[number % len(RELATIONS)], "answer": [own["text"]],
            "question_entity": {"text": f"person {number}", "qid": f"Q{10_000_000 + number}"},
            "levels": [{"tiers": tiers} for tiers in levels], "popularity": drawing.randrange(100_000),
        }  # fmt: skip
        yield row, said


def write(tiered: Path, predictions: Path, count: int) -> None:
    """The tiered file and the predictions."""
    with tiered.open("wb") as of_rows, predictions.open("wb") as of_said:
        for row, said in rows(count):
            of_rows.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
            prediction = {"id": row["id"], "prediction": said}
            of_said.write(orjson.dumps(prediction, option=orjson.OPT_APPEND_NEWLINE))


def main() -> None:
    parser = arguments(__doc__, data=False)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("more", nargs="*", help="options handed on to `granola score`")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        tiered, predictions = Path(folder) / "tiers.jsonl", Path(folder) / "said.jsonl"
        writing = get_context("spawn").Process(target=write, args=(tiered, predictions, given.rows))
        writing.start()  # in a process of its own, or its peak would count as the scorer's
        writing.join()
        seconds, processor, peak = cost_of([*GRANOLA, "score", str(tiered), str(predictions), "--json", *given.more])
        print(f"{given.rows:,} rows: {seconds:.1f} s, {processor:.1f} s of processor time, {peak:.0f} MiB at most")


if __name__ == "__main__":
    main()
