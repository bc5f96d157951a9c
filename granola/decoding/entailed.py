"""Everything that an answer entails: its own ladder and the ladders of the places on it, as one.

A ladder has room for few tiers, and which it shows depends on the answer: Munich's goes from Germany to Europe,
Germany's over Central Europe. Whatever contains Germany contains Munich, so Munich stands for both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from abstraction.tiers import Level, Tier

LadderOf = Callable[[str], Sequence[Level]]
"""The levels of an entity, itself first, with what its own containers entail."""


def with_containers(levels: Sequence[Level], ladder_of: LadderOf) -> tuple[Level, ...]:
    """The levels with all that the ladders of the places among the coarser tiers say besides.

    A ladder that puts two tiers the other way round adds nothing. A place has the bits of its own ladder, whatever
    lies in it: they do not depend on the answer that it follows from.
    """
    bits_of: dict[str, float | None] = {}
    for tier in [tier for level in levels[1:] for tier in level.tiers]:
        if tier.qid is not None and is_container(tier):
            head, *coarser = ladder_of(tier.qid)
            bits_of[tier.qid] = head.tiers[0].bits
            levels = united(levels, (Level(tiers=(tier,)), *coarser))
    return tuple(
        Level(tiers=tuple(replace(t, bits=bits_of[t.qid]) if t.qid in bits_of else t for t in level.tiers))
        for level in levels
    )


def united(levels: Sequence[Level], more: Sequence[Level]) -> tuple[Level, ...]:
    """Both ladders as one, each tier once and below all that is finer in either; the first alone where they disagree.

    The first tier of `more` stands in `levels`.
    """
    tiers = {tier.key: tier for level in (*more, *levels) for tier in level.tiers}
    if len(tiers) == sum(len(level.tiers) for level in levels):
        return tuple(levels)
    import networkx as nx

    order: nx.DiGraph[str] = nx.DiGraph()
    for ladder in (levels, more):
        order.add_nodes_from(tier.key for level in ladder for tier in level.tiers)
        for fine, coarse in pairwise(ladder):
            order.add_edges_from((tier.key, other.key) for tier in fine.tiers for other in coarse.tiers)
    if not nx.is_directed_acyclic_graph(order):
        return tuple(levels)
    return tuple(Level(tiers=tuple(tiers[key] for key in keys)) for keys in nx.topological_generations(order))


def is_container(tier: Tier) -> bool:
    """Whether the tier is a place by its name rather than a phrase of one."""
    return any(condition.property == "self" for condition in tier.conditions)


def is_several_regions(tier: Tier) -> bool:
    """Whether the tier is several regions at once: "Asia and Europe" is said of a state, not of what lies in it."""
    return tier.qid is None and is_container(tier) and " and " in tier.text
