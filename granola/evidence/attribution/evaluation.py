"""Rows of verdicts on samples, and their scores: F1 per class, micro- and macro-F1, FActScore.

Hu et al. 2025 (CAQA), section 5.2. A reply without a label counts as wrong; the paper leaves this open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import Field

from abstraction.files.row_models import RowModel
from granola.evidence.attribution.attribution_samples import AttributionSample
from granola.evidence.attribution.categories import Category, Complexity
from granola.evidence.attribution.evaluators import AttributionJudgement
from granola.evidence.evidence_task import Forming
from granola.scoring.aggregation import Estimate
from granola.scoring.bootstrap import bootstrap_estimate, divide_or_nan
from granola.scoring.statistics import mean_estimate, share_estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# label of a missing verdict in pairs: it never equals a gold label
NO_LABEL = "unparsed"
CATEGORIES = tuple(map(str, Category))
TWO_WAY = ("not supported", "supported")
Pair = tuple[str, str]  # gold, judged
Statistic = Callable[[Sequence[Pair], "NDArray[np.int64]"], "NDArray[np.float64]"]


class AttributionVerdict(RowModel):
    """A row of `granola attribution evaluate`, or a label of a person.

    `gold_...` are the labels of the sample, `people_category` the unanimous label of people. For partially supportive
    samples, `fact_score` is the share of facts that the evaluator finds supported, `triples_left` the share that the
    citations still state.
    """

    id: str = Field(min_length=1, description="a text")
    evaluator: str = Field(description="the name of who judged")
    category: Category | None = None
    supported: bool | None = None
    gold_category: Category | None = None
    gold_supported: bool | None = None
    people_category: Category | None = None
    complexity: Complexity | None = None
    source: str | None = None
    fact_score: float | None = None
    triples_left: float | None = None

    @property
    def two_way_only(self) -> bool:
        """Whether the verdict is two-way: supported or not, without a category."""
        return self.category is None and self.supported is not None

    def pair(self, gold: Category | None = None) -> Pair:
        """The gold category (`gold` replaces it) and the judged one, "unparsed" if missing."""
        return str(gold or self.gold_category), str(self.category or NO_LABEL)

    @property
    def two_way(self) -> Pair:
        """The pair in two classes, "supported" and "not supported"."""
        return TWO_WAY[bool(self.gold_supported)], NO_LABEL if self.supported is None else TWO_WAY[self.supported]

    def value(self, score: str) -> float | None:
        """The contribution of the row to a score that is a mean over samples; None for other scores and unlabelled
        rows.
        """
        if score == "two-way micro-F1":
            return None if self.gold_supported is None else float(self.gold_supported is self.supported)
        if score in (FACT_SCORE, TRIPLES_LEFT):
            return self.fact_score if score == FACT_SCORE else self.triples_left
        # A two-class verdict has no category: it is left out rather than counted as wrong.
        gold = {"micro-F1": self.gold_category, BY_PEOPLE: self.people_category}.get(score)
        return None if gold is None or self.two_way_only else float(gold is self.category)


FACT_SCORE = "FActScore"  # section 5.4; Table 6, 200 samples: 0.58 by people, 0.62 by remaining triples
TRIPLES_LEFT = "FActScore by triples left"
BY_PEOPLE = "micro-F1 by people's labels"


def verdict_row(
    name: str, sample: AttributionSample, judged: AttributionJudgement, facts: Sequence[bool | None] = ()
) -> dict[str, Any]:
    """The row of a judgement. `facts`: the verdicts on each fact, if they were requested."""
    shares = {}
    # FActScore is for partially supportive samples (section 5.4).
    if sample.category is Category.PARTIAL and sample.subgraph:
        shares["triples_left"] = _share(facts_in_evidence(sample))
        shares |= {"fact_score": _share(facts)} if facts else {}
    return {
        "evaluator": name, **judged.to_json(), "gold_supported": sample.supported, "gold_category": sample.category,
        "complexity": sample.complexity, "source": sample.provenance.get("source"), **shares,
    }  # fmt: skip


def facts_in_evidence(sample: AttributionSample) -> tuple[bool, ...]:
    """For each fact of the subgraph, whether the evidence still states it."""
    left = {fact.triple for fact in sample.evidence}
    return tuple(fact.triple in left for fact in sample.subgraph)


def _share(verdicts: Sequence[bool | None]) -> float:
    """The share of supported facts; a fact without a verdict counts as unsupported."""
    return sum(one is True for one in verdicts) / len(verdicts)


def scores_of(rows: Sequence[Mapping[str, Any]], forming: Forming) -> dict[str, Estimate]:
    """The scores of one evaluator: "supportive F1", "micro-F1", "micro-F1, single", "two-way micro-F1" and so on.

    Two-class samples or evaluators get only the two-way scores.
    """
    verdicts = [AttributionVerdict.model_validate(row) for row in rows]
    four = [one for one in verdicts if one.gold_category is not None]
    if not any(one.category is not None for one in verdicts):
        four = []  # a two-class evaluator has no four-way scores
    estimates: dict[str, Estimate] = {}

    def add(title: str, pairs: Sequence[Pair], statistic: Statistic) -> None:
        if pairs:
            estimates[title] = f1_estimate(pairs, statistic, forming)

    groups = ("", CATEGORIES, [one.pair() for one in four]), (
        "two-way ", TWO_WAY, [one.two_way for one in verdicts if one.gold_supported is not None]
    )  # fmt: skip
    for which, labels, pairs in groups:
        for label in labels:
            add(f"{label} F1", pairs, f1_of(label))
        add(f"{which}micro-F1", pairs, micro_f1)
        add(f"{which}macro-F1", pairs, macro_f1(labels))
    for kind in Complexity:
        add(f"micro-F1, {kind}", [one.pair() for one in four if one.complexity is kind], micro_f1)
    add(BY_PEOPLE, [one.pair(one.people_category) for one in four if one.people_category is not None], micro_f1)
    for title in (FACT_SCORE, TRIPLES_LEFT):
        values = [value for one in verdicts if (value := one.value(title)) is not None]
        if values:
            estimates[title] = mean_estimate(values, resamples=forming.resamples, seed=forming.seed)
    if estimates:
        estimates["without a label"] = share_estimate([float(one.supported is None) for one in verdicts])
    return estimates


def f1_of(label: str) -> Statistic:
    """F1 of one label: 2 TP / (2 TP + FP + FN), in [0, 1]; NaN where the label occurs neither as gold nor as judged."""

    def f1(pairs: Sequence[Pair], counts: NDArray[np.int64]) -> NDArray[np.float64]:
        import numpy as np

        right = counts @ np.array([gold == judged == label for gold, judged in pairs], dtype=np.int64)
        # 2 TP + FP + FN = occurrences as gold + occurrences as judged.
        there = counts @ np.array([(gold == label) + (judged == label) for gold, judged in pairs], dtype=np.int64)
        return divide_or_nan((2 * right).astype(np.float64), there.astype(np.float64))

    return f1


def micro_f1(pairs: Sequence[Pair], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Micro-F1, in [0, 1]: with one label per item it equals accuracy."""
    import numpy as np

    right = counts @ np.array([gold == judged for gold, judged in pairs], dtype=np.int64)
    return divide_or_nan(right.astype(np.float64), counts.sum(axis=1).astype(np.float64))


def macro_f1(labels: Sequence[str]) -> Statistic:
    """Macro-F1: the unweighted mean of F1 over the labels that occur."""

    def macro(pairs: Sequence[Pair], counts: NDArray[np.int64]) -> NDArray[np.float64]:
        import numpy as np

        each = np.stack([f1_of(label)(pairs, counts) for label in labels])
        # A resample may lack a label: its F1 is undefined there.
        there = ~np.isnan(each)
        return divide_or_nan(np.where(there, each, 0.0).sum(axis=0), there.sum(axis=0).astype(np.float64))

    return macro


def f1_estimate(pairs: Sequence[Pair], statistic: Statistic, forming: Forming) -> Estimate:
    """The value of a statistic with its bootstrap interval."""
    value, interval = bootstrap_estimate(pairs, statistic, resamples=forming.resamples, seed=forming.seed)
    return Estimate(value=value, interval=interval, n=len(pairs))
