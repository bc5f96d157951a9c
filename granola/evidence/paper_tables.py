"""Estimates of systems in the columns of a paper's table: as text, LaTeX, CSV and JSON, the paper's own rows beside."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from granola.errors import UsageError
from granola.evidence.estimates import compared_pairs
from granola.evidence.evidence_task import EvidenceTask, PaperTable, Row
from granola.evidence.item_figures import field_of, places
from granola.scoring.aggregation import Estimate
from granola.scoring.bootstrap import Interval
from granola.scoring.system_comparison import Difference
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
    task: EvidenceTask, table: PaperTable, rows: Sequence[Row], *, by: str | None = None, resamples: int, seed: int,
    **shown: bool,
) -> FilledTable:
    """The table of rows of verdicts; a score that a system has not is NaN with n 0.

    `by`: a row for each system and each value of this field, or tag. Raises UsageError where no row has it.
    """
    slices: dict[str, list[Row]] = {"": list(rows)}
    if by is not None:
        slices = {}
        for row in rows:
            for place in places(field_of(row, by)):
                slices.setdefault(str(place), []).append(row)
        if not slices:
            raise UsageError(f"--by {by}: no row has this field with a text or a number")
    empty = Estimate(value=math.nan, interval=Interval(low=math.nan, high=math.nan), n=0)
    picked = {
        f"{name}, {place}" if place else name: {
            score: estimates.get(score, empty) for score in table.columns.values()
        }
        for place, own in sorted(slices.items())
        for name, estimates in task.report(own, resamples, seed).items()
    }  # fmt: skip
    return FilledTable(table=table, rows=picked, **shown)


def paired_tests(
    task: EvidenceTask, table: PaperTable, rows: Sequence[Row], *, resamples: int, seed: int
) -> list[Difference]:
    """Every pair of systems in each score of the table that is a mean over items, paired over the items of both."""
    name_of = "evaluator" if task.judge == "evaluator" else "system"
    tests: list[Difference] = []
    for score in table.columns.values():
        systems: dict[str, dict[str, float | None]] = {}
        for row, value in zip(rows, task.values(rows, score), strict=True):
            key = f"{row['id']} {row.get('candidate', 0)}"
            systems.setdefault(str(row.get(name_of) or row.get("file") or ""), {})[key] = value
        if any(value is not None for values in systems.values() for value in values.values()):
            tests += compared_pairs(systems, score, resamples, seed)
    return tests


def _line(cells: Sequence[str]) -> str:
    return " & ".join(_LATEX.sub(lambda sign: f"\\{sign[0]}", cell) for cell in cells) + r" \\"
