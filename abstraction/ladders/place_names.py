"""Place names as used in tiers: "Cambridge, Massachusetts", "Durham County, North Carolina", "the Isle of Wight".

Ambiguous names are followed by a container, as is usual in English: towns and counties of the states of North America
and Australia, and any place with a better known namesake.
"""

from __future__ import annotations

import re
from dataclasses import replace

from abstraction.ladders.assembly.filters import distinguishing_name, is_named
from abstraction.ladders.proposals import Proposal
from abstraction.linking.gazetteer import FIRST_DIVISION, PLACES, SETTLEMENTS, Gazetteer
from abstraction.text.language.phrases import short
from kg.base.bounded_cache import SizedDict
from kg.base.terms import normalise
from kg.graph.graph import Graph

# States of the United States, provinces of Canada, states of Australia.
_DIVISIONS = frozenset({"Q35657", "Q11828004", "Q5852411"})
# Labels of classes of counties, but not of their seats.
_COUNTY = re.compile(r"\bcounty\b(?! seat)", re.I)
_TOWN = re.compile(
    r"\b(?:city|town|township|village|borough|municipality|hamlet|suburb|census-designated|unincorporated"
    r"|human settlement)\b", re.I
)  # fmt: skip
# Names that take an article: "the Isle of Wight".
_DESCRIPTIVE = re.compile(
    r"(?:\w+ )?(?:District|Kingdom|Republic|Commonwealth|Province|State|Duchy|Principality|Isle|Canton|Region|County"
    r"|Governorate|Department|Free State|Borough|Municipality|City) of "
)
_METROPOLIS = 300_000  # inhabitants from which a city needs no state after its name
_AS_KNOWN = 0.2  # fraction of the place's uses as a value from which a namesake counts as equally known
# Properties whose values are counted as uses of a place: location, birth, death, seat.
_USED_AS = ("P131", "P19", "P20", "P159", "P276")
KEPT = 4_000_000  # characters of names in the cache: at most 20 MB


class PlaceNames:
    """The names of the places of one graph in tiers, cached."""

    def __init__(self, graph: Graph, gazetteer: Gazetteer) -> None:
        self._graph = graph
        self._gazetteer = gazetteer
        self._names: SizedDict[str, str] = SizedDict(KEPT, lambda key, name: 100 + len(name))

    def with_spoken_names(self, nodes: dict[str, Proposal]) -> dict[str, Proposal]:
        """The proposals with the names of places as used in sentences; the label becomes an alias."""
        if self._graph.shown_in != self._graph.language:
            return nodes
        return {key: self._with_spoken_name(node) for key, node in nodes.items()}

    def _with_spoken_name(self, node: Proposal) -> Proposal:
        if node.qid is None or not is_named(node) or node.text != self._graph.label(node.qid):
            return node
        name = self._names.get(node.qid)
        if name is None:
            name = self._names[node.qid] = self._spoken_name(node.qid, node)
        return node if name == node.text else replace(node, text=name, aliases=(node.text, *node.aliases))

    def _spoken_name(self, qid: str, node: Proposal) -> str:
        label = node.text
        if PLACES.isdisjoint(self._gazetteer.classes(qid)) or self._gazetteer.is_state(qid) or "," in label:
            return label
        around = self._division_in_name(qid) or (
            self._distinguishing_place(qid) if self._has_known_namesake(qid, label) else None
        )
        if around is not None and around not in label:
            return f"{label}, {around}"
        if self._contains_namesake(qid, label) and (text := distinguishing_name(node, ())):
            return text
        return f"the {label}" if _DESCRIPTIVE.match(label) else label

    def _division_in_name(self, qid: str) -> str | None:
        """The state or province to add to the name of a county, or of a town below METROPOLIS inhabitants."""
        kinds = [self._graph.label(kind) or "" for kind in self._graph.classes(qid)]
        county = any(map(_COUNTY.search, kinds))
        if not county and (not any(map(_TOWN.search, kinds)) or self._gazetteer.inhabitants(qid) >= _METROPOLIS):
            return None
        around = [place.qid for step in self._gazetteer.chain(qid) for place in step]
        around += [container for container, _ in self._gazetteer.containers(qid)]
        divisions = (place for place in around if place and not _DIVISIONS.isdisjoint(self._graph.classes(place)))
        division = next(divisions, None)
        return self._graph.label(division) if division is not None else None

    def _distinguishing_place(self, qid: str) -> str | None:
        """The place to add to an ambiguous name: the division below the state, else the state."""
        steps = [step[0] for step in self._gazetteer.chain(qid) if len(step) == 1]
        if len(steps) > 1 and steps[-1].qid and self._gazetteer.is_state(steps[-1].qid):
            steps.pop()
        return short(steps[-1].text) if steps else None

    def _has_known_namesake(self, qid: str, label: str) -> bool:
        """Whether another place with this label, neither around nor inside it, is equally known or better known, by
        uses as a value.
        """
        others = [
            match.id
            for match in self._graph.find(label)
            if match.kind == "label" and match.id != qid and not self._graph.is_historical(match.id)
            if not PLACES.isdisjoint(self._gazetteer.classes(match.id))
        ]
        name = normalise(label)
        others = [i for i in others if name not in self._gazetteer.above(i)]
        if not others or name in self._gazetteer.above(qid):
            return False
        counts = self._graph.store.value_counts([(prop, i) for i in (qid, *others) for prop in _USED_AS])
        uses = {i: sum(counts.get((prop, i), 0) for prop in _USED_AS) for i in (qid, *others)}
        share = 1.0 if not FIRST_DIVISION.isdisjoint(self._graph.classes(qid)) else _AS_KNOWN
        return max(uses[i] for i in others) >= share * uses[qid]

    def _contains_namesake(self, qid: str, label: str) -> bool:
        """Whether a settlement inside the place has the same name: New York is a state and a city."""
        name = normalise(label)
        return any(
            match.id != qid and self._graph.is_instance(match.id, SETTLEMENTS)
            for match in self._graph.find(label)
            if match.kind != "label"
            and name in self._gazetteer.above(match.id)
            and not self._graph.is_historical(match.id)
        )
