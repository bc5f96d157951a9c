"""Interval claims: the closed intervals that dates and amounts in texts allow."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IntervalClaim:
    """The closed interval [low, high] of values that `text`, at [start, end) of its source, allows.

    For dates the unit is `calendar_units.day_number`, and `wider` is the interval of a second sense: "the 1800s" are
    ten or a hundred years. For amounts `label` is the QID of the unit, "" for none; claims of different units are not
    comparable. `exact` is the value of a plain number: "1,500" may be 1,523 rounded, but as a gold answer it is 1500.
    """

    low: float
    high: float
    text: str
    start: int
    end: int
    label: str = ""
    exact: float | None = None
    wider: tuple[float, float] | None = None

    def inside(self, other: IntervalClaim) -> bool:
        """Whether the interval is contained in that of `other`."""
        return other.low <= self.low and self.high <= other.high

    def allows(self, gold: IntervalClaim) -> bool:
        """Whether this claim contains `gold`, taken at its exact value where it has one."""
        if gold.exact is not None:
            return self.low <= gold.exact <= self.high
        return gold.inside(self)

    @property
    def width(self) -> float:
        """The width of the interval."""
        return self.high - self.low


def half_step(digits: str) -> float:
    """Half a unit of the last significant digit: 0.05 for 35.4, 50 for 1500, 0.5 for 8849."""
    if "." in digits:
        return 0.5 * 10.0 ** -len(digits.split(".")[1])
    stripped = digits.rstrip("0")
    return 0.5 * 10.0 ** min(len(digits) - len(stripped), 300) if stripped else 0.5
