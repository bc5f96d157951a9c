"""Other metrics beside GRANOLA's: their mean where an answer is right by the standard, by GRANOLA alone, or by neither.

A metric that calls coarse but true answers wrong shows it here (Yona et al. 2024, section 5: the mean of a metric in
each cell of standard and GRANOLA correctness).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from granola.scoring.metrics import Outcome
from granola.scoring.predictions import Prediction
from granola.scoring.scores import ScoreReport
from granola.scoring.sweeps import ItemF1

# (right by the standard, right by GRANOLA), in the order of the paper's Table 3; abstentions stand apart. The third is
# empty by definition: what matches level 1 matches a level.
CELLS = ("yes, yes", "no, yes", "yes, no", "no, no", "IDK")


@dataclass(frozen=True, kw_only=True, slots=True)
class MetaCell:
    """The mean of a score over the `n` items of a cell that have it; NaN where none has."""

    mean: float
    n: int


def cell_of(outcome: Outcome) -> str:
    """The cell of a scored item, one of CELLS: by whatever names its level 1 was matched with."""
    if outcome.abstained:
        return CELLS[4]
    return CELLS[3] if outcome.level is None else CELLS[0] if outcome.level == 1 else CELLS[1]


def cell_counts(report: ScoreReport) -> dict[str, int]:
    """How many scored items stand in each cell."""
    found = Counter(cell_of(outcome) for outcome in report.items.outcomes() if outcome is not None)
    return {cell: found[cell] for cell in CELLS}


def meta_table(
    report: ScoreReport, predictions: Mapping[str, Prediction], f1: Sequence[ItemF1] = ()
) -> dict[str, dict[str, MetaCell]]:
    """By the name of a score, its mean in every cell: the scores that predictions carry, then token-F1."""
    outcomes = {
        id_: outcome
        for id_, outcome in zip(report.items.ids, report.items.outcomes(), strict=True)
        if outcome is not None
    }
    cells = {id_: cell_of(outcome) for id_, outcome in outcomes.items()}
    values: dict[str, dict[str, float]] = {}
    for id_ in cells:
        for name, value in predictions[id_].scores.items():
            values.setdefault(name, {})[id_] = value
    if f1:
        values["token-F1, standard"] = {item.id: item.standard for item in f1 if item.id in cells}
        values["token-F1, GRANOLA"] = {
            item.id: item.with_level(outcomes[item.id].level) for item in f1 if item.id in outcomes
        }
    return {
        name: {cell: _cell([value for id_, value in told.items() if cells[id_] == cell]) for cell in CELLS}
        for name, told in values.items()
    }


def _cell(values: Sequence[float]) -> MetaCell:
    return MetaCell(mean=math.fsum(values) / len(values) if values else math.nan, n=len(values))
