"""Dates and amounts as intervals, as wide as their wording leaves open, and their comparison.

"August 1961" leaves a month open, "the 1960s" ten years, "about 35 million" half a million to either side. So equal,
finer, coarser and conflicting are interval relations, the same for dates and amounts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from abstraction.text.language.date_finder import IntervalClaim


@dataclass(frozen=True, slots=True)
class IntervalPlacing:
    """The place of a claim on a ladder: level from 0 or None, the relation, and the tier that decided."""

    level: int | None
    how: str
    tier: IntervalClaim


def _states_more_exactly(claim: IntervalClaim, tier: IntervalClaim) -> bool:
    """Whether a claim states a tier's value more exactly.

    A tier that is a plain number is only refined by decimals: 21,196.18 where 21,196 is the gold answer.
    """
    if not claim.inside(tier):
        return False
    return tier.exact is None or (claim.exact is not None and tier.width == 1 and tier.exact.is_integer())


class IntervalLadder:
    """The claims of each level of a gold answer, finest first, empty where none. Those of one unit are cached."""

    def __init__(self, levels: Sequence[Sequence[IntervalClaim]]) -> None:
        self.levels = levels
        self._comparable: dict[str, list[tuple[int, list[IntervalClaim]]]] = {}

    def comparable(self, label: str) -> list[tuple[int, list[IntervalClaim]]]:
        """The levels that have claims in a unit or without one, with these claims; all claims for the unit ""."""
        if (levels_of_unit := self._comparable.get(label)) is None:
            levels = (
                (number, [tier for tier in tiers if not (label and tier.label) or label == tier.label])
                for number, tiers in enumerate(self.levels)
            )
            levels_of_unit = self._comparable[label] = [(number, tiers) for number, tiers in levels if tiers]
        return levels_of_unit


def place(claim: IntervalClaim, ladder: IntervalLadder | Sequence[Sequence[IntervalClaim]]) -> IntervalPlacing | None:
    """The level that a claim states.

    equal: a tier has exactly this interval. finer-than-gold: inside the finest tier of that unit, and credited at its
    level. between-tiers: true, coarser than one level, finer than the next, and credited at the next. coarser-than-
    all: true, but no tier is that coarse. conflict: it excludes the finest tier, also where it is inside a coarser
    one. None where the ladder has no claim in a comparable unit.
    """
    stated = (ladder if isinstance(ladder, IntervalLadder) else IntervalLadder(ladder)).comparable(claim.label)
    if not stated:
        return None
    for number, tiers in stated:
        for tier in tiers:
            # exact equality: both are computed from the same wording rules
            if claim.low == tier.low and claim.high == tier.high:
                return IntervalPlacing(number, "equal", tier)
    number, finest = stated[0]
    for tier in finest:
        if _states_more_exactly(claim, tier):
            return IntervalPlacing(number, "finer-than-gold", tier)
    # a claim that excludes the finest tier is wrong, whatever coarser tiers allow
    if not any(claim.allows(tier) for tier in finest):
        return IntervalPlacing(None, "conflict", finest[0])
    for number, tiers in stated[1:]:
        for tier in tiers:
            if claim.width <= tier.width:
                return IntervalPlacing(number, "between-tiers", tier)
    return IntervalPlacing(None, "coarser-than-all", stated[-1][1][0])
