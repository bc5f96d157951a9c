"""Evaluators held against samples: F1 of each category, micro- and macro-F1, confusion, FActScore, people's labels.

Hu et al. 2025 (CAQA), section 5.2. A reply without a label counts as a wrong one, of which the paper says nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from abstraction.files.row_models import RowModel
from granola import __version__
from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category, Complexity
from granola.attribution.evaluators import AttributionJudgement
from granola.evidence.estimates import compared_pairs
from granola.scoring.aggregation import Estimate
from granola.scoring.bootstrap import RESAMPLES, divided, estimated
from granola.scoring.statistics import cohen_kappa, kappa
from granola.scoring.system_comparison import Difference, with_holm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NO_LABEL = "unparsed"
CATEGORIES = tuple(map(str, Category))
TWO_WAY = ("not supported", "supported")
Pair = tuple[str, str]  # gold, judged
Statistic = Callable[[Sequence[Pair], "NDArray[np.int64]"], "NDArray[np.float64]"]


# FActScore of samples: the share of the facts that an answer needs which its citations support.
#
# Section 5.4: of partially supportive samples, automatically by the triples that are left, or by what an evaluator says
# of each fact. Table 6, on 200 samples: people say 0.58, the triples 0.62.


def automatic_facts(sample: AttributionSample) -> tuple[bool, ...]:
    """Of each fact of the subgraph whether the evidence still states it."""
    left = {fact.triple for fact in sample.evidence}
    return tuple(fact.triple in left for fact in sample.subgraph)


def fact_score(verdicts: Iterable[Sequence[bool | None]]) -> float:
    """The mean over samples of the share of their facts that are supported, those without a verdict as not.

    NaN where no sample has facts.
    """
    scores = [sum(one is True for one in own) / len(own) for own in verdicts if own]
    return math.fsum(scores) / len(scores) if scores else math.nan


# What was said of samples, as rows of a file.


class AttributionVerdict(RowModel):
    """A row of `granola attribution evaluate`, or of a person; `gold_...` is what the sample says."""

    id: str = Field(min_length=1, description="a text")
    evaluator: str = Field(description="the name of who judged")
    category: Category | None = None
    supported: bool | None = None
    gold_category: Category | None = None
    gold_supported: bool | None = None
    complexity: Complexity | None = None
    source: str | None = None

    @property
    def pair(self) -> Pair:
        """Gold and said category, or "unparsed"."""
        return str(self.gold_category), NO_LABEL if self.category is None else str(self.category)

    @property
    def two_way(self) -> Pair:
        """The same in two classes, "supported" and "not supported"."""
        return TWO_WAY[bool(self.gold_supported)], NO_LABEL if self.supported is None else TWO_WAY[self.supported]

    def right(self, score: str) -> float | None:
        """What it adds to a micro-F1, 1 or 0; None to a score that is no mean over samples, and where gold is open."""
        if score == "two-way micro-F1":
            return None if self.gold_supported is None else float(self.gold_supported is self.supported)
        return None if score != "micro-F1" or self.gold_category is None else float(self.gold_category is self.category)


def verdict_row(name: str, sample: AttributionSample, judged: AttributionJudgement) -> dict[str, Any]:
    """The row of an evaluator's judgement of a sample."""
    return {
        "evaluator": name, **judged.to_json(), "gold_supported": sample.supported, "gold_category": sample.category,
        "complexity": sample.complexity, "source": sample.provenance.get("source"),
    }  # fmt: skip


# F1.


def f1_of(label: str) -> Statistic:
    """F1 of one label against the rest: 2 TP / (2 TP + FP + FN); NaN where it neither is nor is said."""

    def f1(pairs: Sequence[Pair], counts: NDArray[np.int64]) -> NDArray[np.float64]:
        import numpy as np

        right = counts @ np.array([gold == judged == label for gold, judged in pairs], dtype=np.int64)
        there = counts @ np.array([(gold == label) + (judged == label) for gold, judged in pairs], dtype=np.int64)
        return divided((2 * right).astype(np.float64), there.astype(np.float64))

    return f1


def micro_f1(pairs: Sequence[Pair], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The share of right labels: of one label an item, micro-F1 is accuracy."""
    import numpy as np

    right = counts @ np.array([gold == judged for gold, judged in pairs], dtype=np.int64)
    return divided(right.astype(np.float64), counts.sum(axis=1).astype(np.float64))


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


# Evaluators held against samples.


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluatorReport:
    """What one evaluator reaches. `figures` has "supportive F1", "micro-F1", "micro-F1, single", "two-way micro-F1" ...

    Of samples that tell only whether they are supported, the two-way figures alone are there.
    """

    name: str
    signature: str
    verdicts: Sequence[AttributionVerdict]
    figures: Mapping[str, Estimate]
    confusion: Mapping[str, Mapping[str, int]]
    two_way: Mapping[str, Mapping[str, int]]

    @property
    def unparsed(self) -> int:
        """How many samples have no label."""
        return sum(one.supported is None for one in self.verdicts)

    def to_json(self) -> dict[str, Any]:
        """Without the verdicts."""
        return {
            "evaluator": self.name, "signature": self.signature, "unparsed": self.unparsed,
            "figures": {name: figure.to_json() for name, figure in self.figures.items()},
            "confusion": self.confusion, "two_way": self.two_way,
        }  # fmt: skip


def evaluated(
    name: str, signature: str, verdicts: Sequence[AttributionVerdict], *, resamples: int = RESAMPLES, seed: int = 0
) -> EvaluatorReport:
    """The report of one evaluator's verdicts."""
    four = [one for one in verdicts if one.gold_category is not None]
    if not any(one.category is not None for one in verdicts):
        four = []  # it tells two classes apart, or nothing
    two = [one for one in verdicts if one.gold_supported is not None]
    statistics = [
        *_statistics([(one.pair, one.complexity) for one in four], CATEGORIES, ""),
        *_statistics([(one.two_way, one.source) for one in two], TWO_WAY, "two-way "),
    ]
    return EvaluatorReport(
        name=name,
        signature=f"{signature}|n:{len(verdicts)}|boot:{resamples}|seed:{seed}|version:{__version__}",
        verdicts=verdicts,
        figures={
            title: figure(pairs, statistic, resamples=resamples, seed=seed) for title, pairs, statistic in statistics
        },
        confusion=confusion([one.pair for one in four], CATEGORIES) if four else {},
        two_way=confusion([one.two_way for one in two], TWO_WAY),
    )


def _statistics(
    paired: Sequence[tuple[Pair, str | None]], labels: Sequence[str], which: str
) -> Iterator[tuple[str, Sequence[Pair], Statistic]]:
    """Of all samples and, where there are several, of each slice: title, pairs and statistic of each figure."""
    if not paired:
        return
    pairs = [pair for pair, _ in paired]
    for label in labels:
        yield f"{label} F1", pairs, f1_of(label)
    yield f"{which}micro-F1", pairs, micro_f1
    yield f"{which}macro-F1", pairs, macro_f1(labels)
    slices = {place for _, place in paired if place}
    complexities = [str(one) for one in Complexity if one in slices]
    for place in complexities or (sorted(slices) if len(slices) > 1 else ()):
        yield f"{which}micro-F1, {place}", [pair for pair, own in paired if own == place], micro_f1


def compared(reports: Sequence[EvaluatorReport], *, resamples: int = RESAMPLES, seed: int = 0) -> list[Difference]:
    """Every pair of evaluators by the share of right labels, paired over samples, with Holm's correction.

    By categories those that give them, all of them two-way where some do not.
    """
    four = [report for report in reports if report.confusion]
    groups = {"micro-F1": four, "two-way micro-F1": reports if len(four) < len(reports) else []}
    tests = []
    for score, group in groups.items():
        rights = {report.name: {one.id: one.right(score) for one in report.verdicts} for report in group}
        tests += compared_pairs(rights, score, resamples, seed)
    return with_holm(tests)


def agreement(
    samples: Sequence[AttributionSample], people: Sequence[Mapping[str, str]], reports: Sequence[EvaluatorReport]
) -> dict[str, Any]:
    """People's labels against the automatic ones. `people` have a category by the sample's id, one mapping a person.

    `kappa` of people among themselves (Cohen's for two, Fleiss' for more), over samples that all labelled; unanimous
    labels are the human ones, as in the paper. `points` are each evaluator's micro-F1 by automatic and by human labels,
    as in Figure 2, and `pearson` their correlation, NaN for fewer than three.
    """
    gold = {sample.id: str(sample.category) for sample in samples if sample.category is not None}
    shared = sorted(set(gold).intersection(*people))
    labels = [[by_id[key] for by_id in people] for key in shared]
    unanimous = {key: row[0] for key, row in zip(shared, labels, strict=True) if len(set(row)) == 1}
    points = []
    for report in reports:
        said = {one.id: one.category for one in report.verdicts}
        if report.confusion and unanimous:
            right = [(said.get(key) == gold[key], said.get(key) == label) for key, label in unanimous.items()]
            automatic, human = (sum(side) / len(right) for side in zip(*right, strict=True))
            points.append({"evaluator": report.name, "automatic": automatic, "human": human})
    return {
        "people": len(people), "labelled_by_all": len(shared), "unanimous": len(unanimous), "kappa": kappa(labels),
        "kappa_of_automatic_and_human": cohen_kappa([(gold[key], label) for key, label in unanimous.items()]),
        "counts": dict(Counter(unanimous.values())), "points": points, "pearson": _pearson(points),
    }  # fmt: skip


def _pearson(points: Sequence[Mapping[str, Any]]) -> float:
    human, automatic = ([float(point[key]) for point in points] for key in ("human", "automatic"))
    if len(points) < 3 or len(set(human)) == 1 or len(set(automatic)) == 1:
        return math.nan
    from scipy.stats import pearsonr

    return float(pearsonr(human, automatic).statistic)
