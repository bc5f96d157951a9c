"""How good an evaluator is: F1 of each category, micro- and macro-F1, the confusion matrix, two-way view, FActScore.

Hu et al. 2025 (CAQA), section 5.2. The paper does not say what becomes of replies without a label: `Unparsed`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category
from granola.attribution.evaluators import AttributionJudgement
from granola.scoring.aggregation import Estimate
from granola.scoring.bootstrap import RESAMPLES, divided, estimated

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# FActScore of samples: the share of the facts that an answer needs which its citations support.
#
# Hu et al. 2025 (CAQA), section 5.4: of partially supportive samples, automatically by the triples that are left, or
# by what an evaluator says of each fact; the gap to people is |score - theirs|. Table 6, on 200 samples: people say
# 0.58, the triples 0.62.


def automatic_facts(sample: AttributionSample) -> tuple[bool, ...]:
    """Of each fact of the subgraph whether the evidence still states it."""
    left = {(fact.subject, fact.property, fact.object, fact.qualifier) for fact in sample.evidence}
    return tuple((fact.subject, fact.property, fact.object, fact.qualifier) in left for fact in sample.subgraph)


def fact_score(verdicts: Sequence[bool | None]) -> float:
    """The share of facts that are supported, those without a verdict counting as not; NaN for none."""
    return sum(verdict is True for verdict in verdicts) / len(verdicts) if verdicts else math.nan


def mean_score(scores: Iterable[float]) -> float:
    """The mean of the scores that are numbers; NaN for none."""
    there = [score for score in scores if not math.isnan(score)]
    return math.fsum(there) / len(there) if there else math.nan


# F1, the confusion matrix, the two-way view.


NO_LABEL = "unparsed"
Pair = tuple[str, str]  # gold, judged
Statistic = Callable[[Sequence[Pair], "NDArray[np.int64]"], "NDArray[np.float64]"]


class Unparsed(StrEnum):
    """How a reply without a label enters micro-F1: as a wrong one, or as none: P = right/parsed, R = right/all."""

    WRONG = "wrong"
    NONE = "none"


def pair_of(sample: AttributionSample, judged: AttributionJudgement) -> Pair:
    """Gold and said category, or "unparsed"."""
    return str(sample.category), str(judged.category) if judged.category is not None else NO_LABEL


def two_way_pair(sample: AttributionSample, judged: AttributionJudgement) -> Pair:
    """The same in two classes, "supported" and "not supported"."""
    label = NO_LABEL if judged.supported is None else _WAYS[judged.supported]
    return _WAYS[bool(sample.supported)], label


_WAYS = {True: "supported", False: "not supported"}
TWO_WAY = tuple(_WAYS.values())


def f1_of(label: str) -> Statistic:
    """F1 of one label against the rest: 2 TP / (2 TP + FP + FN); NaN where it neither is nor is said."""

    def f1(pairs: Sequence[Pair], counts: NDArray[np.int64]) -> NDArray[np.float64]:
        import numpy as np

        right = counts @ np.array([gold == judged == label for gold, judged in pairs], dtype=np.int64)
        there = counts @ np.array([(gold == label) + (judged == label) for gold, judged in pairs], dtype=np.int64)
        return divided((2 * right).astype(np.float64), there.astype(np.float64))

    return f1


def micro_f1(unparsed: Unparsed) -> Statistic:
    """Accuracy where every reply has a label; see `Unparsed` for those that have none."""

    def micro(pairs: Sequence[Pair], counts: NDArray[np.int64]) -> NDArray[np.float64]:
        import numpy as np

        right = counts @ np.array([gold == judged for gold, judged in pairs], dtype=np.int64)
        whole = counts.sum(axis=1)
        if unparsed is Unparsed.WRONG:
            return divided(right.astype(np.float64), whole.astype(np.float64))
        parsed = counts @ np.array([judged != NO_LABEL for _, judged in pairs], dtype=np.int64)
        # 2PR / (P + R) with P = right/parsed and R = right/all.
        return divided((2 * right).astype(np.float64), (parsed + whole).astype(np.float64))

    return micro


def macro_f1(labels: Sequence[str]) -> Statistic:
    """The plain mean of the labels' F1, over those that occur."""

    def macro(pairs: Sequence[Pair], counts: NDArray[np.int64]) -> NDArray[np.float64]:
        import numpy as np

        each = np.stack([f1_of(label)(pairs, counts) for label in labels])
        there = ~np.isnan(each)
        return divided(np.where(there, each, 0.0).sum(axis=0), there.sum(axis=0).astype(np.float64))

    return macro


def figure(pairs: Sequence[Pair], statistic: Statistic, *, resamples: int = RESAMPLES, seed: int = 0) -> Estimate:
    """A statistic of pairs with its interval."""
    value, interval = estimated(pairs, statistic, resamples=resamples, seed=seed)
    return Estimate(value=value, interval=interval, n=len(pairs))


def confusion(pairs: Sequence[Pair], labels: Sequence[str]) -> dict[str, dict[str, int]]:
    """How often each gold label (row) was said to be each label (column), and how often nothing was."""
    counts = Counter(pairs)
    return {gold: {judged: counts[gold, judged] for judged in (*labels, NO_LABEL)} for gold in labels}


CATEGORIES = tuple(map(str, Category))
