"""The one-file HTML page: a ladder, the scores, figures where they are drawn, and every question.

It asks the network for nothing, works without scripts, and shows every text of rows and predictions as text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from abstraction.base.properties import id_with_label
from abstraction.files.rows import TieredRow, read_tiered
from granola import __version__
from granola.base.terminal_lines import TextTable
from granola.report.score_tables import Table, distribution_table, format_interval, format_number
from granola.report.templates import page_file, render_page
from granola.scoring.grouping import natural_sort_key
from granola.scoring.metrics import NO_RELATION
from granola.scoring.predictions import SystemAnswer
from granola.scoring.scores import ItemScore, ScoreReport

MOST = 300  # questions on one page: under 600 KB, which a phone opens at once
MOST_LADDERS = 2000  # questions on a page without predictions, which is made for searching
_LONGEST = 200  # characters shown of a field of a row
LONGEST = 90  # characters of a prediction shown with its level


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnFigure:
    """A figure: `name` for its files, a title, and a description, also for readers who cannot see it."""

    name: str
    title: str
    caption: str
    svg: bytes
    png: bytes
    address: str  # the figure itself as an address, for a page in one file


@dataclass(frozen=True, kw_only=True, slots=True)
class PredictionView:
    """The prediction of a system: `marked` is the part that decided.

    `made_of` are the answers of other systems from which the prediction was aggregated.
    """

    system: str
    item: ItemScore
    before: str
    marked: str
    after: str
    made_of: Sequence[SystemAnswer]


def evenly_spread_indices(count: int, most: int = MOST) -> range:
    """All indices of `count` questions, or at most `most` of them, evenly spread over the file."""
    return range(count) if count <= most else range(0, count, -(-count // most))


def shown_rows_with_evidence(tiered: str, rows: Sequence[TieredRow]) -> dict[str, TieredRow]:
    """The rows on the page with their evidence, by id, read again from the file `tiered`; none for standard input,
    which cannot be read twice.

    Rows whose ladders differ from those of `rows`, as where one of two sources was chosen, are left out.
    """
    # Standard input cannot be read twice.
    if tiered == "-":
        return {}
    shown = {rows[index].id: rows[index] for index in evenly_spread_indices(len(rows))}
    row_of = {}
    for row in read_tiered(tiered, on_reject=lambda _: None):
        known = shown.pop(row.id, None)
        # Scoring read the rows without evidence; here the same rows are read with it.
        if known is not None:
            first, second = ([[tier.text for tier in level.tiers] for level in one.levels] for one in (known, row))
            if first == second:
                row_of[row.id] = replace(known, levels=row.levels)
    return row_of


def predictions_by_level(scored: Sequence[tuple[str, ItemScore]]) -> dict[int, list[tuple[str, str]]]:
    """For each level, the systems whose predictions match it, each with its shortened prediction."""
    levels: dict[int, list[tuple[str, str]]] = {}
    for system, item in scored:
        if item.verdict and item.verdict.level:
            levels.setdefault(item.verdict.level, []).append((system, _shorten_prediction(item.prediction or "")))
    return levels


def _shorten_prediction(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def question_views(
    rows: Sequence[TieredRow],
    reports: Sequence[ScoreReport],
    made_of: Mapping[str, Mapping[str, Sequence[SystemAnswer]]] | None = None,
) -> Iterator[dict[str, Any]]:
    """The values that `report_parts.html` displays for each question on the page (`evenly_spread_indices`).

    `name` is its anchor on the page, `verdicts` are the values of the filter for it; `fields` are searched and sorted
    by on a page without predictions. `made_of` contains the answers of other systems, by system and id.
    """
    parts = made_of or {}
    for index in evenly_spread_indices(len(rows), MOST if reports else MOST_LADDERS):
        row, scored = rows[index], [(report.system, report.items[index]) for report in reports]
        yield {
            # The number in the file, so that links survive a different selection.
            "name": f"q{index + 1}",
            "row": row,
            "gold": " / ".join(dict.fromkeys(row.answers)),
            "relation": row.relation or NO_RELATION,
            "title": id_with_label(row.relation) if row.relation else "",
            "verdicts": dict.fromkeys(
                ("gold" if item.verdict.level == 1 else "coarser")
                if item.verdict is not None and item.verdict.level is not None
                else {"wrong": "wrong", "abstained": "idk"}.get(item.status, "unscored")
                for _, item in scored
            ),
            "is_different": len({(item.status, item.verdict and item.verdict.level) for _, item in scored}) > 1,
            "predictions": [
                prediction_view(system, item, parts.get(system, {}).get(row.id, ())) for system, item in scored
            ],
            "matched": predictions_by_level(scored),
            "fields": () if reports else list(_searchable_fields(row)),
        }


def _searchable_fields(row: TieredRow) -> Iterator[tuple[str, str]]:
    """The texts and numbers of a row outside its ladder, with their names."""
    entity = row.question_entity or {}
    yield "id", row.id
    yield "levels", str(len(row.levels))
    if (bits := row.levels[0].tiers[0].bits) is not None:
        yield "bits", f"{bits:.1f}"
    own = {"asked about": entity.get("text"), "abstained": row.abstained, **row.extra}
    for name, value in own.items():
        # Only what fits on a line can be searched and sorted by.
        if isinstance(value, str | int | float) and (text := str(value).strip()) and len(text) <= _LONGEST:
            yield name, text
    for link in row.links[:1]:
        yield from ((f"link {name}", str(link[name])) for name in ("confidence", "rule") if name in link)


def prediction_view(system: str, item: ItemScore, made_of: Sequence[SystemAnswer] = ()) -> PredictionView:
    """A prediction cut into the part that decided the verdict and the text before and after it."""
    text = item.prediction or ""
    part = item.verdict.compared.prediction if item.verdict and item.verdict.compared else ""
    # A part that is the whole prediction needs no mark.
    before, marked, after = text.partition(part) if part and part != text.strip() else (text, "", "")
    return PredictionView(system=system, item=item, before=before, marked=marked, after=after, made_of=made_of)


# The top of the page.

# The first three rows of the table of scores.
HEADLINES = {
    "standard_accuracy": "the share of the questions that are answered right at level 1, the gold answer",
    "granola_accuracy": "the share of the questions that are answered right at any level",
    "informativeness": "how fine the right answers are: 1 for level 1, less for each coarser level, 0 for wrong "
    "answers and for none",
}
_DEEPEST = 5  # levels at most of the drawn ladder
_PAPER = "Yona et al. 2024"


def _example_ladder(rows: Sequence[TieredRow], reports: Sequence[ScoreReport]) -> dict[str, Any] | None:
    """The ladder on the page that best illustrates differences between the systems, with their predictions.

    None where no row has a ladder. `elsewhere` lists system, prediction and reason where no level matches.
    """

    def rank_as_example(index: int) -> tuple[bool, int, int, int]:
        """Higher is better: many levels matched, many systems matched, a short question; first of all a ladder that is
        neither flat nor deep.
        """
        row, items = rows[index], [report.items[index] for report in reports]
        levels = {item.verdict.level for item in items if item.verdict and item.verdict.level}
        fits = 2 <= len(row.levels) <= _DEEPEST and len(row.question) <= LONGEST
        # Level 1, the finest, counts as two levels.
        matched = sum(item.status == "matched" for item in items)
        return fits, len(levels) + (1 in levels), matched, -len(row.question)

    best = max(evenly_spread_indices(len(rows)), key=rank_as_example, default=None)
    if best is None or len(rows[best].levels) == 1:
        return None
    scored = [(report.system, report.items[best]) for report in reports]
    why = {"abstained": "declines to answer"}
    elsewhere = [
        (system, _shorten_prediction(item.prediction), why.get(item.status, "matches no level"))
        for system, item in scored
        if item.status != "matched" and item.prediction
    ]
    gold = " / ".join(dict.fromkeys(rows[best].answers))
    return {"row": rows[best], "gold": gold, "matched": predictions_by_level(scored), "elsewhere": elsewhere}


def metrics_table(reports: Sequence[ScoreReport]) -> TextTable:
    """A row for each metric, those of HEADLINES first: its definition, and the score of every system with interval and
    number of questions.
    """
    metrics = {metric.name: metric for metric in reports[0].metrics}
    rows = []
    for name in dict.fromkeys([*HEADLINES, *metrics]):
        source = metrics[name].definition.source.replace(_PAPER, "the paper")
        words = f"{HEADLINES[name]}; {source}" if name in HEADLINES else source
        scores = (report.overall.estimates[name] for report in reports)
        cells = (f"{format_number(one.value)}\n{format_interval(one)}, n {one.n:,}" for one in scores)
        rows.append((f"{metrics[name].title}\n{words}", *cells))
    return TextTable(head=("metric", *(report.system for report in reports)), rows=rows)


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

    Each report's items are those of `rows`, in that order (ValueError where not). `snapshot` is its id, for the
    footer. `granola.report.study` makes `figures`, `tables`, and `files_of_tables`, the paths of tables that are not
    on the page. `made_of`: see `question_views`.
    """
    for report in reports:
        # Items and rows are joined by their place below.
        if report.items.ids != [row.id for row in rows]:
            raise ValueError(f"report {report.system!r} is not on these rows; score the same tiered file")
    script = page_file("report.js").decode()
    places = evenly_spread_indices(len(rows), MOST if reports else MOST_LADDERS)
    known = sorted({rows[index].relation or NO_RELATION for index in places}, key=natural_sort_key)
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
        drawn=_example_ladder(rows, reports),
        metrics=metrics_table(reports) if reports else None,
        distribution=distribution_table(reports) if reports else None,
        figures=figures,
        tables=tables,
        files_of_tables=files_of_tables,
        relation_names=[(name, id_with_label(name)) for name in known],
        shown_count=len(places),
        questions=question_views(rows, reports, made_of),
        version=__version__,
        snapshot=snapshot,
    )
