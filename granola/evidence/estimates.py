"""Scores of items by slice, and systems compared item by item: the same for every task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeVar

from granola.scoring.aggregation import Estimate
from granola.scoring.system_comparison import Difference, paired_difference, with_holm

T = TypeVar("T")
Place = TypeVar("Place", str, int, float | str)


def by_slice(
    values: Iterable[tuple[Place, T]], estimate: Callable[[Sequence[T]], Estimate]
) -> dict[Place, Estimate]:
    """An estimate of what items add at each place, in the order of places, numbers before names."""
    groups: dict[Place, list[T]] = {}
    for place, value in values:
        groups.setdefault(place, []).append(value)
    return {place: estimate(groups[place]) for place in sorted(groups, key=lambda one: (isinstance(one, str), one))}


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
