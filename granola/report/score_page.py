"""The one-file HTML page: a ladder, the scores, figures where they are drawn, and every question.

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
from granola import __version__
from granola.report.page_opening import headlines, lead, opening
from granola.report.page_tables import folded, label_rules
from granola.report.question_list import question_list, shown_note, shown_places
from granola.report.score_sections import distribution, every_metric, relations, signatures
from granola.report.score_tables import relation_title
from granola.scoring.aggregation import NO_RELATION
from granola.scoring.scores import ScoreReport

_SLOT = re.compile(r"\{\{(\w{1,40})\}\}")


def render(
    rows: Sequence[TieredRow],
    reports: Sequence[ScoreReport],
    manifest: Mapping[str, Any] | None = None,
    *,
    title: str = "GRANOLA ladders and scores",
    figures: str = "",
    tables: str = "",
    style: str = "",
) -> str:
    """The page for tiered rows and one or more reports on them; the same input gives the same bytes.

    Each report's items are those of `rows`, in that order (ValueError where not). `manifest` is the snapshot's, for
    the footer. `figures` and `tables` are HTML, and `style` their CSS, that `granola.report.study_html` makes.
    """
    for report in reports:
        if report.items.ids != [row.id for row in rows]:
            raise ValueError(f"report {report.system!r} is not on these rows; score the same tiered file")
    folder = files("granola.report")
    script = folder.joinpath("page.js").read_text(encoding="utf-8")
    shown = shown_places(len(rows))
    known = sorted({rows[index].relation or NO_RELATION for index in shown}, key=_number_in)
    slots = {
        "title": escape(title),
        "style": folder.joinpath("page.css").read_text(encoding="utf-8") + label_rules() + style,
        "script": script,
        "script_hash": "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "lead": lead(rows, reports) if reports else "",
        "opening": opening(rows, reports),
        "headlines": headlines(reports),
        "scores": "\n".join(_score_parts(reports, figures, tables)),
        "relation_options": "".join(
            f'<option value="{escape(name)}">{escape(relation_title(name))}</option>' for name in known
        ),
        "note": shown_note(len(rows), len(shown)),
        "questions": question_list(rows, reports),
        "footer": _footer(manifest or {}),
    }
    template = folder.joinpath("page.html").read_text(encoding="utf-8")
    return _SLOT.sub(lambda slot: slots[slot[1]], template)


def _score_parts(reports: Sequence[ScoreReport], figures: str, tables: str) -> list[str]:
    parts = [folded("Where the answers stand", distribution(reports), name="distribution")]
    if figures:
        parts.append(folded("Figures", figures, is_open=True, name="figures"))
    parts.append(folded("Every metric", every_metric(reports), name="metrics"))
    by_relation = "".join(relations(report) for report in reports if report.relations)
    if by_relation:
        parts.append(folded("Per relation", by_relation, name="relations"))
    if tables:
        parts.append(folded("Tables", tables, name="tables"))
    return [*parts, folded("Signatures", signatures(reports), name="signatures")]


def _number_in(name: str) -> tuple[int, str]:
    digits = name[1:]
    return (int(digits) if digits.isdigit() and len(digits) < 20 else 1 << 40, name)


def _footer(manifest: Mapping[str, Any]) -> str:
    counts = manifest.get("counts")
    parts = [f"granola {escape(__version__)}"]
    if manifest.get("snapshot_id"):
        parts.append(f"snapshot <code>{escape(str(manifest['snapshot_id']))}</code>")
    if isinstance(counts, Mapping):
        parts += [f"{int(counts[key]):,} {key}" for key in ("entities", "statements") if key in counts]
    parts.append("evidence is WikiData, CC0; its links lead to www.wikidata.org")
    return " &middot; ".join(parts) + "."
