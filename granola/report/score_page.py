"""The one-file HTML page: a ladder, the scores, figures where they are drawn, and every question.

It asks the network for nothing, works without scripts, and shows every text of rows and predictions as text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from abstraction.rows import TieredRow
from granola import __version__
from granola.pages import page_file, render_page
from granola.report.page_opening import headlines, meanings, opening
from granola.report.page_tables import PageTable, label_rules
from granola.report.question_list import question_views, shown_places
from granola.report.score_sections import distributions, every_metric, relations
from granola.report.score_tables import relation_title
from granola.scoring.aggregation import NO_RELATION
from granola.scoring.scores import ScoreReport


@dataclass(frozen=True, kw_only=True, slots=True)
class PageFigure:
    """A figure as SVG for the page."""

    title: str
    caption: str
    svg: Markup


@dataclass(frozen=True, kw_only=True, slots=True)
class PageTableFile:
    """A table that stands in a file as well."""

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
) -> str:
    """The page for tiered rows and one or more reports on them; the same input gives the same bytes.

    Each report's items are those of `rows`, in that order (ValueError where not). `manifest` is the snapshot's, for
    the footer. `figures`, `tables`, the files of tables that the page shows elsewhere, and the figures' CSS `style`
    are what `granola.report.study_html` makes.
    """
    for report in reports:
        if report.items.ids != [row.id for row in rows]:
            raise ValueError(f"report {report.system!r} is not on these rows; score the same tiered file")
    script = page_file("report.js").decode()
    places = shown_places(len(rows))
    known = sorted({rows[index].relation or NO_RELATION for index in places}, key=_number_in)
    return render_page(
        "report",
        title=title,
        style=Markup(page_file("shared.css").decode() + label_rules() + style),
        script=Markup(script),
        script_hash="sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        reports=reports,
        count=len(rows),
        laddered=sum(len(row.levels) > 1 for row in rows),
        drawn=opening(rows, reports),
        headlines=headlines(reports) if reports else None,
        meanings=meanings(reports) if reports else (),
        distributions=distributions(reports),
        figures=figures,
        every_metric=every_metric(reports) if reports else None,
        relations=[(report.system, relations(report)) for report in reports if report.relations],
        tables=tables,
        files_of_tables=files_of_tables,
        relation_names=[(name, relation_title(name)) for name in known],
        shown_count=len(places),
        questions=question_views(rows, reports),
        version=__version__,
        snapshot=(manifest or {}).get("snapshot_id"),
        counts=_counts(manifest or {}),
    )


def _number_in(name: str) -> tuple[int, str]:
    digits = name[1:]
    return (int(digits) if digits.isdigit() and len(digits) < 20 else 1 << 40, name)


def _counts(manifest: Mapping[str, Any]) -> list[str]:
    counts = manifest.get("counts")
    if not isinstance(counts, Mapping):
        return []
    return [f"{int(counts[key]):,} {key}" for key in ("entities", "statements") if key in counts]
