"""Precision, coverage and bits of answers by required support, where the correct ladders are known.

Precision: share of correct answers among those given (selective GRANOLA accuracy). Coverage: share of questions
answered. Bits: information of correct answers, averaged over all questions. All as defined in `granola.scoring`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from abstraction.base.faults import Fault, OnReject, attempt
from abstraction.files.rows import TieredRow
from granola.decoding.aggregation_rules import DragGraph, SelfConsistency
from granola.decoding.claims import ClaimTally
from granola.decoding.decision import IDK, Counting
from granola.decoding.response_aggregation import Aggregator
from granola.decoding.samples import SampleRow
from granola.matching import Matcher
from granola.scoring.metrics import LAMBDA, Outcome, aggregate, metrics
from granola.scoring.predictions import Prediction
from granola.scoring.scores import score_item
from granola.scoring.statistics import RESAMPLES, Estimate, bootstrap_estimate, divide_or_nan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# thresholds of the curve; 0.75 is three of four responses
SUPPORTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.0)
RULES = ("drag-graph", "ladder", "self-consistency")
METRICS = {"precision": "selective_accuracy", "coverage": "coverage", "bits": "bits"}
Outcomes = Sequence[tuple[Outcome, ...]]
"""For each question, the outcome at each of `SUPPORTS`."""


def outcomes_by_support(
    samples: Iterable[SampleRow],
    ladders: Mapping[str, TieredRow],
    aggregator: Aggregator,
    matcher: Matcher,
    *,
    on_reject: OnReject,
) -> dict[str, Outcomes]:
    """The outcomes of each of `RULES`, for the questions with a ladder; `ladders`: by id.

    A row that causes a fault in the program goes to `on_reject`.
    """
    outcomes: dict[str, list[tuple[Outcome, ...]]] = {rule: [] for rule in RULES}
    labelled = (row for row in samples if row.id in ladders)
    for row, tally in aggregator.tallies(labelled):
        judged = (
            tally
            if isinstance(tally, Fault)
            else attempt("scoring", _outcomes_by_rule_and_support, row, tally, ladders[row.id], aggregator, matcher)
        )
        if isinstance(judged, Fault):
            on_reject(judged.rejected(source=row.source, id=row.id, text=row.question))
        else:
            for rule, of_rule in zip(RULES, judged, strict=True):
                outcomes[rule].append(of_rule)
    return dict(outcomes)


def _outcomes_by_rule_and_support(
    row: SampleRow, tally: ClaimTally, ladder: TieredRow, aggregator: Aggregator, matcher: Matcher
) -> list[tuple[Outcome, ...]]:
    """For each rule, the outcomes at each support."""
    ((_, most),) = aggregator.decide([row], SelfConsistency())
    finest = SelfConsistency(counting=Counting.LADDER).decide(tally)
    texts = [
        [DragGraph(support=support).decide(tally).text for support in SUPPORTS],
        *(
            # The tolerance absorbs binary rounding of shares such as 0.6.
            [decided.text if (decided.support or 0.0) >= support - 1e-9 else IDK for support in SUPPORTS]
            for decided in (finest, most)
        ),
    ]
    # Most thresholds give the same text: each distinct one is scored once.
    outcomes: dict[str, Outcome] = {}
    for text in {text for of_rule in texts for text in of_rule}:
        outcome = score_item(ladder, Prediction(id=row.id, text=text), matcher, LAMBDA).outcome
        assert outcome is not None  # there is a prediction
        outcomes[text] = outcome
    return [tuple(outcomes[text] for text in of_rule) for of_rule in texts]


def support_curves(outcomes: Mapping[str, Outcomes]) -> dict[str, dict[str, list[tuple[float, Estimate]]]]:
    """For each of `METRICS` and each rule, the value at each of `SUPPORTS`, with 95 % intervals over questions."""
    chosen = [metric for metric in metrics() if metric.name in METRICS.values()]
    curves: dict[str, dict[str, list[tuple[float, Estimate]]]] = {name: {} for name in METRICS}
    for rule, of_rule in outcomes.items():
        for at, support in enumerate(SUPPORTS):
            column = ((None, of_question[at]) for of_question in of_rule)
            estimates = aggregate(column, chosen, resamples=RESAMPLES, seed=0)[0].estimates
            for name, metric in METRICS.items():
                curves[name].setdefault(rule, []).append((support, estimates[metric]))
    return curves


def least_support_reaching(precision: float, outcomes: Outcomes) -> Estimate:
    """The least support that reaches a precision, NaN where none does; the interval is over resamples that reach it."""
    import numpy as np

    def least_support_per_resample(kinds: Outcomes, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        right = np.array([[outcome.level is not None for outcome in kind] for kind in kinds], dtype=np.float64)
        given = np.array([[not outcome.abstained for outcome in kind] for kind in kinds], dtype=np.float64)
        reached = divide_or_nan(counts @ right, counts @ given) >= precision
        return np.where(reached.any(axis=1), np.array(SUPPORTS)[reached.argmax(axis=1)], math.nan)

    plain = (tuple(outcome.without_bits for outcome in of_question) for of_question in outcomes)
    value, interval = bootstrap_estimate(plain, least_support_per_resample)
    return Estimate(value=value, interval=interval, n=len(outcomes))
