"""Scores as functions of settings: the threshold of token-F1, lambda, and the least confidence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from abstraction.files.rows import TieredRow
from granola.matching.squad import level_f1
from granola.replies.refusals import abstention
from granola.scoring.metrics import LAMBDA, Standard, informativeness_weight, language_of, names_of
from granola.scoring.predictions import Prediction
from granola.scoring.scores import ScoreReport

TAUS = tuple(number / 20 for number in range(20))  # 0 to 0.95: at 1 no F1 could exceed the threshold
LAMBDAS = tuple(number / 10 for number in range(21))  # 0 to 2, around the default of 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class TauPoint:
    """Scores of token-F1 matching at one threshold.

    Both accuracies are over the predictions that do not abstain, informativeness over all `n`.
    """

    tau: float
    standard_accuracy: float
    granola_accuracy: float
    informativeness: float
    n: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LambdaPoint:
    """Informativeness at one lambda: over all scored predictions, where unmatched ones count 0, and over matched ones.
    """

    lambda_: float
    informativeness: float
    informativeness_matched: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemF1:
    """The best token-F1 of one prediction with each level, finest first; `abstained` as decided by the matcher `f1`."""

    id: str
    levels: tuple[float, ...]
    abstained: bool


def item_f1(
    rows: Sequence[TieredRow], predictions: Mapping[str, Prediction], standard: Standard = "aliases"
) -> list[ItemF1]:
    """The token-F1 of every row that has a prediction, in the order of the rows; `standard`: see `names_of`."""
    return [
        ItemF1(
            id=row.id,
            levels=tuple(level_f1(prediction.text, names) for names in names_of(row, standard)),
            abstained=abstention(prediction.text, language_of(row) or "en") is not None,
        )
        for row in rows
        if (prediction := predictions.get(row.id)) is not None
    ]


def tau_sweep(items: Sequence[ItemF1], taus: Sequence[float] = TAUS, lambda_: float = LAMBDA) -> list[TauPoint]:
    """Scores of the matcher `f1` at each threshold (the finest level with a higher F1 matches); NaN without items."""
    n = len(items)
    points = []
    for tau in taus:
        levels = Counter(next((k for k, f1 in enumerate(item.levels, start=1) if f1 > tau), 0) for item in items)
        # As the matcher does: an abstention that matches nevertheless counts as an answer.
        answered = n - sum(item.abstained and max(item.levels) <= tau for item in items)
        weights = math.fsum(informativeness_weight(k, lambda_) * count for k, count in levels.items() if k)
        points.append(
            TauPoint(
                tau=tau,
                standard_accuracy=levels[1] / answered if answered else math.nan,
                granola_accuracy=(n - levels[0]) / answered if answered else math.nan,
                informativeness=weights / n if n else math.nan,
                n=n,
            )
        )
    return points


def lambda_sweep(report: ScoreReport, lambdas: Sequence[float] = LAMBDAS) -> list[LambdaPoint]:
    """Informativeness for each lambda; NaN where nothing matched or nothing is scored."""
    levels = {int(name): n for name, n in report.overall.distribution.items() if name.isdigit()}
    matched, scored = sum(levels.values()), report.overall.n
    points = []
    for value in lambdas:
        total = math.fsum(informativeness_weight(level, value) * n for level, n in levels.items())
        points.append(
            LambdaPoint(
                lambda_=value,
                informativeness=total / scored if scored else math.nan,
                informativeness_matched=total / matched if matched else math.nan,
            )
        )
    return points


@dataclass(frozen=True, kw_only=True, slots=True)
class RiskCoverage:
    """Selective answering by confidence (El-Yaniv and Wiener 2010; Geifman and El-Yaniv 2017).

    `points` are (coverage, risk), from the most confident answers on: the answered share of the `n` scored questions,
    and the share of those answers that match no level. Answers of equal confidence enter together. Abstentions and the
    `unsure` answers, those without a confidence, are never covered. `area` is the area under the curve divided by the
    greatest coverage: the mean risk, lower is better.
    """

    points: tuple[tuple[float, float], ...]
    area: float
    n: int
    unsure: int

    @property
    def covered(self) -> int:
        """The number of answers under the curve: those with a confidence."""
        return round(self.points[-1][0] * self.n)

    def to_json(self) -> dict[str, Any]:
        """A JSON object, without the points."""
        return {"area": self.area, "covered": self.covered, "unsure": self.unsure, "n": self.n}


def risk_coverage(report: ScoreReport, predictions: Mapping[str, Prediction]) -> RiskCoverage | None:
    """The curve of a system; None where no prediction has a confidence."""
    scored = report.overall.n
    sure: dict[float, list[int]] = {}
    unsure = 0
    for id_, outcome in zip(report.items.ids, report.items.outcomes, strict=True):
        # An abstention answers nothing, so it has no risk.
        if outcome is None or outcome.abstained:
            continue
        prediction = predictions.get(id_)
        if prediction is None or prediction.confidence is None:
            unsure += 1
        else:
            counts = sure.setdefault(prediction.confidence, [0, 0])
            counts[0] += 1
            counts[1] += outcome.level is None
    if not sure:
        return None
    points: list[tuple[float, float]] = []
    answered = wrong = 0
    area = 0.0
    # Equal confidences enter together: their order would be arbitrary.
    for confidence in sorted(sure, reverse=True):
        answers, wrong_answers = sure[confidence]
        answered += answers
        wrong += wrong_answers
        points.append((answered / scored, wrong / answered))
        area += answers * wrong / answered
    return RiskCoverage(points=tuple(points), area=area / answered, n=scored, unsure=unsure)
