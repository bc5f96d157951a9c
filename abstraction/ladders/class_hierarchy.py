"""Climbing classes on a leash: only to classes that themselves are answers of the same kind.

Without it the average genre has seventeen superclasses (jazz, specialty, knowledge); with it two.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from weakref import WeakKeyDictionary

from abstraction.descriptions.attested_words import common_occupations
from abstraction.evidence import from_statement, joined
from abstraction.language.phrases import takes_back
from abstraction.proposals import ANSWER, Proposal
from abstraction.tiers import Condition, Evidence
from kg.store.protocol import Store
from kg.terms import normalise
from kg.walks.graph import Graph

# "Used as an occupation by at least 20 persons" was measured on a source with 11 000 persons that have one.
USES, USES_OF = 20, 11_000


@lru_cache(maxsize=1)
def stop_classes() -> frozenset[str]:
    """Classes that are never a tier and never climbed through."""
    data = json.loads(files("abstraction").joinpath("data/stop_classes.json").read_text(encoding="utf-8"))
    return frozenset(data["stop"])


@lru_cache(maxsize=2)
def denied_lifts(*, of_persons: bool = True) -> frozenset[tuple[str, str]]:
    """P279 pairs that are no reason to call a person by the broader class; without `of_persons` those alone that
    do not hold of the occupation itself either."""
    data = json.loads(files("abstraction").joinpath("data/lifts.json").read_text(encoding="utf-8"))
    return frozenset((row[0], row[2]) for row in data["denied"] if of_persons or row[4:] != ["person"])


@cache
def never_lifted() -> frozenset[tuple[str, str]]:
    """The pairs among those that do not hold even where nothing else is known of the occupation."""
    data = json.loads(files("abstraction").joinpath("data/lifts.json").read_text(encoding="utf-8"))
    return frozenset((row[0], row[2]) for row in data["denied"] if row[4:] == ["never"])


ENTAILED_STEPS = 4
_ABOVE: WeakKeyDictionary[Graph, dict[str, frozenset[str]]] = WeakKeyDictionary()


def entailed_classes(graph: Graph, qid: str) -> frozenset[str]:
    """The classes that a class entails by current P279: few steps, never through a stop class or a denied pair."""
    memory = _ABOVE.setdefault(graph, {})
    known = memory.get(qid)
    if known is None:
        stop, denied = stop_classes(), denied_lifts()
        seen, layer = {qid}, [qid]
        for _ in range(ENTAILED_STEPS):
            graph.fetch(layer)
            pairs = [(below, above) for below in layer for above in graph.targets(below, "P279")]
            layer = [
                above
                for below, above in pairs
                if above not in seen and above not in stop and denied.isdisjoint(((below, above), (qid, above)))
            ]
            layer = list(dict.fromkeys(layer))
            seen.update(layer)
            if not layer:
                break
        known = memory[qid] = frozenset(seen - {qid})
    return known


@dataclass(frozen=True, kw_only=True, slots=True)
class Climbing:
    """How one kind of class climbs: by which properties, how far, and what may stand as a tier.

    `first` are properties followed on the first step only (a language's family stands in P31). `doubting` leaves
    out the P279 pairs that are known to be noise, and those whose names say so (vice president, president).
    """

    properties: tuple[str, ...]
    depth: int
    keep: Callable[[str], bool]
    first: tuple[str, ...] = ()
    doubting: bool = False


def used_as_value(graph: Graph, prop: str, *, minimum: int | None = None) -> Callable[[str], bool]:
    """A test whether enough entities of the whole source have the class as value of `prop`.

    `minimum` None takes the measured threshold, scaled to the source's size and never below one. Of what services gave
    nobody knows the whole source's counts: there everyday names of occupations are used as well.
    """
    memory: dict[str, bool] = {}
    need, store = minimum, graph.store  # the graph itself would never be let go by a weak dictionary with such values
    everyday = common_occupations() if prop == "P106" and _is_fetched(store) else frozenset()

    def test(qid: str) -> bool:
        nonlocal need
        if need is None:
            total = store.property_counts([prop]).get(prop, 0)
            need = max(1, min(USES, math.ceil(total * USES / USES_OF)))
        if qid not in memory:
            enough = store.value_counts([(prop, qid)]).get((prop, qid), 0) >= need
            memory[qid] = enough or bool(everyday and _label(store, qid) in everyday)
        return memory[qid]

    return test


def _is_fetched(store: Store) -> bool:
    """Whether a snapshot counts no more than what services gave."""
    return store.manifest().get("source_kind") in ("api", "sparql")


def _label(store: Store, qid: str) -> str:
    """The English label of an entity, normalised."""
    entity = store.entities([qid], languages=("en", "mul"), properties=()).get(qid)
    labels = entity.labels if entity is not None else {}
    return normalise(labels.get("en") or labels.get("mul") or "")


def climb(graph: Graph, start: str, how: Climbing, *, condition: str) -> dict[str, Proposal]:
    """Superclasses of `start` that `how.keep` lets stand, as proposals by QID with their edges.

    Classes that may not stand are climbed through and bridged; stop classes end their branch. `condition` is
    the property that the tier's query uses.
    """
    kept: dict[str, Proposal] = {}
    seen = {start}
    layer: list[tuple[str, str, tuple[Evidence, ...]]] = [(start, ANSWER, ())]
    stop = stop_classes()
    denied = denied_lifts(of_persons=False) if how.doubting else never_lifted()
    for depth in range(how.depth):
        graph.fetch(qid for qid, _, _ in layer)
        upward: list[tuple[str, str, tuple[Evidence, ...]]] = []
        for qid, below, trail in layer:
            for prop in (*how.properties, *(how.first if depth == 0 else ())):
                for statement in graph.current(qid, prop):
                    target = statement.target
                    if target is None or target in stop or target == start or (qid, target) in denied:
                        continue
                    if how.doubting and takes_back(graph.label(qid) or "", graph.label(target) or ""):
                        continue
                    path = (*trail, from_statement(graph, statement))
                    if target in kept:
                        if below != target:
                            node = kept[target]
                            parents = tuple(dict.fromkeys((*node.parents, below)))
                            kept[target] = replace(node, parents=parents, evidence=joined((node.evidence, path)))
                        continue
                    if target in seen:
                        continue
                    seen.add(target)
                    label = graph.label(target)
                    if label is None:
                        continue
                    if how.keep(target):
                        names = graph.names(target)
                        kept[target] = Proposal(
                            key=target,
                            text=label,
                            qid=target,
                            parents=(below,),
                            aliases=tuple(n for n in names if n != label),
                            evidence=path,
                            conditions=frozenset({Condition(property=condition, value=target)}),
                        )
                        upward.append((target, target, ()))
                    else:
                        upward.append((target, below, path))
        layer = upward
        if not layer:
            break
    return kept
