"""From proposals to levels: removal with bridging, alias merging, longest paths, caps.

Proposals form a directed acyclic graph from fine to coarse. A proposal's level is one more than the
coarsest of its parents', so that every tier has a parent in the level just before it; what is removed hands
its parents to its children together with its evidence, so that a reader can still follow each step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from abstraction.evidence import joined, leads_to
from abstraction.proposals import ANSWER, Proposal
from abstraction.tiers import MAX_LEVELS, MAX_TIERS, Condition, Level, Tier
from kg.terms import normalise

Graph = dict[str, Proposal]


def as_graph(proposals: Iterable[Proposal]) -> Graph:
    """Proposals by key; the same key twice joins parents. Parents that do not exist are dropped."""
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
    return _acyclic(nodes)


def _acyclic(nodes: Graph) -> Graph:
    """The graph without the edges that close a cycle, found depth-first in key order."""
    state: dict[str, int] = {}
    cut: set[tuple[str, str]] = set()

    def visit(start: str) -> None:
        stack = [(start, iter(nodes[start].parents))]
        state[start] = 1
        while stack:
            key, parents = stack[-1]
            for parent in parents:
                if parent == ANSWER:
                    continue
                if state.get(parent) == 1:
                    cut.add((key, parent))
                elif parent not in state:
                    state[parent] = 1
                    stack.append((parent, iter(nodes[parent].parents)))
                    break
            else:
                state[key] = 2
                stack.pop()

    for key in sorted(nodes):
        if key not in state:
            visit(key)
    if not cut:
        return nodes
    return {
        key: replace(node, parents=tuple(p for p in node.parents if (key, p) not in cut) or (ANSWER,))
        for key, node in nodes.items()
    }


def remove(nodes: Graph, unwanted: Callable[[Proposal], bool]) -> Graph:
    """The graph without the unwanted proposals; their children are entailed by their parents."""
    for key in [k for k, node in nodes.items() if unwanted(node)]:
        nodes = _bridge(nodes, key)
    return nodes


def _bridge(nodes: Graph, key: str) -> Graph:
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
    """The graph with proposal `key` said by the finer or equal proposal `into`."""
    removed, finer = nodes[key], nodes[into]
    # Of a namesake nothing is taken but the name that both share.
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
    if removed.qid is not None and removed.qid != finer.qid:  # what lies above the namesake starts from it
        evidence = joined((evidence, removed.evidence))
    aliases = tuple(dict.fromkeys((*finer.aliases, *names)))
    merged[into] = replace(merged[into], aliases=aliases, evidence=evidence)
    return _acyclic(merged)


# Conditions whose value is a class: what is of a class is of every class above it.
_OF_CLASS = frozenset({"P31", "P106", "P136", "P39", "P97", "P407", "P413", "P641", "P279", "P171"})


def entailed_conditions(
    conditions: frozenset[Condition], above: Callable[[str], Collection[str]]
) -> frozenset[Condition]:
    """The conditions with what follows from each: `above` gives the classes that a class entails."""
    return conditions.union(
        Condition(property=c.property, value=wider)
        for c in conditions
        if c.property in _OF_CLASS
        for wider in above(c.value)
    )


def ordered(nodes: Graph, above: Callable[[str], Collection[str]]) -> Graph:
    """The graph with what its conditions entail: a tier that follows from another stands under it, two that
    state the same become one.

    `above` gives the classes that a class entails. Builders order what their phrases tell; this orders what
    only the graph does (a rock singer is a musician).
    """
    stated = {key: node.conditions for key, node in nodes.items() if node.conditions}
    entailed = {key: entailed_conditions(conditions, above) for key, conditions in stated.items()}
    for fine in sorted(stated):
        for coarse in sorted(stated):
            if fine == coarse or fine not in nodes or coarse not in nodes or not stated[coarse] <= entailed[fine]:
                continue
            if coarse in ancestors(nodes, fine) or fine in ancestors(nodes, coarse):
                continue
            if stated[coarse] == stated[fine]:
                kept_key, merged_key = sorted((fine, coarse), key=lambda k: (nodes[k].order, k))
                nodes = merge(nodes, merged_key, kept_key)
            elif not stated[fine] <= entailed[coarse]:
                node = nodes[coarse]
                nodes = {**nodes, coarse: replace(node, parents=(*node.parents, fine))}
    return nodes


def depths(nodes: Graph) -> dict[str, int]:
    """Level of every proposal, 1 for the finest: one more than the coarsest parent's. Needs an acyclic graph."""
    known: dict[str, int] = {ANSWER: 0}
    stack = list(nodes)
    while stack:
        top = stack[-1]
        missing = [p for p in nodes[top].parents if p not in known]
        if missing:
            stack.extend(missing)
        else:
            known[top] = 1 + max((known[p] for p in nodes[top].parents), default=0)
            stack.pop()
    return {key: known[key] for key in nodes}


def levels(nodes: Graph) -> tuple[Level, ...]:
    """The levels beyond the answer, finest first, capped at MAX_LEVELS levels of MAX_TIERS tiers.

    Where there are too many, the three finest and the two coarsest stay.
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
            # After a cap a tier stays only if something in the level before still leads to it.
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


def as_tier(proposal: Proposal) -> Tier:
    """The proposal as a tier of a ladder; aliases that equal the text are left out."""
    text = normalise(proposal.text)
    aliases = {normalise(a): a for a in reversed(proposal.aliases) if normalise(a) not in ("", text)}
    return Tier(
        text=proposal.text,
        qid=proposal.qid,
        aliases=tuple(reversed(aliases.values())),
        evidence=proposal.evidence,
        conditions=proposal.conditions,
    )
