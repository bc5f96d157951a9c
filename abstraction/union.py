"""Several ladders for one question: joined where each answer is right, cut down where only one can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from abstraction.evidence import completed, joined
from abstraction.tiers import MAX_TIERS, Evidence, Ladder, Level, Tier
from kg.terms import normalise


def _key(tier: Tier) -> str:
    return tier.qid or normalise(tier.text)


def union(ladders: Sequence[Ladder]) -> Ladder:
    """One ladder that credits a prediction as the best of several would: each tier at its finest level.

    The answers share level 1; a tier that two ladders hold at different levels stands at the finer one. The
    row abstains, with the first code, only where every ladder does. Evidence leads all the way from the answer.
    """
    ladders = [completed(ladder) for ladder in ladders]
    if len(ladders) == 1:
        return ladders[0]
    height = max(len(ladder.levels) for ladder in ladders)
    seen: set[str] = set()
    dropped: set[str] = set()
    paths = [_paths(ladder) for ladder in ladders]
    out: list[Level] = []
    for depth in range(height):
        tiers: list[Tier] = []
        at_depth = [ladder.levels[depth].tiers if depth < len(ladder.levels) else () for ladder in ladders]
        for turn in zip_longest(*at_depth):
            for tier, path in zip(turn, paths, strict=True):
                if tier is None:
                    continue
                names = {_key(tier), normalise(tier.text)}
                if names.isdisjoint(seen):
                    if not dropped.isdisjoint(step.subject for step in tier.evidence if step.subject):
                        tier = replace(tier, evidence=path.get(_key(tier), tier.evidence))
                    tiers.append(tier)
                    seen |= names
                elif tier.qid is not None and tier.qid not in seen:
                    dropped.add(tier.qid)  # a namesake stands for it, and no step leads there any more
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
    """The ladder with only those tiers that every rival's ladder holds as well: what is true whoever is meant.

    A tier's evidence has the path from each rival, through the tiers that are not shared.
    """
    paths = [_paths(one) for one in (ladder, *rivals)]
    first = ladder.levels[0]
    out = [Level(tiers=(Tier(text=first.tiers[0].text),))]
    for level in ladder.levels[1:]:
        tiers = tuple(
            replace(tier, evidence=joined(path[_key(tier)] for path in paths))
            for tier in level.tiers
            if all(_key(tier) in path for path in paths)
        )
        if tiers:
            out.append(Level(tiers=tiers))
    return Ladder(levels=tuple(out), abstained=ladder.abstained)


def _paths(ladder: Ladder) -> dict[str, tuple[Evidence, ...]]:
    """Each tier's evidence together with that of the finer tiers which its steps start from."""
    whole: dict[str, tuple[Evidence, ...]] = {}
    for level in ladder.levels[1:]:
        for tier in level.tiers:
            before = [whole[s] for s in dict.fromkeys(e.subject for e in tier.evidence) if s is not None and s in whole]
            whole.setdefault(_key(tier), joined([*before, tier.evidence]))
    return whole
