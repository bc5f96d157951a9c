"""Estimates in the columns of a table of a paper, as text, LaTeX, CSV and JSON, with the rows of the paper."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from granola.base.terminal_lines import TextTable
from granola.evidence.evidence_task import PaperTable, Report
from granola.scoring.aggregation import Estimate
from granola.scoring.bootstrap import Interval

PRINTED = "paper: "  # prefix for rows of the paper
NOTHING = "-"
# characters with a meaning in LaTeX that may occur in names of systems
_LATEX = re.compile(r"[&%$#_{}]")
_EMPTY = Estimate(value=math.nan, interval=Interval(low=math.nan, high=math.nan), n=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class FilledTable:
    """The table of a paper filled with estimates by system; `printed`: include the rows of the paper."""

    table: PaperTable
    report: Report
    printed: bool = False

    def row(self, estimates: Mapping[str, Estimate]) -> list[Estimate]:
        """The estimates in column order; NaN with n 0 for a missing score."""
        return [estimates.get(score, _EMPTY) for score in self.table.columns.values()]

    def cells(self, *, intervals: bool) -> list[list[str]]:
        """The displayed rows, name first."""
        own = [
            [name, *(self._cell(one, intervals=intervals) for one in self.row(scores))]
            for name, scores in self.report.items()
        ]
        # The paper prints no intervals.
        theirs = self.table.printed if self.printed else {}
        return own + [
            [f"{PRINTED}{name}", *(NOTHING if one is None else f"{one:.{self.table.digits}f}" for one in values)]
            for name, values in theirs.items()
        ]

    def _cell(self, estimate: Estimate, *, intervals: bool) -> str:
        # NaN: the score has no item.
        if math.isnan(estimate.value):
            return NOTHING
        value, low, high = (
            f"{one * self.table.factor:.{self.table.digits}f}"
            for one in (estimate.value, estimate.interval.low, estimate.interval.high)
        )
        return f"{value} [{low}, {high}]" if intervals else value

    def text(self) -> TextTable:
        """The table for a terminal, with intervals."""
        return TextTable(head=("", *self.table.columns), rows=self.cells(intervals=True))

    def latex(self) -> str:
        """A LaTeX tabular with booktabs rules."""
        lines = [f"\\begin{{tabular}}{{l{'r' * len(self.table.columns)}}}", "\\toprule"]
        lines += [_line(["", *self.table.columns]), "\\midrule", *map(_line, self.cells(intervals=False))]
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])

    def csv(self) -> str:
        """CSV with a header."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows([["system", *self.table.columns], *self.cells(intervals=False)])
        return out.getvalue()

    def to_json(self) -> dict[str, Any]:
        """JSON with estimates as shares, without `factor`; the rows of the paper as printed."""

        heads = list(self.table.columns)
        return {
            "systems": {name: dict(zip(heads, self.row(own), strict=True)) for name, own in self.report.items()},
            "printed": {name: dict(zip(heads, own, strict=True)) for name, own in self.table.printed.items()},
            "factor": self.table.factor,
            "note": self.table.note,
        }


def _line(cells: Sequence[str]) -> str:
    return " & ".join(_LATEX.sub(lambda sign: f"\\{sign[0]}", cell) for cell in cells) + r" \\"
