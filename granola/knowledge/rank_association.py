"""Somers' D of a metric with a rating, with its interval and p-value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from granola.errors import UsageError
from granola.scoring.bootstrap import Interval, generator
from granola.scoring.statistics import Z_95
from kg.extras import install_hint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEEDED = f"Somers' D needs scipy: {install_hint('evidence')}"
_ROWS = 256  # items that are compared with all at a time


@dataclass(frozen=True, kw_only=True, slots=True)
class Association:
    """D(dependent | independent), in [-1, 1], over `n` pairs, with its 95 % interval and two-sided p-value.

    The interval is the normal one, by what each item adds; p is scipy's, and where |D| is 1 the share of random orders
    that are as extreme, +1. All NaN where either variable does not vary, or there are fewer than two pairs.
    """

    d: float
    interval: Interval
    p: float
    n: int

    def to_json(self) -> dict[str, Any]:
        """NaN as null."""
        record = {"d": self.d, "low": self.interval.low, "high": self.interval.high, "p": self.p, "n": self.n}
        return {name: None if math.isnan(value) else value for name, value in record.items()}


def somers_d(
    independent: Sequence[float], dependent: Sequence[float], *, resamples: int = 1000, seed: int = 0
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
    association = somersd(left, right)
    d, p = float(association.statistic), float(association.pvalue)
    alike, apart = _parts(left, right)
    whole = apart.sum()
    if abs(d) == 1.0:
        # The normal approximation knows no error here and says 0: how often is a random order as extreme?
        random = generator(seed, "somers")
        orders = (right[random.permutation(n)] for _ in range(resamples))
        p = (sum(abs(_parts(left, order)[0].sum()) >= whole for order in orders) + 1) / (resamples + 1)
    half = Z_95 * float(np.sqrt(((2 * (alike - d * apart) / whole) ** 2).sum()))
    return Association(d=d, interval=Interval(low=max(-1.0, d - half), high=min(1.0, d + half)), p=p, n=n)


def _parts(left: NDArray[np.float64], right: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What each item adds to the two sums over pairs whose ratio D is: signs alike, pairs apart; in little memory."""
    import numpy as np

    alike, apart = [], []
    for at in range(0, len(left), _ROWS):
        signs = np.sign(left[at : at + _ROWS, None] - left[None, :])
        alike.append((signs * np.sign(right[at : at + _ROWS, None] - right[None, :])).sum(1))
        apart.append(np.abs(signs).sum(1))
    return np.concatenate(alike), np.concatenate(apart)
