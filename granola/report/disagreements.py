"""Disagreements for reading one by one: answers that are wrong by the gold answer, right at a coarser level."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from heapq import nsmallest

from abstraction.files.rows import TieredRow
from granola.matching import squad
from granola.report.plain_table import Table, Value
from granola.scoring.items import ItemScore, names_of
from granola.scoring.predictions import PredictionFile
from granola.scoring.scores import ScoreReport

EXAMPLES = 8  # rows of the table for each system


def coarse_answers(
    rows: Sequence[TieredRow],
    reports: Sequence[ScoreReport],
    files: Sequence[PredictionFile],
    score: str | None = None,
) -> Table:
    """Answers that match a coarser level than the gold answer, in the form of the paper's Table 9.

    Chosen are those with the lowest token-F1 with the gold answer and the highest with the matched tier, in ascending
    order of the score `score` in the predictions (the paper takes BLEURT), or of the F1 with the gold answer where
    none is named. Many answers often have the same pair of F1; of those, the ones with the least score are chosen.
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
    """The rows of the table for one system."""
    best: list[tuple[float, float, int]] = []
    for index, (row, item) in enumerate(zip(rows, report.items, strict=True)):
        if item.verdict is not None and (item.verdict.level or 0) > 1:
            gold, tier = _both_f1(row, item, report)
            value = _named_score(file, item, by)
            # Lowest F1 with the gold answer and highest with the tier first; NaN scores last.
            best.append((gold - tier, math.inf if math.isnan(value) else value, index))
    for _, _, index in nsmallest(EXAMPLES, best):
        row, item = rows[index], report.items[index]
        assert item.verdict is not None
        states = item.verdict.compared.tier if item.verdict.compared else ""
        scores = _named_score(file, item, by), *_both_f1(row, item, report)
        asked = row.question, row.answers[0], item.prediction or ""
        yield (report.system, *asked, states, item.verdict.level or 0, *scores)


def _named_score(file: PredictionFile, item: ItemScore, by: str | None) -> float:
    """The score `by` of the prediction of an item; NaN where it has none."""
    return file.predictions[item.id].scores.get(by, math.nan) if by else math.nan


def _both_f1(row: TieredRow, item: ItemScore, report: ScoreReport) -> tuple[float, float]:
    """Return (token-F1 with the names of level 1, token-F1 with the names of the matched level)."""
    assert item.verdict is not None
    assert item.verdict.level is not None
    text, names = item.prediction or "", names_of(row, report.signature.standard)
    return squad.best_f1(text, names[0]), squad.best_f1(text, names[item.verdict.level - 1])
