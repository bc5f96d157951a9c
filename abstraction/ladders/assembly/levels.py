"""From proposals to levels: removal with bridging, alias merging, longest paths, caps; and joining several ladders.

Proposals form a directed acyclic graph from fine to coarse. The level of a proposal is one more than the coarsest
level of its parents, so that every tier has a parent in the level just before it. A removed proposal passes its
parents and its evidence on to its children, so that a reader can still follow each step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter
from itertools import zip_longest

from abstraction.base.tiers import (
    MAX_LEVELS,
    MAX_TIERS,
    Evidence,
    Ladder,
    Level,
    Tier,
    complete_evidence,
    join_evidence,
    leads_to,
)
from abstraction.ladders.proposals import ANSWER, Proposal
from abstraction.text.language.phrases import ARTICLE, is_opaque
from kg.base.model import normalise

Graph = dict[str, Proposal]


def as_graph(proposals: Iterable[Proposal]) -> Graph:
    """Proposals by key; proposals with the same key are joined. Parents that do not exist are dropped."""
    nodes: Graph = {}
    for proposal in proposals:
        old = nodes.get(proposal.key)
        if old is None:
            nodes[proposal.key] = proposal
        else:
            parents = tuple(dict.fromkeys((*old.parents, *proposal.parents)))
            aliases = tuple(dict.fromkeys((*old.aliases, *proposal.aliases)))
            nodes[proposal.key] = replace(old, parents=parents, aliases=aliases)
    for key, node in nodes.items():
        parents = tuple(p for p in node.parents if p == ANSWER or (p in nodes and p != key))
        nodes[key] = replace(node, parents=parents or (ANSWER,))
    return _without_cycles(nodes)


def _without_cycles(nodes: Graph) -> Graph:
    """The graph without the edges that close a cycle: those to the parents of the last key of each."""
    for key in sorted(nodes, reverse=True):
        if key in ancestors(nodes, key):
            left = (p for p in nodes[key].parents if p != key and (p == ANSWER or key not in ancestors(nodes, p)))
            nodes = {**nodes, key: replace(nodes[key], parents=tuple(left) or (ANSWER,))}
    return nodes


def remove(nodes: Graph, unwanted: Callable[[Proposal], bool]) -> Graph:
    """The graph without the unwanted proposals; their parents entail their children."""
    for key in [k for k, node in nodes.items() if unwanted(node)]:
        nodes = _remove_and_bridge(nodes, key)
    return nodes


def _remove_and_bridge(nodes: Graph, key: str) -> Graph:
    removed = nodes[key]
    out: Graph = {}
    for other, node in nodes.items():
        if other == key:
            continue
        if key in node.parents:
            parents = dict.fromkeys(
                p for parent in node.parents for p in (removed.parents if parent == key else (parent,))
            )
            evidence = node.evidence
            starts_here = removed.qid is not None and any(e.subject == removed.qid for e in evidence)
            starts_here = starts_here or any(leads_to(step, e) for step in removed.evidence for e in evidence)
            if node.parents == (key,) or starts_here:
                evidence = (*removed.evidence, *(e for e in evidence if e not in removed.evidence))
            node = replace(node, parents=tuple(parents), evidence=evidence)
        out[other] = node
    return out


def merge(nodes: Graph, key: str, into: str) -> Graph:
    """The graph with proposal `key` merged into the finer or equal proposal `into`."""
    removed, finer = nodes[key], nodes[into]
    # Nothing is taken over from a namesake except the common name.
    shared = removed.qid is None or finer.qid is None or removed.qid == finer.qid
    names = [n for n in (removed.text, *removed.aliases) if shared and normalise(n) != normalise(finer.text)]
    merged: Graph = {}
    for other, node in nodes.items():
        if other == key:
            continue
        if key in node.parents:
            parents = dict.fromkeys(into if p == key else p for p in node.parents)
            node = replace(node, parents=tuple(p for p in parents if p != other) or (ANSWER,))
        merged[other] = node
    evidence = finer.evidence
    if removed.qid is not None and removed.qid != finer.qid:  # evidence of coarser tiers starts from the namesake
        evidence = join_evidence((evidence, removed.evidence))
    aliases = tuple(dict.fromkeys((*finer.aliases, *names)))
    merged[into] = replace(merged[into], aliases=aliases, evidence=evidence)
    return _without_cycles(merged)


# Properties whose value is a class: a member of a class is a member of every class above it.
_OF_CLASS = frozenset({"P31", "P106", "P136", "P39", "P97", "P407", "P413", "P641", "P279", "P171"})


def order_by_conditions(nodes: Graph, above: Callable[[str], Collection[str]]) -> Graph:
    """The graph ordered by conditions: a tier that follows from another becomes its child.

    `above` returns the classes that a class entails. Builders order their phrases themselves; this adds the order that
    only the graph knows (a rock singer is a musician).
    """
    stated = {key: node.conditions for key, node in nodes.items() if node.conditions}
    entailed = {
        key: conditions.union(
            replace(c, value=wider) for c in conditions if c.property in _OF_CLASS for wider in above(c.value)
        )
        for key, conditions in stated.items()
    }
    for fine in sorted(stated):
        for coarse in sorted(stated):
            if fine == coarse or fine not in nodes or coarse not in nodes or not stated[coarse] <= entailed[fine]:
                continue
            if coarse in ancestors(nodes, fine) or fine in ancestors(nodes, coarse):
                continue
            if not stated[fine] <= entailed[coarse]:
                node = nodes[coarse]
                nodes = {**nodes, coarse: replace(node, parents=(*node.parents, fine))}
    return nodes


def entails_by_words(fine: str, coarse: str) -> bool:
    """Whether one phrase entails the other by its words: "an American actor" and "an actor", "a city in Ohio" and "a
    city".
    """
    longer, shorter = ARTICLE.sub("", normalise(fine)), ARTICLE.sub("", normalise(coarse))
    if longer == shorter or not ARTICLE.match(coarse) or not ARTICLE.match(fine):
        return False
    if longer.startswith((f"{shorter} in ", f"{shorter} by ", f"{shorter} of ", f"{shorter} given ")):
        return True
    return longer.endswith(f" {shorter}") and not is_opaque(longer, shorter)


def order_by_words(nodes: Graph) -> Graph:
    """The graph with each phrase as a child of those that entail it by their words."""
    phrases = [key for key, node in nodes.items() if node.qid is None and ARTICLE.match(node.text)]
    for fine in phrases:
        for coarse in phrases:
            if fine == coarse or not entails_by_words(nodes[fine].text, nodes[coarse].text):
                continue
            if coarse not in ancestors(nodes, fine) and fine not in ancestors(nodes, coarse):
                nodes = {**nodes, coarse: replace(nodes[coarse], parents=(*nodes[coarse].parents, fine))}
    return nodes


def depths(nodes: Graph) -> dict[str, int]:
    """Level of every proposal, 1 for the finest: one more than the coarsest parent's. Needs an acyclic graph."""
    known: dict[str, int] = {ANSWER: 0}
    for key in TopologicalSorter({key: node.parents for key, node in nodes.items()}).static_order():
        if key != ANSWER:
            known[key] = 1 + max((known[parent] for parent in nodes[key].parents), default=0)
    return {key: known[key] for key in nodes}


def levels(nodes: Graph) -> tuple[Level, ...]:
    """The levels beyond the answer, finest first, at most MAX_LEVELS levels of MAX_TIERS tiers.

    Where there are more, the three finest and the two coarsest are kept.
    """
    ranked: dict[int, list[Proposal]] = {}
    for key, depth in depths(nodes).items():
        ranked.setdefault(depth, []).append(nodes[key])
    chosen = sorted(ranked)
    if len(chosen) > MAX_LEVELS:
        chosen = chosen[: MAX_LEVELS - 2] + chosen[-2:]
    out = []
    previous: set[str] | None = None
    for depth in chosen:
        members = sorted(ranked[depth], key=lambda p: (p.order, normalise(p.text), p.key))
        if previous is not None:
            # After a cap a tier is kept only if a tier of the level before still leads to it.
            members = [m for m in members if previous & ancestors(nodes, m.key)]
        members = members[:MAX_TIERS]
        if not members:
            continue
        previous = {m.key for m in members}
        out.append(Level(tiers=tuple(as_tier(m) for m in members)))
    return tuple(out)


def ancestors(nodes: Graph, key: str) -> set[str]:
    """Keys of all finer proposals that lead to `key`."""
    seen: set[str] = set()
    stack = [key]
    while stack:
        for parent in nodes[stack.pop()].parents:
            if parent != ANSWER and parent not in seen:
                seen.add(parent)
                stack.append(parent)
    return seen


def other_names(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names without repeats and without the text itself."""
    by_key = {normalise(name): name for name in reversed(names)}
    return tuple(name for key, name in reversed(by_key.items()) if key not in ("", normalise(text)))


def as_tier(proposal: Proposal) -> Tier:
    """The proposal as a tier of a ladder."""
    return Tier(
        text=proposal.text,
        qid=proposal.qid,
        aliases=other_names(proposal.text, proposal.aliases),
        evidence=proposal.evidence,
        conditions=proposal.conditions,
        language=proposal.language,
    )


# Several ladders for one question: their union if every answer is correct, their common tiers if only one is.


def union(ladders: Sequence[Ladder], holds: Callable[[str, str], bool] = lambda outer, inner: False) -> Ladder:
    """One ladder that credits a prediction as the best of several ladders would: each tier at its finest level.

    The answers share level 1. A tier at different levels of two ladders goes to the finer one, but always after the
    tiers that are finer than it in either (the United States not on the level of the New York City of the other
    answer). `holds` returns whether one entity is known to contain another. The row abstains, with the first code,
    only where every ladder does. Evidence starts from the answer.
    """
    ladders = [complete_evidence(ladder) for ladder in ladders]
    if len(ladders) == 1:
        return ladders[0]
    ranks = _levels_in_union(ladders, holds)
    led = [evidence_paths(ladder) for ladder in ladders]
    seen: set[str] = set()
    known: set[str | None] = set()  # entities of finer levels, from which steps may start
    out: list[Level] = []
    for depth in range(1 + max(ranks.values(), default=0)):
        tiers: list[Tier] = []
        here = (
            [t for level in ladder.levels[1:] for t in level.tiers if ranks[t.key] == depth]
            if depth
            else ladder.levels[0].tiers
            for ladder in ladders
        )
        turns = zip_longest(*here)
        for tier, path in ((tier, path) for turn in turns for tier, path in zip(turn, led, strict=True) if tier):
            names = {tier.key, normalise(tier.text)}
            if names.isdisjoint(seen):
                # A step starts from an entity that neither a finer tier nor another step leads to, as after a namesake.
                led_to = known | {step.value for step in tier.evidence if step.kind == "statement"}
                if any(step.subject and step.subject not in led_to for step in tier.evidence):
                    tier = replace(tier, evidence=path.get(tier.key, tier.evidence))
                tiers.append(tier)
                seen |= names
        if tiers:
            # All answers are kept; in other levels tiers of the ladders alternate up to the cap.
            out.append(Level(tiers=tuple(tiers if not out else tiers[:MAX_TIERS])))
            known.update(tier.qid for tier in out[-1].tiers if tier.qid)
    codes = [ladder.abstained for ladder in ladders]
    abstained = codes[0] if all(codes) and len(out) == 1 else None
    return Ladder(levels=_drop_ambiguous_aliases(out), abstained=abstained)


def _drop_ambiguous_aliases(levels: Sequence[Level]) -> tuple[Level, ...]:
    """The levels without aliases that are the text of a tier on another level."""
    texts = {normalise(tier.text): depth for depth, level in enumerate(levels) for tier in level.tiers}

    out = []
    for depth, level in enumerate(levels):
        kept = ([a for a in tier.aliases if texts.get(normalise(a), depth) == depth] for tier in level.tiers)
        tiers = (replace(tier, aliases=tuple(names)) for tier, names in zip(level.tiers, kept, strict=True))
        out.append(Level(tiers=tuple(tiers)))
    return tuple(out)


def _levels_in_union(ladders: Sequence[Ladder], holds: Callable[[str, str], bool]) -> dict[str, int]:
    """The level of each tier's key in the union: its finest, but after every tier that is finer in any of the ladders.

    Finer are the tiers before it in its ladder, those that entail it by words or conditions, and places within it.
    """
    ranks: dict[str, int] = {}
    before: dict[str, set[str]] = {}
    called: dict[str, str] = {}  # text -> key: a tier may be an entity in one ladder and a name in another
    tiers: dict[str, Tier] = {}
    for ladder in ladders:
        finer: list[str] = []
        for depth, level in enumerate(ladder.levels[1:], 1):
            keys = []
            for tier in level.tiers:
                key = called.setdefault(normalise(tier.text), tier.key)
                called.setdefault(tier.key, key)
                ranks[key] = min(depth, ranks.get(key, depth))
                before.setdefault(key, set()).update(finer)
                tiers.setdefault(key, tier)
                keys.append(key)
            finer = keys
    if len(tiers) <= MOST_COMPARED:
        for coarse, tier in tiers.items():
            others = (fine for fine in tiers if fine != coarse)
            before[coarse] |= {fine for fine in others if _is_finer(tiers[fine], tier, holds)}
    for _ in range(MAX_LEVELS):  # bounded: two tiers in opposite orders would move forever
        moved = False
        for key, keys_before in before.items():
            least = min(MAX_LEVELS, max((ranks[b] + 1 for b in keys_before if key not in before[b]), default=0))
            if ranks[key] < least:
                ranks[key], moved = least, True
        if not moved:
            break
    return {name: ranks[key] for name, key in called.items()}


MOST_COMPARED = 60  # tiers of all answers of a question: comparing takes quadratic time


def _is_finer(fine: Tier, coarse: Tier, holds: Callable[[str, str], bool]) -> bool:
    if fine.qid and coarse.qid:
        return holds(coarse.qid, fine.qid)
    if coarse.conditions and coarse.conditions < fine.conditions:
        return True
    return fine.qid is None and coarse.qid is None and entails_by_words(fine.text, coarse.text)


def shared_ladder(ladder: Ladder, rivals: Sequence[Ladder]) -> Ladder:
    """The ladder with only those tiers that the ladder of every rival contains: true whichever entity is meant.

    A rival that is itself a tier counts as containing it: the state of New York, for New York. The evidence of a tier
    has the path from each rival, through tiers that are not shared.
    """
    led = [{**evidence_paths(one), one.levels[0].tiers[0].key: ()} for one in (ladder, *rivals)]
    first = ladder.levels[0]
    out = [Level(tiers=(Tier(text=first.tiers[0].text, bits=first.tiers[0].bits),))]
    for level in ladder.levels[1:]:
        tiers = tuple(
            replace(tier, evidence=join_evidence(path[tier.key] for path in led))
            for tier in level.tiers
            if all(tier.key in path for path in led)
        )
        if tiers:
            out.append(Level(tiers=tiers))
    return Ladder(levels=tuple(out), abstained=ladder.abstained)


def evidence_paths(ladder: Ladder) -> dict[str, tuple[Evidence, ...]]:
    """By key of each tier, its evidence and that of the finer tiers from which its steps start."""
    whole: dict[str, tuple[Evidence, ...]] = {}
    for level in ladder.levels[1:]:
        for tier in level.tiers:
            before = [whole[s] for s in dict.fromkeys(e.subject for e in tier.evidence) if s is not None and s in whole]
            whole.setdefault(tier.key, join_evidence([*before, tier.evidence]))
    return whole
