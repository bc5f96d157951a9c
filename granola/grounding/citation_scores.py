"""Precision, recall and F1 of cited passages, put together in three ways under three names.

Sorodoc et al. 2025 (GaRAGe), Table 4, prints F1 that are the harmonic mean of the printed P and R: `of_means` or
`pooled`, never `mean_f1`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from granola.grounding.grounding_items import CitationCounts
from granola.scoring.aggregation import Estimate
from granola.scoring.bootstrap import RESAMPLES, divided, estimated, mean_of


def counted(cited: Iterable[str], wanted: Iterable[str], *, strange: int = 0) -> CitationCounts:
    """The counts of an answer; `strange` citations are of no passage, and wrong."""
    said, right = set(cited), set(wanted)
    return CitationCounts(right=len(said & right), cited=len(said) + strange, wanted=len(right))


def harmonic(first: float, second: float) -> float:
    """2ab / (a + b); 0 where both are 0, NaN where one is NaN."""
    if math.isnan(first) or math.isnan(second):
        return math.nan
    return 2 * first * second / (first + second) if first + second else 0.0


def citation_scores(
    counts: Sequence[CitationCounts], *, resamples: int = RESAMPLES, seed: int = 0
) -> dict[str, Estimate]:
    """`pooled_precision`, `pooled_recall`, `pooled_f1`; `mean_precision`, `mean_recall`, `f1_of_means`; `mean_f1`.

    An answer that cites nothing has no precision, one that should cite nothing no recall: they leave those means, and
    stay in the pooled ones. `f1_of_means` is 0 where no citation is right. A score that no answer has is NaN, n 0.
    """
    import numpy as np

    def score(statistic: object, n: int | None = None) -> Estimate:
        value, interval = estimated(counts, statistic, resamples=resamples, seed=seed)  # type: ignore[arg-type]
        answers = len(counts) if n is None else n
        return Estimate(value=value, interval=interval, n=0 if math.isnan(value) else answers)

    def having(name: str) -> int:
        return sum(not math.isnan(getattr(one, name)) for one in counts)

    def pooled(above: str, below: Sequence[str], factor: float = 1.0) -> object:
        def of(kinds: Sequence[CitationCounts], numbers: object) -> object:
            top = numbers @ np.array([factor * getattr(kind, above) for kind in kinds], dtype=np.float64)  # type: ignore[operator]
            bottom = numbers @ np.array(  # type: ignore[operator]
                [sum(getattr(kind, name) for name in below) for kind in kinds], dtype=np.float64
            )
            return divided(top, bottom)

        return of

    def mean(name: str) -> object:
        def of(kinds: Sequence[CitationCounts], numbers: object) -> object:
            values = [getattr(kind, name) for kind in kinds]
            return mean_of([None if math.isnan(value) else value for value in values])(numbers)  # type: ignore[arg-type]

        return of

    def of_means(kinds: Sequence[CitationCounts], numbers: object) -> object:
        precisions, recalls = (mean(name)(kinds, numbers) for name in ("precision", "recall"))  # type: ignore[operator]
        return np.array([harmonic(*means) for means in zip(precisions, recalls, strict=True)])

    return {
        "pooled_precision": score(pooled("right", ("cited",))),
        "pooled_recall": score(pooled("right", ("wanted",))),
        "pooled_f1": score(pooled("right", ("cited", "wanted"), 2.0)),
        "mean_precision": score(mean("precision"), having("precision")),
        "mean_recall": score(mean("recall"), having("recall")),
        "f1_of_means": score(of_means),
        "mean_f1": score(mean("f1"), having("f1")),
    }
