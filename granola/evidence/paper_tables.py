"""Estimates of systems in the columns of a paper's table: as text, LaTeX, CSV and JSON, the paper's own rows beside."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from granola.evidence.evidence_task import EvidenceTask, PaperTable, Report, Row
from granola.scoring.aggregation import Estimate
from granola.scoring.bootstrap import Interval
from granola.terminal_lines import TextTable

PRINTED = "paper: "  # before the names of the paper's rows
_LATEX = re.compile(r"[&%$#_{}]")
NOTHING = "-"


@dataclass(frozen=True, kw_only=True, slots=True)
class FilledTable:
    """A paper's table with one's own rows: by system the estimates that its columns want; `printed` rows beside."""

    table: PaperTable
    rows: Mapping[str, Mapping[str, Estimate]]
    printed: bool = False
    intervals: bool = False

    def cells(self) -> list[list[str]]:
        """The rows as they are shown, the name first."""
        own = [[name, *map(self._cell, estimates.values())] for name, estimates in self.rows.items()]
        theirs = self.table.printed if self.printed else {}
        return own + [
            [f"{PRINTED}{name}", *(NOTHING if one is None else f"{one:.{self.table.digits}f}" for one in values)]
            for name, values in theirs.items()
        ]

    def _cell(self, estimate: Estimate) -> str:
        if math.isnan(estimate.value):
            return NOTHING
        shown = self._number(estimate.value)
        if not self.intervals:
            return shown
        return f"{shown} [{self._number(estimate.interval.low)}, {self._number(estimate.interval.high)}]"

    def _number(self, value: float) -> str:
        return f"{value * self.table.factor:.{self.table.digits}f}"

    def text(self) -> TextTable:
        """For a terminal."""
        return TextTable(head=("", *self.table.columns), rows=self.cells())

    def latex(self) -> str:
        """A tabular, with booktabs' lines."""
        lines = [f"\\begin{{tabular}}{{l{'r' * len(self.table.columns)}}}", "\\toprule"]
        lines += [_line(["", *self.table.columns]), "\\midrule", *map(_line, self.cells())]
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"])

    def csv(self) -> str:
        """A row each, with the columns' heads."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows([["system", *self.table.columns], *self.cells()])
        return out.getvalue()

    def to_json(self) -> dict[str, Any]:
        """Estimates as shares, whatever the paper multiplies with; the printed rows as they are printed."""
        own = {
            name: {head: one.to_json() for head, one in zip(self.table.columns, estimates.values(), strict=True)}
            for name, estimates in self.rows.items()
        }
        heads = list(self.table.columns)
        theirs = {name: dict(zip(heads, values, strict=True)) for name, values in self.table.printed.items()}
        return {"schema_version": 1, "systems": own, "printed": theirs, "factor": self.table.factor,
                "note": self.table.note}  # fmt: skip


def filled_table(
    task: EvidenceTask, table: PaperTable, rows: Sequence[Row], *, resamples: int, seed: int, **shown: bool
) -> FilledTable:
    """The table of rows of verdicts; a score that a system has not is NaN with n 0."""
    report: Report = task.report(rows, resamples, seed)
    empty = Estimate(value=math.nan, interval=Interval(low=math.nan, high=math.nan), n=0)
    picked = {
        name: {score: estimates.get(score, empty) for score in table.columns.values()}
        for name, estimates in report.items()
    }
    return FilledTable(table=table, rows=picked, **shown)


def _line(cells: Sequence[str]) -> str:
    return " & ".join(_LATEX.sub(lambda sign: f"\\{sign[0]}", cell) for cell in cells) + r" \\"
