"""Risk and coverage of aggregated answers: simulated models of several kinds, one half to calibrate on, one to report.

    python scripts/simulate_curves.py [--data ../shared/data] [--snapshot FILE] [--per-relation 100] [--figure FILE.svg]

Five behaviours over the questions of EntityQuestions (the 76 K sample), eight responses to each question:

- scattered: knows the answer, or a level of its ladder (each next one with p = 0.5), and names answers from there;
- stubborn: knows the answer to half of the questions; of the others it says one wrong answer six times of eight;
- mixed: knows the answer to six questions in ten and says it at any level of its ladder, or declines (one in five); of
  the others it knows a level, and says that, or an answer from there;
- weak: knows the two coarsest levels, for seven questions in ten, and guesses an answer from there;
- strong: knows eight answers in ten and slips in one response of ten.

Printed: the share of right answers among those given (by the gold ladder, at any level) at several shares of questions
answered, for what most responses say (with a threshold on how many), for fixed support, and calibrated.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from simulate_decoding import FEWEST, FORMS, ROOT, ladders

from abstraction.rows import TieredRow
from granola.decoding import Aggregator, SampleRow
from granola.decoding.calibrating import (
    SHARES,
    Known,
    Point,
    curve,
    envelope,
    finest,
    in_ladder,
    known,
    majority,
    precision_at,
    supported,
)
from granola.matching import matcher
from kg import snapshot
from kg.store import open_store

RESPONSES = 8
COVERAGES = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
Pool = Mapping[str, Sequence[str]]
Speaks = Callable[[TieredRow, Pool, random.Random], list[str]]


def among(row: TieredRow, pool: Pool, level: int) -> Sequence[str]:
    """Answers of the relation that lie in this level of the row's ladder, or in the next that has enough of them."""
    for tiers in row.levels[max(level, 1) :]:
        if len(found := pool[tiers.tiers[0].key]) >= FEWEST:
            return found
    return pool[""]


def scattered(row: TieredRow, pool: Pool, draw: random.Random) -> list[str]:
    """Knows some level and names answers from there."""
    level = 0
    while level < len(row.levels) and draw.random() >= 0.5:
        level += 1
    return [row.answers[0] if level == 0 else draw.choice(among(row, pool, level)) for _ in range(RESPONSES)]


def stubborn(row: TieredRow, pool: Pool, draw: random.Random) -> list[str]:
    """Right, or as sure of something wrong."""
    wrong = draw.choice(among(row, pool, draw.choice([1, 9])))
    said = row.answers[0] if draw.random() < 0.5 else wrong
    return [said if draw.random() < 0.75 else draw.choice(among(row, pool, 1)) for _ in range(RESPONSES)]


def mixed(row: TieredRow, pool: Pool, draw: random.Random) -> list[str]:
    """Says what it knows at any level, or declines."""
    known_level = 0 if draw.random() < 0.6 else draw.randrange(1, len(row.levels) + 1)
    out = []
    for _ in range(RESPONSES):
        level = max(known_level, draw.choice([0, 0, 0, 1, 2]))
        if draw.random() < 0.2:
            out.append("I don't know.")
        elif level == 0:
            out.append(row.answers[0])
        elif level < len(row.levels) and draw.random() < 0.5:
            out.append(draw.choice(row.levels[level].tiers).text)
        else:
            out.append(draw.choice(among(row, pool, known_level)) if known_level else row.answers[0])
    return out


def weak(row: TieredRow, pool: Pool, draw: random.Random) -> list[str]:
    """Knows roughly where, and guesses."""
    level = max(1, len(row.levels) - draw.choice([1, 2])) if draw.random() < 0.7 else 99
    return [draw.choice(among(row, pool, level)) for _ in range(RESPONSES)]


def strong(row: TieredRow, pool: Pool, draw: random.Random) -> list[str]:
    """Knows most, and slips."""
    level = 0 if draw.random() < 0.8 else 1
    return [
        row.answers[0] if level == 0 and draw.random() < 0.9 else draw.choice(among(row, pool, 1))
        for _ in range(RESPONSES)
    ]


MODELS: dict[str, Speaks] = {
    "scattered": scattered, "stubborn": stubborn, "mixed": mixed, "weak": weak, "strong": strong,
}  # fmt: skip


def told(points: Sequence[Point]) -> str:
    """The precision of a curve at each coverage."""
    at = (precision_at(points, coverage) for coverage in COVERAGES)
    return "  ".join("  -  " if one is None else f"{one:.3f}" for one in at)


def main() -> None:
    """Print the curves of each behaviour and of all together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--snapshot", type=Path)
    parser.add_argument("--per-relation", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    source = given.data / "wikidata" / "entities.json.gz"
    if not source.is_file():
        print(f"not simulated: {source} is not there")
        return
    rules = matcher("rules")
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="granola-curves-"))
        path = given.snapshot or Path(folder) / "sample.sqlite"
        if given.snapshot is None:
            snapshot.build([source], path)
        by_relation = ladders(given.data, path, given.per_relation)
        aggregator = Aggregator(stack.enter_context(closing(open_store(path))))
        found: dict[str, tuple[list[Known], list[Known]]] = {}
        for name, speaks in MODELS.items():
            halves: tuple[list[Known], list[Known]] = ([], [])
            for prop, rows in by_relation.items():
                pool: dict[str, list[str]] = defaultdict(list)
                for row in rows:
                    pool[""].append(row.answers[0])
                    for level in row.levels[1:]:
                        for tier in level.tiers:
                            pool[tier.key].append(row.answers[0])
                asked = []
                for row in rows:
                    draw = random.Random(f"{given.seed}-{name}-{prop}-{row.id}")
                    said = tuple(draw.choice(FORMS).format(text) for text in speaks(row, pool, draw))
                    subject = row.question_entity or {}
                    asked.append(
                        SampleRow(
                            id=row.id, question=row.question, samples=said, relation=prop,
                            subject_text=subject.get("text"), subject_qid=subject.get("qid"),
                        )
                    )  # fmt: skip
                for number, ((_, counted), row) in enumerate(zip(aggregator.tallies(asked), rows, strict=True)):
                    halves[number % 2].append(known(counted, in_ladder(row, rules)))
            found[name] = halves
    groups = dict(found)
    groups["all"] = tuple([one for h in found.values() for one in h[side]] for side in (0, 1))  # type: ignore[assignment]
    print("right among the answered, at these shares answered:", "  ".join(f"{c:5g}" for c in COVERAGES))
    for name, (development, test) in groups.items():
        fitted = [calibration for calibration, _ in envelope(development)]
        curves = {
            "majority": curve(test, ((share, majority(share)) for share in SHARES)),
            "fixed support": curve(test, ((share, supported(share)) for share in SHARES)),
            "calibrated": curve(test, ((one.base, finest(one)) for one in fitted)),
        }
        print(f"{name}: {len(test)} questions, and {len(development)} to calibrate on")
        for rule, points in curves.items():
            print(f"  {rule:14s} {told(points)}")
        if name == "all" and given.figure is not None:
            from granola.report.figures import draw_curves

            given.figure.write_text(draw_curves(curves), encoding="utf-8")
        for share in (0.5, 0.6, 0.66, 0.75, 0.8, 0.9, 1.0) if name == "all" else ():
            (point,) = curve(test, [(share, supported(share))])
            print(f"  support {share:g}: {point.precision:.3f} right of {point.coverage:.3f}, {point.bits:.2f} bits")


if __name__ == "__main__":
    main()
