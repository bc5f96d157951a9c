"""DRAG's aggregation without a model: the most specific tier that enough of the responses entail.

Decoding with Response AGgregation (Yona et al. 2024, section 4) asks a model for the most specific answer that is
consistent with all sampled responses, or IDK. Here each response has its ladder, and the answer is looked up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from granola.decoding.calibration import Calibration
from granola.decoding.decision import Abstaining, Decision, abstained, confidence, of_responses
from granola.decoding.tally import Claim, Tally
from granola.errors import UsageError

SHOWN = 4  # finer tiers with too little support that an explanation names


@dataclass(frozen=True, kw_only=True, slots=True)
class DragGraph:
    """The settings. `support`: the share of the counted responses that must entail the answer, in (0, 1]; 1 is the
    paper's "consistent with all". A `calibration` demands a share for each fineness instead. `weigh` None takes the
    finest of the tiers that have it; a number w >= 0 that with the greatest information times share^w: 0 is the same
    as None, the greater the more support counts.

    Raises UsageError for settings outside their ranges.
    """

    support: float = 1.0
    weigh: float | None = None
    abstaining: Abstaining = Abstaining.MAJORITY
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.support <= 1.0:
            raise UsageError(f"support is {self.support:g}; allowed: above 0 and up to 1, as in 0.5")
        if self.weigh is not None and not (math.isfinite(self.weigh) and self.weigh >= 0.0):
            raise UsageError(f"weigh is {self.weigh:g}; allowed: 0 or more")

    def decide(self, tally: Tally) -> Decision:
        """The answer of these responses."""
        if self.abstaining.declines(responses=tally.responses, abstaining=tally.abstaining):
            return abstained(f"{of_responses(tally.abstaining, tally.responses)} abstain")
        of = self.abstaining.counted(responses=tally.responses, abstaining=tally.abstaining)
        pool = agreeing(tally.claims)
        enough = [claim for claim in pool if self.has_enough(claim, of)]
        if not enough:
            return abstained(self._explained(None, tally, of))
        chosen = enough[0]
        if self.weigh:
            # The first of equals is the finest.
            chosen = max(enough, key=lambda claim: claim.information * (claim.support / of) ** (self.weigh or 0.0))
        return Decision(
            text=chosen.text,
            explanation=self._explained(chosen, tally, of),
            support=chosen.support / of,
            confidence=confidence(chosen.support, tally.responses, chosen.bits),
            qid=chosen.qid,
            bits=chosen.bits,
        )

    def has_enough(self, claim: Claim, of: int) -> bool:
        """Whether as many of so many responses entail the claim as must."""
        if self.calibration is not None:
            return claim.support / of >= self.calibration.demanded(claim.information)
        return claim.support >= needed(self.support, of)

    def _explained(self, chosen: Claim | None, tally: Tally, of: int) -> str:
        finer = tally.claims if chosen is None else tally.claims[: tally.claims.index(chosen)]
        named = sorted(finer, key=lambda claim: -claim.support)  # stable: the finest first among equals
        if chosen is None:
            parts = [f"nothing that {self._demand()} of {of} responses entail"]
        else:
            parts = [f"{chosen.text}: {of_responses(chosen.support, of)}"]
        parts += [f"{claim.text}: {claim.support} of {of}" for claim in named[:SHOWN]]
        if len(named) > SHOWN:
            parts.append(f"{len(named) - SHOWN} more")
        parts += _ties(chosen, tally.claims)
        if tally.abstaining:
            parts.append(f"{tally.abstaining} of {tally.responses} abstain")
        if tally.unlinked:
            parts.append(f"{tally.unlinked} not linked")
        return "; ".join(parts)

    def _demand(self) -> str:
        if self.calibration is not None:
            return "enough"
        return "all" if self.support == 1 else f"{100 * self.support:g} %"


def needed(share: float, of: int) -> int:
    """The least number of responses that is at least a share of so many; 0.1 * 10 is 1, whatever binary makes of it."""
    return math.ceil(Fraction(str(share)) * of)


def agreeing(claims: Sequence[Claim]) -> list[Claim]:
    """The claims, in their order, without those that no response holds together with a better supported one.

    Where more than half of the responses must agree nothing is lost: two claims that each have that many share one.
    """
    kept: list[int] = []
    for place in sorted(range(len(claims)), key=lambda place: -claims[place].support):  # finest first among equals
        if not any(claims[place].supporters.isdisjoint(claims[other].supporters) for other in kept):
            kept.append(place)
    return [claims[place] for place in sorted(kept)]


def _ties(chosen: Claim | None, claims: Sequence[Claim]) -> Iterator[str]:
    """What else has the support of the chosen one, and is held by none that holds it."""
    if chosen is None:
        return
    rivals = [c for c in claims if c.support == chosen.support and not c.supporters & chosen.supporters]
    if rivals:
        rivals = [c for c in rivals if c.said_by] or rivals[:1]
        others = " and ".join(claim.text for claim in rivals[:2])
        yield f"a tie with {others}, decided by fineness, then the alphabet"
