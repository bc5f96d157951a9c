"""Tiered rows and predictions in, scores out: per item, over all, per relation.

An item's row is written before anything is averaged, so that any score can be traced to its items. Items
without a prediction are unscored: they stand in no score, and their number stands in the signature.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from abstraction.faults import Fault, OnReject
from abstraction.rows import TieredRow
from abstraction.tiers import Level
from granola.aggregating import Estimate, GroupScore, aggregate
from granola.errors import MatcherError, PredictionError
from granola.matching import Matcher, Verdict
from granola.matching.many import Case, match_each, match_many
from granola.metrics import LAMBDA, Metric, Outcome, informativeness_weight, metrics
from granola.predictions import Prediction, PredictionFile
from granola.signature import Signature
from granola.statistics import RESAMPLES

SHOWN_IDS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemScore:
    """One question with one prediction and its verdict; `verdict` is None where there is no prediction.

    `weight`, `bits` and `bits_share` are None where nothing matched, the latter two also where the ladder has no bits.
    """

    id: str
    relation: str | None
    prediction: str | None
    verdict: Verdict | None
    weight: float | None
    bits: float | None = None
    bits_share: float | None = None

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
        return Outcome(
            level=self.verdict.level, abstained=self.verdict.abstained, bits=self.bits, share=self.bits_share
        )

    def to_json(self) -> dict[str, Any]:
        """The row of a per-item file; `level`, `rule`, `weight` and bits are null where there is none."""
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
            "bits": self.bits,
            "bits_share": self.bits_share,
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
                metric.name: {
                    "range": [_finite(end) for end in metric.range],
                    "better": metric.better,
                    "source": metric.source,
                }
                for metric in self.metrics
            },
        }


def names_of(row: TieredRow) -> list[list[str]]:
    """The acceptable names of a row, finest level first: every text and alias, level 1 all gold answers."""
    levels: Sequence[Level] = row.levels
    first = list(dict.fromkeys([*row.answers, *(levels[0].names() if levels else ())]))
    return [first, *(list(dict.fromkeys(level.names())) for level in levels[1:])]


def language_of(row: TieredRow) -> str | None:
    """The code of the language that a row says its question and answers are in."""
    code = row.extra.get("language")
    return code if isinstance(code, str) and code.strip() else None


def score_item(row: TieredRow, prediction: Prediction | None, matcher: Matcher, lambda_: float) -> ItemScore:
    """The verdict on one prediction, with its informativeness weight where it matched.

    The matcher reads the prediction in the row's "language", its own where the row names none.
    """
    return next(iter(score_items([row], {} if prediction is None else {row.id: prediction}, matcher, lambda_)))


def score_items(
    rows: Sequence[TieredRow],
    predictions: Mapping[str, Prediction],
    matcher: Matcher,
    lambda_: float,
    *,
    workers: int = 1,
    on_reject: OnReject | None = None,
) -> Iterator[ItemScore]:
    """The items of all rows in their order, as `score_item`; `workers` processes match.

    A prediction with which the program is at fault goes to `on_reject`, and its item is unscored; without `on_reject`
    the error is raised.
    """
    cases = (
        Case(prediction=said.text, levels=names_of(row), question=row.question, language=language_of(row))
        for row in rows
        if (said := predictions.get(row.id)) is not None
    )
    verdicts: Iterator[Verdict | Fault] = (match_each if on_reject else match_many)(matcher, cases, workers=workers)
    for row in rows:
        prediction = predictions.get(row.id)
        if prediction is None:
            yield ItemScore(id=row.id, relation=row.relation, prediction=None, verdict=None, weight=None)
            continue
        verdict = next(verdicts)
        if isinstance(verdict, Fault):
            if on_reject is not None:
                on_reject(verdict.rejected(source=prediction.source, id=row.id, text=prediction.text))
            yield ItemScore(id=row.id, relation=row.relation, prediction=prediction.text, verdict=None, weight=None)
            continue
        bits, share = (None, None) if verdict.level is None else told(row.levels, verdict.level)
        yield ItemScore(
            id=row.id,
            relation=row.relation,
            prediction=prediction.text,
            verdict=verdict,
            weight=None if verdict.level is None else informativeness_weight(verdict.level, lambda_),
            bits=bits,
            bits_share=share,
        )


def told(levels: Sequence[Level], number: int) -> tuple[float | None, float | None]:
    """(bits of level `number` from 1, their share of level 1's).

    A level's bits are the most that one of its tiers has. None where the level or level 1 has none, and where they
    rise, which no true ladder's do; the share is None also where the answer itself tells nothing.
    """
    bits, own = (
        max((tier.bits for tier in level.tiers if tier.bits is not None), default=None)
        for level in (levels[number - 1], levels[0])
    )
    if bits is None or own is None or bits > own:
        return None, None
    return bits, bits / own if own else None


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
    prompts: str = "",
    workers: int = 1,
    on_reject: OnReject | None = None,
) -> ScoreReport:
    """Score one prediction file against tiered rows.

    `times` bootstrap resamples (1 or more) from `seed`; `workers` processes match, to the same digits. A row without a
    prediction is an error unless `allow_missing`, which leaves it unscored; a prediction without a row is one unless
    `ignore_unknown`. Ids that damaged lines took along (those of `predictions.rejected`, or of `rejected_rows` of the
    tiered file) are explained by them and no error. `on_reject` as in `score_items`: the report counts such items as
    unscored, and under "faults". Raises PredictionError and, for a bad setting, MatcherError.
    """
    check_resamples(times)
    chosen = metrics(lambda_)
    kept = rows if isinstance(rows, tuple | list) else list(rows)
    missing, unknown = _unmatched(
        kept, predictions, allow_missing=allow_missing, ignore_unknown=ignore_unknown, rejected=rejected_rows
    )
    given = predictions.predictions
    items = tuple(score_items(kept, given, matcher, lambda_, workers=workers, on_reject=on_reject))
    faults = sum(item.verdict is None and item.prediction is not None for item in items)
    overall, relations, macro = aggregate(
        ((item.relation, item.outcome) for item in items), chosen, times=times, seed=seed
    )
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
            prompts=prompts,
            n=overall.n,
            resamples=times,
            seed=seed,
            missing=missing,
            unknown=unknown,
            bits=sum(
                told(row.levels, 1)[0] is not None
                for row, item in zip(kept, items, strict=True)
                if item.outcome is not None
            ),
        ),
        counts={
            "rows": len(kept),
            "rows_rejected": rejected_rows,
            "predictions": len(predictions.predictions),
            "predictions_rejected": len(predictions.rejected),
            "missing": missing,
            "unknown": unknown,
            **({"faults": faults} if faults else {}),
        },
    )


def check_resamples(times: int) -> None:
    """Raise MatcherError for fewer than one."""
    if times < 1:
        raise MatcherError(f"resamples is {times}; allowed: 1 or more, as in --resamples 1000")


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


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
