"""Evaluators held against samples: figures by category, complexity and source, paired tests, agreement with people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from granola import __version__
from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.categories import Category, Complexity
from granola.attribution.evaluation_metrics import (
    CATEGORIES,
    NO_LABEL,
    TWO_WAY,
    Pair,
    Statistic,
    Unparsed,
    automatic_facts,
    confusion,
    f1_of,
    fact_score,
    figure,
    macro_f1,
    mean_score,
    micro_f1,
    pair_of,
    two_way_pair,
)
from granola.attribution.evaluators import AttributionJudgement
from granola.evidence.estimates import compared_pairs
from granola.figures.charts import points_figure
from granola.scoring.aggregation import Estimate
from granola.scoring.bootstrap import RESAMPLES
from granola.scoring.statistics import cohen_kappa, kappa
from granola.scoring.system_comparison import Difference, with_holm


def agreement_figure(agreement: Mapping[str, Any]) -> bytes:
    """The paper's Figure 2 as SVG: evaluators by micro-F1 under human labels (along) and automatic ones (up)."""
    points = {point["evaluator"]: (point["human"], point["automatic"]) for point in agreement["points"]}
    return points_figure(points, along="micro-F1 by human labels", up="micro-F1 by automatic labels")


# Evaluators held against samples.


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluatorReport:
    """What one evaluator reaches. `figures` has "supportive F1", "micro-F1", "micro-F1, single", "two-way micro-F1" ...

    Of samples that tell only whether they are supported, the two-way figures alone are there.
    """

    name: str
    signature: str
    figures: Mapping[str, Estimate]
    confusion: Mapping[str, Mapping[str, int]]
    two_way: Mapping[str, Mapping[str, int]]
    unparsed: int
    judgements: Sequence[AttributionJudgement]

    def to_json(self) -> dict[str, Any]:
        """Without the judgements."""
        return {
            "evaluator": self.name, "signature": self.signature, "unparsed": self.unparsed,
            "figures": {name: figure.to_json() for name, figure in self.figures.items()},
            "confusion": {row: dict(cells) for row, cells in self.confusion.items()},
            "two_way": {row: dict(cells) for row, cells in self.two_way.items()},
        }  # fmt: skip


def evaluated(
    name: str,
    signature: str,
    samples: Sequence[AttributionSample],
    judgements: Sequence[AttributionJudgement],
    *,
    unparsed: Unparsed = Unparsed.WRONG,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> EvaluatorReport:
    """The report of an evaluator over samples and its judgements of them, in one order."""
    both = list(zip(samples, judgements, strict=True))
    four = [(sample, pair_of(sample, judgement)) for sample, judgement in both if sample.category is not None]
    if not any(judgement.category is not None for _, judgement in both):
        four = []  # it tells two classes apart, or nothing
    two = [(sample, two_way_pair(sample, judgement)) for sample, judgement in both if sample.supported is not None]
    statistics = (*_category_statistics(four, unparsed), *_two_way_statistics(two, unparsed))
    full_signature = (
        f"{signature}|unparsed:{unparsed}|n:{len(samples)}|boot:{resamples}|seed:{seed}|version:{__version__}"
    )
    return EvaluatorReport(
        name=name,
        signature=full_signature,
        figures={
            title: figure(pairs, statistic, resamples=resamples, seed=seed) for title, pairs, statistic in statistics
        },
        confusion=confusion([pair for _, pair in four], CATEGORIES) if four else {},
        two_way=confusion([pair for _, pair in two], TWO_WAY),
        unparsed=sum(judgement.supported is None for judgement in judgements),
        judgements=judgements,
    )


_Paired = Sequence[tuple[AttributionSample, Pair]]
_Statistics = Iterator[tuple[str, Sequence[Pair], Statistic]]


def _category_statistics(four: _Paired, unparsed: Unparsed) -> _Statistics:
    """Of categories, of all samples and by complexity: title, pairs and statistic of each figure."""
    if not four:
        return
    yield from _overall_statistics(four, CATEGORIES, "", unparsed)
    for complexity in Complexity:
        own = [pair for sample, pair in four if sample.complexity is complexity]
        if own:
            yield f"micro-F1, {complexity}", own, micro_f1(unparsed)


def _overall_statistics(paired: _Paired, labels: Sequence[str], which: str, unparsed: Unparsed) -> _Statistics:
    pairs = [pair for _, pair in paired]
    for label in labels:
        yield f"{label} F1", pairs, f1_of(label)
    yield f"{which}micro-F1", pairs, micro_f1(unparsed)
    yield f"{which}macro-F1", pairs, macro_f1(labels)


def _two_way_statistics(two: _Paired, unparsed: Unparsed) -> _Statistics:
    """Of supported or not, of all samples and by source."""
    if not two:
        return
    yield from _overall_statistics(two, TWO_WAY, "two-way ", unparsed)
    for source in sorted({str(sample.provenance.get("source")) for sample, _ in two}):
        own = [pair for sample, pair in two if str(sample.provenance.get("source")) == source]
        if len(own) < len(two):
            yield f"two-way micro-F1, {source}", own, micro_f1(unparsed)


def compared(
    samples: Sequence[AttributionSample],
    reports: Sequence[EvaluatorReport],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Difference]:
    """Every pair of evaluators by the share of right labels, paired over samples, with Holm's correction.

    By categories where both give them, else two-way.
    """
    differences = []
    for first, second in combinations(reports, 2):
        four = bool(first.confusion and second.confusion)
        rights = [_right(samples, report.judgements, four=four) for report in (first, second)]
        metric = "micro-F1" if four else "two-way micro-F1"
        differences += compared_pairs({first.name: rights[0], second.name: rights[1]}, metric, resamples, seed)
    return with_holm(differences)


def _right(
    samples: Sequence[AttributionSample], judgements: Sequence[AttributionJudgement], *, four: bool
) -> dict[str, float | None]:
    """By id whether the label is right; None where the sample has no such label."""
    out: dict[str, float | None] = {}
    for sample, judgement in zip(samples, judgements, strict=True):
        gold, said = (sample.category, judgement.category) if four else (sample.supported, judgement.supported)
        out[sample.id] = None if gold is None else float(gold is said)
    return out


def partial_fact_scores(samples: Sequence[AttributionSample]) -> float:
    """The automatic FActScore of partially supportive samples."""
    return mean_score(fact_score(automatic_facts(one)) for one in samples if one.category is Category.PARTIAL)


def agreement(
    samples: Sequence[AttributionSample], people: Sequence[Mapping[str, str]], reports: Sequence[EvaluatorReport]
) -> dict[str, Any]:
    """People's labels against the automatic ones. `people` have a category by the sample's id, one mapping a person.

    `kappa` of people among themselves (Cohen's for two, Fleiss' for more), over samples that all labelled; unanimous
    labels are the human ones, as in the paper. `pearson` is of the evaluators' micro-F1 by automatic and by human
    labels, NaN for fewer than three.
    """
    gold = {sample.id: str(sample.category) for sample in samples if sample.category is not None}
    shared = sorted(set(gold).intersection(*(set(by_id) for by_id in people))) if people else []
    labels = [[by_id[key] for by_id in people] for key in shared]
    unanimous = {key: row[0] for key, row in zip(shared, labels, strict=True) if len(set(row)) == 1}
    points = []
    for report in reports:
        category_of = {judgement.id: str(judgement.category) for judgement in report.judgements}
        if not report.confusion or not unanimous:
            continue
        points.append({
            "evaluator": report.name,
            "automatic": _accuracy(category_of, {key: gold[key] for key in unanimous}),
            "human": _accuracy(category_of, unanimous),
        })  # fmt: skip
    return {
        "people": len(people), "labelled_by_all": len(shared), "unanimous": len(unanimous), "kappa": kappa(labels),
        "kappa_of_automatic_and_human": cohen_kappa([(gold[key], label) for key, label in unanimous.items()]),
        "counts": dict(Counter(unanimous.values())), "points": points, "pearson": _pearson(points),
    }  # fmt: skip


def _accuracy(category_of: Mapping[str, str], labels: Mapping[str, str]) -> float:
    return sum(category_of.get(key, NO_LABEL) == label for key, label in labels.items()) / len(labels)


def _pearson(points: Sequence[Mapping[str, Any]]) -> float:
    if len(points) < 3:
        return math.nan
    from scipy.stats import pearsonr

    human, automatic = ([float(point[key]) for point in points] for key in ("human", "automatic"))
    if len(set(human)) == 1 or len(set(automatic)) == 1:
        return math.nan
    return float(pearsonr(human, automatic).statistic)
