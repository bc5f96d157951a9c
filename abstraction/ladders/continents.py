"""On which continent a place lies: as the coarsest tier of a where-question, and only where all of it does.

A state's continent is that of a place within it unless something says the place lies elsewhere: its own P30, the
part that another P30 value of the state applies to, an overseas territory in between, or another part of the world
in its description. Of a state on two continents only a place's own P30 counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from abstraction.linking.gazetteer import WORLD, Place
from kg.model import EntityValue, Statement
from kg.walks.graph import Graph
from kg.walks.ranks import APPLIES_TO_PART, CONTINENT

CONTINENT_CLASS = "Q5107"
_NEAR = ("P706", "P361")  # of what landscape or larger whole a place is told to be a part
# Classes of what belongs to a state without lying on its continent, by label.
_ELSEWHERE = re.compile(
    r"\b(?:overseas|dependent territory|dependency|unincorporated|insular area|external territory"
    r"|autonomous country|(?:former )?colony|protectorate|special administrative region|territorial claim)\b",
    re.I,
)
_ISLANDS = re.compile(r"\b(?:islands?|archipelago|atolls?|islets?)\b", re.I)
_OCEANS = frozenset({"Atlantic", "Pacific", "Indian Ocean"})
# Parts of the world that lie on a continent without carrying its name; from any atlas.
_WITHIN: Mapping[str, Collection[str]] = MappingProxyType(
    {
        "Q46": ("Europe", "Eurasia", "Balkans", "Scandinavia", "Iberian", "Baltic", "Nordic", "Caucasus"),
        "Q48": ("Asia", "Eurasia", "Middle East", "Near East", "Levant", "Caucasus", "Arabian", "Himalayas"),
        "Q15": ("Africa", "Maghreb", "Sahel", "Horn of"),
        "Q49": ("America", "Americas", "Caribbean", "Antilles"),
        "Q18": ("America", "Americas"),
        "Q538": ("Oceania", "Polynesia", "Micronesia", "Melanesia", "Pacific"),
    }
)


def stated_continent(graph: Graph, place: str) -> Statement | None:
    """The one P30 value that holds for all of the place: it alone, or it alone without a part it is limited to.

    None where several hold, and where the description tells of a part of the world on another continent. Of
    several unlimited values the one whose name alone the description carries is taken.
    """
    stated = [s for s in graph.current(place, CONTINENT) if s.target and graph.label(s.target)]
    whole = [s for s in stated if not s.qualifier(APPLIES_TO_PART)]
    named_parts = _parts_of_world(graph, place)
    if len(whole) > 1:
        whole = [s for s in whole if named_parts and all(_lies_on(name, s.target or "") for name in named_parts)]
    if len(whole) != 1 or CONTINENT_CLASS not in graph.classes(whole[0].target or ""):
        return None
    return whole[0] if all(_lies_on(name, whole[0].target or "") for name in named_parts) else None


def lies_elsewhere(graph: Graph, place: str, holder: str, continent: str) -> bool:
    """Whether anything tells that `place`, within `holder`, is not on `holder`'s continent."""
    continents = {s.target for s in graph.current(place, CONTINENT) if s.target}
    if continents:
        return continent not in continents
    for statement in graph.statements(holder, CONTINENT):
        parts = {s.value.id for s in statement.qualifier(APPLIES_TO_PART) if isinstance(s.value, EntityValue)}
        if statement.target != continent and place in parts:
            return True
    if any(_ELSEWHERE.search(graph.label(kind) or "") for kind in graph.classes(place)):
        return True
    return not all(_lies_on(name, continent) for name in _parts_of_world(graph, place))


def names_part_of(name: str, continent: str) -> bool:
    """Whether the part of the world that the name tells may lie on the continent; True where it tells none."""
    parts = WORLD.findall(name)
    return not parts or any(_lies_on(part, continent) for part in parts)


def continent_of(name: str) -> str | None:
    """The one continent on which the part of the world lies that a name tells, by id; None where it tells none."""
    continents = {c for c in _WITHIN for part in WORLD.findall(name) if _lies_on(part, c)}
    return continents.pop() if len(continents) == 1 else None


def together(places: Sequence[Place]) -> Place:
    """One place, or what lies in several at once: "Eastern Europe and North Asia", in neither alone."""
    if len(places) == 1:
        return places[0]
    names = sorted(place.text for place in places)
    return Place(text=f"{', '.join(names[:-1])} and {names[-1]}")


def as_written(place: Place) -> Place:
    """The place by the words of the description, which say more than its entity: "Eastern Europe"."""
    text = place.written or place.text
    return Place(text=text[:1].upper() + text[1:], written=place.written)


def _parts_of_world(graph: Graph, place: str) -> list[str]:
    """The parts of the world that the description and the stated larger wholes name; oceans for islands alone."""
    if not (WORLD.search(graph.description(place) or "") or any(graph.current(place, prop) for prop in _NEAR)):
        return []
    label = graph.label(place) or ""
    description = (graph.description(place) or "").replace("States of America", "States")
    near = [s for prop in _NEAR for s in graph.current(place, prop) if s.target and not s.qualifier(APPLIES_TO_PART)]
    around = [graph.label(s.target) or "" for s in near if s.target]
    island = _ISLANDS.search(f"{label}; {description}; {'; '.join(around)}") is not None
    parts = [name for text in (description, *around) for name in WORLD.findall(text)]
    return [name for name in parts if island or name not in _OCEANS]


def _lies_on(name: str, continent: str) -> bool:
    return name in _WITHIN.get(continent, ())
