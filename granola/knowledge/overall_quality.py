"""One number of a text, Q_know, and choosing by it: equation 9 and section 5 of Chen et al. 2023."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from granola.errors import UsageError

PARTS = ("factuality", "relevance", "coherence_paragraph", "informativeness")
EQUAL = (0.25, 0.25, 0.25, 0.25)  # the paper states no values


@dataclass(frozen=True, kw_only=True, slots=True)
class Coefficients:
    """gamma, in the order of PARTS."""

    values: tuple[float, float, float, float] = EQUAL

    def quality(self, scores: Mapping[str, Any]) -> float:
        """gamma . scores. Raises UsageError for a score that is lacking."""
        lacking = [name for name in PARTS if not isinstance(scores.get(name), int | float)]
        if lacking:
            raise UsageError(f"no score {', '.join(lacking)}: Q needs {', '.join(PARTS)}; judge with models for all")
        return math.fsum(gamma * scores[name] for gamma, name in zip(self.values, PARTS, strict=True))


def read_coefficients(text: str) -> Coefficients:
    """Four numbers, parted by commas, in the order of PARTS. Raises UsageError."""
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    if len(values) != 4 or not all(map(math.isfinite, values)):
        raise UsageError(f"coefficients are {text!r}; four numbers are allowed, for {', '.join(PARTS)}")
    return Coefficients(values=(values[0], values[1], values[2], values[3]))


def fitted(rows: Sequence[tuple[Mapping[str, Any], float]]) -> Coefficients:
    """Least squares of a target on the four scores and a constant, the constant left out of Q: it moves no choice.

    Raises UsageError for fewer rows than five, and for scores that do not tell the coefficients apart.
    """
    import numpy as np

    if len(rows) < 5:
        raise UsageError(f"{len(rows)} rows with a target; five or more are needed to fit four coefficients")
    left = np.array([[*(scores[name] for name in PARTS), 1.0] for scores, _ in rows])
    if np.linalg.matrix_rank(left) < 5:
        raise UsageError("the four scores do not vary apart from each other: give coefficients instead of fitting them")
    coefficients = np.linalg.lstsq(left, np.array([target for _, target in rows]), rcond=None)[0].tolist()
    return Coefficients(values=(coefficients[0], coefficients[1], coefficients[2], coefficients[3]))


def best_of(qualities: Sequence[float]) -> int:
    """The place of the greatest, the first of equal ones."""
    return max(range(len(qualities)), key=lambda at: (qualities[at], -at))


def best_places(qualities: Sequence[float], n: int) -> list[int]:
    """The places of the `n` greatest, greatest first, the first of equal ones first."""
    return sorted(range(len(qualities)), key=lambda at: (-qualities[at], at))[:n]
