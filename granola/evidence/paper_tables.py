"""Tables and figures of the papers as data, and estimates in their columns as text, LaTeX, CSV and JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel

from granola.base.terminal_lines import TextTable
from granola.evidence.evidence_task import Report
from granola.report.charts import csv_text
from granola.scoring.statistics import Estimate, Interval

PRINTED = "paper: "  # prefix for rows of the paper
NOTHING = "-"
# characters with a meaning in LaTeX that may occur in names of systems
_LATEX = re.compile(r"[&%$#_{}]")
_EMPTY = Estimate(value=math.nan, interval=Interval(low=math.nan, high=math.nan), n=0)


class ItemFigure(BaseModel, frozen=True):
    """A figure with a panel for each field of `x`, with a line for each score of `y`; for one score, for each value of
    `by`.

    `longer_than`: only texts with more tokens (words by blanks) count.
    """

    task: str = ""
    x: tuple[str, ...]
    y: tuple[str, ...]
    by: str = "system"
    longer_than: int = 0


class PaperTable(BaseModel, frozen=True):
    """A table of a paper: the columns with their scores, and the rows of the paper.

    `factor`: the multiplier for display, 100 where the paper prints percentages. `note`: the limits of comparing with
    the paper.
    """

    task: str
    columns: dict[str, str]
    printed: dict[str, tuple[float | None, ...]]
    factor: float
    digits: int
    note: str


class PublishedFigures(BaseModel, frozen=True):
    """Tables and figures of Hu et al. 2025 (CAQA), Sorodoc et al. 2025 (GaRAGe), Chen et al. 2023 (CONNER), by name.

    The column heads for Table 2 of GaRAGe are derived from the text; percentages of CONNER (factuality, validity) are
    stored as shares.
    """

    tables: dict[str, PaperTable]
    figures: dict[str, ItemFigure]


@cache
def published() -> PublishedFigures:
    """The tables and figures of `data/papers.json`."""
    return PublishedFigures.model_validate_json((files("granola") / "evidence" / "data" / "papers.json").read_bytes())


@dataclass(frozen=True, kw_only=True, slots=True)
class FilledTable:
    """The table of a paper filled with estimates by system; `printed`: include the rows of the paper."""

    table: PaperTable
    report: Report
    printed: bool = False

    def cells(self, *, intervals: bool) -> list[list[str]]:
        """The displayed rows, name first; the rows of the paper have no intervals."""

        def estimate_cell(estimate: Estimate) -> str:
            # NaN: the score has no item.
            if math.isnan(estimate.value):
                return NOTHING
            value, low, high = (
                f"{one * self.table.factor:.{self.table.digits}f}"
                for one in (estimate.value, estimate.interval.low, estimate.interval.high)
            )
            return f"{value} [{low}, {high}]" if intervals else value

        own = [
            [name, *(estimate_cell(scores.get(score, _EMPTY)) for score in self.table.columns.values())]
            for name, scores in self.report.items()
        ]
        return own + [
            [f"{PRINTED}{name}", *(NOTHING if one is None else f"{one:.{self.table.digits}f}" for one in values)]
            for name, values in (self.table.printed.items() if self.printed else ())
        ]

    def text(self) -> TextTable:
        """The table for a terminal, with intervals."""
        return TextTable(head=("", *self.table.columns), rows=self.cells(intervals=True))

    def latex(self) -> str:
        """A LaTeX tabular with booktabs rules."""

        def latex_line(cells: Sequence[str]) -> str:
            return " & ".join(_LATEX.sub(lambda sign: f"\\{sign[0]}", cell) for cell in cells) + r" \\"

        lines = [f"\\begin{{tabular}}{{l{'r' * len(self.table.columns)}}}", "\\toprule"]
        lines += [latex_line(["", *self.table.columns]), "\\midrule", *map(latex_line, self.cells(intervals=False))]
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])

    def csv(self) -> str:
        """CSV with a header."""
        return csv_text([["system", *self.table.columns], *self.cells(intervals=False)], raw=True)

    def to_json(self) -> dict[str, Any]:
        """JSON with estimates as shares, without `factor`; the rows of the paper as printed."""
        columns = self.table.columns
        return {
            "systems": {
                name: {head: own.get(score, _EMPTY) for head, score in columns.items()}
                for name, own in self.report.items()
            },
            "printed": {name: dict(zip(columns, own, strict=True)) for name, own in self.table.printed.items()},
            "factor": self.table.factor,
            "note": self.table.note,
        }
