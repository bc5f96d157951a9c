"""The one-file HTML page: a ladder, the scores, figures where they are drawn, and every question.

It asks the network for nothing, works without scripts, and shows every text of rows and predictions as text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from abstraction.base.properties import titled
from abstraction.files.rows import TieredRow
from granola import __version__
from granola.report.question_list import (
    LONGEST,
    MOST,
    MOST_LADDERS,
    gold,
    matched_levels,
    question_views,
    shorten_prediction,
    shown_places,
)
from granola.report.score_tables import Table, distribution_table, interval, number
from granola.report.templates import page_file, render_page
from granola.scoring.aggregation import NO_RELATION
from granola.scoring.predictions import SystemAnswer
from granola.scoring.scores import ScoreReport

if TYPE_CHECKING:
    from granola.report.figures import DrawnFigure

# The first three rows of the table of scores.
HEADLINES = {
    "standard_accuracy": "the share of the questions that are answered right at level 1, the gold answer",
    "granola_accuracy": "the share of the questions that are answered right at any level",
    "informativeness": "how fine the right answers are: 1 for level 1, less for each coarser level, 0 for wrong "
    "answers and for none",
}
_DEEPEST = 5  # levels at most of the drawn ladder
_PAPER = "Yona et al. 2024"


def _drawn_ladder(rows: Sequence[TieredRow], reports: Sequence[ScoreReport]) -> dict[str, Any] | None:
    """The ladder, of those on the page, that best shows how the systems differ, with their predictions.

    None where no row has a ladder. `elsewhere` lists system, prediction and reason where no level matches.
    """

    def rank(index: int) -> tuple[bool, int, int, int]:
        """Higher is better: systems at different levels, none wrong, few words; not too flat, deep or long."""
        row, items = rows[index], [report.items[index] for report in reports]
        levels = {item.verdict.level for item in items if item.verdict and item.verdict.level}
        fits = 2 <= len(row.levels) <= _DEEPEST and len(row.question) <= LONGEST
        # The finest level counts twice.
        matched = sum(item.status == "matched" for item in items)
        return fits, len(levels) + (1 in levels), matched, -len(row.question)

    best = max(shown_places(len(rows)), key=rank, default=None)
    if best is None or len(rows[best].levels) == 1:
        return None
    scored = [(report.system, report.items[best]) for report in reports]
    elsewhere = [
        (
            system,
            shorten_prediction(item.prediction),
            "declines to answer" if item.status == "abstained" else "matches no level",
        )
        for system, item in scored
        if item.status != "matched" and item.prediction
    ]
    return {"row": rows[best], "gold": gold(rows[best]), "matched": matched_levels(scored), "elsewhere": elsewhere}


def metrics_table(reports: Sequence[ScoreReport]) -> Table:
    """A row for each metric, those of HEADLINES first: its definition, and the score of every system with interval and
    number of questions.
    """
    metrics = {metric.name: metric for metric in reports[0].metrics}
    rows = []
    for name in dict.fromkeys([*HEADLINES, *metrics]):
        source = metrics[name].definition.source.replace(_PAPER, "the paper")
        words = f"{HEADLINES[name]}; {source}" if name in HEADLINES else source
        scores = (report.overall.estimates[name] for report in reports)
        cells = (f"{number(one.value)}\n{interval(one)}, n {one.n:,}" for one in scores)
        rows.append((f"{metrics[name].title}\n{words}", *cells))
    return Table(
        name="metrics",
        title="Scores",
        caption="Small figures: the 95 % bootstrap interval over questions, and n, the questions counted.",
        head=("metric", *(report.system for report in reports)),
        rows=tuple(rows),
    )


def render(
    rows: Sequence[TieredRow],
    reports: Sequence[ScoreReport],
    snapshot: str | None = None,
    *,
    title: str = "GRANOLA ladders and scores",
    figures: Sequence[DrawnFigure] = (),
    tables: Sequence[Table] = (),
    files_of_tables: Sequence[str] = (),
    made_of: Mapping[str, Mapping[str, Sequence[SystemAnswer]]] | None = None,
) -> str:
    """The page for tiered rows and one or more reports on them; the same input gives the same bytes.

    Each report's items are those of `rows`, in that order (ValueError where not). `snapshot` is its id, for the footer.
    `figures`, `tables` and the files of tables that the page does not show are what `granola.report.figures` makes.
    `made_of`: see `question_views`.
    """
    for report in reports:
        # Items and rows are joined by their place below.
        if report.items.ids != [row.id for row in rows]:
            raise ValueError(f"report {report.system!r} is not on these rows; score the same tiered file")
    script = page_file("report.js").decode()
    places = shown_places(len(rows), MOST if reports else MOST_LADDERS)
    known = sorted({rows[index].relation or NO_RELATION for index in places}, key=_relation_order)
    return render_page(
        "report",
        title=title,
        style=Markup(page_file("shared.css").decode()),
        script=Markup(script),
        # The security policy of the page allows this script and no other.
        script_hash="sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        reports=reports,
        count=len(rows),
        laddered=sum(len(row.levels) > 1 for row in rows),
        drawn=_drawn_ladder(rows, reports),
        metrics=metrics_table(reports) if reports else None,
        distribution=distribution_table(reports) if reports else None,
        figures=figures,
        tables=tables,
        files_of_tables=files_of_tables,
        relation_names=[(name, titled(name)) for name in known],
        shown_count=len(places),
        questions=question_views(rows, reports, made_of),
        version=__version__,
        snapshot=snapshot,
    )


def _relation_order(name: str) -> tuple[int, str]:
    # P19 before P112; names that are no property last.
    digits = name[1:]
    return (int(digits) if digits.isdigit() and len(digits) < 20 else 1 << 40, name)
