"""Bootstrap intervals over questions: seeded, local, the same digits however the work is split.

Metrics depend on a question only through its outcome, and there are few outcomes. Drawing n questions with
replacement is then one multinomial draw of outcome counts, which costs a few binomial draws instead of n.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

CONFIDENCE = 0.95
RESAMPLES = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """A closed interval; both ends NaN where nothing could be resampled."""

    low: float
    high: float


def binomial(n: int, p: float, random: Random) -> int:
    """A draw from Binomial(n, p), 0 <= p <= 1: by inversion where n*p is small, else by rejection.

    Rejection is BTRS of Hormann 1993, "The generation of binomial random variates".
    """
    if n <= 0 or p <= 0.0:
        return 0
    if p >= 1.0:
        return n
    if p > 0.5:
        return n - binomial(n, 1.0 - p, random)
    if n * p < 10.0:
        return _inversion(n, p, random)
    return _btrs(n, p, random)


def _inversion(n: int, p: float, random: Random) -> int:
    odds = p / (1.0 - p)
    chance = (1.0 - p) ** n
    left = random.random()
    k = 0
    while left > chance and k < n:
        left -= chance
        k += 1
        chance *= odds * (n - k + 1) / k
    return k


def _btrs(n: int, p: float, random: Random) -> int:
    spread = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    centre = n * p + 0.5
    v_safe = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * spread
    log_odds = math.log(p / (1.0 - p))
    mode = math.floor((n + 1) * p)
    peak = math.lgamma(mode + 1) + math.lgamma(n - mode + 1)
    while True:
        u = random.random() - 0.5
        us = 0.5 - abs(u)
        k = math.floor((2.0 * a / us + b) * u + centre) if us > 0.0 else -1
        v = random.random()
        if not 0 <= k <= n:
            continue
        if us >= 0.07 and v <= v_safe:
            return k
        v *= alpha / (a / (us * us) + b)
        if v <= 0.0 or math.log(v) <= (peak - math.lgamma(k + 1) - math.lgamma(n - k + 1) + (k - mode) * log_odds):
            return k


def resamples(counts: Sequence[int], *, times: int, random: Random) -> Iterator[list[int]]:
    """`times` draws of sum(counts) items with replacement, each as counts in the order given."""
    total = sum(counts)
    for _ in range(times):
        drawn, left, mass = [], total, total
        for count in counts:
            here = binomial(left, count / mass, random) if mass else 0
            drawn.append(here)
            left -= here
            mass -= count
        yield drawn


def percentile_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """The central `confidence` of resampled scores, ends interpolated; NaN scores are left out."""
    ordered = sorted(value for value in values if not math.isnan(value))
    if not ordered:
        return Interval(low=math.nan, high=math.nan)
    tail = (1.0 - confidence) / 2.0
    return Interval(low=_quantile(ordered, tail), high=_quantile(ordered, 1.0 - tail))


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for there being several tests, in the order given (Holm 1979); NaN stays and counts as none."""
    there = sorted((p, index) for index, p in enumerate(p_values) if not math.isnan(p))
    adjusted = [math.nan] * len(p_values)
    least = 0.0
    for rank, (p, index) in enumerate(there):
        least = max(least, min(1.0, p * (len(there) - rank)))
        adjusted[index] = least
    return adjusted
