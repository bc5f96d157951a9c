"""A table of plain values, and as CSV."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass

from abstraction.files.records import escape_formula

Value = str | int | float


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table: `name` for its files, `head`, and rows of its length; NaN is a missing number."""

    name: str
    title: str
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def to_csv(self, *, raw: bool = False) -> str:
        """CSV with a header; numbers unrounded, NaN empty. Unless `raw`, formulas are made harmless: see
        `abstraction.files.records`.
        """
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        for row in (self.head, *self.rows):
            cells = ["" if isinstance(value, float) and math.isnan(value) else value for value in row]
            writer.writerow(cells if raw else map(escape_formula, cells))
        return stream.getvalue()


def shown(value: Value) -> str:
    """A value as text for readers: three decimals, a dash for NaN."""
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.3f}"
    return str(value)
