"""Systems scored against one tiered file: tests of their differences, and their scores as functions of settings.

A difference of two systems is paired over the questions that both answered. Both tests work on the number of questions
with each pair of values, so that their cost does not grow with the questions. Every pair and metric has a random
stream of its own, seeded by the seed and the values of the pair: a result does not depend on the names of systems,
their order, other comparisons, or the number of processes.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from granola.scoring.metrics import LAMBDA, Metric, Standard, informativeness_weight, language_of, names_of
from granola.scoring.statistics import (
    RESAMPLES,
    Interval,
    chunk_sizes_of_resamples,
    draw_counts,
    holm,
    json_number,
    mean_statistic_of,
    percentile_interval,
    random_stream,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from abstraction.base.faults import RejectedRow
    from abstraction.files.rows import TieredRow
    from granola.matching import Matcher
    from granola.scoring.metrics import GroupScore
    from granola.scoring.predictions import Prediction, PredictionFile
    from granola.scoring.scores import ScoreReport
    from granola.scoring.tiered_file import TieredFile


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredSystems:
    """The tiered file, the prediction files and the scores of the systems; `reports` and `files` in the order given.

    `faults` are the predictions whose matching failed by an error of the program.
    """

    tiered: TieredFile
    files: Sequence[PredictionFile]
    reports: Sequence[ScoreReport]
    faults: Sequence[RejectedRow] = ()

    @property
    def report(self) -> ScoreReport:
        """The scores of the first system."""
        return self.reports[0]

    @property
    def rows(self) -> Sequence[TieredRow]:
        """The questions in the order of the tiered file."""
        return self.tiered.rows

    @property
    def rejected(self) -> list[RejectedRow]:
        """All rejected rows, those of the tiered file first."""
        return [*self.tiered.rejected, *(row for file in self.files for row in file.rejected), *self.faults]


def unique_system_names(paths: Sequence[str]) -> list[str]:
    """The file names as given, without endings; with folders, or numbers, where two are equal."""
    stems = ["stdin" if path == "-" else _ENDING.sub("", Path(path).name) or path for path in paths]
    if len(set(stems)) < len(stems):
        # Runs are often kept as FOLDER/predictions.jsonl.
        placed = [f"{Path(path).parent.name}/{stem}" for path, stem in zip(paths, stems, strict=True)]
        stems = [
            place if stems.count(stem) > 1 and Path(path).parent.name else stem
            for path, place, stem in zip(paths, placed, stems, strict=True)
        ]
    return [stem if stems.count(stem) == 1 else f"{stem} ({number})" for number, stem in enumerate(stems, start=1)]


_ENDING = re.compile(r"(?:\.(?:jsonl|ndjson|json|csv|tsv|parquet))?(?:\.gz)?\Z", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparedSystems:
    """Compared systems: scores, differences by metric and pair, scores by group, risk-coverage curves."""

    systems: ScoredSystems
    differences: Sequence[Difference]
    groups: Mapping[str, list[dict[str, GroupScore]]]
    curves: Mapping[str, RiskCoverage]
    lambda_: float

    @property
    def rejected(self) -> list[RejectedRow]:
        """All rejected rows."""
        return self.systems.rejected

    def to_json(self) -> dict[str, Any]:
        """The whole comparison, with the sweeps of lambda and of the threshold of token-F1."""

        systems = self.systems
        thresholds = {
            report.system: tau_sweep(
                level_f1_of_items(systems.rows, file.predictions, report.signature.standard), lambda_=self.lambda_
            )
            for report, file in zip(systems.reports, systems.files, strict=True)
        }  # fmt: skip
        return {
            "schema_version": 1,
            "systems": [report.to_json() for report in systems.reports],
            "differences": [difference.to_json() for difference in self.differences],
            "groups": {
                title: {
                    report.system: {name: group.to_json() for name, group in by_name.items()}
                    for report, by_name in zip(systems.reports, scores, strict=True)
                }
                for title, scores in self.groups.items()
            },
            "risk_coverage_area": {system: curve.area for system, curve in self.curves.items()},
            "risk_coverage": {system: curve.to_json() for system, curve in self.curves.items()},
            "lambda_sweep": {report.system: lambda_sweep(report) for report in systems.reports},
            "tau_sweep": thresholds,
        }


def judge_all_ahead(matcher: Matcher, rows: Sequence[TieredRow], file: PredictionFile, standard: Standard) -> None:
    """Ask a judge about all predictions at once, not one by one. Raises PredictionError where it gives no verdict."""
    from granola.errors import PredictionError
    from granola.matching.model_judge import JudgeMatcher

    # Other matchers need no requests.
    if not isinstance(matcher, JudgeMatcher):
        return
    failed = matcher.prepare(
        matcher.case_of_prediction(prediction.text, names_of(row, standard), row.question)
        for row in rows
        if (prediction := file.predictions.get(row.id)) is not None
    )
    if failed:
        why = ", ".join(f"{number} {reason}" for reason, number in sorted(failed.items()))
        raise PredictionError(
            f"the judge gave no verdict on {sum(failed.values())} predictions ({why}); its other answers are kept: "
            "run again, or leave those predictions out with --allow-missing"
        )


COMPARED = (
    "granola_accuracy", "standard_accuracy", "informativeness", "selective_accuracy", "selective_standard_accuracy",
)  # fmt: skip
_Adds = tuple[float | None, float | None]
POWER = 1.959964 + 0.841621  # two-sided 5 %, 80 % power: quantiles of the normal distribution


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """`first` minus `second` in one metric over the `n` questions that both have an answer to.

    `interval` is the 95 % interval of a paired bootstrap. `p` is two-sided, from a permutation test that swaps the two
    systems question by question, and never 0; `adjusted` is p after Holm's correction over all pairs compared in this
    metric. `detectable` is the least true difference that n such questions would show with 80 % power at the level of
    5 %; NaN where nothing varies.
    """

    metric: str
    first: str
    second: str
    difference: float
    interval: Interval
    p: float
    n: int
    detectable: float
    adjusted: float = math.nan

    def to_json(self) -> dict[str, Any]:
        """A JSON object; NaN is null."""

        return {
            "metric": self.metric,
            "first": self.first,
            "second": self.second,
            "difference": json_number(self.difference),
            "low": json_number(self.interval.low),
            "high": json_number(self.interval.high),
            "p": json_number(self.p),
            "p_holm": json_number(self.adjusted),
            "n": self.n,
            "detectable": json_number(self.detectable),
        }


def check_metric_names(names: Sequence[str]) -> None:
    """Raise MatcherError for an unknown name of a metric."""
    for name in names:
        Metric(name=name)


def least_permutations_for_significance(systems: int) -> int:
    """The least number of permutations with which p, corrected over all pairs of so many systems, can fall below 0.05.
    """
    # the least p is 1 / (permutations + 1); Holm multiplies it by the number of pairs
    return 20 * math.comb(systems, 2)


def compare(
    reports: Sequence[ScoreReport], *, metrics: Sequence[str] = COMPARED, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[Difference, ...]:
    """Compare every pair of systems in every metric, metrics in the order given, pairs in that of the reports.

    All reports are of the same tiered rows. Raises MatcherError for a metric that they lack.
    """
    check_metric_names(metrics)
    if len(reports) < 2:
        return ()
    known = {metric.name: metric for metric in reports[0].metrics}
    differences: list[Difference] = []
    for name in metrics:
        tests = []
        for first, second in combinations(reports, 2):
            theirs = dict(zip(second.items.ids, second.items.outcomes, strict=True))
            outcomes = zip(first.items.outcomes, map(theirs.get, first.items.ids), strict=True)
            pairs = (
                (known[name].adds(one), known[name].adds(other))
                for one, other in outcomes
                if one is not None and other is not None
            )
            names = {"metric": name, "first": first.system, "second": second.system}
            tests.append(paired_difference(pairs, **names, resamples=resamples, seed=seed))
        differences += with_holm_adjusted_p(tests)
    return tuple(differences)


def with_holm_adjusted_p(tests: Sequence[Difference]) -> list[Difference]:
    """The tests with `adjusted` set to p corrected by Holm's method for the number of tests; all are of one metric."""
    # Holm within one metric: metrics are separate questions.
    adjusted = holm([test.p for test in tests])
    return [replace(test, adjusted=p) for test, p in zip(tests, adjusted, strict=True)]


def paired_difference(
    pairs: Iterable[_Adds], *, metric: str, first: str, second: str, resamples: int = RESAMPLES, seed: int = 0
) -> Difference:
    """The difference of the means of two systems over pairs of values; a value is None where the metric does not count
    the item.
    """
    import numpy as np

    counts = Counter(pairs)
    ordered = _sorted_counts(counts)
    # The pair in both orders; the smaller by text is drawn, whichever system is first.
    mirrored = _sorted_counts(Counter({(b, a): n for (a, b), n in counts.items()}))
    turned = repr(mirrored) < repr(ordered)  # drawn in one order only, so that exchanged systems get the same digits
    adds, numbers = zip(*(mirrored if turned else ordered), strict=True) if counts else ((), ())
    stream = (seed, metric, adds, numbers)
    difference = _difference_of_means(adds)
    real = float(difference(np.array([numbers], dtype=np.int64))[0]) if counts else math.nan
    random = random_stream(stream, "bootstrap")
    parts = [
        difference(draw_counts(numbers, sum(numbers), random, resamples=some))
        for some in chunk_sizes_of_resamples(len(numbers), resamples if counts else 0)
    ]
    drawn = np.concatenate(parts) if parts else np.empty(0)
    not_nan = drawn[~np.isnan(drawn)]
    spread = float(np.std(not_nan, ddof=1)) if not_nan.size > 1 else 0.0
    p = _permutation_p_value(adds, numbers, real, resamples=resamples, random=random_stream(stream, "permutation"))
    if turned:
        real, drawn = 0.0 - real, 0.0 - drawn  # -real could be -0.0
    return Difference(
        metric=metric,
        first=first,
        second=second,
        difference=real,
        interval=percentile_interval(drawn),
        p=p,
        n=sum(numbers),
        detectable=POWER * spread if spread > 0 else math.nan,  # spread: the standard error, by the bootstrap
    )


def _sorted_counts(counts: Counter[_Adds]) -> list[tuple[_Adds, int]]:
    return sorted(counts.items(), key=lambda pair: [(add is not None, add or 0.0) for add in pair[0]])


def _difference_of_means(adds: Sequence[_Adds]) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
    """The mean of the first minus the mean of the second, each over the items that it counts, as a function of how
    often each item occurs.
    """
    first, second = mean_statistic_of([a for a, _ in adds]), mean_statistic_of([b for _, b in adds])
    return lambda counts: first(counts) - second(counts)


def _permutation_p_value(
    adds: Sequence[_Adds], counts: Sequence[int], real: float, *, resamples: int, random: np.random.Generator
) -> float:
    """The share of random swaps of the two systems with a difference at least as large; the real order counts as one.

    Questions where both add the same value are left out: a swap changes nothing.
    """
    import numpy as np

    if math.isnan(real):
        return math.nan
    difference = _difference_of_means([*adds, *((b, a) for a, b in adds)])
    numbers = np.array(counts, dtype=np.int64)
    # A swap of equal values changes nothing, so only the others are drawn.
    swappable = np.where([a != b for a, b in adds], numbers, 0)
    reached = 1  # the real order is one of the permutations, so that p is never 0
    for some in chunk_sizes_of_resamples(2 * len(counts), resamples):
        swapped = random.binomial(swappable, 0.5, size=(some, len(counts)))
        drawn = difference(np.concatenate([numbers - swapped, swapped], axis=1))
        reached += int((np.abs(drawn) >= abs(real) - 1e-12).sum())  # NaN is not greater
    return reached / (resamples + 1)


# Scores as functions of the threshold of token-F1, of lambda, and of the least confidence.

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


def level_f1_of_items(
    rows: Sequence[TieredRow], predictions: Mapping[str, Prediction], standard: Standard = "aliases"
) -> list[ItemF1]:
    """The best token-F1 with each level, for every row that has a prediction, in the order of the rows; `standard`:
    see `names_of`.
    """
    from granola.matching.squad import best_f1_of_names_with_same_marks
    from granola.replies.refusals import abstention

    return [
        ItemF1(
            id=row.id,
            levels=tuple(best_f1_of_names_with_same_marks(prediction.text, names) for names in names_of(row, standard)),
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
        """The number of answers that have a confidence, from which the curve is made."""
        return round(self.points[-1][0] * self.n)  # points are shares of n

    def to_json(self) -> dict[str, Any]:
        """A JSON object, without the points."""
        return {"area": self.area, "covered": self.covered, "unsure": self.unsure, "n": self.n}


def risk_coverage(report: ScoreReport, predictions: Mapping[str, Prediction]) -> RiskCoverage | None:
    """The risk-coverage curve of a system; None where no prediction has a confidence."""
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
