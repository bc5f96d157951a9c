"""Claims on a line: a date or an amount as the interval that its wording leaves open, and how claims compare.

"August 1961" leaves a month open, "the 1960s" ten years, "about 35 million" half a million to either side.
That makes equal, finer, coarser and conflicting plain interval relations, the same for dates and amounts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from abstraction.language.interval_claims import IntervalClaim


@dataclass(frozen=True, slots=True)
class IntervalPlacing:
    """Where a claim falls on a ladder: level from 0 or None, how, and the tier that decided."""

    level: int | None
    how: str
    tier: IntervalClaim


def _refines(claim: IntervalClaim, tier: IntervalClaim) -> bool:
    """Whether a claim says exactly what a tier says in fewer digits; a plain number is that number alone.

    But for its decimals: 21,196.18 where 21,196 is asked for.
    """
    if not claim.inside(tier):
        return False
    return tier.exact is None or (claim.exact is not None and tier.width == 1 and tier.exact.is_integer())


class IntervalLadder:
    """The claims of each level of a gold answer, finest first, empty where none. Those of one unit are found once."""

    def __init__(self, levels: Sequence[Sequence[IntervalClaim]]) -> None:
        self.levels = levels
        self._comparable: dict[str, list[tuple[int, list[IntervalClaim]]]] = {}

    def comparable(self, label: str) -> list[tuple[int, list[IntervalClaim]]]:
        """The levels that have claims of a unit or of none, and these; of "" all."""
        if (levels_of_unit := self._comparable.get(label)) is None:
            levels = (
                (number, [tier for tier in tiers if not (label and tier.label) or label == tier.label])
                for number, tiers in enumerate(self.levels)
            )
            levels_of_unit = self._comparable[label] = [(number, tiers) for number, tiers in levels if tiers]
        return levels_of_unit


def place(claim: IntervalClaim, ladder: IntervalLadder | Sequence[Sequence[IntervalClaim]]) -> IntervalPlacing | None:
    """The level that a claim states.

    equal: a tier says exactly this. finer-than-gold: inside the finest stated tier, and credited there.
    between-tiers: true of the answer, coarser than one level, finer than the next, and credited at that one.
    coarser-than-all: true, but no tier is that coarse. conflict: it excludes the answer, or is finer than a
    tier and disagrees with the finer one, and a right coarser tier does not save it.
    None where the ladder has no claim that compares.
    """
    stated = (ladder if isinstance(ladder, IntervalLadder) else IntervalLadder(ladder)).comparable(claim.label)
    if not stated:
        return None
    for number, tiers in stated:
        for tier in tiers:
            if claim.low == tier.low and claim.high == tier.high:
                return IntervalPlacing(number, "equal", tier)
    number, finest = stated[0]
    for tier in finest:
        if _refines(claim, tier):
            return IntervalPlacing(number, "finer-than-gold", tier)
    if not any(claim.allows(tier) for tier in finest):
        return IntervalPlacing(None, "conflict", finest[0])
    for number, tiers in stated[1:]:
        for tier in tiers:
            if claim.width <= tier.width:
                return IntervalPlacing(number, "between-tiers", tier)
    return IntervalPlacing(None, "coarser-than-all", stated[-1][1][0])
