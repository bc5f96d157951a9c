"""Answers worth reading one by one: wrong by the gold answer, right at a coarser level."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from heapq import nsmallest

from abstraction.rows import TieredRow
from granola.matching import squad
from granola.report.plain_table import Table, Value
from granola.scoring.items import ItemScore, names_of
from granola.scoring.predictions import PredictionFile
from granola.scoring.scores import ScoreReport

EXAMPLES = 8


def coarse_answers(
    rows: Sequence[TieredRow],
    reports: Sequence[ScoreReport],
    files: Sequence[PredictionFile],
    score: str | None = None,
) -> Table:
    """Answers that match a coarser level than the gold answer, laid out as the paper's Table 9.

    Those whose token-F1 is lowest with the gold answer and highest with the matched tier, ordered by the number of that
    name in the predictions (the paper takes BLEURT), least first; by the F1 with the gold answer where none is named.
    Of many that are alike in both F1, which is common, those of the least number are shown.
    """
    lines: list[tuple[Value, ...]] = []
    for report, file in zip(reports, files, strict=True):
        lines_of_system = _coarse_rows(rows, report, file, score)
        lines += sorted(lines_of_system, key=lambda line: (math.isnan(line[6]), line[6], line[7]))  # type: ignore[arg-type]  # numbers
    caption = f"Up to {EXAMPLES} a system: low token-F1 with the gold answer, high with the tier (as Table 9)."
    return Table(
        name="coarse-answers",
        title="Wrong by the standard, right at a coarser level",
        caption=f"{caption} Ordered by {score}, least first." if score else f"{caption} Ordered by the first.",
        head=("system", "question", "gold answer", "candidate", "matched tier", "level", score or "score", "F1, gold",
              "F1, tier"),
        rows=tuple(lines),
    )  # fmt: skip


def _coarse_rows(
    rows: Sequence[TieredRow], report: ScoreReport, file: PredictionFile, by: str | None
) -> Iterator[tuple[Value, ...]]:
    """The table's rows of one system."""
    best: list[tuple[float, float, int]] = []
    for index, (row, item) in enumerate(zip(rows, report.items, strict=True)):
        if item.verdict is not None and (item.verdict.level or 0) > 1:
            gold, tier = _both_f1(row, item, report)
            value = _named_score(file, item, by)
            best.append((gold - tier, math.inf if math.isnan(value) else value, index))
    for _, _, index in nsmallest(EXAMPLES, best):
        row, item = rows[index], report.items[index]
        assert item.verdict is not None
        states = item.verdict.compared.tier if item.verdict.compared else ""
        scores = _named_score(file, item, by), *_both_f1(row, item, report)
        asked = row.question, row.answers[0], item.prediction or ""
        yield (report.system, *asked, states, item.verdict.level or 0, *scores)


def _named_score(file: PredictionFile, item: ItemScore, by: str | None) -> float:
    """The score of that name which a prediction carries; NaN where it carries none."""
    return file.predictions[item.id].scores.get(by, math.nan) if by else math.nan


def _both_f1(row: TieredRow, item: ItemScore, report: ScoreReport) -> tuple[float, float]:
    """Token-F1 of the answer with the names of level 1, and with those of the level that it matched."""
    assert item.verdict is not None
    assert item.verdict.level is not None
    text, names = item.prediction or "", names_of(row, report.signature.standard)
    return squad.best_f1(text, names[0]), squad.best_f1(text, names[item.verdict.level - 1])
