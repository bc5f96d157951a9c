"""The answer classes of entities: by the nearest anchor class, else by the head noun of the description.

P279 is not a reliable taxonomy (a city reaches "organization" through it), so climbing ends at the first anchor on
each branch and goes at most CLIMB steps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

from abstraction.base.properties import package_data
from abstraction.base.trimming import LONGEST
from kg.base.bounded_cache import bounded_cache
from kg.base.terms import normalise
from kg.graph.graph import Graph

CLIMB = 4  # most P279 steps from a class of the entity; above that P279 mixes kinds of things


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """The answer classes that a relation accepts, prefers and excludes; linking filters candidates by them."""

    fits: frozenset[str]
    prefers: frozenset[str]
    excludes: frozenset[str]


_data = partial(package_data, "classes.json")


@lru_cache(maxsize=1)
def anchors() -> Mapping[str, frozenset[str]]:
    """By the QID of each anchor class, the answer classes that it implies."""
    out: dict[str, set[str]] = {}
    for kind, qids in _data()["anchors"].items():
        assert isinstance(qids, list)
        for qid in qids:
            out.setdefault(qid, set()).add(kind)
    return {qid: frozenset(kinds) for qid, kinds in out.items()}


@lru_cache(maxsize=64)
def class_filter(asks: str) -> Wanted | None:
    """The class filter for an answer class that relations ask for; None where any class fits."""
    row = _data()["asks"].get(asks)
    if row is None:
        return None
    assert isinstance(row, dict)
    return Wanted(fits=frozenset(row["fits"]), prefers=frozenset(row["prefers"]), excludes=frozenset(row["not"]))


@lru_cache(maxsize=1)
def _heads() -> tuple[re.Pattern[str], Mapping[str, str]]:
    kinds: dict[str, str] = {}
    for kind, words in _data()["heads"].items():
        assert isinstance(words, list)
        for word in words:
            kinds.setdefault(word, kind)
    alternatives = "|".join(re.escape(w) for w in sorted(kinds, key=len, reverse=True))
    return re.compile(rf"(?:^|[\s-])({alternatives})s?$"), kinds


# The head noun of a description ends before these: prepositions, relative clauses, participles, punctuation.
_HEAD_END = re.compile(
    r"(?<!\s)\s++(?:in|of|on|at|from|near|between|by|within|who|that|which|located|situated|for|with|to|and county seat"
    r"|given|made|spoken|based|built|held|owned|led|born|found|set|\w{4,}(?:ing|ed)(?=\s+(?:of|in|on|a|an|the|for|to|with|from|by|at)\b))\b|[,;(]"
)


# Descriptions of occupations in the form "person who ...", whose head noun alone would make them persons.
_DOER = re.compile(
    r"(?:an?\s+)?(?:[a-z]+\s+){0,2}(?:person|individual|someone|professional|practitioner|people|player|worker|artist|specialist)"
    r"\s+(?:who|that|whose|responsible|trained|employed|in charge)\b",
    re.IGNORECASE,
)


@bounded_cache(entries=1 << 13, longest=250)  # 10 MB at most
def head_of_description(description: str) -> tuple[str, str] | None:
    """The head noun of a description opening and its class, or None. "city in France" -> ("city", "place")."""
    opening = _HEAD_END.split(normalise(description[:LONGEST]), maxsplit=1)[0].strip()
    pattern, kinds = _heads()
    found = pattern.search(opening)
    return (found.group(1), kinds[found.group(1)]) if found else None


def class_of_description(description: str) -> str | None:
    """The answer class of a description's head noun, or None."""
    if _DOER.match(description):
        return "occupation"
    head = head_of_description(description)
    return head[1] if head else None


def classes_of(graph: Graph, entity_id: str) -> frozenset[str]:
    """The answer classes of an entity; empty where neither P31 nor the description gives one.

    Classes within one step of the nearest anchor all count: a city that is also a country is both. Without an anchor
    an entity with an occupation, or with a nationality but no class, is a person.
    """
    depth_of: dict[str, int] = {}
    known = anchors()
    layer = graph.classes(entity_id)
    seen = set(layer)
    for depth in range(CLIMB + 1):
        upward: list[str] = []
        for kind in layer:
            if kind in known:
                for name in known[kind]:
                    depth_of.setdefault(name, depth)
            else:
                upward.append(kind)
        # One step beyond the nearest anchor may give a second class.
        if not upward or (depth_of and depth > min(depth_of.values())):
            break
        graph.fetch(upward)  # one query per layer
        nxt = [t for c in upward for t in graph.targets(c, "P279")]
        layer = tuple(t for t in dict.fromkeys(nxt) if t not in seen)
        seen.update(layer)
    if depth_of:
        nearest = min(depth_of.values())
        return frozenset(name for name, depth in depth_of.items() if depth <= nearest + 1)
    description = graph.description(entity_id)
    described = class_of_description(description) if description else None
    # Entities with a nationality and nothing else are persons, hardly anything else.
    is_anybody = not graph.classes(entity_id) and graph.targets(entity_id, "P27")
    if described is None and (graph.targets(entity_id, "P106") or is_anybody):
        described = "person"
    return frozenset({described}) if described else frozenset()


class Classifier:
    """`classes_of` for one graph, keeping its results."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._known: dict[str, frozenset[str]] = {}

    def __call__(self, entity_id: str) -> frozenset[str]:
        """The answer classes of an entity; see `classes_of`."""
        known = self._known.get(entity_id)
        if known is None:
            known = self._known[entity_id] = classes_of(self._graph, entity_id)
        return known


@lru_cache(maxsize=1)
def stop_classes() -> frozenset[str]:
    """Classes that are never a tier, and above which nothing is read."""
    return frozenset(package_data("stop_classes.json")["stop"])
