"""A report on several systems: the page with its figures inside, and every figure and table as a file."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from granola.report.figure_style import DARK
from granola.report.figures import DrawnFigure, drawings
from granola.report.page_tables import FEW_NOTE, few
from granola.report.plain_table import Table, shown
from granola.report.score_page import render
from granola.report.study import Study
from kg.files import atomic_path

PAGE, FIGURES, TABLES = "report.html", "figures", "tables"
_LONG = 200  # rows of a table that the page shows; files have all

_DARK = (
    ".figures svg { fill: var(--c000000, #000); }\n@media (prefers-color-scheme: dark) { .figures svg { "
    + " ".join(f"--c{colour[1:]}: {dark};" for colour, dark in DARK.items())
    + " } }\n"
)


def study_page(study: Study, drawn: Sequence[DrawnFigure], manifest: Mapping[str, Any] | None = None) -> str:
    """The page: a ladder, scores, figures, tables and every question; it needs no other file and no network."""
    return render(
        [study.evidence.get(row.id, row) for row in study.rows],
        study.reports,
        manifest,
        title="GRANOLA report",
        figures=f'<div class="figures">{"".join(map(_figure, drawn))}</div>',
        tables="".join(map(_table, study.tables())),
        style=_DARK,
    )


_HEAD = re.compile(r"\A.{0,2000}?(?=<svg)", re.DOTALL)
_METADATA = re.compile(r"<metadata>.{0,2000}?</metadata>", re.DOTALL)
_ID = re.compile(r'(?<=\bid=")|(?<=url\(#)|(?<=href="#)')
_SIZE = re.compile(r' (?:width|height)="[^"]{0,40}"')
_COLOUR = re.compile(r"(?P<text><text\b[^>]{0,600}>)|#[0-9a-f]{6}\b")


def _figure(drawing: DrawnFigure) -> str:
    """The SVG inside the page: scaled by its box, its ids apart from those of the others, named for who listens."""
    svg = _ID.sub(f"{drawing.name}-", _METADATA.sub("", _HEAD.sub("", drawing.inline)))
    start, end, rest = svg.partition(">")
    start = _SIZE.sub("", start).replace("<svg", f'<svg role="img" aria-label="{escape(drawing.title)}"', 1)
    svg = start + end + _COLOUR.sub(_variable, rest)
    return f"<figure><h3>{escape(drawing.title)}</h3>{svg}<figcaption>{escape(drawing.caption)}</figcaption></figure>"


def _variable(colour: re.Match[str]) -> str:
    """A colour that the page's style changes in the dark; white letters, which stand on dark bars, stay white."""
    if colour["text"]:
        return colour[0].replace("#000000", "var(--c000000,#000)")
    return f"var(--c{colour[0][1:]},{colour[0]})" if colour[0] in DARK else colour[0]


def _table(table: Table) -> str:
    count = table.head.index("n") if "n" in table.head else None

    def cell(value: str | int | float) -> str:
        kind = "text" if isinstance(value, str) else "number"
        return f'<td class="{kind}">{escape(shown(value))}</td>'

    def kind(row: Sequence[str | int | float]) -> str:
        return ' class="few"' if count is not None and isinstance(n := row[count], int) and few(n) else ""

    kinds = ["text" if table.is_text(column) else "number" for column in range(len(table.head))]
    head = "".join(
        f'<th scope="col" class="{kind}">{escape(name)}</th>' for kind, name in zip(kinds, table.head, strict=True)
    )
    body = "".join(f"<tr{kind(row)}>{''.join(map(cell, row))}</tr>" for row in table.rows[:_LONG])
    more = f" The first {_LONG} of {len(table.rows):,} rows." if len(table.rows) > _LONG else ""
    note = FEW_NOTE if any(kind(row) for row in table.rows[:_LONG]) else ""
    return (
        f'<details class="plain"><summary>{escape(table.title)}</summary>'
        f'<p class="soft">{escape(table.caption)}{more} File: <code>{TABLES}/{escape(table.name)}.csv</code></p>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.title)}"><table><thead><tr>{head}'
        f"</tr></thead><tbody>{body}</tbody></table></div>{note}</details>"
    )


def write_study(study: Study, folder: Path, *, earlier: Collection[str] = (), csv_raw: bool = False) -> list[str]:
    """Write report.html, figures/*.svg and *.png, tables/*.csv and *.tex; the page last. Returns the files' names.

    Of the files in `earlier`, those that an earlier report wrote, what is not written again is removed.

    Raises UsageError where matplotlib is missing, OSError where a file cannot be written.
    """
    drawn = drawings(study)
    written: dict[str, str | bytes] = {}
    for drawing in drawn:
        written[f"{FIGURES}/{drawing.name}.svg"] = drawing.svg
        written[f"{FIGURES}/{drawing.name}.png"] = drawing.png
    for table in study.tables():
        written[f"{TABLES}/{table.name}.csv"] = table.to_csv(raw=csv_raw)
        written[f"{TABLES}/{table.name}.tex"] = table.to_latex()
    written[PAGE] = study_page(study, drawn)
    for name in (FIGURES, TABLES):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, content in written.items():
        with atomic_path(folder / name) as temporary:
            temporary.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    for name in earlier:
        if name not in written and Path(name).parts[:-1] in ((FIGURES,), (TABLES,)):
            (folder / name).unlink(missing_ok=True)
    return list(written)
