"""Resampled sums of a value that differs from item to item, without drawing every item.

Items with the same outcome are exchangeable but for their value: of k items drawn from a cell, the sum of their
values is drawn at once. Up to `DIRECT` items are drawn one by one; the sum of more is taken as normal, with the
mean and variance of that many draws, inside what is possible.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from random import Random

from granola.scoring.bootstrap import binomial

DIRECT = 32


class Cell:
    """The values of those of the `n` items of one cell that have one."""

    def __init__(self, values: Iterable[float], n: int) -> None:
        self._known = array("d", sorted(values))  # whatever order the items came in
        self._share = len(self._known) / n if n else 0.0
        if self._known:
            self._low, self._high = min(self._known), max(self._known)
            self._mean = math.fsum(self._known) / len(self._known)
            squares = math.fsum((value - self._mean) ** 2 for value in self._known)
            self._deviation = math.sqrt(squares / len(self._known))

    def draw(self, k: int, random: Random) -> tuple[float, int]:
        """(sum of the values, how many had one) of k items drawn with replacement."""
        counted = binomial(k, self._share, random)
        if not counted:
            return 0.0, 0
        if self._low == self._high:
            return self._low * counted, counted
        if counted <= DIRECT:
            return math.fsum(random.choices(self._known, k=counted)), counted
        drawn = random.gauss(self._mean * counted, self._deviation * math.sqrt(counted))
        return min(max(drawn, self._low * counted), self._high * counted), counted
