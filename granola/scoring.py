"""Tiered rows and predictions in, scores out: per item, over all, per relation.

An item's row is written before anything is averaged, so that any score can be traced to its items. Items
without a prediction are unscored: they stand in no score, and their number stands in the signature.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from abstraction.rows import TieredRow
from abstraction.tiers import Level
from granola.errors import MatcherError, PredictionError
from granola.matching import Matcher, Verdict
from granola.metrics import LAMBDA, Metric, Outcome, informativeness_weight, metrics
from granola.predictions import Prediction, PredictionFile
from granola.signature import Signature
from granola.statistics import RESAMPLES, Interval, percentile_interval, resamples

NO_RELATION = "none"
SHOWN_IDS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemScore:
    """One question with one prediction and its verdict; `verdict` is None where there is no prediction."""

    id: str
    relation: str | None
    prediction: str | None
    verdict: Verdict | None
    weight: float | None

    @property
    def status(self) -> Literal["matched", "wrong", "abstained", "unscored"]:
        """What became of the item."""
        if self.verdict is None:
            return "unscored"
        if self.verdict.abstained:
            return "abstained"
        return "wrong" if self.verdict.level is None else "matched"

    @property
    def outcome(self) -> Outcome | None:
        """What the metrics see of the item; None where it is unscored."""
        if self.verdict is None:
            return None
        return Outcome(level=self.verdict.level, abstained=self.verdict.abstained)

    def to_json(self) -> dict[str, Any]:
        """The row of a per-item file; `level`, `rule` and `weight` are null where there is none."""
        verdict = self.verdict
        compared = verdict.compared if verdict else None
        return {
            "id": self.id,
            "relation": self.relation,
            "prediction": self.prediction,
            "status": self.status,
            "level": verdict.level if verdict else None,
            "rule": verdict.rule if verdict else None,
            "compared": {"prediction": compared.prediction, "tier": compared.tier} if compared else None,
            "score": verdict.score if verdict else None,
            "abstained": verdict.abstained if verdict else None,
            "weight": self.weight,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A score with its 95 % interval over `n` counted items; all NaN where n is 0."""

    value: float
    interval: Interval
    n: int

    def to_json(self) -> dict[str, Any]:
        """A JSON object; NaN is null."""
        return {
            "value": _number(self.value),
            "low": _number(self.interval.low),
            "high": _number(self.interval.high),
            "n": self.n,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupScore:
    """Scores of a set of items by metric name, how many were scored and unscored, and where they stand."""

    n: int
    unscored: int
    estimates: Mapping[str, Estimate]
    distribution: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "n": self.n,
            "unscored": self.unscored,
            "metrics": {name: estimate.to_json() for name, estimate in self.estimates.items()},
            "distribution": dict(self.distribution),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreReport:
    """What is said of one prediction file.

    `items` are in the order of the tiered file. `overall` averages over questions (micro); `macro` over the
    relations' scores, each relation counting the same, and is empty where no row names a relation.
    """

    system: str
    metrics: tuple[Metric, ...]
    items: tuple[ItemScore, ...]
    overall: GroupScore
    relations: Mapping[str, GroupScore]
    macro: Mapping[str, Estimate]
    signature: Signature
    counts: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The machine form, without the items."""
        return {
            "schema_version": 1,
            "system": self.system,
            "signature": str(self.signature),
            **self.overall.to_json(),
            "macro": {name: estimate.to_json() for name, estimate in self.macro.items()},
            "relations": {name: group.to_json() for name, group in self.relations.items()},
            "counts": dict(self.counts),
            "definitions": {
                metric.name: {"range": list(metric.range), "better": metric.better, "source": metric.source}
                for metric in self.metrics
            },
        }


def names_of(row: TieredRow) -> list[list[str]]:
    """The acceptable names of a row, finest level first: every text and alias, level 1 all gold answers."""
    levels: Sequence[Level] = row.levels
    first = list(dict.fromkeys([*row.answers, *(levels[0].names() if levels else ())]))
    return [first, *(list(dict.fromkeys(level.names())) for level in levels[1:])]


def score_item(row: TieredRow, prediction: Prediction | None, matcher: Matcher, lambda_: float) -> ItemScore:
    """The verdict on one prediction, with its informativeness weight where it matched."""
    if prediction is None:
        return ItemScore(id=row.id, relation=row.relation, prediction=None, verdict=None, weight=None)
    verdict = matcher.match(prediction.text, names_of(row), row.question)
    return ItemScore(
        id=row.id,
        relation=row.relation,
        prediction=prediction.text,
        verdict=verdict,
        weight=None if verdict.level is None else informativeness_weight(verdict.level, lambda_),
    )


def score(
    rows: Iterable[TieredRow],
    predictions: PredictionFile,
    matcher: Matcher,
    *,
    lambda_: float = LAMBDA,
    times: int = RESAMPLES,
    seed: int = 0,
    system: str | None = None,
    allow_missing: bool = False,
    ignore_unknown: bool = False,
    rejected_rows: int = 0,
    tiers_hash: str = "unknown",
    snapshot: str = "unknown",
) -> ScoreReport:
    """Score one prediction file against tiered rows.

    `times` bootstrap resamples (1 or more) from `seed`. A row without a prediction is an error unless
    `allow_missing`, which leaves it unscored; a prediction without a row is one unless `ignore_unknown`.
    Ids that damaged lines took along (those of `predictions.rejected`, or of `rejected_rows` of the tiered
    file) are explained by them and no error. Raises PredictionError and, for a bad setting, MatcherError.
    """
    if times < 1:
        raise MatcherError(f"resamples is {times}; allowed: 1 or more, as in --resamples 1000")
    chosen = metrics(lambda_)
    kept = list(rows)
    missing, unknown = _unmatched(
        kept, predictions, allow_missing=allow_missing, ignore_unknown=ignore_unknown, rejected=rejected_rows
    )
    items = tuple(score_item(row, predictions.predictions.get(row.id), matcher, lambda_) for row in kept)
    overall, _ = _group(items, chosen, times=times, random=Random(f"{seed}/all"))
    relations: dict[str, GroupScore] = {}
    drawn: dict[str, Mapping[str, list[float]]] = {}
    by_relation: dict[str, list[ItemScore]] = {}
    for item in items:
        by_relation.setdefault(item.relation or NO_RELATION, []).append(item)
    if by_relation.keys() - {NO_RELATION}:
        for name in sorted(by_relation, key=_relation_order):
            random = Random(f"{seed}/relation/{name}")
            relations[name], drawn[name] = _group(by_relation[name], chosen, times=times, random=random)
    return ScoreReport(
        system=system or predictions.name,
        metrics=chosen,
        items=items,
        overall=overall,
        relations=relations,
        macro=_macro(relations, drawn, chosen) if relations else {},
        signature=Signature(
            matcher=matcher.signature(),
            lambda_=lambda_,
            tiers=tiers_hash,
            snapshot=snapshot,
            n=overall.n,
            resamples=times,
            seed=seed,
            missing=missing,
            unknown=unknown,
        ),
        counts={
            "rows": len(kept),
            "rows_rejected": rejected_rows,
            "predictions": len(predictions.predictions),
            "predictions_rejected": len(predictions.rejected),
            "missing": missing,
            "unknown": unknown,
        },
    )


def _unmatched(
    rows: Sequence[TieredRow],
    predictions: PredictionFile,
    *,
    allow_missing: bool,
    ignore_unknown: bool,
    rejected: int,
) -> tuple[int, int]:
    """(rows without a prediction, predictions without a row), where that is allowed or explained."""
    ids = {row.id for row in rows}
    missing = [row.id for row in rows if row.id not in predictions.predictions]
    unknown = [id_ for id_ in predictions.predictions if id_ not in ids]
    lost = [id_ for id_ in missing if id_ not in predictions.rejected_ids]
    nameless = len(predictions.rejected) - len(predictions.rejected_ids)
    faults = []
    if len(lost) > nameless and not allow_missing:
        faults.append(
            f"{len(lost)} of {len(rows)} questions have no prediction ({_first(lost)}); "
            "predict them, or give --allow-missing to leave them unscored"
        )
    if len(unknown) > rejected and not ignore_unknown:
        faults.append(
            f"{len(unknown)} of {len(predictions.predictions)} predictions are for unknown ids "
            f"({_first(unknown)}); score them against their own tiered file, or give --ignore-unknown"
        )
    if faults:
        raise PredictionError(f"{predictions.name}: " + "; ".join(faults))
    return len(missing), len(unknown)


def _first(ids: Sequence[str]) -> str:
    shown = ", ".join(json.dumps(id_, ensure_ascii=False) for id_ in ids[:SHOWN_IDS])
    return shown + (", ..." if len(ids) > SHOWN_IDS else "")


def _group(
    items: Sequence[ItemScore], chosen: Sequence[Metric], *, times: int, random: Random
) -> tuple[GroupScore, Mapping[str, list[float]]]:
    """A group's scores, and every metric's resampled values."""
    counts = Counter(outcome for item in items if (outcome := item.outcome) is not None)
    outcomes = sorted(
        counts, key=lambda outcome: (outcome.level is None, outcome.level or 0, outcome.abstained)
    )
    added = {metric.name: [metric.adds(outcome) for outcome in outcomes] for metric in chosen}
    drawn: dict[str, list[float]] = {metric.name: [] for metric in chosen}
    for sample in resamples([counts[outcome] for outcome in outcomes], times=times, random=random):
        for name, adds in added.items():
            total, n = 0.0, 0
            for add, count in zip(adds, sample, strict=True):
                if add is not None:
                    total += add * count
                    n += count
            drawn[name].append(total / n if n else math.nan)
    estimates = {}
    for metric in chosen:
        value, n = metric.of(counts)
        estimates[metric.name] = Estimate(value=value, interval=percentile_interval(drawn[metric.name]), n=n)
    n = counts.total()
    group = GroupScore(
        n=n, unscored=len(items) - n, estimates=estimates, distribution=_distribution(counts, len(items) - n)
    )
    return group, drawn


def _distribution(counts: Mapping[Outcome, int], unscored: int) -> dict[str, int]:
    """Items by level from 1 to the coarsest that occurs, then wrong, idk and unscored, zeros included."""
    deepest = max((outcome.level or 1 for outcome in counts), default=1)
    names = [*(str(level) for level in range(1, deepest + 1)), "wrong", "idk"]
    found = dict.fromkeys(names, 0)
    for outcome, count in counts.items():
        found[outcome.name] += count
    return {**found, "unscored": unscored}


def _macro(
    relations: Mapping[str, GroupScore],
    drawn: Mapping[str, Mapping[str, list[float]]],
    chosen: Sequence[Metric],
) -> dict[str, Estimate]:
    """The mean over the relations that have a score; `n` is how many. Resampled inside each relation."""
    found = {}
    for metric in chosen:
        names = [name for name, group in relations.items() if group.estimates[metric.name].n]
        values = [relations[name].estimates[metric.name].value for name in names]
        samples = [
            _mean(sample) for sample in zip(*(drawn[name][metric.name] for name in names), strict=True)
        ]
        found[metric.name] = Estimate(
            value=_mean(values), interval=percentile_interval(samples), n=len(values)
        )
    return found


def _mean(values: Sequence[float]) -> float:
    there = [value for value in values if not math.isnan(value)]
    return sum(there) / len(there) if there else math.nan


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _relation_order(name: str) -> tuple[bool, int, str]:
    number = name[1:]
    return (not number.isdigit(), int(number) if number.isdigit() else 0, name)
