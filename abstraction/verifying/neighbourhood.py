"""Everything above an entity by statements and descriptions: places, owners, classes, and their names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from abstraction.linking.gazetteer import FIRST_DIVISION, PLACES, STATE, WORLD, Gazetteer
from abstraction.text.language.comparable_words import bare, content
from kg.graph.graph import Graph

# Located in, country, location, headquarters, continent, parent organisation, owner, part of.
FIRST_STEP = ("P131", "P17", "P276", "P159", "P30", "P749", "P127", "P361")
# Only relations that stay true over several steps; a headquarters of an owner is no place of the answer.
FURTHER_STEPS = ("P131", "P17", "P30", "P749", "P127")
LOOSE = ("P361", "P706", "P206")  # regions and waters may span states, so no step starts at them
# Instance of, occupation, genre, sport, office, industry, position played, title, field, subclass, product, taxon.
CLASSES = ("P31", "P106", "P136", "P641", "P39", "P452", "P413", "P97", "P101", "P279", "P1056", "P171")
NATIONALITY = ("P27", "P17", "P495")  # citizenship, country, country of origin
DEPTH = 8  # most steps upwards: bounds work, and cycles in the data
CLASS_STEPS = 3  # higher superclasses, such as "entity", say nothing
CONTINENT = "Q5107"  # the class of continents


@dataclass(frozen=True, kw_only=True, slots=True)
class Above:
    """Everything above one entity, without itself: ids in order of distance, and their names as bare text.

    `states` are sovereign states, `divisions` first-level divisions, `continents` continents among the ids.
    """

    ids: tuple[str, ...]
    names: frozenset[str]
    states: frozenset[str]
    divisions: frozenset[str]
    continents: frozenset[str]


class Neighbourhoods:
    """Reads `Above` and classes of entities, each once. Results depend on the snapshot only."""

    def __init__(self, graph: Graph, gazetteer: Gazetteer) -> None:
        self.graph = graph
        self._gazetteer = gazetteer
        self.above = cache(self._read_above)
        self.kinds = cache(self._read_kinds)
        self.classes_above = cache(self._read_classes_above)

    def _read_above(self, entity_id: str) -> Above:
        """Containers and owners of the entity, up to DEPTH steps."""
        return self.above_all([entity_id], without={entity_id})

    def above_all(self, start: Iterable[str], *, without: Iterable[str] = ()) -> Above:
        """Everything above several entities together, including these entities except those in `without`."""
        out = set(without)
        layer = list(dict.fromkeys(start))
        seen: dict[str, None] = dict.fromkeys(layer)
        self.graph.fetch(layer)
        loose = dict.fromkeys(i for qid in layer for i in self._regions_around(qid))
        names: set[str] = set()
        for depth in range(DEPTH):
            self.graph.fetch(layer)
            upward = [i for qid in layer for i in self._one_step_up(qid, names, first=depth == 0)]
            layer = [i for i in dict.fromkeys(upward) if i not in seen and i not in loose and self.graph.entity(i)]
            if not layer:
                break
            seen.update(dict.fromkeys(layer))
        strict = [i for i in seen if i not in out]
        ids = (*strict, *(i for i in loose if i not in out and i not in seen))
        names.update(bare(name) for i in ids for name in self.graph.names(i))
        return Above(
            ids=ids,
            names=frozenset(names),
            states=frozenset(filter(self.is_state, strict)),
            divisions=frozenset(filter(self.is_division, strict)),
            continents=frozenset(filter(self._is_continent, ids)),
        )

    def _one_step_up(self, qid: str, names: set[str], *, first: bool) -> list[str]:
        """The entities one step above, by statements and description; names in the description are added to `names`."""
        if self._is_continent(qid):
            return []
        # Above a state only its continent: unions and alliances do not contain it.
        if not first and self.is_state(qid):
            return list(self.graph.targets(qid, "P30"))
        upward = [i for prop in (FIRST_STEP if first else FURTHER_STEPS) for i in self.graph.targets(qid, prop)]
        if first or not self._spans_states(qid):
            described = [place for step in self._gazetteer.chain(qid) for place in step]
            names.update(bare(text) for place in described for text in (place.text, place.written) if text)
            upward += [place.qid for place in described if place.qid]
        return upward

    def _regions_around(self, qid: str) -> list[str]:
        """The regions and waters that the entity is part of; none for a continent."""
        around = [] if self._is_continent(qid) else [i for prop in LOOSE for i in self.graph.targets(qid, prop)]
        return [i for i in around if not self._is_organised(i)]

    def _is_continent(self, qid: str) -> bool:
        return CONTINENT in self.graph.classes(qid)

    def _is_organised(self, qid: str) -> bool:
        """Whether the entity is an organisation: its parts lie where it lies, so it is no region around them."""
        return PLACES.isdisjoint(self._gazetteer.classes(qid)) and bool(self._gazetteer.classes(qid))

    def _spans_states(self, qid: str) -> bool:
        """Whether the entity is a part of the world that spans several states."""
        return bool(WORLD.search(self.graph.label(qid) or "")) or len(self.graph.targets(qid, "P17")) > 1

    def is_state(self, qid: str) -> bool:
        """Whether the entity is a sovereign state that exists today."""
        return not STATE.isdisjoint(self.graph.classes(qid)) and not self.graph.is_historical(qid)

    def is_division(self, qid: str) -> bool:
        """Whether the entity is a first-level division that exists today, such as a federal state or a province."""
        return self.graph.is_instance(qid, FIRST_DIVISION) and not self.graph.is_historical(qid)

    def nations(self, qid: str) -> list[str]:
        """The countries of an entity: citizenship of a person, origin of a work, location of a place."""
        return [i for prop in NATIONALITY for i in self.graph.targets(qid, prop)]

    def _read_kinds(self, entity_id: str) -> tuple[str, ...]:
        """The classes, occupations, genres and the like of an entity, and their superclasses up to CLASS_STEPS steps.
        """
        return self.superclasses(t for prop in CLASSES for t in self.graph.targets(entity_id, prop))

    def _read_classes_above(self, entity_id: str) -> frozenset[str]:
        """All superclasses of a class, by its P31 and by P279 and P171 up to DEPTH steps."""
        layer = [t for prop in ("P279", "P31", "P171") for t in self.graph.targets(entity_id, prop)]
        seen = set(layer)
        for _ in range(DEPTH):
            self.graph.fetch(layer)
            layer = [t for c in layer for p in ("P279", "P171") for t in self.graph.targets(c, p) if t not in seen]
            seen.update(layer)
        return frozenset(seen - {entity_id})

    def superclasses(self, classes: Iterable[str]) -> tuple[str, ...]:
        """The classes and their superclasses up to CLASS_STEPS steps."""
        layer = list(dict.fromkeys(classes))
        seen: dict[str, None] = dict.fromkeys(layer)
        for _ in range(CLASS_STEPS):
            self.graph.fetch(layer)
            layer = [t for c in layer for t in self.graph.targets(c, "P279") if t not in seen]
            seen.update(dict.fromkeys(layer))
        return tuple(seen)

    def words(self, ids: Iterable[str]) -> set[str]:
        """The content words of every name of some entities."""
        return {word for i in ids for name in self.graph.names(i) for word in content(name)}
