"""The one-file HTML page: scores, and every question with its ladder, evidence and predictions.

It asks the network for nothing, works without scripts, and shows every text of rows and predictions as text.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from abstraction.rows import TieredRow
from granola.report.ladder_html import ladder, outcome_chip
from granola.report.score_tables import (
    DASH,
    RELATION_METRICS,
    SHORT_TITLES,
    distribution_columns,
    interval,
    number,
    relation_title,
    share,
)
from granola.scoring.aggregation import NO_RELATION, Estimate
from granola.scoring.items import ItemScore
from granola.scoring.scores import ScoreReport

_SLOT = re.compile(r"\{\{(\w+)\}\}")


def render(
    rows: Sequence[TieredRow],
    reports: Sequence[ScoreReport],
    manifest: Mapping[str, Any] | None = None,
    *,
    title: str = "GRANOLA ladders and scores",
) -> str:
    """The page for tiered rows and one or more reports on them; the same input gives the same bytes.

    Each report's items are those of `rows`, in that order (ValueError where not). `manifest` is the
    snapshot's, for the footer.
    """
    for report in reports:
        if report.items.ids != [row.id for row in rows]:
            raise ValueError(f"report {report.system!r} is not on these rows; score the same tiered file")
    folder = files("granola.report")
    script = folder.joinpath("page.js").read_text(encoding="utf-8")
    relations = sorted({row.relation or NO_RELATION for row in rows}, key=_number_in)
    slots = {
        "title": escape(title),
        "style": folder.joinpath("page.css").read_text(encoding="utf-8"),
        "script": script,
        "script_hash": "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "lead": _lead(rows, reports),
        "scores": _scores(reports),
        "distribution": _distribution(reports),
        "relations": "".join(_relations(report) for report in reports if report.relations),
        "signatures": _signatures(reports),
        "relation_options": "".join(
            f'<option value="{escape(name)}">{escape(relation_title(name))}</option>' for name in relations
        ),
        "questions": "\n".join(
            _question(row, [(report.system, report.items[index]) for report in reports])
            for index, row in enumerate(rows)
        ),
        "footer": _footer(manifest or {}),
    }
    template = folder.joinpath("page.html").read_text(encoding="utf-8")
    return _SLOT.sub(lambda slot: slots[slot[1]], template)


def _number_in(name: str) -> tuple[int, str]:
    digits = name[1:]
    return (int(digits) if digits.isdigit() else 1 << 40, name)


def _lead(rows: Sequence[TieredRow], reports: Sequence[ScoreReport]) -> str:
    laddered = sum(len(row.levels) > 1 for row in rows)
    systems = "prediction file" if len(reports) == 1 else "prediction files"
    return (
        f"{len(rows)} questions, {laddered} of them with a ladder of coarser correct answers, and "
        f"{len(reports)} {systems}. Level 1 is the finest: the gold answer itself."
    )


def _table(head: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """A table in a box that scrolls sideways; rows are (class, cells), cells are HTML, the first a header."""
    header = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join(
        f'<tr class="{kind}"><th scope="row">{cells[0]}</th>'
        + "".join(f'<td class="number">{cell}</td>' for cell in cells[1:])
        + "</tr>"
        for kind, cells in rows
    )
    return f'<div class="scroll"><table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table></div>'


def _scores(reports: Sequence[ScoreReport]) -> str:
    def cell(estimate: Estimate) -> str:
        return f"{number(estimate.value)}<small><span>{interval(estimate)}</span> <span>n {estimate.n}</span></small>"

    rows = [
        (
            "",
            [
                f'<abbr title="{escape(metric.source)}">{escape(metric.title)}</abbr>',
                *(cell(report.overall.estimates[metric.name]) for report in reports),
            ],
        )
        for metric in (reports[0].metrics if reports else ())
    ]
    return _table(["metric", *(escape(report.system) for report in reports)], rows) + (
        '<p class="soft">Small figures: 95 % bootstrap interval over questions, and the items counted.</p>'
    )


def _distribution(reports: Sequence[ScoreReport]) -> str:
    columns = distribution_columns(reports) if reports else []
    out = ["<h3>Where the predictions stand</h3>"]
    for report in reports:
        counts = [(column, report.overall.distribution.get(column, 0)) for column in columns]
        bar = "".join(
            f'<span class="{_shade(column)}" style="flex-grow:{count}"></span>' for column, count in counts if count
        )
        legend = " ".join(
            f'<span><span class="chip {_shade(column)}">{"level " if column.isdigit() else ""}{column}</span> '
            f"{share(count, report.questions)}</span>"
            for column, count in counts
            if count
        )
        out.append(
            f'<figure><figcaption>{escape(report.system)}</figcaption><div class="bar" aria-hidden="true">{bar}</div>'
            f'<div class="legend">{legend}</div></figure>'
        )
    return "".join(out)


def _shade(column: str) -> str:
    return f"s{min(int(column), 6)}" if column.isdigit() else column


def _relations(report: ScoreReport) -> str:
    def cells(name: str, n: int, estimates: Mapping[str, Estimate]) -> list[str]:
        found = (estimates[metric] for metric in RELATION_METRICS)
        return [escape(name), str(n), *(f"{number(e.value)}<small>{interval(e)}</small>" for e in found)]

    rows = [("", cells(relation_title(name), group.n, group.estimates)) for name, group in report.relations.items()]
    rows += [
        ("total", cells("macro (n counts relations)", len(report.relations), report.macro)),
        ("total", cells("micro", report.overall.n, report.overall.estimates)),
    ]
    head = ["relation", "n", *(SHORT_TITLES[name] for name in RELATION_METRICS)]
    return (
        f'<details class="plain"><summary>Per relation: {escape(report.system)}</summary>{_table(head, rows)}</details>'
    )


def _signatures(reports: Sequence[ScoreReport]) -> str:
    entries = "".join(
        f"<dt>{escape(report.system)}</dt><dd><code>{escape(str(report.signature))}</code></dd>" for report in reports
    )
    return f'<h3>Signatures</h3><dl class="signatures">{entries}</dl>'


def _question(row: TieredRow, scored: Sequence[tuple[str, ItemScore]]) -> str:
    outcomes = "".join(f"<span>{escape(system)} {outcome_chip(item)}</span>" for system, item in scored)
    different = len({(item.status, item.verdict and item.verdict.level) for _, item in scored}) > 1
    relation = row.relation or NO_RELATION
    return (
        f'<details class="question" data-relation="{escape(relation)}" '
        f'data-different="{"yes" if different else "no"}"><summary>'
        f'<span class="asked">{escape(row.question)}</span> '
        f"<small>{escape(relation_title(relation))} &middot; {escape(row.id)}</small>"
        f'<span class="outcomes">{outcomes}</span></summary><div class="inside">'
        f"<h3>Ladder</h3>{ladder(row, scored)}{_predictions(scored)}</div></details>"
    )


def _predictions(scored: Sequence[tuple[str, ItemScore]]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(system)}</th><td>{_said(item)}</td><td>{outcome_chip(item)}</td>'
        f"<td>{_why(item)}</td></tr>"
        for system, item in scored
    )
    return (
        '<h3>Predictions</h3><table class="predictions"><thead><tr><th scope="col">system</th>'
        '<th scope="col">prediction</th><th scope="col">verdict</th><th scope="col">why</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _said(item: ItemScore) -> str:
    """The prediction with the part that decided marked."""
    if item.prediction is None:
        return DASH
    compared = item.verdict.compared if item.verdict else None
    part = compared.prediction if compared else ""
    start = item.prediction.find(part) if part and part != item.prediction.strip() else -1
    if start < 0:
        return escape(item.prediction) or '<span class="soft">(empty)</span>'
    end = start + len(part)
    said = item.prediction
    return f"{escape(said[:start])}<mark>{escape(said[start:end])}</mark>{escape(said[end:])}"


def _why(item: ItemScore) -> str:
    if item.verdict is None:
        return "no prediction"
    why = f"<code>{escape(item.verdict.rule)}</code>"
    if item.verdict.score is not None:
        why += f" {number(item.verdict.score)}"
    if item.verdict.compared is not None:
        why += f" against &ldquo;{escape(item.verdict.compared.tier)}&rdquo;"
    if item.weight is not None:
        why += f'<small class="soft"> weight {number(item.weight)}</small>'
    return why


def _footer(manifest: Mapping[str, Any]) -> str:
    counts = manifest.get("counts")
    parts = []
    if manifest.get("snapshot_id"):
        parts.append(f"Snapshot <code>{escape(str(manifest['snapshot_id']))}</code>")
    if isinstance(counts, Mapping):
        parts += [f"{int(counts[key]):,} {key}" for key in ("entities", "statements") if key in counts]
    parts.append("Evidence is WikiData, CC0; its links lead to www.wikidata.org")
    return " &middot; ".join(parts) + "."
