"""Filled sheets as error rates: what people found, with intervals and their agreement."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from granola.audit.sheets import NEEDED, QUESTIONS, Sheet
from granola.errors import SheetError
from granola.scoring.bootstrap import Interval
from granola.scoring.statistics import kappa, wilson
from granola.terminal_lines import TextTable


@dataclass(frozen=True, kw_only=True, slots=True)
class Rate:
    """Errors on one axis: `errors` of `n` decided items, in [0, 1], lower is better, with its 95 % Wilson interval.

    `open` items were left undecided, or divided the annotators evenly. `kappa` is Cohen's for two annotators, Fleiss'
    for more, over the `shared` items that all of them marked; NaN for one. `agreed` is their plain agreement.
    """

    axis: str
    errors: int
    n: int
    open: int
    interval: Interval
    kappa: float
    agreed: float
    shared: int

    def to_json(self) -> dict[str, Any]:
        """NaN as null; `paper` is its share in words, null where it has none."""
        rate = self.errors / self.n if self.n else math.nan
        out = {
            "axis": self.axis, "errors": self.errors, "n": self.n, "open": self.open, "rate": rate,
            "low": self.interval.low, "high": self.interval.high, "kappa": self.kappa, "agreement": self.agreed,
            "shared": self.shared, "paper": PAPER.get(self.axis),
        }  # fmt: skip
        return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in out.items()}


# Yona et al. 2024, Table 2, of 358 answers to 124 questions, the 124 first answers among them. Whether the shares are
# of the answers or of the questions is not stated; informative is read there from the question's template.
PAPER: Mapping[str, str] = {"correct": "< 1 %", "informative_template": "6 %", "granularity": "9 %"}


def rates(sheets: Sequence[Sheet], *, first: bool = True) -> list[Rate]:
    """The error rate of each axis: an item is an error where more annotators say no than yes.

    `first` False leaves out the answers themselves. An axis that nobody has marked has no rate.

    Raises SheetError where sheets are not of the same draw.
    """
    _check_same(sheets)
    rates = [_rate(axis, sheets, first=first) for axis in QUESTIONS]
    return [rate for rate in rates if rate.n or rate.axis in NEEDED]


def _check_same(sheets: Sequence[Sheet]) -> None:
    known: dict[str, tuple[str, str]] = {}
    for sheet in sheets:
        for item, text in sheet.texts.items():
            other = known.setdefault(item, (text, sheet.path))
            if other[0] != text:
                raise SheetError(
                    f"{sheet.path}: item {item} is {text!r}, in {other[1]} it is {other[0]!r}; "
                    "give sheets that were filled from one and the same draw"
                )


def _rate(axis: str, sheets: Sequence[Sheet], *, first: bool) -> Rate:
    items = [
        item
        for item in dict.fromkeys(item for sheet in sheets for item in sheet.items)
        if first or not any(item in sheet.first for sheet in sheets)
    ]
    errors = decided = 0
    shared: list[tuple[str, ...]] = []
    for item in items:
        marks = [sheet.items[item][axis] for sheet in sheets if item in sheet.items]
        decisions = [mark for mark in marks if mark is not None]
        no, yes = decisions.count(False), decisions.count(True)
        decided += no != yes
        errors += no > yes
        if len(sheets) > 1 and len(decisions) == len(sheets):
            shared.append(tuple(str(mark) for mark in decisions))
    agreed = sum(len(set(marks)) == 1 for marks in shared) / len(shared) if shared else math.nan
    return Rate(
        axis=axis, errors=errors, n=decided, open=len(items) - decided, interval=wilson(errors, decided),
        kappa=kappa(shared), agreed=agreed, shared=len(shared),
    )  # fmt: skip


def rates_table(rates: Sequence[Rate]) -> TextTable:
    """Errors, n, rate, interval and, for several annotators, their agreement."""
    many = any(rate.shared for rate in rates)
    head = ("errors of", "errors", "n", "open", "rate", "95 % (Wilson)", "paper")
    rows = []
    for rate in rates:
        share = f"{100 * rate.errors / rate.n:.1f} %" if rate.n else "-"
        spread = f"{100 * rate.interval.low:.1f}–{100 * rate.interval.high:.1f} %" if rate.n else "-"
        row: tuple[str, ...] = (
            rate.axis,
            str(rate.errors),
            str(rate.n),
            str(rate.open),
            share,
            spread,
            PAPER.get(rate.axis, "-"),
        )
        if many:
            kappa = "-" if math.isnan(rate.kappa) else f"{rate.kappa:.3f}"
            agreed = "-" if math.isnan(rate.agreed) else f"{100 * rate.agreed:.1f} %"
            row = (*row, agreed, kappa, str(rate.shared))
        rows.append(row)
    return TextTable(head=(*head, "agreement", "kappa", "on") if many else head, rows=rows)
