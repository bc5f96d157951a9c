"""Which of its namesakes a response means, by what the other responses to the question mean.

"Lebanon" beside "Beirut" is the state. Places that responses share are weighed by their bits: that two answers lie in
one town by chance is rarer than that they lie on one continent. One sovereign state among cities of its name is
likelier than they are. What is likelier than all else together is meant, else nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from abstraction.tiers import Level

MOST = 8  # namesakes that are compared
STATE = 3.0  # bits for a sovereign state among places that are none: Lebanon beside four towns of that name


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
    responses: int,
    is_state: Callable[[str], bool],
) -> str | None:
    """The candidate that is meant; None where nothing tells.

    `others` are the ladders of those of the `responses` that are in no doubt, and how many gave each.
    """
    ids = doubtful.candidates
    if not 1 < len(ids) <= MOST:
        return None
    rest = max(1.0 - doubtful.share, 1e-3) / (len(ids) - 1)
    scores = {qid: math.log2(doubtful.share if qid == ids[0] else rest) for qid in ids}
    states = [qid for qid in ids if is_state(qid)]
    if len(states) == 1:
        scores[states[0]] += STATE
    for qid in ids if others else ():
        bits = bits_of(ladder_of(qid))
        scores[qid] += sum(times * shared(bits, bits_of(levels)) for levels, times in others) / responses
    chances = {qid: 2.0**score for qid, score in scores.items()}
    best = max(ids, key=lambda qid: chances[qid])  # the first of equals: the likeliest
    return best if chances[best] > 0.5 * sum(chances.values()) else None


def bits_of(levels: Sequence[Level]) -> dict[str, float]:
    """The bits of each entity of a ladder; a little for one whose bits are not known."""
    return {tier.qid: 0.1 if tier.bits is None else tier.bits for level in levels for tier in level.tiers if tier.qid}


def shared(left: Mapping[str, float], right: Mapping[str, float]) -> float:
    """The most bits that an entity of both ladders has; 0 where they share none."""
    return max((max(bits, right[qid]) for qid, bits in left.items() if qid in right), default=0.0)
