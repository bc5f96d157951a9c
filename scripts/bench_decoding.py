"""Questions of ten responses a second, aggregated on one core from the 76 K sample. `make bench` runs it.

    python scripts/bench_decoding.py [--data ../shared/data] [--snapshot FILE] [--questions 4800] [--responses 10]

Each question has about half of its responses from its gold answers, the rest from answers to other questions of its
relation, written in the ways that models write them. Wall and processor time; the snapshot is not warmed up, and the
second half is timed also by itself.
"""

from __future__ import annotations

import gc
import random
import resource
import time
from contextlib import closing
from pathlib import Path

from measuring import arguments, sample_snapshot

FORMS = ("{}", "{}", "{}", "{}.", "Answer: {}", "Location: Location: {}", '"{}"', "I think it was {}.", "{}, I believe")


def sampled(data: Path, questions: int, responses: int) -> list[object]:
    """Rows of samples over all of EntityQuestions' relations, the same each time."""
    from abstraction.files.rows import read_questions
    from granola.decoding.samples import SampleRow

    draw = random.Random(0)
    files = sorted((data / "entityquestions").glob("*/P*.json"))
    per_file = max(1, questions // max(1, len(files)))
    rows: list[object] = []
    for path in files:
        asked = list(read_questions([path], limit=per_file, on_reject=lambda row: None))
        pool = [row.answers[0] for row in asked]
        for row in asked:
            texts = []
            for _ in range(responses):
                if draw.random() < 0.05:
                    texts.append("I don't know.")
                    continue
                answer = draw.choice(row.answers) if draw.random() < 0.5 else draw.choice(pool)
                texts.append(draw.choice(FORMS).format(answer))
            rows.append(
                SampleRow(
                    id=f"{path.stem}-{row.id}",
                    question=row.question,
                    samples=tuple(texts),
                    relation=row.relation,
                    subject_text=row.subject_text,
                )
            )
    draw.shuffle(rows)
    return rows


def main() -> None:
    """Build the snapshot where none is given, aggregate by each method, print the figures."""
    parser = arguments(__doc__)
    parser.add_argument("--snapshot", type=Path, help="a snapshot of the sample; by default one is built")
    parser.add_argument("--questions", type=int, default=4800)
    parser.add_argument("--responses", type=int, default=10)
    given = parser.parse_args()
    source = given.data / "wikidata" / "entities.json.gz"
    if not source.is_file():
        print(f"decoding: not measured, {source} is not there")
        return
    from granola.decoding.aggregation_rules import DragGraph, SelfConsistency
    from granola.decoding.decision import Counting
    from granola.decoding.response_aggregation import Aggregator
    from kg.store import open_store

    gc.set_threshold(100_000, 20, 100)  # as the command does
    rows = sampled(given.data, given.questions, given.responses)
    with sample_snapshot(given.data, given.snapshot) as path:
        print(f"aggregating {len(rows):,} questions of {given.responses} responses, one process")
        methods = (
            DragGraph(support=1.0),
            DragGraph(support=0.5),
            SelfConsistency(counting=Counting.ALIAS),
            SelfConsistency(),
        )
        for method in methods:
            with closing(open_store(path)) as store:
                began, spent = time.perf_counter(), time.process_time()
                aggregator, idk, half = Aggregator(store), 0, len(rows) // 2
                for part in (rows[:half], rows[half:]):  # what is read and worked out first serves the rest
                    warm = time.perf_counter()
                    idk += sum(found.abstains for _, found in aggregator.decide(part, method))  # type: ignore[arg-type]
                wall, processor = time.perf_counter() - began, time.process_time() - spent
                second = (len(rows) - half) / (time.perf_counter() - warm)
            print(
                f"  {method}: {len(rows) / wall:,.0f} questions/s ({len(rows) / processor:,.0f} a processor second), "
                f"the second half {second:,.0f}; {idk:,} IDK"
            )
        print(f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
