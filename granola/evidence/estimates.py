"""Scores of items by slice, and systems compared item by item: the same for every task."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeVar

from granola.evidence.evidence_task import Forming, Place, Row
from granola.scoring.aggregation import Estimate
from granola.scoring.statistics import mean_estimate, share_estimate
from granola.scoring.system_comparison import Difference, paired_difference, with_holm

T = TypeVar("T")
AnyPlace = TypeVar("AnyPlace", str, int, float | str)


def by_slice(
    values: Iterable[tuple[AnyPlace, T]], estimate: Callable[[Sequence[T]], Estimate]
) -> dict[AnyPlace, Estimate]:
    """An estimate of what items add at each place, in the order of places, numbers before names."""
    groups: dict[AnyPlace, list[T]] = {}
    for place, value in values:
        groups.setdefault(place, []).append(value)
    return {place: estimate(groups[place]) for place in sorted(groups, key=lambda one: (isinstance(one, str), one))}


def plain_estimate(values: Sequence[float], place: Place, forming: Forming) -> Estimate:
    """A share with Wilson's interval where there are but zeros and ones, else a mean with the bootstrap's."""
    if set(values) <= {0.0, 1.0}:
        return share_estimate(values)
    return mean_estimate(values, resamples=forming.resamples, seed=forming.seed)


def compared_pairs(
    systems: Mapping[str, Mapping[str, float | None]], score: str, resamples: int, seed: int
) -> list[Difference]:
    """Every pair of systems in a score, paired over the items where both have a value, with Holm's correction.

    `systems` have by name what each item adds to the score, None where it does not count.
    """
    differences = []
    for first, second in combinations(systems, 2):
        values, theirs = systems[first], systems[second]
        pairs = [(value, theirs[key]) for key, value in values.items() if key in theirs]
        counting = [pair for pair in pairs if None not in pair]
        differences.append(
            paired_difference(
                counting, metric=score, first=first, second=second, resamples=resamples, seed=seed
            )
        )  # fmt: skip
    return with_holm(differences)


def field_of(row: Row, path: str) -> Any:
    """What stands at a field, with dots between names; a tag and a score need no such prefix.

    Of a list, whether the name is in it.
    """
    value: Any = row
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else name in value if isinstance(value, list) else None
    if value is not None:
        return value
    return next((inner[path] for inner in (row.get("tags"), row.get("scores")) if inner and path in inner), None)


def places(told: Any) -> list[Place]:
    """The place that a value names, none where it names none."""
    if isinstance(told, bool):
        return ["yes" if told else "no"]
    return [told] if isinstance(told, str | int | float) and told != "" else []


def number_of(told: Any) -> float | None:
    """A value as a number; None for what is none, and for NaN."""
    return float(told) if isinstance(told, int | float) and not math.isnan(told) else None
