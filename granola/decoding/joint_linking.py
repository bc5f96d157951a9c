"""Which of its namesakes a response means, by what the other responses to the question mean.

"Lebanon" beside "Beirut" is the state. Places that responses share are weighed by their bits: that two answers lie in
one town by chance is rarer than that they lie on one continent. Where the others tell nothing, what the linker holds
more likely than all else is meant, or the one sovereign state among cities of its name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from abstraction.tiers import Level

MOST = 8  # namesakes that are compared
LEAD = 0.5  # bits by which one must be ahead of the next
STATE = 2.0  # bits for a sovereign state among places that are none


@dataclass(frozen=True, kw_only=True, slots=True)
class Doubtful:
    """Entities that a name may mean, the likeliest first, and the first one's share of the belief in (0, 1]."""

    candidates: tuple[str, ...]
    share: float


def chosen(
    doubtful: Doubtful,
    ladder_of: Callable[[str], Sequence[Level]],
    others: Sequence[tuple[Sequence[Level], int]],
    *,
    is_state: Callable[[str], bool],
) -> str | None:
    """The candidate that is meant; None where nothing tells.

    `others` are the ladders of responses that are in no doubt, and how many gave each.
    """
    ids = doubtful.candidates
    if not 1 < len(ids) <= MOST:
        return None
    rest = max(1.0 - doubtful.share, 1e-3) / (len(ids) - 1)
    scores = {qid: math.log2(doubtful.share if qid == ids[0] else rest) for qid in ids}
    states = [qid for qid in ids if is_state(qid)]
    if len(states) == 1:
        scores[states[0]] += STATE
    told = sum(times for _, times in others)
    for qid in ids if told else ():
        own = bits_of(ladder_of(qid))
        scores[qid] += sum(times * shared(own, bits_of(levels)) for levels, times in others) / told
    best, second, *_ = sorted(ids, key=lambda qid: -scores[qid])  # stable: the likeliest first
    if scores[best] - scores[second] >= LEAD or (best == ids[0] and doubtful.share > 0.5):
        return best
    return None


def bits_of(levels: Sequence[Level]) -> dict[str, float]:
    """The bits of each entity of a ladder; a little for one whose bits are not known."""
    return {tier.qid: 0.1 if tier.bits is None else tier.bits for level in levels for tier in level.tiers if tier.qid}


def shared(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """The most bits that an entity of both ladders has; 0 where they share none."""
    return max((max(bits, other[qid]) for qid, bits in one.items() if qid in other), default=0.0)
