"""Answers worth reading one by one: where judging by the gold answer, another matcher or another metric disagrees."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from heapq import nlargest, nsmallest
from itertools import islice
from random import Random

from abstraction.rows import TieredRow
from granola.matching import F1Matcher, Matcher, RulesMatcher, Verdict, in_language, squad
from granola.report.plain_table import Table, Value
from granola.scoring.items import ItemScore, language_of, names_of
from granola.scoring.predictions import PredictionFile
from granola.scoring.scores import ScoreReport

EXAMPLES = 8
_JudgedRow = tuple[TieredRow, ItemScore, Verdict]


def coarse_answers(
    rows: Sequence[TieredRow],
    reports: Sequence[ScoreReport],
    files: Sequence[PredictionFile],
    score: str | None = None,
) -> Table:
    """Answers that match a coarser level than the gold answer, laid out as the paper's Table 9.

    Those whose token-F1 is lowest with the gold answer and highest with the matched tier, ordered by the score of that
    name (or BLEURT, where it is named), least first; by the F1 with the gold answer where there is none. Of
    many that are alike in both F1, which is common, those of the least score are shown.
    """
    carried = sorted({name for file in files for prediction in file.predictions.values() for name in prediction.scores})
    by = score or next((name for name in carried if name.casefold().startswith("bleurt")), None)
    lines: list[tuple[Value, ...]] = []
    for report, file in zip(reports, files, strict=True):
        lines_of_system = _coarse_of(rows, report, file, by)
        lines += sorted(lines_of_system, key=lambda line: (math.isnan(line[6]), line[6], line[7]))  # type: ignore[arg-type]  # numbers
    caption = f"Up to {EXAMPLES} a system: low token-F1 with the gold answer, high with the tier (as Table 9)."
    return Table(
        name="coarse-answers",
        title="Wrong by the standard, right at a coarser level",
        caption=f"{caption} Ordered by {by}, least first." if by else f"{caption} Ordered by the first.",
        head=("system", "question", "gold answer", "candidate", "matched tier", "level", by or "score", "F1, gold",
              "F1, tier"),
        rows=tuple(lines),
    )  # fmt: skip


def _coarse_of(
    rows: Sequence[TieredRow], report: ScoreReport, file: PredictionFile, by: str | None
) -> Iterator[tuple[Value, ...]]:
    """The table's rows of one system."""
    best: list[tuple[float, float, int]] = []
    for index, (row, item) in enumerate(zip(rows, report.items, strict=True)):
        if item.verdict is not None and (item.verdict.level or 0) > 1:
            gold, tier = _both_f1(row, item, report)
            value = _carried(file, item, by)
            best.append((gold - tier, math.inf if math.isnan(value) else value, index))
    for _, _, index in nsmallest(EXAMPLES, best):
        row, item = rows[index], report.items[index]
        assert item.verdict is not None
        states = item.verdict.compared.tier if item.verdict.compared else ""
        scores = _carried(file, item, by), *_both_f1(row, item, report)
        yield (report.system, *_asked(row, item), states, item.verdict.level or 0, *scores)


def _carried(file: PredictionFile, item: ItemScore, by: str | None) -> float:
    """The score of that name which a prediction carries; NaN where it carries none."""
    return file.predictions[item.id].scores.get(by, math.nan) if by else math.nan


def _both_f1(row: TieredRow, item: ItemScore, report: ScoreReport) -> tuple[float, float]:
    """Token-F1 of the answer with the names of level 1, and with those of the level that it matched."""
    assert item.verdict is not None
    assert item.verdict.level is not None
    text, names = item.prediction or "", names_of(row, report.signature.standard)
    return squad.best_f1(text, names[0]), squad.best_f1(text, names[item.verdict.level - 1])


def other_matcher(rows: Sequence[TieredRow], reports: Sequence[ScoreReport], matcher: str, seed: int) -> Table:
    """Answers that the matcher called `matcher` and another one, token-F1 or the rules, hold for another level."""
    other: Matcher = RulesMatcher() if matcher == "f1" else F1Matcher()
    return Table(
        name="matchers",
        title=f"Where {matcher} and {other.name} disagree",
        caption=f"Up to {EXAMPLES} a system, drawn by the seed: the level that each finds, and the rule of {matcher}.",
        head=("system", "question", "gold answer", "prediction", matcher, other.name, "rule"),
        rows=tuple(
            (report.system, *_asked(row, item), *map(_level, (verdict, second)), verdict.rule)
            for report in reports
            for row, item, verdict, second in islice(_disagreeing(rows, report, other, f"{seed}:matchers"), EXAMPLES)
        ),
    )


def other_metrics(rows: Sequence[TieredRow], reports: Sequence[ScoreReport], files: Sequence[PredictionFile]) -> Table:
    """For every score that predictions carry: the highest where no level matches, and the lowest where one does."""
    lines: list[tuple[Value, ...]] = []
    for report, file in zip(reports, files, strict=True):
        judged = {
            item.id: (row, item, item.verdict)
            for row, item in zip(rows, report.items, strict=True)
            if item.verdict is not None and not item.verdict.abstained
        }
        names = sorted({name for id_ in judged for name in file.predictions[id_].scores})
        for name in names:
            scored = [(score, id_) for id_ in judged if (score := file.predictions[id_].scores.get(name)) is not None]
            wrong = [(score, id_) for score, id_ in scored if judged[id_][2].level is None]
            right = [(score, id_) for score, id_ in scored if judged[id_][2].level is not None]
            for score, id_ in [*nlargest(EXAMPLES // 2, wrong), *nsmallest(EXAMPLES // 2, right)]:
                row, item, verdict = judged[id_]
                lines.append((report.system, name, score, *_asked(row, item), _level(verdict)))
    return Table(
        name="other-metric-examples",
        title="Where another metric disagrees",
        caption=f"The {EXAMPLES // 2} highest scores of answers that match no level, and the lowest of those that do.",
        head=("system", "score", "value", "question", "gold answer", "prediction", "level"),
        rows=tuple(lines),
    )


def _drawn(rows: Sequence[TieredRow], report: ScoreReport, seed: str) -> Iterator[_JudgedRow]:
    """The questions that have a verdict, in an order drawn by the seed."""
    order = list(range(len(rows)))
    Random(f"{seed}:{report.system}").shuffle(order)
    for index in order:
        item = report.items[index]
        if item.verdict is not None:
            yield rows[index], item, item.verdict


def _disagreeing(
    rows: Sequence[TieredRow], report: ScoreReport, other: Matcher, seed: str
) -> Iterator[tuple[TieredRow, ItemScore, Verdict, Verdict]]:
    for row, item, verdict in _drawn(rows, report, seed):
        reading = in_language(other, language_of(row) or "en")
        second = reading.match(item.prediction or "", names_of(row, report.signature.standard), row.question)
        if second.level != verdict.level:
            yield row, item, verdict, second


def _asked(row: TieredRow, item: ItemScore) -> tuple[str, str, str]:
    return row.question, row.answers[0], item.prediction or ""


def _level(verdict: Verdict) -> str:
    return "IDK" if verdict.abstained else str(verdict.level or "wrong")
