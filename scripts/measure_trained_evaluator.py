"""What the trained evaluator of attribution reaches on labels by people: two-way macro-F1, and F1 of each category.

Each set on the other, and cross-validated in ten parts by question (AttributionBench) and by claim (FactcheckGPT).

python scripts/measure_trained_evaluator.py [--data ../shared/data] [--folds 10]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from measuring import arguments
from sklearn.model_selection import GroupKFold

from granola.evidence.attribution.attribution_task import AttributionSample, read_samples, scores_of, verdict_row
from granola.evidence.attribution.trained_evaluator import TrainedEvaluator
from granola.evidence.evidence_task import EstimateSettings

SETS = {"AttributionBench": "attributionbench_dev", "FactcheckGPT": "factcheckgpt_claim_evidence_stance"}
Samples = Sequence[AttributionSample]


def main() -> None:
    """Print every figure of both sets."""
    parser = arguments(__doc__)
    parser.add_argument("--folds", type=int, default=10, help="parts of the cross-validation")
    given = parser.parse_args()
    first, second = (list(read_samples(given.data / "attribution" / f"{file}.jsonl.gz")) for file in SETS.values())
    for (name, own), other in zip(zip(SETS, (first, second), strict=True), (second, first), strict=True):
        tell(f"{name}, trained on the other", _judged(other, own))
        groups = [sample.question or sample.statement for sample in own]
        parts = GroupKFold(given.folds).split(own, groups=groups)
        cross = [row for train, test in parts for row in _judged([own[at] for at in train], [own[at] for at in test])]
        tell(f"{name}, cross-validated", cross)


def _judged(train: Samples, test: Samples) -> list[dict[str, Any]]:
    judged = TrainedEvaluator.train(train).judge(test)
    return [verdict_row("trained", sample, one) for sample, one in zip(test, judged, strict=True)]


def tell(title: str, rows: Sequence[dict[str, Any]]) -> None:
    """The figures of one test, a line each."""
    print(f"{title}: {len(rows):,}")
    for name, figure in scores_of(rows, EstimateSettings(resamples=100)).items():
        if name.endswith(("macro-F1", " F1")) or name == "micro-F1":
            print(f"  {name:26}{figure.value:.3f}")


if __name__ == "__main__":
    main()
