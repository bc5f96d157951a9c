"""Tiered rows and predictions in, scores out: per item, over all, per relation.

An item's row is written before anything is averaged, so that any score can be traced to its items. Items
without a prediction are unscored: they stand in no score, and their number stands in the signature.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Literal

from abstraction.rows import TieredRow
from abstraction.tiers import Level
from granola.errors import MatcherError, PredictionError
from granola.matching import Matcher, RulesMatcher, Verdict
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
    """The verdict on one prediction, with its informativeness weight where it matched.

    The rules read the prediction in the row's "language", English where it names none.
    """
    if prediction is None:
        return ItemScore(id=row.id, relation=row.relation, prediction=None, verdict=None, weight=None)
    if isinstance(matcher, RulesMatcher) and (code := row.extra.get("language")):
        matcher = replace(matcher, language=str(code))
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
    overall, relations, macro = _aggregate(items, chosen, times=times, random=Random(seed))
    return ScoreReport(
        system=system or predictions.name,
        metrics=chosen,
        items=items,
        overall=overall,
        relations=relations,
        macro=macro,
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


def _aggregate(
    items: Sequence[ItemScore], chosen: Sequence[Metric], *, times: int, random: Random
) -> tuple[GroupScore, dict[str, GroupScore], dict[str, Estimate]]:
    """(all items, by relation, the mean over relations), their intervals from one and the same resampling."""
    cells = Counter((item.relation or NO_RELATION, outcome) for item in items if (outcome := item.outcome) is not None)
    keys = sorted(cells, key=lambda cell: (_relation_order(cell[0]), cell[1].order))
    names = sorted({item.relation or NO_RELATION for item in items}, key=_relation_order)
    overall = _Group(chosen, keys, keys)
    groups = {name: _Group(chosen, keys, [cell for cell in keys if cell[0] == name]) for name in names}
    macro: dict[str, list[float]] = {metric.name: [] for metric in chosen}
    for sample in resamples([cells[cell] for cell in keys], times=times, random=random):
        overall.draw(sample)
        for group in groups.values():
            group.draw(sample)
        for metric in chosen:
            macro[metric.name].append(_mean([group.drawn[metric.name][-1] for group in groups.values()]))
    unscored = Counter(item.relation or NO_RELATION for item in items if item.outcome is None)
    whole = overall.score(cells, unscored.total())
    if names == [NO_RELATION]:
        return whole, {}, {}
    scores = {name: group.score(cells, unscored[name]) for name, group in groups.items()}
    return whole, scores, _macro(scores, macro, chosen)


_Cell = tuple[str, Outcome]


class _Group:
    """Some of the cells of a table of counts: their scores, and the scores of every resampled table."""

    def __init__(self, chosen: Sequence[Metric], keys: Sequence[_Cell], own: Sequence[_Cell]) -> None:
        self.chosen = chosen
        self.own = own
        self.drawn: dict[str, list[float]] = {metric.name: [] for metric in chosen}
        place = {cell: index for index, cell in enumerate(keys)}
        self._adds = [
            (metric.name, [(place[c], add) for c in own if (add := metric.adds(c[1])) is not None]) for metric in chosen
        ]

    def draw(self, sample: Sequence[int]) -> None:
        """Score one resampled table, its counts in the order of `keys`."""
        for name, adds in self._adds:
            total, n = 0.0, 0
            for index, add in adds:
                count = sample[index]
                total += add * count
                n += count
            self.drawn[name].append(total / n if n else math.nan)

    def score(self, cells: Mapping[_Cell, int], unscored: int) -> GroupScore:
        """The scores of the real table with the intervals of the resampled ones."""
        counts: Counter[Outcome] = Counter()
        for cell in self.own:
            counts[cell[1]] += cells[cell]
        estimates = {}
        for metric in self.chosen:
            value, n = metric.of(counts)
            interval = percentile_interval(self.drawn[metric.name])
            estimates[metric.name] = Estimate(value=value, interval=interval, n=n)
        return GroupScore(
            n=counts.total(),
            unscored=unscored,
            estimates=estimates,
            distribution=_distribution(counts, unscored),
        )


def _distribution(counts: Mapping[Outcome, int], unscored: int) -> dict[str, int]:
    """Items by level from 1 to the coarsest that occurs, then wrong, idk and unscored, zeros included."""
    deepest = max((outcome.level or 1 for outcome in counts), default=1)
    names = [*(str(level) for level in range(1, deepest + 1)), "wrong", "idk"]
    found = dict.fromkeys(names, 0)
    for outcome, count in counts.items():
        found[outcome.name] += count
    return {**found, "unscored": unscored}


def _macro(
    relations: Mapping[str, GroupScore], drawn: Mapping[str, Sequence[float]], chosen: Sequence[Metric]
) -> dict[str, Estimate]:
    """The mean over the relations that have a score; `n` is how many."""
    found = {}
    for metric in chosen:
        values = [e.value for group in relations.values() if (e := group.estimates[metric.name]).n]
        interval = percentile_interval(drawn[metric.name])
        found[metric.name] = Estimate(value=_mean(values), interval=interval, n=len(values))
    return found


def _mean(values: Sequence[float]) -> float:
    there = [value for value in values if not math.isnan(value)]
    return sum(there) / len(there) if there else math.nan


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _relation_order(name: str) -> tuple[bool, int, str]:
    number = name[1:]
    return (not number.isdigit(), int(number) if number.isdigit() else 0, name)
