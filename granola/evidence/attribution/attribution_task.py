"""Attribution as an evidence task: rows of verdicts, F1 per class, micro- and macro-F1, FActScore, sheets.

Hu et al. 2025 (CAQA), section 5.2. A reply without a label counts as wrong; the paper leaves this open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pydantic import Field

from abstraction.files.row_models import RowModel
from granola.evidence.attribution.attribution_samples import TWO_WAY, AttributionSample, Category, Complexity
from granola.evidence.evidence_task import (
    EvidenceTask,
    Forming,
    JudgedQuestion,
    Labels,
    Row,
    SheetForm,
)
from granola.scoring.statistics import Estimate, bootstrap_estimate, divide_or_nan, mean_estimate, share_estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from granola.evidence.attribution.evaluators import AttributionJudgement

NO_LABEL = "unparsed"  # a missing verdict in pairs: it never equals a gold label
CATEGORIES = tuple(map(str, Category))
FACT_SCORE = "FActScore"  # section 5.4; Table 6, 200 samples: 0.58 by people, 0.62 by remaining triples
TRIPLES_LEFT = "FActScore by triples left"
BY_PEOPLE = "micro-F1 by people's labels"
Pair = tuple[str, str]  # gold, judged
Statistic = Callable[[Sequence[Pair], "NDArray[np.int64]"], "NDArray[np.float64]"]


class AttributionVerdict(RowModel):
    """A row of `granola attribution evaluate`, or a label of a person.

    `gold_...` are the labels of the sample, `people_category` the unanimous label of people. For partially supportive
    samples, `fact_score` is the share of facts that the evaluator finds supported, `triples_left` the share that the
    citations still state. `two_way`: whether the evaluator tells supported from not, and no categories.
    """

    id: str = Field(min_length=1, description="a text")
    evaluator: str = Field(description="the name of who judged")
    category: Category | None = None
    supported: bool | None = None
    gold_category: Category | None = None
    gold_supported: bool | None = None
    people_category: Category | None = None
    two_way: bool = False
    complexity: Complexity | None = None
    source: str | None = None
    fact_score: float | None = None
    triples_left: float | None = None

    def pair(self, gold: Category | None = None) -> Pair:
        """The gold category (`gold` replaces it) and the judged one, "unparsed" if missing."""
        return str(gold or self.gold_category), str(self.category or NO_LABEL)

    def value(self, score: str) -> float | None:
        """The contribution of the row to a score that is a mean over samples; None for other scores and unlabelled
        rows. An unreadable reply counts as wrong, in the classes of its evaluator: a two-way one has no micro-F1.
        """
        if score == "two-way micro-F1":
            return None if self.gold_supported is None else float(self.gold_supported is self.supported)
        if score in (FACT_SCORE, TRIPLES_LEFT):
            return self.fact_score if score == FACT_SCORE else self.triples_left
        gold = {"micro-F1": self.gold_category, BY_PEOPLE: self.people_category}.get(score)
        is_two_way = self.two_way or (self.category is None and self.supported is not None)
        return None if gold is None or is_two_way else float(gold is self.category)


def verdict_row(
    name: str, sample: AttributionSample, judged: AttributionJudgement, facts: Sequence[bool | None] = ()
) -> dict[str, Any]:
    """The row of a judgement. `facts`: the verdicts on each fact, if they were requested."""
    shares: dict[str, float] = {}
    # FActScore is for partially supportive samples (section 5.4).
    if sample.category is Category.PARTIAL and sample.subgraph:
        # A fact without a verdict counts as unsupported.
        by_score = {"triples_left": sample.facts_in_evidence, "fact_score": facts}
        shares = {name: sum(map(bool, own)) / len(own) for name, own in by_score.items() if own}
    return {
        "evaluator": name, **asdict(judged), "gold_supported": sample.supported, "gold_category": sample.category,
        "complexity": sample.complexity, "source": sample.provenance.get("source"), **shares,
    }  # fmt: skip


def scores_of(rows: Sequence[Mapping[str, Any]], forming: Forming) -> dict[str, Estimate]:
    """The scores of one evaluator: "supportive F1", "micro-F1", "micro-F1, single", "two-way micro-F1" and so on.

    Two-class samples or evaluators get only the two-way scores.
    """
    verdicts = [AttributionVerdict.model_validate(row) for row in rows]
    # A two-class evaluator has no four-way scores.
    is_four_way = any(one.category is not None for one in verdicts)
    four = [one for one in verdicts if is_four_way and one.gold_category is not None]
    asked: list[tuple[str, Sequence[Pair], Statistic]] = []
    two: list[Pair] = [
        (TWO_WAY[bool(one.gold_supported)], NO_LABEL if one.supported is None else TWO_WAY[one.supported])
        for one in verdicts
        if one.gold_supported is not None
    ]
    for which, labels, own in ("", CATEGORIES, [one.pair() for one in four]), ("two-way ", TWO_WAY, two):
        asked += [(f"{label} F1", own, macro_f1([label])) for label in labels]
        asked += [(f"{which}micro-F1", own, micro_f1), (f"{which}macro-F1", own, macro_f1(labels))]
    for kind in Complexity:
        asked.append((f"micro-F1, {kind}", [one.pair() for one in four if one.complexity is kind], micro_f1))
    by_people = [one.pair(one.people_category) for one in four if one.people_category is not None]
    asked.append((BY_PEOPLE, by_people, micro_f1))
    estimates: dict[str, Estimate] = {}
    for title, pairs, statistic in asked:
        if pairs:
            found, interval = bootstrap_estimate(pairs, statistic, resamples=forming.resamples, seed=forming.seed)
            estimates[title] = Estimate(value=found, interval=interval, n=len(pairs))
    for title in (FACT_SCORE, TRIPLES_LEFT):
        values = [value for one in verdicts if (value := one.value(title)) is not None]
        if values:
            estimates[title] = mean_estimate(values, resamples=forming.resamples, seed=forming.seed)
    if estimates:
        estimates["without a label"] = share_estimate([float(one.supported is None) for one in verdicts])
    return estimates


def micro_f1(pairs: Sequence[Pair], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Micro-F1, in [0, 1]: with one label per item it equals accuracy."""
    import numpy as np

    right = counts @ np.array([gold == judged for gold, judged in pairs], dtype=np.int64)
    return divide_or_nan(right.astype(np.float64), counts.sum(axis=1).astype(np.float64))


def macro_f1(labels: Sequence[str]) -> Statistic:
    """Macro-F1, in [0, 1]: the unweighted mean over the labels that occur of F1 = 2 TP / (2 TP + FP + FN).

    NaN where none of them occurs; of a single label it is the label's F1.
    """

    def macro(pairs: Sequence[Pair], counts: NDArray[np.int64]) -> NDArray[np.float64]:
        import numpy as np

        gold, judged = (np.array([[one[at] == label for label in labels] for one in pairs]) * 1 for at in (0, 1))
        # Rows are resamples, columns labels; 2 TP + FP + FN = occurrences as gold + occurrences as judged.
        right, there = counts @ (gold * judged), counts @ (gold + judged)
        each = divide_or_nan((2 * right).astype(np.float64), there.astype(np.float64))
        # A resample may lack a label: its F1 is undefined there.
        return divide_or_nan(np.nansum(each, axis=1), (there > 0).sum(axis=1).astype(np.float64))

    return macro


CATEGORY = JudgedQuestion(
    field="category",
    labels={
        Category.SUPPORTIVE: "the citations hold all facts that the answer needs",
        Category.PARTIAL: "a part of the facts is missing",
        Category.IRRELEVANT: "they hold no fact that helps",
        Category.CONTRADICTORY: "they hold facts from which another answer follows",
    },
    against=(Category.PARTIAL, Category.IRRELEVANT, Category.CONTRADICTORY),
)


def _sheet_lines(item: Row) -> list[dict[str, str]]:
    citations = "\n".join(f"[{number}] {text}" for number, text in enumerate(item.get("citations") or (), 1))
    shown = {"question": str(item.get("question") or ""), "statement": str(item.get("statement") or "")}
    return [{**shown, "citations": citations}]


def _people_verdict(item: Row, labels: Labels, annotator: str) -> dict[str, Any]:
    label = labels[0].get(CATEGORY.field)
    category = item.get("category")
    return {
        "evaluator": annotator, "id": item["id"], "category": label,
        "supported": None if label is None else label == Category.SUPPORTIVE, "gold_category": category,
        "gold_supported": item.get("attributable") if category is None else category == Category.SUPPORTIVE,
        "complexity": item.get("complexity"),
    }  # fmt: skip


ATTRIBUTION = EvidenceTask(
    name="attribution",
    distinctive_field="evaluator",
    judge="evaluator",
    line="evaluator",
    made_by="granola attribution evaluate",
    row=AttributionVerdict,
    texts=(),
    questions=(CATEGORY,),
    main="micro-F1",
    scores=scores_of,
    value=lambda row, score, _: AttributionVerdict.model_validate(row).value(score),
    sheet=SheetForm(
        shown=("question", "statement", "citations"), questions=(CATEGORY,), lines=_sheet_lines, verdict=_people_verdict
    ),
)
