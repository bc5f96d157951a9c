"""Several ladders for one question: joined where each answer is right, cut down where only one can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from abstraction.tiers import MAX_TIERS, Ladder, Level, Tier
from kg.terms import normalise


def _key(tier: Tier) -> str:
    return tier.qid or normalise(tier.text)


def union(ladders: Sequence[Ladder]) -> Ladder:
    """One ladder that credits a prediction as the best of several would: each tier at its finest level.

    The answers share level 1; a tier that two ladders hold at different levels stands at the finer one. The
    row abstains, with the first code, only where every ladder does.
    """
    if len(ladders) == 1:
        return ladders[0]
    height = max(len(ladder.levels) for ladder in ladders)
    seen: set[str] = set()
    out: list[Level] = []
    for depth in range(height):
        tiers: list[Tier] = []
        at_depth = [ladder.levels[depth].tiers if depth < len(ladder.levels) else () for ladder in ladders]
        for turn in zip_longest(*at_depth):
            for tier in turn:
                if tier is None:
                    continue
                names = {_key(tier), normalise(tier.text)}
                if names.isdisjoint(seen):
                    tiers.append(tier)
                    seen |= names
        if tiers:
            # The answers themselves all stay; every ladder gets its turn before the cap.
            out.append(Level(tiers=tuple(tiers if not out else tiers[:MAX_TIERS])))
    texts = {normalise(tier.text): depth for depth, level in enumerate(out) for tier in level.tiers}
    out = [
        Level(
            tiers=tuple(
                replace(tier, aliases=tuple(a for a in tier.aliases if texts.get(normalise(a), depth) == depth))
                for tier in level.tiers
            )
        )
        for depth, level in enumerate(out)
    ]
    codes = [ladder.abstained for ladder in ladders]
    return Ladder(levels=tuple(out), abstained=codes[0] if all(codes) and len(out) == 1 else None)


def shared(ladder: Ladder, rivals: Sequence[Ladder]) -> Ladder:
    """The ladder with only those tiers that every rival's ladder holds as well: what is true whoever is meant."""
    common = [{_key(tier) for level in rival.levels[1:] for tier in level.tiers} for rival in rivals]
    first = ladder.levels[0]
    out = [Level(tiers=(Tier(text=first.tiers[0].text),))]
    for level in ladder.levels[1:]:
        tiers = tuple(tier for tier in level.tiers if all(_key(tier) in keys for keys in common))
        if tiers:
            out.append(Level(tiers=tiers))
    return Ladder(levels=tuple(out), abstained=ladder.abstained)
