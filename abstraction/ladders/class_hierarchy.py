"""Climbing from a class to broader classes, only to those that are answers of the same kind.

Unrestricted, the average genre has seventeen superclasses (jazz, specialty, knowledge); restricted, two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from abstraction.base.properties import package_data
from abstraction.base.relations import stop_classes
from abstraction.base.tiers import Evidence, join_evidence
from abstraction.ladders.proposals import (
    ANSWER,
    NamedValue,
    Proposal,
    current_values,
    entity_proposal,
    kept_with_source,
    states,
)
from abstraction.text.descriptions.attested_words import common_occupations
from abstraction.text.language.phrases import takes_back
from kg.base.model import normalise
from kg.graph.graph import Graph

# "Used as an occupation by at least 20 persons" was measured on a source with 11 000 persons that have one.
USES, USES_OF = 20, 11_000


@cache
def denied_lifts(*marks: str) -> frozenset[tuple[str, str]]:
    """P279 pairs that do not justify calling a person by the broader class; with marks only the pairs with one.

    "person" marks pairs that are right for the occupation itself, "never" those that are wrong even where nothing else
    is known about the occupation; other pairs have the mark "".
    """
    rows = package_data("lifts.json")["denied"]
    return frozenset((row[0], row[2]) for row in rows if not marks or "".join(row[4:]) in marks)


@dataclass(frozen=True, kw_only=True, slots=True)
class Climbing:
    """Settings of a climb: the properties to follow, the number of steps, and a test for classes that may be tiers.

    `first` are properties for the first step only (the family of a language is its P31). `doubting` leaves out the
    P279 pairs that are known to be noise or whose names show it (vice president, president).
    """

    properties: tuple[str, ...]
    depth: int
    keep: Callable[[str], bool]
    first: tuple[str, ...] = ()
    doubting: bool = False


def used_as_value(graph: Graph, prop: str, *, minimum: int | None = None) -> Callable[[str], bool]:
    """A test whether enough entities of the whole source have the class as value of `prop`.

    `minimum` None uses the measured threshold, scaled to the size of the source and at least 1. Sources that were
    fetched from services do not know the counts of the whole source: there everyday names of occupations pass as well.
    """
    memory: dict[str, bool] = {}
    need, store = minimum, graph.store  # a closure over the graph would keep its own weak key alive
    is_fetched = prop == "P106" and store.manifest().get("source_kind") in ("api", "sparql")
    everyday = common_occupations() if is_fetched else frozenset()

    def test(qid: str) -> bool:
        nonlocal need
        if need is None:
            total = store.property_counts([prop]).get(prop, 0)
            need = max(1, min(USES, math.ceil(total * USES / USES_OF)))
        if qid not in memory:
            memory[qid] = store.value_counts([(prop, qid)]).get((prop, qid), 0) >= need
            if everyday and not memory[qid]:
                entity = store.entities([qid], languages=("en", "mul"), properties=()).get(qid)
                labels = entity.labels if entity is not None else {}
                memory[qid] = normalise(labels.get("en") or labels.get("mul") or "") in everyday
        return memory[qid]

    return test


@dataclass(frozen=True, slots=True)
class ClassAbove:
    """A class above another, with the P279 statements that lead up to it."""

    qid: str
    label: str
    path: tuple[Evidence, ...]


def layers_above(
    graph: Graph, start: str, *, steps: int, denied: frozenset[tuple[str, str]] = frozenset()
) -> Iterator[list[ClassAbove]]:
    """The classes one step above a class by current P279, then those one step higher, and so on; each once, only
    classes with a label.

    The climb ends at stop classes and at `denied` pairs of a class with the one directly below it or with `start`.
    """
    stop = stop_classes()
    seen = {start}
    layer = [ClassAbove(start, "", ())]
    for _ in range(steps):
        above: list[ClassAbove] = []
        graph.fetch(below.qid for below in layer)
        for below in layer:
            for value in current_values(graph, below.qid, "P279"):
                if value.qid in seen or value.qid in stop:
                    continue
                if denied.isdisjoint(((below.qid, value.qid), (start, value.qid))):
                    seen.add(value.qid)
                    above.append(ClassAbove(value.qid, value.label, (*below.path, value.evidence)))
        yield above
        layer = above


# The most P279 steps from a class to one that it entails.
ENTAILED_STEPS = 4


@kept_with_source
def entailed_classes(graph: Graph, qid: str) -> frozenset[str]:
    """The classes that a class entails by current P279: few steps, never through a stop class or a denied pair."""
    layers = layers_above(graph, qid, steps=ENTAILED_STEPS, denied=denied_lifts())
    return frozenset(above.qid for layer in layers for above in layer)


# A class to climb from, the key of the nearest proposal at or below it, and the evidence of the steps in between.
_Rung = tuple[str, str, tuple[Evidence, ...]]


def climb(graph: Graph, start: str, how: Climbing, *, condition: str) -> dict[str, Proposal]:
    """Superclasses of `start` that pass `how.keep`, as proposals by QID with their edges.

    The climb continues through classes that do not pass; stop classes end their branch. `condition` is the property
    that the query of the tier uses.
    """
    proposals: dict[str, Proposal] = {}
    seen = {start}
    layer: list[_Rung] = [(start, ANSWER, ())]
    for depth in range(how.depth):
        graph.fetch(qid for qid, _, _ in layer)
        properties = (*how.properties, *(how.first if depth == 0 else ()))
        upward: list[_Rung] = []
        for qid, below, trail in layer:
            for value in _broader_values(graph, qid, properties, how):
                target, path = value.qid, (*trail, value.evidence)
                if target in proposals and below != target:
                    proposals[target] = with_parents(proposals[target], (below,), path)
                if target in seen:
                    continue
                seen.add(target)
                if how.keep(target):
                    conditions = states(condition, target)
                    proposals[target] = entity_proposal(graph, target, value.label, path, conditions, parents=(below,))
                    upward.append((target, target, ()))
                else:
                    upward.append((target, below, path))
        layer = upward
    return proposals


def _broader_values(graph: Graph, qid: str, properties: Collection[str], how: Climbing) -> Iterator[NamedValue]:
    """The statements from a class to the broader classes that the climb may visit."""
    stop, denied = stop_classes(), denied_lifts("", "never") if how.doubting else denied_lifts("never")
    for prop in properties:
        for value in current_values(graph, qid, prop):
            if value.qid in stop or (qid, value.qid) in denied:
                continue
            if not (how.doubting and takes_back(graph.label(qid) or "", value.label)):
                yield value


def with_parents(node: Proposal, parents: Collection[str], evidence: Sequence[Evidence] = ()) -> Proposal:
    """The proposal with further parents, and the evidence of the steps from them."""
    return replace(
        node,
        parents=tuple(dict.fromkeys((*node.parents, *parents))),
        evidence=join_evidence((node.evidence, evidence)) if evidence else node.evidence,
    )


def add_with_classes_above(
    proposals: dict[str, Proposal], described: Proposal, graph: Graph, how: Climbing, *, condition_property: str
) -> None:
    """Add a class that a description names, and its superclasses, which are broader than the answer as well.
    `condition_property` is the property of the conditions that the superclasses state.
    """
    for key, node in climb(graph, described.key, how, condition=condition_property).items():
        parents = tuple(described.key if parent == ANSWER else parent for parent in node.parents)
        proposals[key] = with_parents(proposals[key], parents) if key in proposals else replace(node, parents=parents)
    proposals[described.key] = described
