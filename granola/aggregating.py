"""From items' outcomes to scores: over all, per relation, and the mean over relations, with bootstrap intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from random import Random
from typing import Any

from granola.graded import Cell
from granola.metrics import Metric, Outcome
from granola.statistics import Interval, percentile_interval, resamples

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
    named = [(relation or NO_RELATION, outcome) for relation, outcome in items]
    cells: dict[_Cell, Counter[Outcome]] = {}
    for relation, outcome in named:
        if outcome is not None:
            cells.setdefault((relation, outcome.plain), Counter())[outcome] += 1
    keys = sorted(cells, key=lambda cell: (_relation_order(cell[0]), cell[1].order))
    names = sorted({relation for relation, _ in named}, key=_relation_order)
    if names == [NO_RELATION]:
        names = []
    overall = _Group(chosen, keys, slice(0, len(keys)))
    groups = {name: _Group(chosen, keys, _place(keys, name)) for name in names}
    columns = [_Column(metric, keys, cells) for metric in chosen]
    macro: dict[str, list[float]] = {metric.name: [] for metric in chosen}
    values = Random(f"{seed}:values")  # a stream of its own, so that bits move no other metric's digits
    for sample in resamples([cells[cell].total() for cell in keys], times=times, random=Random(seed)):
        for column in columns:
            sums, counted = column.draw(sample, values)
            overall.add(column.name, sums, counted)
            if groups:
                drawn = [group.add(column.name, sums, counted) for group in groups.values()]
                macro[column.name].append(_mean(drawn))
    unscored = Counter(relation for relation, outcome in named if outcome is None)
    whole = overall.score(cells, unscored.total())
    scores = {name: group.score(cells, unscored[name]) for name, group in groups.items()}
    return whole, scores, _macro(scores, macro, chosen) if groups else {}


_Cell = tuple[str, Outcome]


def _place(keys: Sequence[_Cell], name: str) -> slice:
    """Where the cells of a relation stand; they stand together."""
    own = [index for index, cell in enumerate(keys) if cell[0] == name]
    return slice(own[0], own[-1] + 1) if own else slice(0, 0)


class _Column:
    """What each cell of a table adds to a metric, drawn for a table of resampled counts."""

    def __init__(self, metric: Metric, keys: Sequence[_Cell], cells: Mapping[_Cell, Counter[Outcome]]) -> None:
        self.name = metric.name
        self._valued: list[Cell | None] = []
        self._adds: list[float] = []
        self._counts: list[bool] = []
        if metric.by_bits:
            found = [[metric.adds(outcome) for outcome in cells[key].elements()] for key in keys]
            self._valued = [Cell(adds) if any(add is not None for add in adds) else None for adds in found]
        else:
            adds = [metric.adds(key[1]) for key in keys]
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

    def __init__(self, chosen: Sequence[Metric], keys: Sequence[_Cell], place: slice) -> None:
        self.chosen = chosen
        self.own = keys[place]
        self.drawn: dict[str, list[float]] = {metric.name: [] for metric in chosen}
        self._place = place

    def add(self, metric: str, sums: Sequence[float], counted: Sequence[int]) -> float:
        """Score one resampled table, given by its cells' sums and counted items."""
        n = sum(counted[self._place])
        score = math.fsum(sums[self._place]) / n if n else math.nan
        self.drawn[metric].append(score)
        return score

    def score(self, cells: Mapping[_Cell, Counter[Outcome]], unscored: int) -> GroupScore:
        """The scores of the real table with the intervals of the resampled ones."""
        counts = Counter({cell[1]: 0 for cell in self.own})
        valued: Counter[Outcome] = Counter()
        for cell in self.own:
            counts[cell[1]] += cells[cell].total()
            valued.update(cells[cell])
        estimates = {}
        for metric in self.chosen:
            value, n = metric.of(valued if metric.by_bits else counts)
            interval = percentile_interval(self.drawn[metric.name])
            estimates[metric.name] = Estimate(value=value, interval=interval, n=n)
        return GroupScore(
            n=counts.total(),
            unscored=unscored,
            estimates=estimates,
            distribution=_distribution(counts, unscored),
        )


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
