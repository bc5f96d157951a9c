"""Several ladders for one question: joined where each answer is right, cut down where only one can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from abstraction.evidence import completed, joined
from abstraction.tiers import MAX_TIERS, Evidence, Ladder, Level, Tier
from kg.terms import normalise


def union(ladders: Sequence[Ladder]) -> Ladder:
    """One ladder that credits a prediction as the best of several would: each tier at its finest level.

    The answers share level 1; a tier that two ladders hold at different levels stands at the finer one, but never
    before what is finer than it in either (the United States not before the New York City of the other answer). The
    row abstains, with the first code, only where every ladder does. Evidence leads all the way from the answer.
    """
    ladders = [completed(ladder) for ladder in ladders]
    if len(ladders) == 1:
        return ladders[0]
    ranks = _ranks(ladders)
    led = [paths(ladder) for ladder in ladders]
    seen: set[str] = set()
    known: set[str] = set()  # entities of the levels before, from which steps may start
    out: list[Level] = []
    for depth in range(1 + max(ranks.values(), default=0)):
        tiers: list[Tier] = []
        turns = zip_longest(*(_tiers_at(ladder, ranks, depth) for ladder in ladders))
        for tier, path in ((tier, path) for turn in turns for tier, path in zip(turn, led, strict=True) if tier):
            names = {tier.key, normalise(tier.text)}
            if names.isdisjoint(seen):
                if _starts_elsewhere(tier, known):
                    tier = replace(tier, evidence=path.get(tier.key, tier.evidence))
                tiers.append(tier)
                seen |= names
        if tiers:
            # The answers themselves all stay; every ladder gets its turn before the cap.
            out.append(Level(tiers=tuple(tiers if not out else tiers[:MAX_TIERS])))
            known.update(tier.qid for tier in out[-1].tiers if tier.qid)
    codes = [ladder.abstained for ladder in ladders]
    abstained = codes[0] if all(codes) and len(out) == 1 else None
    return Ladder(levels=_without_texts_of_others(out), abstained=abstained)


def _tiers_at(ladder: Ladder, ranks: Mapping[str, int], depth: int) -> Sequence[Tier]:
    """The ladder's tiers that stand on a level of the union."""
    return [tier for tier in _beyond(ladder) if ranks[tier.key] == depth] if depth else ladder.levels[0].tiers


def _without_texts_of_others(levels: Sequence[Level]) -> tuple[Level, ...]:
    """The levels without aliases that are the text of a tier on another level."""
    texts = {normalise(tier.text): depth for depth, level in enumerate(levels) for tier in level.tiers}

    def told_here(tier: Tier, depth: int) -> Tier:
        return replace(tier, aliases=tuple(a for a in tier.aliases if texts.get(normalise(a), depth) == depth))

    return tuple(
        Level(tiers=tuple(told_here(tier, depth) for tier in level.tiers)) for depth, level in enumerate(levels)
    )


def _starts_elsewhere(tier: Tier, known: set[str]) -> bool:
    """Whether a step starts at what neither a finer tier nor another step leads to: a namesake stands for it, say."""
    led = {step.value for step in tier.evidence if step.kind == "statement"}
    return any(step.subject and step.subject not in known and step.subject not in led for step in tier.evidence)


def _beyond(ladder: Ladder) -> Iterator[Tier]:
    return (tier for level in ladder.levels[1:] for tier in level.tiers)


def _ranks(ladders: Sequence[Ladder]) -> dict[str, int]:
    """The level of each tier's key in the union: its finest, but none before that of a tier before it in its ladder."""
    ranks: dict[str, int] = {}
    before: dict[str, set[str]] = {}
    called: dict[str, str] = {}  # text -> key: one tier may be an entity here and a name there
    for ladder in ladders:
        finer: list[str] = []
        for depth, level in enumerate(ladder.levels[1:], 1):
            keys = []
            for tier in level.tiers:
                key = called.setdefault(normalise(tier.text), tier.key)
                called.setdefault(tier.key, key)
                ranks[key] = min(depth, ranks.get(key, depth))
                before.setdefault(key, set()).update(finer)
                keys.append(key)
            finer = keys
    moved = True
    while moved:  # ranks only rise, and none above the last level
        moved = False
        for key, keys_before in before.items():
            least = max((ranks[b] for b in keys_before), default=0)
            if ranks[key] < least:
                ranks[key], moved = least, True
    return {name: ranks[key] for name, key in called.items()}


def shared(ladder: Ladder, rivals: Sequence[Ladder]) -> Ladder:
    """The ladder with only those tiers that every rival's ladder holds as well: what is true whoever is meant.

    A tier's evidence has the path from each rival, through the tiers that are not shared.
    """
    led = list(map(paths, (ladder, *rivals)))
    first = ladder.levels[0]
    out = [Level(tiers=(Tier(text=first.tiers[0].text, bits=first.tiers[0].bits),))]
    for level in ladder.levels[1:]:
        tiers = tuple(
            replace(tier, evidence=joined(path[tier.key] for path in led))
            for tier in level.tiers
            if all(tier.key in path for path in led)
        )
        if tiers:
            out.append(Level(tiers=tiers))
    return Ladder(levels=tuple(out), abstained=ladder.abstained)


def paths(ladder: Ladder) -> dict[str, tuple[Evidence, ...]]:
    """Each tier's evidence together with that of the finer tiers which its steps start from."""
    whole: dict[str, tuple[Evidence, ...]] = {}
    for level in ladder.levels[1:]:
        for tier in level.tiers:
            before = [whole[s] for s in dict.fromkeys(e.subject for e in tier.evidence) if s is not None and s in whole]
            whole.setdefault(tier.key, joined([*before, tier.evidence]))
    return whole
