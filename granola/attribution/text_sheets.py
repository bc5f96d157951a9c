"""Sheets on which people mark texts: full coverage, absent or hallucinated (Hu et al. 2025, CAQA, section 4.2)."""

from __future__ import annotations

import csv
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abstraction.files.cells import marked, unmarked
from granola.attribution.attribution_samples import AttributionSample
from granola.attribution.model_wording import automatic_coverage, cited_facts
from granola.attribution.text_checks import TextCoverage
from granola.errors import SheetError
from granola.scoring.statistics import cohen_kappa, kappa, wilson
from kg.files import atomic_path

COLUMNS = ("item", "kind", "text", "facts", "automatic", "label")
LARGEST = 100_000  # items of a sheet
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
    with atomic_path(path) as place, place.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        for item in items:
            writer.writerow([item.item, item.kind, marked(item.text), marked(item.facts), str(item.automatic), ""])


def read_text_sheet(path: Path) -> dict[str, tuple[str, TextCoverage | None, TextCoverage | None]]:
    """Of each item its kind, the automatic label and the reader's. Raises SheetError with file and line."""
    labels_by_item: dict[str, tuple[str, TextCoverage | None, TextCoverage | None]] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise SheetError(
                    f"{path}: no column {', '.join(missing)}; expected a sheet of granola attribution audit"
                )
            for record in reader:
                where = f"{path}, line {reader.line_num}"
                item = unmarked(record["item"] or "").strip()
                if not item or item in labels_by_item:
                    raise SheetError(f"{where}: item {item!r} is empty or stands there twice")
                if len(labels_by_item) >= LARGEST:
                    raise SheetError(f"{where}: more than {LARGEST:,} items")
                labels_by_item[item] = (
                    record["kind"] or "", _label(record["automatic"], where), _label(record["label"], where)
                )  # fmt: skip
    except (UnicodeDecodeError, csv.Error) as error:
        raise SheetError(f"{path} is no CSV in UTF-8: {error}") from error
    if not labels_by_item:
        raise SheetError(f"{path}: no items")
    return labels_by_item


def _label(cell: str | None, where: str) -> TextCoverage | None:
    text = (cell or "").strip().casefold()
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
