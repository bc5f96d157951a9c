"""Scores of items by slice, and paired comparisons of systems, for every task."""

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
    """An estimate for each slice, in the order of slices: numbers before names."""
    groups: dict[AnyPlace, list[T]] = {}
    for place, value in values:
        groups.setdefault(place, []).append(value)
    return {place: estimate(groups[place]) for place in sorted(groups, key=lambda one: (isinstance(one, str), one))}


def plain_estimate(values: Sequence[float], place: Place, forming: Forming) -> Estimate:
    """A share with Wilson's interval if all values are 0 or 1, else a mean with a bootstrap interval."""
    # Wilson is valid near 0 and 1 and for few items, where the bootstrap is too narrow.
    if set(values) <= {0.0, 1.0}:
        return share_estimate(values)
    return mean_estimate(values, resamples=forming.resamples, seed=forming.seed)


def compared_pairs(
    systems: Mapping[str, Mapping[str, float | None]], score: str, resamples: int, seed: int
) -> list[Difference]:
    """Compare every pair of systems on a score, paired over items with both values, with Holm's correction.

    `systems`: by name, the contribution of each item to the score, None where it does not count.
    """
    differences = []
    for first, second in combinations(systems, 2):
        values, theirs = systems[first], systems[second]
        pairs = [(value, theirs[key]) for key, value in values.items() if key in theirs]
        # Paired tests need both values of an item.
        counting = [pair for pair in pairs if None not in pair]
        differences.append(
            paired_difference(
                counting, metric=score, first=first, second=second, resamples=resamples, seed=seed
            )
        )  # fmt: skip
    return with_holm(differences)


def field_of(row: Row, path: str) -> Any:
    """The value of a field, with dots between nested names; tags and scores need no prefix.

    For a list: whether it contains the name.
    """
    value: Any = row
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else name in value if isinstance(value, list) else None
    if value is not None:
        return value
    return next((inner[path] for inner in (row.get("tags"), row.get("scores")) if inner and path in inner), None)


def places(told: Any) -> list[Place]:
    """The slice that a value belongs to; empty for a missing value."""
    if isinstance(told, bool):
        return ["yes" if told else "no"]
    return [told] if isinstance(told, str | int | float) and told != "" else []


def number_of(told: Any) -> float | None:
    """The value as a number; None for other types and for NaN."""
    return float(told) if isinstance(told, int | float) and not math.isnan(told) else None
