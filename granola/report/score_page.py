"""The one-file HTML page: a ladder, the scores, figures where they are drawn, and every question.

It asks the network for nothing, works without scripts, and shows every text of rows and predictions as text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from abstraction.base.properties import titled
from abstraction.files.rows import TieredRow
from granola import __version__
from granola.report.ladder_view import LONGEST, LadderView, gold, shorten_prediction, view_ladder
from granola.report.question_list import MOST, MOST_LADDERS, question_views, shown_places
from granola.report.score_tables import (
    SHORT_TITLES,
    distribution_columns,
    interval,
    number,
    relation_lines,
    share,
)
from granola.report.templates import page_file, render_page
from granola.scoring.aggregation import NO_RELATION, Estimate
from granola.scoring.predictions import SystemAnswer
from granola.scoring.scores import ScoreReport

# The top of the page: the systems, one ladder with their predictions, and three scores.

HEADLINES = {
    "standard_accuracy": "the share of the questions that are answered right at level 1, the gold answer",
    "granola_accuracy": "the share of the questions that are answered right at any level",
    "informativeness": "how fine the right answers are: 1 for level 1, less for each coarser level, 0 for wrong "
    "answers and for none",
}
_DEEPEST = 5  # levels at most of the drawn ladder


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnLadder:
    """The ladder at the top of the page. `elsewhere` lists system, prediction and reason where no level matches."""

    question: str
    gold: str
    ladder: LadderView
    elsewhere: Sequence[tuple[str, str, str]]


def most_telling_ladder(rows: Sequence[TieredRow], reports: Sequence[ScoreReport]) -> DrawnLadder | None:
    """The ladder, of those on the page, that best shows how the systems differ, with their predictions.

    None where no row has a ladder.
    """
    best = max(shown_places(len(rows)), key=lambda index: _showing_rank(rows[index], reports, index), default=None)
    if best is None or len(rows[best].levels) == 1:
        return None
    row = rows[best]
    scored = [(report.system, report.items[best]) for report in reports]
    return DrawnLadder(
        question=row.question,
        gold=gold(row),
        ladder=view_ladder(row, scored),
        elsewhere=[
            (
                system,
                shorten_prediction(item.prediction),
                "declines to answer" if item.status == "abstained" else "matches no level",
            )
            for system, item in scored
            if item.status != "matched" and item.prediction
        ],
    )


def _showing_rank(row: TieredRow, reports: Sequence[ScoreReport], index: int) -> tuple[int, int, int, int, int]:
    """Rank of a row as an example, higher is better: systems at different levels, none wrong, several levels, few
    words.
    """
    # Too flat or too deep a ladder, or a long question, is a poor example.
    if not 2 <= len(row.levels) <= _DEEPEST or len(row.question) > LONGEST:
        return (-1, 0, 0, 0, -len(row.question))
    items = [report.items[index] for report in reports]
    levels = {item.verdict.level for item in items if item.verdict and item.verdict.level}
    matched = sum(item.status == "matched" for item in items)
    brief = sum(len(item.prediction or "") <= LONGEST for item in items)
    alone = sum(len(level.tiers) == 1 for level in row.levels)
    # In order of importance; the finest level counts twice.
    return (len(levels) + (1 in levels), matched, brief, alone, -len(row.question))


def headlines(reports: Sequence[ScoreReport]) -> PageTable:
    """Three scores of every system with their intervals."""
    titles = {metric.name: metric.title for metric in reports[0].metrics}
    rows = [
        TableRow(cells=[*text_cells(report.system), *score_cells(report.overall.estimates, HEADLINES, is_strong=True)])
        for report in reports
    ]
    return PageTable(head=["system", *(titles[name] for name in HEADLINES)], rows=rows)


def headline_definitions(reports: Sequence[ScoreReport]) -> list[tuple[str, str]]:
    """The titles of the three scores, each with its definition."""
    titles = {metric.name: metric.title for metric in reports[0].metrics}
    return [(titles[name], words) for name, words in HEADLINES.items()]


# The parts of the page on scores: every metric, the distribution over levels, relations.

_PAPER = "Yona et al. 2024"


@dataclass(frozen=True, kw_only=True, slots=True)
class DistributionPart:
    """The number of answers at one level, wrong or declining; `shade` is its class in the style."""

    shade: str
    words: str
    count: int
    share: str


def every_metric(reports: Sequence[ScoreReport]) -> PageTable:
    """A row for each metric: its definition in words, and the score of every system with interval and number of
    questions.
    """
    return PageTable(
        head=["metric", *(report.system for report in reports)],
        rows=[
            TableRow(
                cells=[
                    TableCell(text=metric.title, small=metric.source.replace(_PAPER, "the paper")),
                    *(
                        TableCell(text=number(score.value), small=interval(score), n=score.n)
                        for score in (report.overall.estimates[metric.name] for report in reports)
                    ),
                ]
            )
            for metric in reports[0].metrics
        ],
    )


def distributions(reports: Sequence[ScoreReport]) -> list[tuple[str, list[DistributionPart]]]:
    """By system, the numbers of answers at each level, wrong and declining; without zeros."""
    columns = distribution_columns(reports) if reports else []
    return [
        (
            report.system,
            [
                DistributionPart(
                    # The style has six shades of levels.
                    shade=f"s{min(int(column), 6)}" if column.isdigit() else column,
                    words=f"level {column}" if column.isdigit() else column,
                    count=count,
                    share=share(count, report.questions),
                )
                for column in columns
                if (count := report.overall.distribution.get(column, 0))
            ],
        )
        for report in reports
    ]


def relations(report: ScoreReport) -> PageTable:
    """A row for each relation, and the means over relations and over questions; rows of few questions are grey."""
    rows = []
    for line in relation_lines(report):
        # A mean over few questions is printed in grey.
        kind = "few" if line.kind == "others" or is_few(line.n) else ""
        kind = "total" if line.kind in _MEANS else kind
        blank = text_cells(*[""] * len(SHORT_TITLES))
        scores = score_cells(line.estimates, SHORT_TITLES) if line.estimates else blank
        cells = [*text_cells(_MEANS.get(line.kind, line.name), str(line.n)), *scores]
        rows.append(TableRow(kind=kind, cells=cells))
    return PageTable(head=["relation", "n", *SHORT_TITLES.values()], rows=rows)


_MEANS = {
    "macro": "mean of the relations (macro; n counts relations)",
    "micro": "mean of the questions (micro)",
}


# Tables of the page: on a phone every row becomes a block, with the name of the column before each figure.

FEW = 20  # questions; the 95 % interval of a share of 0.5 is then 0.44 wide


@dataclass(frozen=True, kw_only=True, slots=True)
class TableCell:
    """A number or a text; `small` is printed below it, with the count `n` where there is one. `wraps` breaks long
    lines.
    """

    text: str
    small: str = ""
    n: int | None = None
    is_strong: bool = False
    wraps: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class TableRow:
    """Cells, the first of which names the row. `kind` is `few` for a row of few questions, or `total`."""

    cells: Sequence[TableCell]
    kind: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class PageTable:
    """Names of columns, and rows of as many cells."""

    head: Sequence[str]
    rows: Sequence[TableRow]

    def note(self) -> str:
        """The meaning of grey rows; empty where there are none."""
        if all(row.kind != "few" for row in self.rows):
            return ""
        return f"Grey rows have fewer than {FEW} questions: one question more or less moves them by 5 points or more."


def text_cells(*cells: str) -> list[TableCell]:
    """Cells of text alone."""
    return [TableCell(text=cell) for cell in cells]


def score_cells(
    estimates: Mapping[str, Estimate], metrics: Iterable[str], *, is_strong: bool = False
) -> list[TableCell]:
    """A cell with its interval for each of the metrics."""
    scores = (estimates[name] for name in metrics)
    return [TableCell(text=number(e.value), small=interval(e), is_strong=is_strong) for e in scores]


def is_few(n: int) -> bool:
    """Whether `n` questions are too few for a meaningful mean."""
    return n < FEW


# The page.


@dataclass(frozen=True, kw_only=True, slots=True)
class PageFigure:
    """A figure as SVG for the page."""

    title: str
    caption: str
    svg: Markup


@dataclass(frozen=True, kw_only=True, slots=True)
class PageTableFile:
    """A table that is also written to a file."""

    title: str
    caption: str
    file: str
    table: PageTable


def render(
    rows: Sequence[TieredRow],
    reports: Sequence[ScoreReport],
    manifest: Mapping[str, Any] | None = None,
    *,
    title: str = "GRANOLA ladders and scores",
    figures: Sequence[PageFigure] = (),
    tables: Sequence[PageTableFile] = (),
    files_of_tables: Sequence[str] = (),
    style: str = "",
    made_of: Mapping[str, Mapping[str, Sequence[SystemAnswer]]] | None = None,
) -> str:
    """The page for tiered rows and one or more reports on them; the same input gives the same bytes.

    Each report's items are those of `rows`, in that order (ValueError where not). `manifest` is the snapshot's, for
    the footer. `figures`, `tables`, the files of tables that the page shows elsewhere, and the figures' CSS `style`
    are what `granola.report.figures` makes. `made_of`: see `question_views`.
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
        style=Markup(page_file("shared.css").decode() + style),
        script=Markup(script),
        # The security policy of the page allows this script and no other.
        script_hash="sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        reports=reports,
        count=len(rows),
        laddered=sum(len(row.levels) > 1 for row in rows),
        drawn=most_telling_ladder(rows, reports),
        headlines=headlines(reports) if reports else None,
        meanings=headline_definitions(reports) if reports else (),
        distributions=distributions(reports),
        figures=figures,
        every_metric=every_metric(reports) if reports else None,
        relations=[(report.system, relations(report)) for report in reports if report.relations],
        tables=tables,
        files_of_tables=files_of_tables,
        relation_names=[(name, titled(name)) for name in known],
        shown_count=len(places),
        questions=question_views(rows, reports, made_of),
        version=__version__,
        snapshot=(manifest or {}).get("snapshot_id"),
        counts=_snapshot_counts(manifest or {}),
    )


def _relation_order(name: str) -> tuple[int, str]:
    # P19 before P112; names that are no property last.
    digits = name[1:]
    return (int(digits) if digits.isdigit() and len(digits) < 20 else 1 << 40, name)


def _snapshot_counts(manifest: Mapping[str, Any]) -> list[str]:
    counts = manifest.get("counts")
    if not isinstance(counts, Mapping):
        return []
    return [f"{int(counts[key]):,} {key}" for key in ("entities", "statements") if key in counts]
