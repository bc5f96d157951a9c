"""Scoring of predictions against tiered rows: per item, over all, per relation.

Items are written before anything is averaged, so that any score can be traced to them. Items without a prediction are
unscored: they are part of no score, and the signature has their number.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, Literal

import orjson

from abstraction.base.faults import Fault, OnReject
from abstraction.base.tiers import Level
from abstraction.files.rows import TieredRow
from granola import __version__
from granola.errors import PredictionError
from granola.matching import F1Matcher, Matcher, Verdict, squad
from granola.matching.matchers import Levels, MatchCase, match_many
from granola.matching.model_judge import JudgeMatcher
from granola.scoring.metrics import (
    LAMBDA,
    GroupScore,
    Metric,
    Outcome,
    Standard,
    aggregate,
    informativeness_weight,
    language_of,
    metrics,
    names_of,
    usual_standard_of_level_1,
)
from granola.scoring.predictions import Prediction, PredictionFile
from granola.scoring.statistics import RESAMPLES, Estimate, check_resamples
from granola.scoring.tiered_file import SHORT, PackedRows, TieredFile, read_tiered_file

SHOWN_IDS = 3  # ids that an error names: enough to recognise their form


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemScore:
    """One question with one prediction and its verdict; `verdict` and `outcome` are None where there is no prediction.

    `outcome` is the input of metrics; its bits and their share are 0 where nothing matched, and None where the ladder
    has no bits. `weight` is None where nothing matched.
    """

    id: str
    relation: str | None
    prediction: str | None
    verdict: Verdict | None = None
    weight: float | None = None
    outcome: Outcome | None = None

    @property
    def status(self) -> Literal["matched", "wrong", "abstained", "unscored"]:
        """The result in one word."""
        if self.verdict is None:
            return "unscored"
        if self.verdict.abstained:
            return "abstained"
        return "wrong" if self.verdict.level is None else "matched"

    def to_json(self) -> dict[str, Any]:
        """The row of a per-item file; `level`, `rule`, `weight` and bits are null where there is none.

        `other_level` is the level by the other standard of level 1, null where there is none. `answer` is the part of
        the prediction that was judged, and `cuts` are the rules that removed the remainder, if any did.
        """
        verdict, outcome = self.verdict, self.outcome or Outcome(level=None)
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
            "bits": outcome.bits,
            "bits_share": outcome.share,
            "other_level": (outcome.other or outcome).level,
            **({"answer": verdict.answer, "cuts": list(verdict.cuts)} if verdict and verdict.cuts else {}),
        }


class ItemScores(list[ItemScore]):
    """The items in the order of the rows; `ids` and `outcomes` have an entry for every row, the list itself only the
    items that were added with `keep`.

    A million items take a gigabyte; their outcomes take little, since items with equal ones share an object. The
    outcome of an unscored item is None.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.outcomes: list[Outcome | None] = []
        self._different: dict[Outcome, Outcome] = {}

    def add(self, item: ItemScore, *, keep: bool = True) -> Outcome | None:
        """Add an item, the whole of it where `keep`, else its id and outcome; returns the outcome."""
        if (outcome := item.outcome) is not None:
            outcome = self._different.setdefault(outcome, outcome)  # equal outcomes share one object
        self.ids.append(item.id)
        self.outcomes.append(outcome)
        if keep:
            self.append(item)
        return outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreSettings:
    """Settings of scoring, except the matcher.

    `lambda_` weighs informativeness. `standard` selects the names of level 1; None: "gold" with the matcher `f1`,
    "aliases" with others. `resamples` (10 to 100,000) of the bootstrap are drawn from `seed`. `workers` processes
    match; their number changes no digit. A row without a prediction, and a prediction without a row, are errors unless
    `allow_missing`: then the row is unscored, the prediction left out.
    """

    lambda_: float = LAMBDA
    standard: Standard | None = None
    resamples: int = RESAMPLES
    seed: int = 0
    allow_missing: bool = False
    workers: int | None = 1

    def standard_for(self, matcher: Matcher) -> Standard:
        """The standard of level 1: the one set, else the usual one of the matcher."""
        return self.standard or usual_standard_of_level_1(matcher.name)


USUAL = ScoreSettings()


def _rounded_max_tier_bits_by_level(
    levels: Sequence[Level], field: Literal["bits", "bits_asked"]
) -> list[float | None]:
    """The most bits of a tier of each level, to three decimals as in files, so that rows in memory have equal scores
    and signature.
    """
    bits_of = ([getattr(tier, field) for tier in level.tiers] for level in levels)
    return [max([round(bits, 3) for bits in of if bits is not None], default=None) for of in bits_of]


def bits_and_share_of_level(levels: Sequence[Level], number: int | None) -> tuple[float | None, float | None]:
    """Return (bits of level `number` from 1, their share of the bits of level 1); 0 for no level, where level 1 has
    bits.

    The bits of a level are the most of any of its tiers: the conditional bits given the question where every level has
    them. None where the level or level 1 has none, and where bits rise with the level, which a correct ladder
    excludes; the share is None also where the answer itself has 0 bits.
    """
    if number is None:
        bits, share = bits_and_share_of_level(levels, 1)
        return (None, None) if bits is None else (0.0, None if share is None else 0.0)
    # Conditional and unconditional bits are never compared with each other.
    of_levels = _rounded_max_tier_bits_by_level(levels, "bits_asked")
    if None in of_levels:
        of_levels = _rounded_max_tier_bits_by_level(levels, "bits")
    bits, finest_bits = of_levels[number - 1], of_levels[0]
    if bits is None or finest_bits is None or bits > finest_bits:
        return None, None
    return bits, bits / finest_bits if finest_bits else None  # no share of 0 bits


@dataclass(kw_only=True, slots=True)
class RowCounts:
    """Numbers of rows and predictions; `digest` is the sum of the hashes of the rows.

    `missing` are rows without a prediction, `unknown` predictions without a row, `one_level` the rows with a single
    level, `foreign` the tiers in another language than their row, `bits` the scored questions whose answer has bits,
    `faults` the predictions whose matching failed by an error of the program.
    """

    rows: int
    rows_rejected: int
    predictions: int
    predictions_rejected: int
    missing: int
    unknown: int
    one_level: int = 0
    foreign: int = 0
    bits: int = 0
    faults: int = 0
    digest: int = 0

    def add(self, row: TieredRow, item: ItemScore) -> None:
        """Count a row with its item."""
        names = names_of(row)
        self.one_level += len(names) == 1
        # a tier has a language only where it is not the row's
        self.foreign += sum(tier.language is not None for level in row.levels for tier in level.tiers)
        # A sum, unlike a hash of the concatenation, does not depend on the order of rows.
        self.digest = (self.digest + int.from_bytes(hashlib.sha256(_canonical_row(row, names)).digest())) % (1 << 256)
        self.bits += item.verdict is not None and bits_and_share_of_level(row.levels, 1)[0] is not None
        self.faults += item.verdict is None and item.prediction is not None


def _canonical_row(row: TieredRow, names: list[list[str]]) -> bytes:
    """The fields of a row that can change a score, as a line of JSON; independent of file, format and caller."""
    bits = [None if most is None else float(most) for most in _rounded_max_tier_bits_by_level(row.levels, "bits")]
    content = [row.id, row.relation, row.question, language_of(row), row.answers, names, bits]
    # Appended only where present, so that files without them keep their signature.
    asked = _rounded_max_tier_bits_by_level(row.levels, "bits_asked")
    if any(bits_asked is not None for bits_asked in asked):
        content.append([None if bits_asked is None else float(bits_asked) for bits_asked in asked])
    try:
        return orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # an unpaired surrogate cannot be encoded
        return json.dumps(content).encode() + b"\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Signature:
    """Every setting that can change a digit of a score. `str()` joins them with `|`.

    `matcher` includes the hash of its code and data. `standard` is printed where level 1 has the gold answers alone.
    `snapshot` is the start of a hash of the id of the snapshot that the ladders were made from, `n` the number of
    scored questions. Only where they apply: numbers of `counts`, such as that of rows with a single level, which
    `rules` reads more leniently; `prompts`, the set and the hash of the prompts with which a model phrased the tiers;
    `asked`, those with which a model was asked the questions.
    """

    matcher: str
    lambda_: float
    standard: Standard
    snapshot: str
    n: int
    counts: RowCounts
    resamples: int
    seed: int
    prompts: str = ""
    asked: str = ""

    @property
    def tiers_hash(self) -> str:
        """The start of a hash of those fields of the tiered rows that can change a score, in any order of the rows
        (form: docs/reference/scoring.md).
        """
        return f"{self.counts.digest:064x}"[:SHORT]

    def __str__(self) -> str:
        counts = self.counts
        parts = {
            "matcher": self.matcher,
            "lambda": f"{self.lambda_:g}",
            "standard": "" if self.standard == "aliases" else self.standard,
            "tiers": self.tiers_hash,
            "snapshot": self.snapshot,
            "prompts": self.prompts,
            "asked": self.asked,
            "n": str(self.n),
            "one-level": counts.one_level or "",
            "foreign": counts.foreign or "",
            "missing": f"{counts.missing}-unscored" if counts.missing else "",
            "unknown": f"{counts.unknown}-ignored" if counts.unknown else "",
            "bits": counts.bits or "",
            "boot": self.resamples,
            "seed": self.seed,
            "version": __version__,
        }
        return "|".join(f"{name}:{value}" for name, value in parts.items() if value != "")


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreReport:
    """The scores of one prediction file.

    `items` are in the order of the tiered file; none where only outcomes were to be kept. `overall` averages over
    questions (micro). `macro` averages over the relations' scores, each with the same weight, and is empty where no
    row names a relation.
    """

    system: str
    metrics: tuple[Metric, ...]
    items: ItemScores
    overall: GroupScore
    relations: Mapping[str, GroupScore]
    macro: Mapping[str, Estimate]
    signature: Signature

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of rows and predictions, of those rejected or unmatched, and of faults, if there are any."""
        names = ("rows", "rows_rejected", "predictions", "predictions_rejected", "missing", "unknown")
        counts = self.signature.counts
        return {name: getattr(counts, name) for name in (*names, *(["faults"] if counts.faults else []))}

    @property
    def laddered(self) -> int:
        """The number of questions with a ladder: a level besides that of the gold answer."""
        return self.questions - self.signature.counts.one_level

    @property
    def questions(self) -> int:
        """The number of questions, scored or not."""
        return self.overall.n + self.overall.unscored

    def to_pandas(self) -> Any:
        """A DataFrame of pandas with a row for each metric: value, ends of its 95 % interval, number of averaged
        items.
        """
        import pandas

        estimates = {metric.title: self.overall.estimates[metric.name] for metric in self.metrics}
        lines = [(e.value, e.interval.low, e.interval.high, e.n) for e in estimates.values()]
        return pandas.DataFrame(lines, index=list(estimates), columns=["value", "low", "high", "n"])

    def __str__(self) -> str:
        """The text for `print`: a line for each metric, and the signature."""
        lines = [f"{self.system}, {self.questions:,} questions"]
        for metric in self.metrics:
            score = self.overall.estimates[metric.name]
            ends = score.interval
            lines.append(f"{metric.title:<34} {score.value:>7.3f}  {ends.low:.3f}-{ends.high:.3f}  n {score.n:,}")
        return "\n".join([*lines, f"signature: {self.signature}"])

    def _repr_html_(self) -> str:
        """The scores as a notebook shows them."""
        rows = []
        for metric in self.metrics:
            score = self.overall.estimates[metric.name]
            cells = (f"{score.value:.3f}", f"{score.interval.low:.3f}-{score.interval.high:.3f}", str(score.n))
            rows.append(f"<tr><th>{escape(metric.title)}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
        head = "<tr><th></th><th>score</th><th>95 %</th><th>n</th></tr>"
        caption = f"<caption>{escape(self.system)}: {escape(str(self.signature))}</caption>"
        return f"<table>{caption}<thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"

    def to_json(self) -> dict[str, Any]:
        """The machine form, without the items."""
        return {
            "schema_version": 1,
            "system": self.system,
            "signature": str(self.signature),
            **self.overall.to_json(),
            "macro": {name: estimate.to_json() for name, estimate in self.macro.items()},
            "relations": {name: group.to_json() for name, group in self.relations.items()},
            "counts": self.counts,
            "definitions": {
                metric.name: {
                    "range": [end if math.isfinite(end) else None for end in metric.definition.range],
                    "better": metric.definition.better,
                    "source": metric.definition.source,
                }
                for metric in self.metrics
            },
        }


def score_item(
    row: TieredRow, prediction: Prediction | None, matcher: Matcher, lambda_: float, *, standard: Standard = "aliases"
) -> ItemScore:
    """The item of one prediction: the verdict, and its informativeness weight where it matched; `standard`: see
    `names_of`.

    The matcher reads the prediction in the language of the row, or its own where the row names none.
    """
    predictions = {} if prediction is None else {row.id: prediction}
    return next(score_items([row], predictions, matcher, ScoreSettings(lambda_=lambda_, standard=standard)))[1]


def score_items(
    rows: Iterable[TieredRow],
    predictions: Mapping[str, Prediction],
    matcher: Matcher,
    settings: ScoreSettings,
    *,
    on_reject: OnReject | None = None,
) -> Iterator[tuple[TieredRow, ItemScore]]:
    """All rows in their order, with their items; see `score_item`.

    A prediction whose matching fails by an error of the program goes to `on_reject`, and its item is unscored; without
    `on_reject` the error is raised.
    """
    standard = settings.standard_for(matcher)
    # Rows whose verdict has not come yet; worker processes take cases ahead of the verdicts.
    waiting: deque[tuple[TieredRow, Prediction | None]] = deque()

    def case(row: TieredRow, prediction: Prediction, names: Levels) -> MatchCase:
        return MatchCase(prediction=prediction.text, levels=names, question=row.question, language=language_of(row))

    def cases() -> Iterator[MatchCase]:
        for row in rows:
            prediction = predictions.get(row.id)
            waiting.append((row, prediction))
            if prediction is not None:
                yield case(row, prediction, names_of(row, standard))

    def leading_unscored() -> Iterator[tuple[TieredRow, ItemScore]]:
        while waiting and waiting[0][1] is None:
            row, _ = waiting.popleft()
            yield row, ItemScore(id=row.id, relation=row.relation, prediction=None)

    matched = partial(match_many, matcher, keep_faults=on_reject is not None)
    for verdict in matched(cases(), workers=settings.workers):
        yield from leading_unscored()
        row, prediction = waiting.popleft()
        assert prediction is not None  # `leading_unscored` removed the rows without one
        second: Verdict | Fault | None = None
        if isinstance(verdict, Verdict) and (
            names := _other_standard_names_if_decisive(row, prediction, verdict, matcher, standard)
        ):
            (second,) = matched([case(row, prediction, names)])  # one case, matched in this process
        fault = next((one for one in (verdict, second) if isinstance(one, Fault)), None)
        if fault is not None and on_reject is not None:
            on_reject(fault.rejected(source=prediction.source, id=row.id, text=prediction.text))
        yield row, _item_score(row, prediction, verdict, second, settings.lambda_)
    yield from leading_unscored()


def _item_score(
    row: TieredRow, prediction: Prediction, verdict: Verdict | Fault, second: Verdict | Fault | None, lambda_: float
) -> ItemScore:
    """The item of a verdict; unscored where the matching failed. `second` is the verdict by the other standard, None
    where it cannot differ.
    """
    if isinstance(verdict, Fault) or isinstance(second, Fault):
        return ItemScore(id=row.id, relation=row.relation, prediction=prediction.text)
    bits, share = bits_and_share_of_level(row.levels, verdict.level)
    other = ((second or verdict).level, (second or verdict).abstained)
    outcome = Outcome(
        level=verdict.level,
        abstained=verdict.abstained,
        bits=bits,
        share=share,
        other=None if other == (verdict.level, verdict.abstained) else Outcome(level=other[0], abstained=other[1]),
    )
    return ItemScore(
        id=row.id,
        relation=row.relation,
        prediction=prediction.text,
        verdict=verdict,
        weight=None if verdict.level is None else informativeness_weight(verdict.level, lambda_),
        outcome=outcome,
    )


def _other_standard_names_if_decisive(
    row: TieredRow, prediction: Prediction, verdict: Verdict, matcher: Matcher, standard: Standard
) -> Levels | None:
    """The names by the other `standard`, None where they cannot change the verdict.

    A judge is asked once, for both standards. Fewer names match no finer level, and more names no coarser one, so that
    most verdicts need no second matching.
    """
    # More names cannot change a match at level 1, fewer names cannot change another verdict.
    if (verdict.level == 1) == (standard == "gold") or isinstance(matcher, JudgeMatcher):
        return None
    # The match was with a gold answer itself, which the standards "gold" and "aliases" both accept.
    if standard == "aliases" and verdict.compared and verdict.compared.tier in row.answers:
        return None
    aliases = [name for name in row.levels[0].names() if name not in row.answers]
    if not aliases or (isinstance(matcher, F1Matcher) and squad.best_f1(prediction.text, aliases) <= matcher.tau):
        return None  # the verdicts on the other levels are known
    return names_of(row, "gold" if standard == "aliases" else "aliases")


def score(
    rows: Iterable[TieredRow] | TieredFile | Path | str,
    predictions: PredictionFile,
    matcher: Matcher,
    settings: ScoreSettings = USUAL,
    *,
    system: str | None = None,
    on_item: Callable[[ItemScore], object] | None = None,
    keep_items: bool = True,
    on_reject: OnReject | None = None,
) -> ScoreReport:
    """Score one prediction file against tiered rows, a tiered file, or the path of one.

    The run record of a file has the snapshot and the prompts of its ladders; for bare rows the signature has "unknown"
    unless a `TieredFile` names them. Predictions have the prompts that their model was asked with. `on_item` takes
    every item as soon as it is scored; where `keep_items` is False the report has outcomes alone. Ids of damaged lines
    (in `predictions.rejected`, or among the rejected rows of the file) are no error. `on_reject`: see `score_items`;
    the report counts such items as unscored, and under "faults". Raises PredictionError and, for a bad setting,
    MatcherError.
    """
    check_resamples(settings.resamples)
    standard = settings.standard_for(matcher)
    chosen = metrics(settings.lambda_, standard)
    file = read_tiered_file(rows) if isinstance(rows, str | Path) else rows
    if not isinstance(file, TieredFile):
        # rows are read twice: for ids, then scores
        file = TieredFile(rows=file if isinstance(file, Sequence) else list(file))
    counts = _count_rows(file, predictions, settings)
    items = ItemScores()

    def outcomes() -> Iterator[tuple[str | None, Outcome | None]]:
        # Items are written before aggregation, which needs only their outcomes.
        for row, item in score_items(file.rows, predictions.predictions, matcher, settings, on_reject=on_reject):
            counts.add(row, item)
            if on_item is not None:
                on_item(item)
            yield item.relation, items.add(item, keep=keep_items)

    overall, relations, macro = aggregate(outcomes(), chosen, resamples=settings.resamples, seed=settings.seed)
    return ScoreReport(
        system=system or predictions.name,
        metrics=chosen,
        items=items,
        overall=overall,
        relations=relations,
        macro=macro,
        signature=Signature(
            matcher=matcher.signature(),
            lambda_=settings.lambda_,
            standard=standard,
            snapshot=file.snapshot[:SHORT],
            n=overall.n,
            counts=counts,
            resamples=settings.resamples,
            seed=settings.seed,
            prompts=file.prompts,
            asked=predictions.asked,
        ),
    )


def _count_rows(file: TieredFile, predictions: PredictionFile, settings: ScoreSettings) -> RowCounts:
    """The numbers of rows and predictions, rejected ones and those without a counterpart; PredictionError where these
    are not allowed.
    """
    ids = file.rows.ids if isinstance(file.rows, PackedRows) else [row.id for row in file.rows]
    known = set(ids)
    missing = [id_ for id_ in ids if id_ not in predictions.predictions]
    unknown = [id_ for id_ in predictions.predictions if id_ not in known]
    # Damaged lines explain as many missing ids: by their own id, or one each where it is unreadable.
    lost = [id_ for id_ in missing if id_ not in predictions.rejected_ids]
    nameless = len(predictions.rejected) - len(predictions.rejected_ids)
    faults = []
    if len(lost) > nameless and not settings.allow_missing:
        faults.append(
            f"{len(lost)} of {len(ids)} questions have no prediction ({_shown_ids(lost)}); "
            "predict them, or give --allow-missing (in Python allow_missing=True) to leave them unscored"
        )
    # Predictions for rejected rows of the tiered file are expected to be unknown.
    if len(unknown) > len(file.rejected) and not settings.allow_missing:
        faults.append(
            f"{len(unknown)} of {len(predictions.predictions)} predictions are for unknown ids "
            f"({_shown_ids(unknown)}); score them against their own tiered file, or give --allow-missing (in Python "
            "allow_missing=True) to leave them out"
        )
    # No id fits at all: the ids probably come from another field.
    if faults and len(missing) == len(ids):
        faults.append("--id-field names the field with the questions' ids, --join question joins by their words")
    if faults:
        raise PredictionError(f"{predictions.name}: " + "; ".join(faults))
    return RowCounts(
        rows=len(file.rows),
        rows_rejected=len(file.rejected),
        predictions=len(predictions.predictions),
        predictions_rejected=len(predictions.rejected),
        missing=len(missing),
        unknown=len(unknown),
    )


def _shown_ids(ids: Sequence[str]) -> str:
    shown = ", ".join(json.dumps(id_, ensure_ascii=False) for id_ in ids[:SHOWN_IDS])
    return shown + (", ..." if len(ids) > SHOWN_IDS else "")
