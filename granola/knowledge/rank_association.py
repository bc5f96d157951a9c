"""Somers' D of a metric with a rating, with its interval and p-value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from granola.errors import UsageError
from granola.scoring.bootstrap import Interval, generator, percentile_interval

NEEDED = "Somers' D needs scipy: pip install -e '.[evidence]' in the clone"


@dataclass(frozen=True, kw_only=True, slots=True)
class Association:
    """D(dependent | independent), in [-1, 1], over `n` pairs: 95 % bootstrap interval, two-sided p-value (scipy).

    All NaN where either variable does not vary, or there are fewer than two pairs.
    """

    d: float
    interval: Interval
    p: float
    n: int

    def to_json(self) -> dict[str, Any]:
        """NaN as null."""
        told = {"d": self.d, "low": self.interval.low, "high": self.interval.high, "p": self.p, "n": self.n}
        return {name: None if math.isnan(value) else value for name, value in told.items()}


def somers_d(
    independent: Sequence[float], dependent: Sequence[float], *, times: int = 1000, seed: int = 0
) -> Association:
    """D(dependent | independent): of pairs that differ in the independent variable, the share that the dependent one
    orders alike less the share that it orders the other way round.

    In meta-evaluation the rating is the independent variable, the metric the dependent one.
    Raises UsageError where scipy is missing.
    """
    try:
        from scipy.stats import somersd
    except ImportError as error:
        raise UsageError(NEEDED) from error
    n = len(independent)
    if len(dependent) != n:
        raise ValueError(f"{n} and {len(dependent)} values are no pairs")
    none = Interval(low=math.nan, high=math.nan)
    if n < 2 or len(set(independent)) < 2:
        return Association(d=math.nan, interval=none, p=math.nan, n=n)
    if len(set(dependent)) < 2:
        return Association(d=0.0, interval=none, p=math.nan, n=n)  # every pair is tied in the dependent variable
    import numpy as np

    left, right = np.asarray(independent, dtype=float), np.asarray(dependent, dtype=float)
    found = somersd(left, right)
    signs = np.sign(left[:, None] - left[None, :]), np.sign(right[:, None] - right[None, :])
    random = generator(seed, "somers")
    drawn = []
    for _ in range(times):
        counts = np.bincount(random.integers(0, n, n), minlength=n).astype(float)
        pairs = counts[:, None] * counts[None, :]
        whole = float((pairs * np.abs(signs[0])).sum())
        drawn.append(float((pairs * signs[0] * signs[1]).sum()) / whole if whole else math.nan)
    return Association(
        d=float(found.statistic), interval=percentile_interval(drawn), p=float(found.pvalue), n=n
    )  # fmt: skip
