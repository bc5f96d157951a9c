"""A report on several systems as one HTML page with its figures inside, and as files of figures and tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from granola import __version__
from granola.report.figures import DrawnFigure, drawings
from granola.report.plain_table import Table, shown
from granola.report.study import Study
from kg.files import atomic_path

PAGE, FIGURES, TABLES = "report.html", "figures", "tables"
_LONG = 30  # rows from which a table starts closed
_STYLE = """
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); gap: 0 2rem; }
figure { margin: 0 0 2rem; max-width: 40rem; }
figure svg { width: 100%; height: auto; display: block; background: #fff; border-radius: .3rem; }
figcaption { color: var(--soft); font-weight: normal; margin-top: .4rem; }
.number { text-align: right; }
th.number { min-width: 3.6rem; white-space: normal; }
td.text { min-width: 8rem; max-width: 24rem; }
summary { cursor: pointer; padding: .3rem 0; }
@media print { details > * { display: block; } body { max-width: none; } }
"""


def study_page(study: Study, drawn: Sequence[DrawnFigure]) -> str:
    """The page: figures, then tables, then the signatures; it needs no other file and no network."""
    css = files("granola").joinpath("report/page.css").read_text(encoding="utf-8")
    names = ", ".join(escape(name) for name in study.names)
    questions = f"{len(study.rows):,} question{'' if len(study.rows) == 1 else 's'}"
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>GRANOLA report: {names}</title><style>{css}{_STYLE}</style></head><body>",
        f'<h1>GRANOLA report</h1><p class="lead">{names}; {questions}. Level 1 is the finest: the gold answer.</p>',
        '<h2>Figures</h2><div class="figures">',
        *(_figure(drawing) for drawing in drawn),
        "</div>",
        "<h2>Tables</h2>",
        *(_table(table) for table in study.tables()),
        "<h2>Signatures</h2><ul>",
        *(f"<li>{escape(r.system)}: <code>{escape(str(r.signature))}</code></li>" for r in study.reports),
        f"</ul><footer>granola {escape(__version__)}. Figures follow those of Yona, Aharoni and Geva 2024.</footer>",
        "</body></html>\n",
    ]
    return "\n".join(parts)


_HEAD = re.compile(r"\A.*?(?=<svg)", re.DOTALL)
_ID = re.compile(r'(?<=\bid=")|(?<=url\(#)|(?<=href="#)')


def _figure(drawing: DrawnFigure) -> str:
    """The SVG inside the page: scaled by its box, its ids apart from those of the others, named for who listens."""
    svg = _ID.sub(f"{drawing.name}-", _HEAD.sub("", drawing.svg))
    for attribute in ("width", "height"):
        svg = re.sub(rf'(<svg[^>]*?) {attribute}="[^"]*"', r"\1", svg, count=1)
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{escape(drawing.title)}"', 1)
    title, caption = escape(drawing.title), escape(drawing.caption)
    return f"<figure><h3>{title}</h3>{svg}<figcaption>{caption}</figcaption></figure>"


def _table(table: Table) -> str:
    def cell(value: str | int | float) -> str:
        kind = "text" if isinstance(value, str) else "number"
        return f'<td class="{kind}">{escape(shown(value))}</td>'

    kinds = ["text" if table.is_text(column) else "number" for column in range(len(table.head))]
    head = "".join(
        f'<th scope="col" class="{kind}">{escape(name)}</th>' for kind, name in zip(kinds, table.head, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in table.rows)
    is_open = "" if len(table.rows) > _LONG else " open"
    return (
        f"<details{is_open}><summary><strong>{escape(table.title)}</strong></summary>"
        f'<p class="soft">{escape(table.caption)} File: <code>{TABLES}/{escape(table.name)}.csv</code></p>'
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></details>'
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
