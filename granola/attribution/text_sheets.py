"""Sheets on which people mark texts: full coverage, absent or hallucinated (Hu et al. 2025, CAQA, section 4.2)."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abstraction.files.row_reading import read_sheet_lines
from abstraction.files.writing import write_cells
from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.model_wording import automatic_coverage, cited_facts
from granola.attribution.text_checks import TextCoverage
from granola.errors import SheetError
from granola.scoring.statistics import cohen_kappa, kappa, wilson

COLUMNS = ("item", "kind", "text", "facts", "automatic", "label")
# The paper's annotators: full coverage of 50 citations and 50 extended questions.
PAPER = {"A": 0.92, "B": 0.95}
PAPER_KAPPA = 0.758


@dataclass(frozen=True, kw_only=True, slots=True)
class TextItem:
    """One text to mark, and what the automatic check says of it."""

    item: str
    kind: str
    text: str
    facts: str
    automatic: TextCoverage


def drawn_texts(samples: Sequence[AttributionSample], n: int, *, seed: int) -> list[TextItem]:
    """`n` citations and `n` questions that were made, in random order; fewer where there are fewer."""
    items_by_kind: dict[str, list[TextItem]] = {"citation": [], "question": []}
    for sample in samples:
        groups = [facts for facts in cited_facts(sample) if facts]
        for place, (kind, text, label) in enumerate(automatic_coverage(sample)):
            facts = groups[place] if kind == "citation" else sample.subgraph
            written = " | ".join("; ".join(fact.names) for fact in facts)
            item = f"{sample.id}-{kind[0]}{place}"
            items_by_kind[kind].append(TextItem(item=item, kind=kind, text=text, facts=written, automatic=label))
    drawing = random.Random(f"texts {seed}")
    return [
        item for kind in items_by_kind for item in drawing.sample(items_by_kind[kind], min(n, len(items_by_kind[kind])))
    ]


def write_text_sheet(items: Sequence[TextItem], path: Path) -> None:
    """A CSV sheet whose last column is for the reader: full coverage, absent or hallucinated."""
    lines = [[item.item, item.kind, item.text, item.facts, str(item.automatic), ""] for item in items]
    write_cells([COLUMNS, *lines], path)


def read_text_sheet(path: Path) -> dict[str, tuple[str, TextCoverage | None, TextCoverage | None]]:
    """Of each item its kind, the automatic label and the reader's. Raises SheetError with file and line."""
    labels_by_item: dict[str, tuple[str, TextCoverage | None, TextCoverage | None]] = {}
    expected = "a sheet of granola attribution audit"
    for line in read_sheet_lines(path, COLUMNS, expected=expected, error=SheetError):
        item = line.data.get("item", "").strip()
        if not item or item in labels_by_item:
            raise SheetError(f"{line.source}: item {item!r} is empty or stands there twice")
        automatic, label = (_label(line.data.get(name, ""), line.source) for name in ("automatic", "label"))
        labels_by_item[item] = line.data.get("kind", ""), automatic, label
    if not labels_by_item:
        raise SheetError(f"{path}: no items")
    return labels_by_item


def _label(cell: str, where: str) -> TextCoverage | None:
    text = cell.strip().casefold()
    if not text:
        return None
    for coverage in TextCoverage:
        if coverage.value == text or coverage.value.split()[0] == text:
            return coverage
    raise SheetError(f"{where}: {cell!r} is no label; expected {', '.join(TextCoverage)}, or nothing")


def text_rates(sheets: Sequence[Mapping[str, tuple[str, TextCoverage | None, TextCoverage | None]]]) -> dict[str, Any]:
    """Shares of labels of each reader and of the check, with Wilson intervals, and their agreement.

    kappa is Cohen's for two readers, Fleiss' for more, over the items that all of them marked; NaN for one.
    """
    columns: dict[str, dict[str, TextCoverage]] = {
        f"reader {number}": {item: label for item, (_, _, label) in sheet.items() if label is not None}
        for number, sheet in enumerate(sheets, 1)
    }
    automatic = {item: label for item, (_, label, _) in sheets[0].items() if label is not None}
    shared = sorted(set.intersection(*(set(column) for column in columns.values())))
    labels = [[str(column[item]) for column in columns.values()] for item in shared]
    first = next(iter(columns.values()))
    both = [(str(automatic[item]), str(first[item])) for item in first if item in automatic]
    return {
        "readers": {name: _shares(column) for name, column in columns.items()},
        "automatic": _shares(automatic),
        "marked_by_all": len(shared),
        "kappa": kappa(labels),
        "kappa_of_check_and_first_reader": cohen_kappa(both),
        "paper": {"full_coverage": PAPER, "kappa": PAPER_KAPPA},
    }


def _shares(column: Mapping[str, TextCoverage]) -> dict[str, Any]:
    counts = Counter(column.values())
    n = len(column)
    out: dict[str, Any] = {"n": n}
    for label in TextCoverage:
        interval = wilson(counts[label], n)
        share = counts[label] / n if n else math.nan
        out[str(label)] = {"count": counts[label], "share": share, "low": interval.low, "high": interval.high}
    return out
