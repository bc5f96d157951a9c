"""Shares and means with their intervals, and agreement of annotators beyond chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from granola.scoring.aggregation import Estimate
from granola.scoring.bootstrap import RESAMPLES, Interval, bootstrap_estimate, mean_of

Z_95 = 1.959963984540054  # the normal quantile of 0.975


def wilson(count: int, n: int) -> Interval:
    """The 95 % score interval of a share `count` / n, in [0, 1]; NaN for n = 0.

    Wilson 1927, "Probable inference, the law of succession, and statistical inference", JASA 22.
    Raises ValueError where count is not from 0 to n.
    """
    if not 0 <= count <= n:
        raise ValueError(f"a count from 0 to {n} is wanted, not {count}")
    if n == 0:
        return Interval(low=math.nan, high=math.nan)
    p, square = count / n, Z_95 * Z_95
    centre = (p + square / (2 * n)) / (1 + square / n)
    half = Z_95 * math.sqrt(p * (1 - p) / n + square / (4 * n * n)) / (1 + square / n)
    # Exact ends where rounding would leave 1e-17.
    return Interval(low=0.0 if count == 0 else centre - half, high=1.0 if count == n else centre + half)


def share_estimate(values: Sequence[float | None]) -> Estimate:
    """The share of ones among zeros and ones, None where an item does not count, with Wilson's interval."""
    counted = [one for one in values if one is not None]
    n, ones = len(counted), round(sum(counted))
    return Estimate(value=ones / n if n else math.nan, interval=wilson(ones, n), n=n)


def mean_estimate(values: Sequence[float], *, resamples: int = RESAMPLES, seed: int = 0) -> Estimate:
    """The mean with its 95 % bootstrap interval; NaN for no value."""
    value, interval = bootstrap_estimate(
        values, lambda kinds, counts: mean_of(kinds)(counts), resamples=resamples, seed=seed, order=float
    )
    return Estimate(value=value, interval=interval, n=len(values))


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float:
    """Agreement of two annotators beyond chance, at most 1; NaN without items or where chance alone is certain.

    Cohen 1960, "A coefficient of agreement for nominal scales".
    """
    n = len(pairs)
    if n == 0:
        return math.nan
    first, second = (Counter(pair[i] for pair in pairs) for i in (0, 1))
    observed = sum(a == b for a, b in pairs) / n
    # Agreement expected from the frequencies of labels of each annotator.
    chance = sum(first[label] * second[label] for label in first) / (n * n)
    return math.nan if chance == 1.0 else (observed - chance) / (1.0 - chance)


def fleiss_kappa(items: Sequence[Sequence[str]]) -> float:
    """Agreement of a fixed number of annotators beyond chance, at most 1; NaN as in `cohen_kappa`.

    `items` contains the labels of each item. Fleiss 1971, "Measuring nominal scale agreement among many raters".
    Raises ValueError where items have different numbers of labels, or fewer than two.
    """
    if not items:
        return math.nan
    raters = len(items[0])
    if raters < 2 or any(len(item) != raters for item in items):
        raise ValueError("every item needs the same number of labels, two or more")
    n = len(items)
    total: Counter[str] = Counter()
    observed = 0.0
    for item in items:
        counts = Counter(item)
        total.update(counts)
        observed += (sum(c * c for c in counts.values()) - raters) / (raters * (raters - 1))
    observed /= n
    # Agreement expected from the frequencies of labels over all annotators.
    chance = sum((c / (n * raters)) ** 2 for c in total.values())
    return math.nan if chance == 1.0 else (observed - chance) / (1.0 - chance)


def kappa(items: Sequence[Sequence[str]]) -> float:
    """Cohen's kappa of two annotators, Fleiss' of more; NaN for one, for no items, and as in `cohen_kappa`.

    `items` contains the labels of each item, one for each annotator.
    """
    if not items or len(items[0]) < 2:
        return math.nan
    if len(items[0]) == 2:
        return cohen_kappa([(first, second) for first, second in items])
    return fleiss_kappa(items)
