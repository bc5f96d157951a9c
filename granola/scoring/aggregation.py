"""From items' outcomes to scores: over all, per relation, and the mean over relations, with bootstrap intervals."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from random import Random
from typing import Any, Literal

from granola.scoring.bootstrap import Interval, percentile_interval, resamples
from granola.scoring.graded import Cell
from granola.scoring.items import NO_BITS
from granola.scoring.metrics import Metric, Outcome

NO_RELATION = "none"


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A score with its 95 % interval over `n` counted items; all NaN where n is 0."""

    value: float
    interval: Interval
    n: int

    def to_json(self) -> dict[str, Any]:
        """A JSON object; NaN is null."""
        return {
            "value": _number(self.value),
            "low": _number(self.interval.low),
            "high": _number(self.interval.high),
            "n": self.n,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupScore:
    """Scores of a set of items by metric name, how many were scored and unscored, and where they stand."""

    n: int
    unscored: int
    estimates: Mapping[str, Estimate]
    distribution: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "n": self.n,
            "unscored": self.unscored,
            "metrics": {name: estimate.to_json() for name, estimate in self.estimates.items()},
            "distribution": dict(self.distribution),
        }


def aggregate(
    items: Iterable[tuple[str | None, Outcome | None]], chosen: Sequence[Metric], *, times: int, seed: int
) -> tuple[GroupScore, dict[str, GroupScore], dict[str, Estimate]]:
    """(all items, by relation, the mean over relations), their intervals from one and the same resampling.

    Items are given as (relation, outcome), each None where there is none.
    """
    cells: dict[tuple[str, int | None, bool, Outcome | None], _Cell] = {}
    unscored = Counter[str]()
    for given, outcome in items:
        relation = given or NO_RELATION
        if outcome is None:
            unscored[relation] += 1
            continue
        place = (relation, outcome.level, outcome.abstained, outcome.other)
        if (cell := cells.get(place)) is None:
            cell = cells[place] = _Cell(relation, outcome.plain)
        cell.add(outcome)
    ordered = sorted(cells.values(), key=lambda cell: (_relation_order(cell.relation), cell.outcome.order))
    names = sorted({cell.relation for cell in ordered} | unscored.keys(), key=_relation_order)
    if names == [NO_RELATION]:
        names = []
    overall = _Group(chosen, ordered, slice(0, len(ordered)))
    groups = {name: _Group(chosen, ordered, _place(ordered, name)) for name in names}
    columns = [_Column(metric, ordered) for metric in chosen]
    macro: dict[str, list[float]] = {metric.name: [] for metric in chosen}
    values = Random(f"{seed}:values")  # a stream of its own, so that bits move no other metric's digits
    for sample in resamples([cell.n for cell in ordered], times=times, random=Random(seed)):
        for column in columns:
            sums, counted = column.draw(sample, values)
            overall.add(column.name, sums, counted)
            if groups:
                drawn = [group.add(column.name, sums, counted) for group in groups.values()]
                macro[column.name].append(_mean(drawn))
    whole = overall.score(unscored.total())
    scores = {name: group.score(unscored[name]) for name, group in groups.items()}
    return whole, scores, _macro(scores, macro, chosen) if groups else {}


class _Cell:
    """The items of a relation with one outcome: how many, and the bits and shares of those that have them."""

    def __init__(self, relation: str, outcome: Outcome) -> None:
        self.relation = relation
        self.outcome = outcome
        self.n = 0
        self.bits = array("d")
        self.share = array("d")  # as many as bits

    def add(self, outcome: Outcome) -> None:
        """Count an item."""
        self.n += 1
        if outcome.bits is not None:
            self.bits.append(outcome.bits)
            self.share.append(NO_BITS if outcome.share is None else outcome.share)

    def counts_for(self, metric: Metric) -> bool:
        """Whether items here have something of their own to add to the metric."""
        return self.outcome.level is not None or not metric.of_matched

    def own(self, name: Literal["bits", "share"]) -> list[float]:
        """What items have of their own, in no order."""
        values = self.bits if name == "bits" else self.share
        return [value for value in values if value != NO_BITS]


def _place(cells: Sequence[_Cell], name: str) -> slice:
    """Where the cells of a relation stand; they stand together."""
    own = [index for index, cell in enumerate(cells) if cell.relation == name]
    return slice(own[0], own[-1] + 1) if own else slice(0, 0)


class _Column:
    """What each cell of a table adds to a metric, drawn for a table of resampled counts."""

    def __init__(self, metric: Metric, cells: Sequence[_Cell]) -> None:
        self.name = metric.name
        self._valued: list[Cell | None] = []
        self._adds: list[float] = []
        self._counts: list[bool] = []
        if metric.adds_own is not None:
            for cell in cells:
                own = cell.own(metric.adds_own) if cell.counts_for(metric) else []
                self._valued.append(Cell(own, cell.n) if own else None)
        else:
            adds = [metric.adds(cell.outcome) for cell in cells]
            self._adds = [add or 0.0 for add in adds]
            self._counts = [add is not None for add in adds]

    def draw(self, sample: Sequence[int], values: Random) -> tuple[list[float], list[int]]:
        """(sums, counted items) of every cell."""
        if not self._valued:
            return list(map(mul, self._adds, sample)), list(map(mul, self._counts, sample))
        drawn = [
            _NOTHING if cell is None else cell.draw(k, values) for cell, k in zip(self._valued, sample, strict=True)
        ]
        return [total for total, _ in drawn], [n for _, n in drawn]


_NOTHING = (0.0, 0)


class _Group:
    """The cells in one place of a table of counts: their scores, and the scores of every resampled table."""

    def __init__(self, chosen: Sequence[Metric], cells: Sequence[_Cell], place: slice) -> None:
        self.chosen = chosen
        self.own = cells[place]
        self.drawn: dict[str, list[float]] = {metric.name: [] for metric in chosen}
        self._place = place

    def add(self, metric: str, sums: Sequence[float], counted: Sequence[int]) -> float:
        """Score one resampled table, given by its cells' sums and counted items."""
        n = sum(counted[self._place])
        score = math.fsum(sums[self._place]) / n if n else math.nan
        self.drawn[metric].append(score)
        return score

    def score(self, unscored: int) -> GroupScore:
        """The scores of the real table with the intervals of the resampled ones."""
        counts = Counter[Outcome]()
        for cell in self.own:
            counts[cell.outcome] += cell.n
        estimates = {}
        for metric in self.chosen:
            if metric.adds_own is None:
                value, n = metric.of(counts)
            else:
                value, n = _mean_of_own([cell for cell in self.own if cell.counts_for(metric)], metric.adds_own)
            interval = percentile_interval(self.drawn[metric.name])
            estimates[metric.name] = Estimate(value=value, interval=interval, n=n)
        return GroupScore(
            n=counts.total(),
            unscored=unscored,
            estimates=estimates,
            distribution=_distribution(counts, unscored),
        )


def _mean_of_own(cells: Sequence[_Cell], name: Literal["bits", "share"]) -> tuple[float, int]:
    """(mean, n) of what items have of their own, equal items added at once as `Metric.of` does."""
    total, n = [], 0
    for level in {cell.outcome.level for cell in cells}:
        equal = Counter[tuple[float, float]]()
        for cell in cells:
            if cell.outcome.level == level:
                equal.update(zip(cell.bits, cell.share, strict=True))
        for (bits, share), count in equal.items():
            value = bits if name == "bits" else share
            if value != NO_BITS:
                total.append(value * count)
                n += count
    return (math.fsum(total) / n if n else math.nan), n


def _distribution(counts: Mapping[Outcome, int], unscored: int) -> dict[str, int]:
    """Items by level from 1 to the coarsest that occurs, then wrong, idk and unscored, zeros included."""
    deepest = max((outcome.level or 1 for outcome in counts), default=1)
    names = [*(str(level) for level in range(1, deepest + 1)), "wrong", "idk"]
    found = dict.fromkeys(names, 0)
    for outcome, count in counts.items():
        found[outcome.name] += count
    return {**found, "unscored": unscored}


def _macro(
    relations: Mapping[str, GroupScore], drawn: Mapping[str, Sequence[float]], chosen: Sequence[Metric]
) -> dict[str, Estimate]:
    """The mean over the relations that have a score; `n` is how many."""
    found = {}
    for metric in chosen:
        values = [e.value for group in relations.values() if (e := group.estimates[metric.name]).n]
        interval = percentile_interval(drawn[metric.name])
        found[metric.name] = Estimate(value=_mean(values), interval=interval, n=len(values))
    return found


def _mean(values: Sequence[float]) -> float:
    there = [value for value in values if not math.isnan(value)]
    return sum(there) / len(there) if there else math.nan


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _relation_order(name: str) -> tuple[bool, int, str]:
    number = name[1:]
    return (not number.isdigit(), int(number) if number.isdigit() else 0, name)
