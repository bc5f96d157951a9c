"""A report on several systems: the page with its figures inside, and every figure and table as a file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from granola.report.drawing.style import DARK
from granola.report.figures import DrawnFigure, drawings
from granola.report.plain_table import Table, Value, shown
from granola.report.score_page import PageFigure, PageTable, PageTableFile, TableCell, TableRow, is_few, render
from granola.report.study import Study
from kg.base.files import atomic_path

PAGE, FIGURES, TABLES = "report.html", "figures", "tables"
_LONG = 40  # rows of a table that the page shows; the file has all
_MANY = 9  # columns from which on a table is too wide for the page

_DARK = (
    ".figures svg{fill:var(--c000000,#000);font:9px 'DejaVu Sans',sans-serif;stroke-linejoin:round}"
    "@media (prefers-color-scheme:dark){.figures svg{"
    + ";".join(f"--c{colour[1:]}:{dark}" for colour, dark in DARK.items())
    + "}}"
)


def study_page(study: Study, drawn: Sequence[DrawnFigure], manifest: Mapping[str, Any] | None = None) -> str:
    """The page: a ladder, scores, figures, tables and every question; it needs no other file and no network."""
    tables = study.tables()
    # The other tables are linked as files: the figures show their numbers.
    shown = {"differences", "coarse-answers", *(figure.name for figure in study.figures if figure.is_shown)}
    figures = [PageFigure(title=one.title, caption=one.caption, svg=Markup(one.inline)) for one in drawn]
    return render(
        [study.evidence.get(row.id, row) for row in study.rows],
        study.reports,
        manifest,
        title="GRANOLA report",
        figures=figures,
        tables=[_table(table) for table in tables if table.name in shown],
        files_of_tables=[f"{TABLES}/{table.name}.csv" for table in tables if table.name not in shown],
        style=_DARK,
        made_of={
            report.system: {one.id: one.made_of for one in file.predictions.values() if one.made_of}
            for report, file in zip(study.reports, study.files, strict=True)
        },
    )


def _table(table: Table) -> PageTableFile:
    more = f" The first {_LONG} of {len(table.rows):,} rows." if len(table.rows) > _LONG else ""
    return PageTableFile(
        title=table.title, caption=table.caption + more, file=f"{TABLES}/{table.name}.csv", table=_page_table(table)
    )


def _page_table(table: Table) -> PageTable:
    count = table.head.index("n") if "n" in table.head else None
    rows = table.rows[:_LONG]

    def kind(row: Sequence[Value]) -> str:
        return "few" if count is not None and isinstance(n := row[count], int) and is_few(n) else ""

    def cell(value: Value) -> TableCell:
        return TableCell(text=shown(value), wraps=isinstance(value, str))

    if len(table.head) > _MANY and len(rows) < _MANY:  # a row for each column
        return PageTable(
            head=[table.head[0], *(str(row[0]) for row in rows)],
            rows=[
                TableRow(cells=[TableCell(text=name), *(cell(row[i]) for row in rows)])
                for i, name in enumerate(table.head)
                if i
            ],
        )
    return PageTable(head=table.head, rows=[TableRow(kind=kind(row), cells=[*map(cell, row)]) for row in rows])


def write_study(study: Study, folder: Path, *, earlier: Collection[str] = (), csv_raw: bool = False) -> list[str]:
    """Write report.html, figures/*.svg and *.png, tables/*.csv; the page last. Returns the names of the files.

    Of `earlier`, the files of an earlier report, those not written again are removed. Raises UsageError where
    matplotlib is missing, OSError where a file cannot be written.
    """
    drawn = drawings(study)
    written: dict[str, str | bytes] = {}
    for drawing in drawn:
        written[f"{FIGURES}/{drawing.name}.svg"] = drawing.svg
        written[f"{FIGURES}/{drawing.name}.png"] = drawing.png
    for table in study.tables():
        written[f"{TABLES}/{table.name}.csv"] = table.to_csv(raw=csv_raw)
    # Last, since the page links the other files.
    written[PAGE] = study_page(study, drawn)
    for name in (FIGURES, TABLES):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, content in written.items():
        with atomic_path(folder / name) as temporary:
            temporary.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    for name in earlier:
        # Only in these two folders, whatever the earlier record lists.
        if name not in written and Path(name).parts[:-1] in ((FIGURES,), (TABLES,)):
            (folder / name).unlink(missing_ok=True)
    return list(written)
