"""Somers' D of a metric with a rating, with its interval and p-value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from granola.errors import UsageError
from granola.scoring.bootstrap import Interval, chunks, divided, generator, percentile_interval
from kg.extras import install_hint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEEDED = f"Somers' D needs scipy: {install_hint('evidence')}"
MOST_RESAMPLED = 3000  # pairs; of more the interval is the normal one, which then differs in no shown digit
_ROWS = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class Association:
    """D(dependent | independent), in [-1, 1], over `n` pairs: 95 % bootstrap interval, two-sided p-value (scipy;
    where |D| is 1, by random orders, +1).

    All NaN where either variable does not vary, or there are fewer than two pairs.
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
    if n > MOST_RESAMPLED:
        return Association(d=d, interval=_by_influence(left, right, d), p=p, n=n)
    apart = np.abs(np.sign(left[:, None] - left[None, :]))
    alike = np.sign(left[:, None] - left[None, :]) * np.sign(right[:, None] - right[None, :])
    random = generator(seed, "somers")
    drawn: list[float] = []
    for some in chunks(n, resamples):
        counts = random.multinomial(n, np.full(n, 1 / n), size=some).astype(float)
        drawn += divided(((counts @ alike) * counts).sum(1), ((counts @ apart) * counts).sum(1)).tolist()
    if abs(d) == 1.0:
        # The normal approximation knows no error here and says 0: how often is a random order as extreme?
        orders = [random.permutation(n) for _ in range(resamples)]
        extreme = sum(
            abs(float((np.sign(right[o][:, None] - right[o][None, :]) * np.sign(left[:, None] - left[None, :])).sum()))
            >= float(apart.sum()) for o in orders
        )  # fmt: skip
        p = (extreme + 1) / (resamples + 1)
    return Association(d=d, interval=percentile_interval(drawn), p=p, n=n)


def _by_influence(left: NDArray[np.float64], right: NDArray[np.float64], d: float) -> Interval:
    """The normal interval of a ratio of two sums over pairs, by what each item adds to them; in little memory."""
    import numpy as np

    alike, apart = [], []
    for at in range(0, len(left), _ROWS):
        signs = np.sign(left[at : at + _ROWS, None] - left[None, :])
        alike.append((signs * np.sign(right[at : at + _ROWS, None] - right[None, :])).sum(1))
        apart.append(np.abs(signs).sum(1))
    parts, whole = np.concatenate(alike), np.concatenate(apart)
    error = float(np.sqrt(((2 * (parts - d * whole) / whole.sum()) ** 2).sum()))
    return Interval(low=max(-1.0, d - 1.96 * error), high=min(1.0, d + 1.96 * error))
