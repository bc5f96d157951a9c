"""Agreement of the matchers with human judgements of model answers, on two halves of the questions.

    python scripts/measure_matching.py [--data ../shared/data] [--errors]

The data is OpenQA-eval's (Kamalloo et al. 2023): a question, its gold answers, an answer, and whether a person
took it as right. Half of the questions, by a seeded hash, is for tuning; the other is only measured, and
`--errors` never prints it. Cohen's kappa with a 95 % bootstrap interval over questions. PEDANTS (Li et al. 2024)
is published with 0.600 on all of these judgements.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from granola.matching import matcher, squad
from granola.statistics import percentile_interval

ROOT = Path(__file__).resolve().parents[1]
SEED = "matching-1"
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
RESAMPLES = 500
Row = dict[str, Any]


def halves(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Rows by half; all answers to one question fall into the same."""
    found: dict[str, list[Row]] = {"tuned on": [], "kept aside": []}
    for row in rows:
        digest = hashlib.sha256(f"{SEED}\n{row['question']}".encode()).digest()
        found["tuned on" if digest[0] % 2 else "kept aside"].append(row)
    return found


def kappa(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Cohen's kappa of (ours, human) pairs."""
    n = len(pairs)
    agreed = sum(a == b for a, b in pairs) / n
    ours, human = sum(a for a, _ in pairs) / n, sum(b for _, b in pairs) / n
    chance = ours * human + (1 - ours) * (1 - human)
    return (agreed - chance) / (1 - chance) if chance < 1 else 0.0


def contained(prediction: str, answers: Sequence[str]) -> bool:
    """Whether the normalised answer contains a normalised gold answer."""
    said = f" {squad.normalise(prediction)} "
    return any((gold := squad.normalise(answer)) and f" {gold} " in said for answer in answers)


def judges() -> dict[str, Callable[[Row], bool]]:
    """Every way of judging by name."""

    def by(name: str, **settings: float) -> Callable[[Row], bool]:
        chosen = matcher(name, **settings)
        return lambda row: chosen.match(row["prediction"], [row["answers"]], row["question"]).level is not None

    return {
        "em": by("em"),
        **{f"f1 > {tau:g}": by("f1", tau=tau) for tau in THRESHOLDS},
        "containment": lambda row: contained(row["prediction"], row["answers"]),
        "rules": by("rules"),
    }


def interval(rows: Sequence[Row], said: Sequence[bool]) -> tuple[float, float]:
    """95 % interval of kappa over resampled questions."""
    groups: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for row, ours in zip(rows, said, strict=True):
        groups[row["question"]].append((ours, row["human"]))
    drawing, own = random.Random(0), list(groups.values())
    values = [kappa([pair for group in drawing.choices(own, k=len(own)) for pair in group]) for _ in range(RESAMPLES)]
    found = percentile_interval(values)
    return found.low, found.high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data", help="folder of the real data")
    parser.add_argument("--errors", action="store_true", help="print what rules get wrong in the half tuned on")
    arguments = parser.parse_args()
    path = arguments.data / "openqa_eval/judgements.jsonl"
    if not path.exists():
        parser.exit(2, f"{path} is missing; name the folder that has openqa_eval with --data\n")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for half, part in halves(rows).items():
        questions = len({row["question"] for row in part})
        right = sum(row["human"] for row in part)
        print(f"{half}: {len(part)} answers to {questions} questions, {right} right")
        print("  judge         kappa  95 %           agree  right as wrong  wrong as right")
        for name, judge in judges().items():
            said = [judge(row) for row in part]
            pairs = [(ours, row["human"]) for ours, row in zip(said, part, strict=True)]
            low, high = interval(part, said)
            agreed = sum(a == b for a, b in pairs) / len(pairs)
            missed, taken = sum(b and not a for a, b in pairs), sum(a and not b for a, b in pairs)
            print(f"  {name:12s}  {kappa(pairs):.3f}  {low:.3f}-{high:.3f}    {agreed:.3f}  {missed:14d}  {taken:14d}")
    by_length(rows)
    if arguments.errors:
        print_errors(halves(rows)["tuned on"])


def by_length(rows: Sequence[Row]) -> None:
    """Kappa of token-F1 and of rules, with its interval, where the answer judged has so many words."""
    print("all, by the words of the answer judged")
    judged = {name: judge for name, judge in judges().items() if name in ("f1 > 0.3", "rules")}
    for title, least, most in (("one", 1, 1), ("two or three", 2, 3), ("four to ten", 4, 10), ("more", 11, 10**6)):
        part = [row for row in rows if least <= len(squad.tokens(row["prediction"])) <= most]
        told = []
        for name, judge in judged.items():
            said = [judge(row) for row in part]
            low, high = interval(part, said)
            value = kappa([(ours, row["human"]) for ours, row in zip(said, part, strict=True)])
            told.append(f"{name} {value:.3f} ({low:.3f}-{high:.3f})")
        print(f"  {title:13s} {len(part):4d} answers  {'  '.join(told)}")


def print_errors(rows: Sequence[Row]) -> None:
    rules = matcher("rules")
    for row in rows:
        verdict = rules.match(row["prediction"], [row["answers"]], row["question"])
        if (verdict.level is not None) != row["human"]:
            print(
                f"\n{'RIGHT' if row['human'] else 'WRONG'} for people; {verdict.rule} {verdict.compared}\n"
                f"  {row['question']}\n  {row['answers']}\n  {row['prediction']}"
            )


if __name__ == "__main__":
    main()
