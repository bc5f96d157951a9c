"""The places that contain a thing, today or at the date of the question.

The statements about them; which containers are certain; which are no larger than the place itself; the state of a
dependency; the continent.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from abstraction.ladders.entity_values import current_values
from abstraction.ladders.proposals import ANSWER, LadderCase, Proposal
from abstraction.linking.gazetteer import FIRST_DIVISION, SETTLEMENTS, WORLD, Place
from abstraction.linking.link_features import phrase_in
from abstraction.text.language.demonyms import bundled_demonyms
from abstraction.text.language.phrases import indefinite
from kg.base.model import EntityValue, Statement, TimeValue
from kg.base.terms import normalise
from kg.graph.graph import Graph
from kg.graph.ranks import APPLIES_TO_PART, CONTINENT, has_ended, time_key, valid_at

# Certain containers. Some places lie in one of several containers, and it is unknown in which one.

Upward = Mapping[str, Collection[str]]


def all_above(up: Upward, key: str, without: Collection[str] = ()) -> set[str]:
    """The keys above a key that are reached without passing through those of `without`."""
    seen: set[str] = set()
    stack = [key]
    while stack:
        for above in up.get(stack.pop(), ()):
            if above not in seen and above not in without:
                seen.add(above)
                stack.append(above)
    return seen


def certain_containers(up: Upward, either: Mapping[str, Sequence[Collection[str]]], key: str) -> set[str]:
    """The keys of the places that certainly contain the place `key`.

    `either` maps a key to groups of alternative containers, one of which contains it: Dallas extends into five
    counties. Within a group the places that contain no other member are equally likely, so only their common
    containers are certain.
    """
    known: dict[str, set[str]] = {}

    def holders(inner: str) -> set[str]:
        if inner not in known:
            known[inner] = set()  # a circle adds nothing
            groups = [finest for group in either.get(inner, ()) if len(finest := _smallest_places(up, group)) > 1]
            sure = set(up.get(inner, ())).difference(*groups)
            shared = (set.intersection(*({place} | holders(place) for place in group)) for group in groups)
            known[inner] = set().union(*({place} | holders(place) for place in sure), *shared)
        return known[inner]

    return holders(key)


def _smallest_places(up: Upward, group: Collection[str]) -> set[str]:
    """The places of a group that contain no other member."""
    return set(group).difference(*(all_above(up, place) for place in group))


# Whether two places are one under two names: London and Greater London, the Netherlands and their kingdom.

# Words that a name may have in addition without denoting a larger place.
_SAME = re.compile(
    r"^(?:(?:kingdom|republic|commonwealth|municipality|city|town|commune) of (?:the )?)"
    r"| (?:municipality|commune|urban area)$"
)
# Descriptions of two administrative units of the same area, as many counties and cities are.
_COEXTENSIVE = re.compile(r"\bco-?(?:extensive|terminous)\b")
_MUNICIPALITY = re.compile(r"\b(?:municipality|commune)\b", re.I)


def same_extent(graph: Graph, inner: str, outer: str) -> bool:
    """Whether the place `outer` is no larger than the place `inner` inside it.

    True where the description calls `outer` coextensive with it; where the labels differ only by a word such as
    "Municipality"; where one has the label of the other among its names, and `outer` is a town or municipality or is
    described as containing `inner`; and where the divisions of `outer` are named after `inner` (Greater London and its
    London boroughs).
    """
    labels = graph.label(inner), graph.label(outer)
    if labels[0] is None or labels[1] is None:
        return False
    small, large = normalise(labels[0]), normalise(labels[1])
    if small != large and small == _SAME.sub("", large):
        return True
    town = small.split(",")[0]
    if phrase_in(town, large) and _has_divisions_named_after(graph, outer, town):
        return True
    described = normalise(graph.description(outer) or "")
    if _COEXTENSIVE.search(described) and phrase_in(town, described):
        return True
    if large not in map(normalise, graph.names(inner)) and small not in map(normalise, graph.names(outer)):
        return False
    if graph.is_instance(outer, SETTLEMENTS) or any(
        _MUNICIPALITY.search(graph.label(kind) or "") for kind in graph.classes(outer)
    ):
        return True
    return phrase_in(town, described.partition("containing")[2])


def _has_divisions_named_after(graph: Graph, outer: str, town: str) -> bool:
    """Whether most labels of the divisions of a place begin with the name of the town."""
    parts = graph.targets(outer, "P150")
    graph.fetch(parts)
    named = [normalise(label) for part in parts if (label := graph.label(part))]
    return len(named) > 1 and 2 * sum(label.startswith(town) for label in named) > len(named)


# The kind of a dependent territory in words: "a British overseas territory".

# Words of classes of dependent territories.
_DEPENDENCY = re.compile(r"\b(?:territor(?:y|ies)|dependency|collectivity)\b", re.I)
_NAMED = re.compile(r"[A-Z]")  # a capital letter: the label names the state


def dependency(case: LadderCase, key: str) -> list[Proposal]:
    """The tier "a ... territory" for the answer, or for the place `key` that contains it; at most one."""
    qid = case.answer if key == ANSWER else key
    if not case.gazetteer.dependency(qid):
        return []
    kinds = [
        v for v in current_values(case.graph, qid, "P31") if _NAMED.search(v.label) and _DEPENDENCY.search(v.label)
    ]
    if not kinds:
        return []
    kind = min(kinds, key=lambda value: (len(value.label), value.label))
    # "British Overseas Territories" -> "British overseas territory"; a name after "of" is not changed.
    label, of, name = kind.label.partition(" of ")
    first, *rest = label.replace("Territories", "territory").replace("territories", "territory").split()
    text = indefinite(" ".join([first, *(word.lower() for word in rest)]) + of + name)
    evidence = (kind.evidence,)
    return [Proposal(key=normalise(text), text=text, parents=(key,), evidence=evidence, conditions=kind.conditions)]


# The continent of a place: the coarsest tier for a where-question, only where the whole place lies on it.
#
# A place has the continent of its state unless there is evidence against it: its own P30, a P30 value of the state
# that applies to this part, an overseas territory in between, or another part of the world in its description.
# For states on two continents only the P30 of the place itself counts.

CONTINENT_CLASS = "Q5107"
_NEAR = ("P706", "P361")  # properties for the landscape or larger region of a place
# Labels of classes of places that belong to a state but need not lie on its continent.
_ELSEWHERE = re.compile(
    r"\b(?:overseas|dependent territory|dependency|unincorporated|insular area|external territory"
    r"|autonomous country|(?:former )?colony|protectorate|special administrative region|territorial claim)\b",
    re.I,
)
# Only islands are located by an ocean: a coastal state is not "in the Pacific".
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
    """The one P30 value for the whole of the place or most of it, or None.

    Of several values the one without the qualifier "applies to part" is used, else the one that the description names.
    None where neither decides, and where the description names a part of the world on another continent.
    """
    stated = [s for s in graph.current(place, CONTINENT) if s.target and graph.label(s.target)]
    whole = [s for s in stated if not s.qualifier(APPLIES_TO_PART)] or stated
    named_parts = _parts_of_world(graph, place)
    if len(whole) > 1:
        whole = [s for s in whole if named_parts and all(_lies_on(name, s.target or "") for name in named_parts)]
    if len(whole) != 1 or CONTINENT_CLASS not in graph.classes(whole[0].target or ""):
        return None
    return whole[0] if all(_lies_on(name, whole[0].target or "") for name in named_parts) else None


def continent_of_part(graph: Graph, place: str, holder: str) -> Statement | None:
    """The P30 statement of `holder` that applies to the part `place`: Oceania for Hawaii."""
    for statement in graph.statements(holder, CONTINENT):
        parts = {s.value.id for s in statement.qualifier(APPLIES_TO_PART) if isinstance(s.value, EntityValue)}
        if place in parts and statement.rank != "deprecated" and statement.target and not has_ended(statement):
            return statement
    return None


def lies_elsewhere(graph: Graph, place: str, holder: str, continent: str) -> bool:
    """Whether there is evidence that `place`, within `holder`, is not on the continent of `holder`."""
    continents = {s.target for s in graph.current(place, CONTINENT) if s.target}
    if continents:
        return continent not in continents
    own = continent_of_part(graph, place, holder)
    if own is not None:
        return own.target != continent
    if any(_ELSEWHERE.search(graph.label(kind) or "") for kind in graph.classes(place)):
        return True
    return not all(_lies_on(name, continent) for name in _parts_of_world(graph, place))


def names_part_of(name: str, continent: str) -> bool:
    """Whether the part of the world in a name may lie on the continent; True for names without one."""
    parts = WORLD.findall(name)
    return not parts or any(_lies_on(part, continent) for part in parts)


def continent_of(name: str) -> str | None:
    """The id of the one continent of the part of the world in a name; None where there is none or several."""
    continents = {c for c in _WITHIN for part in WORLD.findall(name) if _lies_on(part, c)}
    return continents.pop() if len(continents) == 1 else None


def combined_place(places: Sequence[Place]) -> Place:
    """One place as it is; several as one place that extends over all of them: "Eastern Europe and North Asia"."""
    if len(places) == 1:
        return places[0]
    names = sorted(place.text for place in places)
    return Place(text=f"{', '.join(names[:-1])} and {names[-1]}")


def place_as_written(place: Place) -> Place:
    """The place under the words of the description, which are more specific than its entity: "Eastern Europe"."""
    text = place.written or place.text
    return Place(text=text[:1].upper() + text[1:], written=place.written)


def _parts_of_world(graph: Graph, place: str) -> list[str]:
    """The parts of the world that the description and the stated larger regions name; oceans only for islands."""
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


# Statements about the location of a thing.


# Properties for locations, the most direct first; the first one with a value is used.
PLACE_PROPERTIES = ("P131", "P276", "P159", "P706", "P361")
# Descriptions of former things: "Former ...", "... between 1919 and 1933", "(1721-1917)", occupation zones.
_PAST = re.compile(
    r"^(?:a\s+|the\s+)?(?:former|historical|historic|defunct|ancient|dissolved|medieval)\b"
    r"|\b\d{3,4}\s*[–—-]\s*\d{2,4}\b"
    r"|\b(?:between|from)\s+\d{3,4}\b|\buntil\s+\d{3,4}\b|\b1\d{3} (?:and|to) 1\d{3}\b|\boccupied\b"
    r"|^(?:[\w-]+ ){0,2}(?:empire|caliphate|khanate)\b|\bpredecessor\b|\bSoviet (?:republic|socialist)\b",
    re.I,
)
# Classes of things that often lie in several places at once.
_SPREADING = re.compile(
    r"\b(?:rivers?|streams?|lakes?|reservoir|seas?|oceans?|straits?|gulf|mountain range|desert)\b", re.I
)
WORLDS = frozenset({"Q2", "Q525", "Q544", "Q39731", "Q48227", "Q5107"})  # Earth, Sun, Solar System, hemispheres...


class Containers:
    """The location statements of one case: best rank, not ended, about containers that still exist."""

    def __init__(self, case: LadderCase) -> None:
        self.case = case
        self.graph = case.graph

    def location_statements(self, entity_id: str, *, all_properties: bool) -> list[Statement]:
        """The statements of the first of PLACE_PROPERTIES with a usable value; only P131 and P361 without
        `all_properties`.
        """
        chain = self.case.gazetteer.chain(entity_id)
        for prop in PLACE_PROPERTIES if all_properties else ("P131", "P361"):
            if prop == "P706" and chain:
                continue  # P706 locates hills, not towns
            usable = [s for s in self.values(entity_id, prop) if self.is_usable(s.target or "")]
            if statements := self._about_whole_entity(entity_id, prop, usable):
                # All containers ended before the question's date, and the description names today's ones: use the
                # description.
                all_gone = all(self._is_past(s) and not self.held_at_question_date(s) for s in statements)
                return [] if all_gone and chain else statements
        return []

    def _about_whole_entity(self, entity_id: str, prop: str, statements: list[Statement]) -> list[Statement]:
        """The statements about the present location of the whole entity; for P361 only states or provinces, and none
        for an entity that is one itself.
        """
        if prop == "P131":
            statements = self._in_current_state(entity_id, statements)
            if entity_id == self.case.answer:
                statements = [s for s in statements if self._may_hold_all(entity_id, s.target or "")]
        elif prop == "P361":
            statements = [
                s for s in statements if self._is_division(s.target or "") and not self._is_division(entity_id)
            ]
        return statements

    def _may_hold_all(self, entity_id: str, container: str) -> bool:
        """Whether the container may hold the whole of a thing such as a river, judged by its description.

        A river or lake has one statement for each place that it touches, and a snapshot may lack some of them.
        """
        kinds = (self.graph.label(kind) or "" for kind in self.graph.classes(entity_id))
        description = self.graph.description(entity_id)
        if description is None or not any(map(_SPREADING.search, kinds)):
            return True
        text = normalise(description)
        table = bundled_demonyms()
        adjectives = (table.adjectives.get(container), *table.variants.get(container, ()))
        return any(phrase_in(normalise(name), text) for name in (*self.graph.names(container), *adjectives) if name)

    def _in_current_state(self, entity_id: str, statements: list[Statement]) -> list[Statement]:
        """The statements without former states; for divisions directly within a state, the state alone."""
        statements = self._in_todays_division(entity_id, self._in_the_described_state(entity_id, statements))
        states = [s for s in statements if self.case.gazetteer.is_state(s.target or "")]
        today = {s.target for s in self.values(entity_id, "P17")} if states else set()
        if today:
            statements = [s for s in statements if s not in states or s.target in today]
            states = [s for s in states if s.target in today]
        return states if states and self._is_division(entity_id) else statements

    def _in_the_described_state(self, entity_id: str, statements: list[Statement]) -> list[Statement]:
        """The statements whose places are known to lie in the state of the description, where it names one of several
        places.

        Mumbai has a statement for the Bombay Presidency, of which no end is stated.
        """
        described = {p.qid for step in self.case.gazetteer.chain(entity_id) for p in step if p.qid}
        states = [qid for qid in described if self.case.gazetteer.is_state(qid)]
        if len(statements) < 2 or not states or described.isdisjoint(s.target for s in statements):
            return statements
        names = {normalise(name) for state in states for name in self.graph.names(state)}
        above = self.case.gazetteer.above
        return [s for s in statements if s.target in described or not names.isdisjoint(above(s.target or ""))]

    def _in_todays_division(self, entity_id: str, statements: list[Statement]) -> list[Statement]:
        """The statements without earlier divisions where the description names the present one: Alberta, not the
        North-West Territories.
        """
        divisions = [s for s in statements if self._is_division(s.target or "")]
        if not divisions:
            return statements
        described = [p.qid for step in self.case.gazetteer.chain(entity_id) for p in step if p.qid]
        past = [s for s in divisions if s.target not in described]
        if len(past) == len(divisions):
            today = next((q for q in described if self._is_division(q) and not self.graph.is_historical(q)), None)
            past = [s for s in divisions if today is not None and self._are_exclusive(s.target or "", today)]
        return [s for s in statements if s not in past]

    def _are_exclusive(self, place: str, other: str) -> bool:
        """Whether a place in one of the two cannot lie in the other: of the same kind, and neither within the other."""
        above, names = self.case.gazetteer.above, self.graph.names
        nested = any(normalise(n) in above(place) for n in names(other)) or any(
            normalise(n) in above(other) for n in names(place)
        )
        return not nested and not set(self.graph.classes(place)).isdisjoint(self.graph.classes(other))

    def values(self, entity_id: str, prop: str) -> list[Statement]:
        """The present values, and those of the question's date; former places only where there are no others."""
        today = [s for s in self.graph.current(entity_id, prop) if s.target]
        self.graph.fetch(s.target for s in today if s.target)
        statements = [s for s in today if not self._is_past(s)]
        # A former place may contain other former things, and things that existed in its time.
        statements = statements or [s for s in today if self.no_longer_exists(entity_id) or self._may_have_held(s)]
        if self.case.at is not None:
            then = self.graph.held_at(entity_id, prop, self.case.at)
            statements = [*statements, *(s for s in then if s.target and s not in statements)]
        return statements

    def countries(self, qid: str) -> list[Statement]:
        """The entity's states by P17, else P361, never the answer itself."""
        for prop in ("P17", "P361"):
            states = [s for s in self.values(qid, prop) if s.target not in (qid, self.case.answer)]
            if qid == self.case.answer:
                states = [s for s in states if self._may_hold_all(qid, s.target or "")]
            if prop == "P361":
                states = [s for s in states if "country" in self.case.gazetteer.classes(s.target or "")]
            if states:
                return states
        return []

    def _is_past(self, statement: Statement) -> bool:
        """Whether the target no longer exists: dissolved, described as former, or described as located in a former
        place.
        """
        target = statement.target or ""
        if self.no_longer_exists(target):
            return True
        around = [p.qid for step in self.case.gazetteer.chain(target) for p in step if p.qid]
        return not self.case.gazetteer.is_state(target) and bool(around) and self.no_longer_exists(around[-1])

    def held_at_question_date(self, statement: Statement) -> bool:
        """Whether a statement about a former place was true at the date of the question, by its qualifiers, else by
        the dates of the target.
        """
        at = self.case.at
        if at is None or (held := valid_at(statement, at)) is not None:
            return at is not None and bool(held)
        ends = self._times(statement.target or "", "P576")
        begins = self._times(statement.target or "", "P571")
        return bool(ends) and max(ends) >= time_key(at) and (not begins or min(begins) <= time_key(at, late=True))

    def _may_have_held(self, statement: Statement) -> bool:
        """Whether a former place may have contained something at the date of the question, by its own dates."""
        at, target = self.case.at, statement.target or ""
        ends, begins = self._times(target, "P576"), self._times(target, "P571")
        if at is None:  # a former state is never the present one; names of former districts are still used
            return "country" not in self.case.gazetteer.classes(target)
        return not (ends and max(ends) < time_key(at)) and not (begins and min(begins) > time_key(at, late=True))

    def _times(self, entity_id: str, prop: str) -> list[tuple[int, int, int]]:
        values = (s.value for s in self.graph.statements(entity_id, prop) if s.rank != "deprecated")
        return [time_key(value, late=prop == "P576") for value in values if isinstance(value, TimeValue)]

    def no_longer_exists(self, qid: str) -> bool:
        """Whether the entity no longer exists, by statement or description."""
        return self.graph.is_historical(qid) or bool(_PAST.search(self.graph.description(qid) or ""))

    def _is_division(self, qid: str) -> bool:
        return self.graph.is_instance(qid, FIRST_DIVISION)

    def is_usable(self, qid: str) -> bool:
        """Whether the climb may visit the place: it has a label in the snapshot, and is neither the answer nor a
        world.
        """
        return qid not in WORLDS and qid != self.case.answer and self.graph.label(qid) is not None
