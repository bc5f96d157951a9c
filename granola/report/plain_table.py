"""A table of plain values, as CSV and as LaTeX."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass

from abstraction.files.cells import marked

Value = str | int | float


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table: `name` for its files, `head` and rows of one length; NaN stands for what is not there."""

    name: str
    title: str
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def to_csv(self, *, raw: bool = False) -> str:
        """CSV with a header; numbers unrounded, NaN empty; see `abstraction.files.cells` for what is not `raw`."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        for row in (self.head, *self.rows):
            cells = ["" if _is_nan(value) else value for value in row]
            writer.writerow(cells if raw else map(marked, cells))
        return stream.getvalue()

    def to_latex(self) -> str:
        """A `tabular` between rules of booktabs, numbers with three decimals."""
        columns = "".join("l" if self.is_text(i) else "r" for i in range(len(self.head)))
        lines = [rf"% {latex(self.caption)}", rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
        lines += [" & ".join(map(latex, self.head)) + r" \\", r"\midrule"]
        lines += [" & ".join(latex(shown(value)) for value in row) + r" \\" for row in self.rows]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])

    def is_text(self, column: int) -> bool:
        """Whether a column, counted from 0, has texts in it."""
        return any(isinstance(row[column], str) for row in self.rows)


def shown(value: Value) -> str:
    """A value as a reader sees it: three decimals, a dash for NaN."""
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.3f}"
    return str(value)


_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--",
}  # fmt: skip


def latex(text: str) -> str:
    """Text on one line with every sign that LaTeX reads escaped."""
    return "".join(_LATEX.get(letter, letter if letter.isprintable() else " ") for letter in text)


def _is_nan(value: Value) -> bool:
    return isinstance(value, float) and math.isnan(value)
