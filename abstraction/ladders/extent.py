"""Whether two places are one under two names: London and Greater London, the Netherlands and their kingdom."""

from __future__ import annotations

import re

from abstraction.linking.gazetteer import SETTLEMENTS
from kg.terms import normalise
from kg.walks.graph import Graph

# What a name gains without its place becoming a larger one.
_SAME = re.compile(
    r"^(?:(?:kingdom|republic|commonwealth|municipality|city|town|commune) of (?:the )?)"
    r"| (?:municipality|commune|urban area)$"
)
_COEXTENSIVE = re.compile(r"\bco-?(?:extensive|terminous)\b")
_MUNICIPALITY = re.compile(r"\b(?:municipality|commune)\b", re.I)


def same_extent(graph: Graph, inner: str, outer: str) -> bool:
    """Whether the place `outer` is no larger than the place `inner` inside it.

    So it is where the outer one is described as coextensive with it, where their labels differ by no more than
    "Municipality", where one has the other's label among its names and the outer one is a town or municipality or
    described as containing the inner one, and where the outer one consists of what is named after the inner one
    (Greater London of London boroughs).
    """
    labels = graph.label(inner), graph.label(outer)
    if labels[0] is None or labels[1] is None:
        return False
    small, large = normalise(labels[0]), normalise(labels[1])
    if small != large and small == _SAME.sub("", large):
        return True
    town = re.compile(rf"\b{re.escape(small.split(',')[0])}\b")
    if town.search(large) and _of_parts_of(graph, outer, town):
        return True
    described = normalise(graph.description(outer) or "")
    if _COEXTENSIVE.search(described) and town.search(described):
        return True
    if large not in map(normalise, graph.names(inner)) and small not in map(normalise, graph.names(outer)):
        return False
    if graph.is_instance(outer, SETTLEMENTS) or any(
        _MUNICIPALITY.search(graph.label(kind) or "") for kind in graph.classes(outer)
    ):
        return True
    return re.search(rf"\bcontaining\b.*{town.pattern}", described) is not None


def _of_parts_of(graph: Graph, outer: str, town: re.Pattern[str]) -> bool:
    """Whether most of the divisions of a place carry the name of the town, behind which their own follows."""
    parts = graph.targets(outer, "P150")
    graph.fetch(parts)
    named = [normalise(label) for part in parts if (label := graph.label(part))]
    return len(named) > 1 and 2 * sum(bool(town.match(label)) for label in named) > len(named)
