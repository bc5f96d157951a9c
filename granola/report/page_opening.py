"""How the page opens: one sentence, one ladder with what the systems said, and three scores."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from abstraction.rows import TieredRow
from granola.report.ladder_html import gold, ladder
from granola.report.page_tables import stacked_table
from granola.report.question_list import shown_places
from granola.report.score_tables import interval, number
from granola.scoring.aggregation import Estimate
from granola.scoring.items import ItemScore
from granola.scoring.scores import ScoreReport

HEADLINES = {
    "standard_accuracy": "the share of the questions that are answered right at level 1, the gold answer",
    "granola_accuracy": "the share of the questions that are answered right at any level",
    "informativeness": "how fine the right answers are: 1 for level 1, less for each coarser level, 0 for wrong "
    "answers and for none",
}
_BITS = (
    '<p class="soft">A bar shows how much its level tells, in bits: one bit less, and twice as many answers fit.</p>'
)
_DEEPEST = 5  # levels of the ladder that is drawn
_LONGEST = 90  # characters of its question, and of a prediction beside it


def lead(rows: Sequence[TieredRow], reports: Sequence[ScoreReport]) -> str:
    """Who answered how many questions, and how many of these have a ladder."""
    laddered = sum(len(row.levels) > 1 for row in rows)
    systems = _listed([f"<b>{escape(report.system)}</b>" for report in reports])
    return (
        f"{systems} answered {len(rows):,} question{'' if len(rows) == 1 else 's'}. <b>{laddered:,}</b> of them "
        f"{'has' if laddered == 1 else 'have'} a ladder: the gold answer at level 1, then coarser answers that are "
        "right as well. The scores are those of Yona, Aharoni and Geva (2024), “Narrowing the Knowledge Evaluation "
        "Gap”, called “the paper” below."
    )


def _listed(names: Sequence[str]) -> str:
    if len(names) > 4:
        return f"{len(names)} systems"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def opening(rows: Sequence[TieredRow], reports: Sequence[ScoreReport]) -> str:
    """Of the questions on the page, the ladder that shows best how the systems differ, with their predictions.

    Nothing where no row has a ladder.
    """
    best = max(shown_places(len(rows)), key=lambda index: _shows(rows[index], reports, index), default=None)
    if best is None or len(rows[best].levels) == 1:
        return ""
    row = rows[best]
    scored = [(report.system, report.items[best]) for report in reports]
    return (
        f'<figure class="drawn"><figcaption><b>{escape(row.question)}</b> Gold answer: '
        f"<b>{escape(gold(row))}</b></figcaption>{ladder(row, scored, bars=True)}"
        f"{_elsewhere(scored)}{_BITS if any(level.tiers[0].bits is not None for level in row.levels) else ''}</figure>"
    )


def _shows(row: TieredRow, reports: Sequence[ScoreReport], index: int) -> tuple[int, int, int, int, int]:
    """How well a row shows what ladders are for: systems at different levels, none wrong, some levels, few words."""
    if not 2 <= len(row.levels) <= _DEEPEST or len(row.question) > _LONGEST:
        return (-1, 0, 0, 0, -len(row.question))
    items = [report.items[index] for report in reports]
    levels = {item.verdict.level for item in items if item.verdict and item.verdict.level}
    matched = sum(item.status == "matched" for item in items)
    brief = sum(len(item.prediction or "") <= _LONGEST for item in items)
    alone = sum(len(level.tiers) == 1 for level in row.levels)
    return (len(levels) + (1 in levels), matched, brief, alone, -len(row.question))


def _elsewhere(scored: Sequence[tuple[str, ItemScore]]) -> str:
    """What the systems said that matches no level."""
    others = [(system, item) for system, item in scored if item.status != "matched" and item.prediction]
    return "".join(
        f'<p class="soft"><b>{escape(system)}</b> said <q>{escape(_cut(item.prediction or ""))}</q>, which '
        f"{'declines to answer' if item.status == 'abstained' else 'matches no level'}.</p>"
        for system, item in others
    )


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def headlines(reports: Sequence[ScoreReport]) -> str:
    """Three scores of every system with their intervals, and what they are."""

    def cell(estimate: Estimate) -> str:
        return f"<b>{number(estimate.value)}</b><small>{interval(estimate)}</small>"

    if not reports:
        return ""
    titles = {metric.name: metric.title for metric in reports[0].metrics}
    rows = [
        ("", [escape(report.system), *(cell(report.overall.estimates[name]) for name in HEADLINES)])
        for report in reports
    ]
    meanings = "".join(f"<li><b>{escape(titles[name])}</b>: {words}.</li>" for name, words in HEADLINES.items())
    return (
        f'<div class="headlines">{stacked_table(["system", *(titles[name] for name in HEADLINES)], rows)}</div>'
        f'<ul class="soft meanings">{meanings}<li>The small figures are 95 % intervals: how far a score would move '
        "with other questions of the same kind.</li></ul>"
    )
