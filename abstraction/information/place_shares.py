"""How much of the world lies in a place, and which states a part of the world holds.

Where: entities placed by P131, P276, P159 or P706, in a container or in any container inside it. A state has the
entities that P17 gives it, where that is a larger share; a part of the world what its states have together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property

from abstraction.classes import Classifier
from abstraction.information.counting import Hierarchy, ValueCounts
from abstraction.linking.gazetteer import Gazetteer
from kg.terms import normalise
from kg.walks.graph import Graph

LOCATED = ("P131", "P276", "P159", "P706")
_READ = frozenset({"P17", "P30", "P31", "P131", "P276", "P361", "P576"})


class World:
    """Shares of places of one store. Keys are those of `gazetteer.Place`: QIDs, or `text:` and a name."""

    def __init__(self, counts: ValueCounts, language: str) -> None:
        self._counts = counts
        self._language = language
        self._containers = Hierarchy(counts, LOCATED, ("P131",))
        self._known: dict[str, float | None] = {}

    @property
    def located(self) -> int:
        """N: statements that place an entity of the source, or entities with a state where there are more."""
        return max(self._containers.statements, self._counts.total("P17"))

    @property
    def states(self) -> frozenset[str]:
        """The sovereign states of today that P17 names."""
        return self._states[0]

    def states_in(self, key: str) -> int | None:
        """How many states a part of the world holds; None where none are known in it."""
        return len(self._states[1][key]) if key in self._states[1] else None

    def share(self, key: str) -> float | None:
        """The share of all that is located which lies in the place, in (0, 1]; None where nothing known does."""
        if key not in self._known:
            self._known[key] = self._share(key)
        return self._known[key]

    def _share(self, key: str) -> float | None:
        share = 0.0
        if mass := self._containers.mass(key):
            share = (mass + 1) / self._containers.statements  # the place itself is one of the answers
        if key in self.states and (of_state := self._counts.of("P17", key)):
            share = max(share, of_state / self._counts.total("P17"))
        parts = self._states[1]
        if key in parts:
            share = max(share, sum(self.share(state) or 0.0 for state in sorted(parts[key])))
        return min(1.0, share) or None

    @cached_property
    def _states(self) -> tuple[frozenset[str], Mapping[str, frozenset[str]]]:
        """The states, and by key of a part of the world the states in it."""
        # A graph of its own: what a question's row says of a place is not counted.
        graph = Graph(self._counts.store, language=self._language, properties=_READ)
        gazetteer = Gazetteer(graph, Classifier(graph))
        countries = [value for value, _ in self._counts.store.values_of("P17")]
        self._counts.read(("P17", country) for country in countries)
        graph.fetch(countries)
        states = frozenset(
            country for country in countries if gazetteer.is_state(country) and not graph.is_historical(country)
        )
        parts: dict[str, set[str]] = defaultdict(set)
        for state in sorted(states):
            for key in _parts_of_the_world(graph, gazetteer, state) - states:
                parts[key].add(state)
        return states, {key: frozenset(held) for key, held in parts.items()}


def _parts_of_the_world(graph: Graph, gazetteer: Gazetteer, state: str) -> set[str]:
    """Keys of the regions and continents that hold the state: by its description, and by P361 and P30.

    Of several continents those that the description names: overseas parts are no reason to count a state twice.
    """
    keys = set(graph.targets(state, "P361"))
    for step in gazetteer.chain(state):
        for place in step:
            keys.add(place.key)
            if place.written:
                keys.add(f"text:{normalise(place.written)}")
    continents = graph.targets(state, "P30")
    description = normalise(graph.description(state) or "")
    named = [
        continent for continent in continents if (label := graph.label(continent)) and normalise(label) in description
    ]
    return keys.union(named or continents)
