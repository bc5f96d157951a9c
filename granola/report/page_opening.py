"""How the page opens: who answered, one ladder with what the systems said, and three scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from abstraction.rows import TieredRow
from granola.report.ladder_view import LONGEST, LadderView, cut, gold, view_ladder
from granola.report.page_tables import PageTable, TableCell, TableRow
from granola.report.question_list import shown_places
from granola.report.score_tables import interval, number
from granola.scoring.scores import ScoreReport

HEADLINES = {
    "standard_accuracy": "the share of the questions that are answered right at level 1, the gold answer",
    "granola_accuracy": "the share of the questions that are answered right at any level",
    "informativeness": "how fine the right answers are: 1 for level 1, less for each coarser level, 0 for wrong "
    "answers and for none",
}
_DEEPEST = 5  # levels of the ladder that is drawn


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnLadder:
    """The ladder that the page opens on. `elsewhere` has a system, what it said that matches no level, and why."""

    question: str
    gold: str
    ladder: LadderView
    elsewhere: Sequence[tuple[str, str, str]]


def opening(rows: Sequence[TieredRow], reports: Sequence[ScoreReport]) -> DrawnLadder | None:
    """Of the questions on the page, the ladder that shows best how the systems differ, with their predictions.

    None where no row has a ladder.
    """
    best = max(shown_places(len(rows)), key=lambda index: _shows(rows[index], reports, index), default=None)
    if best is None or len(rows[best].levels) == 1:
        return None
    row = rows[best]
    scored = [(report.system, report.items[best]) for report in reports]
    return DrawnLadder(
        question=row.question,
        gold=gold(row),
        ladder=view_ladder(row, scored),
        elsewhere=[
            (system, cut(item.prediction), "declines to answer" if item.status == "abstained" else "matches no level")
            for system, item in scored
            if item.status != "matched" and item.prediction
        ],
    )


def _shows(row: TieredRow, reports: Sequence[ScoreReport], index: int) -> tuple[int, int, int, int, int]:
    """How well a row shows what ladders are for: systems at different levels, none wrong, some levels, few words."""
    if not 2 <= len(row.levels) <= _DEEPEST or len(row.question) > LONGEST:
        return (-1, 0, 0, 0, -len(row.question))
    items = [report.items[index] for report in reports]
    levels = {item.verdict.level for item in items if item.verdict and item.verdict.level}
    matched = sum(item.status == "matched" for item in items)
    brief = sum(len(item.prediction or "") <= LONGEST for item in items)
    alone = sum(len(level.tiers) == 1 for level in row.levels)
    return (len(levels) + (1 in levels), matched, brief, alone, -len(row.question))


def headlines(reports: Sequence[ScoreReport]) -> PageTable:
    """Three scores of every system with their intervals."""
    titles = {metric.name: metric.title for metric in reports[0].metrics}
    return PageTable(
        head=["system", *(titles[name] for name in HEADLINES)],
        rows=[
            TableRow(
                cells=[
                    TableCell(text=report.system),
                    *(
                        TableCell(text=number(score.value), small=interval(score), is_strong=True)
                        for score in (report.overall.estimates[name] for name in HEADLINES)
                    ),
                ]
            )
            for report in reports
        ],
    )


def meanings(reports: Sequence[ScoreReport]) -> list[tuple[str, str]]:
    """The titles of the three scores, each with what it is."""
    titles = {metric.name: metric.title for metric in reports[0].metrics}
    return [(titles[name], words) for name, words in HEADLINES.items()]
