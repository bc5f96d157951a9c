"""What a date or an amount in a text leaves open: the closed interval that finders of dates and of amounts give."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IntervalClaim:
    """The closed interval [low, high] that `text`, at [start, end) of its source, leaves open.

    Of dates, in the day numbers of `calendar_units.day_number`; `wider` is the interval of the second sense that
    "the 1800s" has beside ten years. Of amounts, in the unit that is `label`, the QID of `units`, "" for none;
    claims of different units do not compare. `exact` is the number of a plain amount: "1,500" may round 1,523, but as
    the gold answer it is 1500.
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
        """Whether everything this claim allows is allowed by `other`."""
        return other.low <= self.low and self.high <= other.high

    def allows(self, gold: IntervalClaim) -> bool:
        """Whether `gold`, read as exactly as it is written, is one of the things that this claim allows."""
        if gold.exact is not None:
            return self.low <= gold.exact <= self.high
        return gold.inside(self)

    @property
    def width(self) -> float:
        """How much is left open."""
        return self.high - self.low


def half_step(digits: str) -> float:
    """Half of the last digit that plain digits vouch for: 0.05 in 35.4, 50 in 1500, 0.5 in 8849."""
    if "." in digits:
        return 0.5 * 10.0 ** -len(digits.split(".")[1])
    stripped = digits.rstrip("0")
    return 0.5 * 10.0 ** min(len(digits) - len(stripped), 300) if stripped else 0.5
