"""Estimates with their intervals, corrections for several tests, and agreement of annotators beyond chance.

Bootstrap intervals (Efron and Tibshirani 1993, chapter 13) are over questions, for any statistic of items. Equal items
are drawn together: drawing n items with replacement is one multinomial draw of the number of times that each distinct
item occurs. A statistic is a function of the distinct items and these numbers, so that the same code serves means, F1
of a confusion matrix and calibration errors. All draws are exact, and the same for the same seed whatever the order of
the items.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from granola.errors import MatcherError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONFIDENCE = 0.95  # of every interval that is printed
Z_95 = 1.959963984540054  # the normal quantile of 0.975
RESAMPLES = 1000  # the usual number for percentile intervals
# Below 10 no percentile means anything; above 100,000 only time is lost.
LEAST_RESAMPLES, MOST_RESAMPLES = 10, 100_000
AT_ONCE = 4_000_000  # numbers in memory at a time: 32 MB
T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """A closed interval; both ends NaN where there was nothing to resample."""

    low: float
    high: float


def check_resamples(resamples: int) -> None:
    """Raise MatcherError for a number of resamples outside the allowed range."""
    if not LEAST_RESAMPLES <= resamples <= MOST_RESAMPLES:
        raise MatcherError(f"resamples is {resamples}; allowed: {LEAST_RESAMPLES} to {MOST_RESAMPLES:,}")


def random_stream(*key: object) -> np.random.Generator:
    """The random stream of a key, independent of those of other keys; a key is a seed and the name of the quantity
    drawn.
    """
    import numpy as np

    # A hash of the key, since `hash` of texts differs between processes.
    digest = hashlib.sha256(repr(key).encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest)))


def draw_counts(
    counts: Sequence[int], draws: int | NDArray[np.int64], random: np.random.Generator, *, resamples: int | None = None
) -> NDArray[np.int64]:
    """Draw items with replacement and return how often each kind occurs, [resamples, kinds].

    `counts` are the numbers of items of each kind. `draws` is the number of items drawn: one number for all
    `resamples`, or one for each.
    """
    import numpy as np

    total = sum(counts)
    shares = np.array(counts, dtype=np.float64) / total if total else np.zeros(len(counts))
    # numpy cannot draw from no items.
    if not total:
        rows = len(draws) if resamples is None else resamples  # type: ignore[arg-type]
        return np.zeros((rows, len(counts)), dtype=np.int64)
    return random.multinomial(draws, shares, size=resamples)


def chunk_sizes_of_resamples(kinds: int, resamples: int) -> Iterator[int]:
    """Split `resamples` into chunks whose counts fit into memory, and yield the size of each."""
    most = max(1, AT_ONCE // max(1, kinds))
    while resamples > 0:
        yield min(most, resamples)
        resamples -= most


def bootstrap_estimate(
    items: Iterable[T],
    statistic: Callable[[Sequence[T], NDArray[np.int64]], Any],
    *,
    resamples: int = RESAMPLES,
    seed: object = 0,
    order: Callable[[T], Any] = repr,
) -> tuple[float, Interval]:
    """Return (value, 95 % interval) of any statistic of hashable items.

    `statistic` takes the distinct items and how often each occurs, [resamples, items], and returns one value for each
    resample. `order` is the sort key of distinct items, so that their original order does not matter.
    """
    import numpy as np

    counted = Counter(items)
    # Sorted, so that the order of the items does not change the draws.
    different = sorted(counted, key=order)
    counts = [counted[item] for item in different]
    value = float(statistic(different, np.array([counts], dtype=np.int64))[0]) if counts else math.nan
    random = random_stream(seed)
    parts = [
        np.asarray(statistic(different, draw_counts(counts, sum(counts), random, resamples=size)), dtype=np.float64)
        for size in chunk_sizes_of_resamples(len(counts), resamples if counts else 0)
    ]
    return value, percentile_interval(np.concatenate(parts) if parts else ())


def mean_statistic_of(adds: Sequence[float | None]) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
    """A function from how often each item occurs in each resample ([resamples, items]) to the mean of `adds`; None is
    not counted.
    """
    import numpy as np

    # Two products of matrices: the sum, and the number of counted items.
    values = np.array([0.0 if add is None else add for add in adds])
    counted = np.array([add is not None for add in adds], dtype=np.float64)

    def mean(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return divide_or_nan(counts @ values, counts @ counted)

    return mean


def divide_or_nan(sums: NDArray[np.float64], numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """sums / numbers, NaN where the number is 0."""
    import numpy as np

    result: NDArray[np.float64] = np.divide(sums, numbers, out=np.full(np.shape(sums), np.nan), where=numbers > 0)
    return result


def percentile_interval(values: Sequence[float] | NDArray[np.float64]) -> Interval:
    """The central 95 % interval of resampled scores, ends interpolated; NaN scores are left out."""
    import numpy as np

    not_nan = np.asarray(values, dtype=np.float64)
    not_nan = not_nan[~np.isnan(not_nan)]
    if not not_nan.size:
        return Interval(low=math.nan, high=math.nan)
    # The same probability beyond both ends.
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = np.quantile(not_nan, (tail, 1.0 - tail))
    return Interval(low=float(low), high=float(high))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for multiple tests, in the order given (Holm 1979). NaN stays NaN and is not counted as a
    test.
    """
    not_nan = sorted((p, index) for index, p in enumerate(p_values) if not math.isnan(p))
    adjusted = [math.nan] * len(p_values)
    # Adjusted values must not fall as p rises (step-down).
    least = 0.0
    for rank, (p, index) in enumerate(not_nan):
        least = max(least, min(1.0, p * (len(not_nan) - rank)))
        adjusted[index] = least
    return adjusted


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A score with its 95 % interval over `n` counted items; all NaN where n is 0."""

    value: float
    interval: Interval
    n: int

    def to_json(self) -> dict[str, Any]:
        """A JSON object; NaN is null."""
        return {
            "value": json_number(self.value),
            "low": json_number(self.interval.low),
            "high": json_number(self.interval.high),
            "n": self.n,
        }


def json_number(value: float) -> float | None:
    """The number for JSON, which has no NaN: null in its place."""
    return None if math.isnan(value) else value


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
        values, lambda kinds, counts: mean_statistic_of(kinds)(counts), resamples=resamples, seed=seed, order=float
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
