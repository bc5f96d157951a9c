"""The places that contain a thing, today or at the date of the question, by statements and by descriptions.

Which places are no larger than the place itself; the state of a dependency; the continent; the chain that a
description names. Descriptions have no fixed order ("in Greece, part of Athens urban area"), may contain two places in
one name ("South Island of New Zealand") or the side of a place ("Eastern China"). Words that cannot name a container
are left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from abstraction.ladders.proposals import ANSWER, LadderCase, Proposal, cached_per_source, current_values
from abstraction.linking.gazetteer import COUNTRY, FIRST_DIVISION, SETTLEMENTS, WORLD, Gazetteer, Place, phrase_in
from abstraction.text.descriptions.place_grammar import first_segment
from abstraction.text.language.languages import bundled_demonyms
from abstraction.text.language.phrases import indefinite
from kg.base.model import EntityValue, Statement, TimeValue, normalise
from kg.graph.graph import APPLIES_TO_PART, CONTINENT, Graph, has_ended, time_key, valid_at

Step = tuple[Place, ...]
# "South Island of New Zealand": the part, then the whole.
_OF = re.compile(r"(?P<part>.+?)(?: [a-z]+)? of (?:the )?(?:[a-z-]+ern )?(?P<whole>[A-ZÀ-Þ](?s:.+))")
# "China's Hunan": the whole, then the part.
_OWNED = re.compile(r"(?P<whole>[A-ZÀ-Þ][\w .-]+)['’]s (?P<part>[A-ZÀ-Þ].+)")
# "Eastern China": a compass direction, then the whole.
_SIDE = re.compile(
    r"(?:Central|(?:North|South|East|West)(?:ern|[- ]?(?:[Ee]ast|[Ww]est)(?:ern)?)) (?P<whole>[A-ZÀ-Þ].+)"
)
_NOT_PARTS = frozenset({"northern ireland", "northern cyprus"})  # named after a state that does not contain them
# A type or a compass direction alone, and rivers: never containers.
_NO_NAME = re.compile(
    r"(?:(?:the )?River .+|(?:North|South|East|West)(?:[- ](?:East|West))?|(?:Union |Free |Federal )?"
    r"(?:Territory|State|City|Province|Region|Republic|Kingdom|Isle|County|Borough|District)(?: of)?)"
)
# Types of divisions as they appear in names.
_TYPE = r"(?:County|District|Province|Region|Department|Municipality|Parish|Prefecture|State|Oblast|Governorate)"
_TYPED = re.compile(rf"(?:{_TYPE} of )?(?P<name>.+?)(?: {_TYPE})?")
# "the second largest city of France": the rank of a place names its state.
_RANKED = re.compile(
    r"\b(?:largest|biggest|oldest|major|main|important|populous|capital)\b[^,;]{0,250}?\b(?:of|in) (?:the )?"
    r"(?P<state>[A-ZÀ-Þ][\w .-]+)"
)

_Chain = tuple[list[Step], list[Step]]


@cached_per_source
def described_chain_and_world_parts(gazetteer: Gazetteer, graph: Graph, entity_id: str) -> _Chain:
    """The chain of places in an entity's description, finest first, the state last; and the parts of the world named
    beside it.

    These parts hold for the entity, not always for its whole state ("autonomous city of Spain in North Africa").
    """
    words = _UnlinkedNameResolver(graph, gazetteer)
    steps = words.split_double_names(gazetteer.description_chain(entity_id))
    if not any(map(words.includes_country, steps)):
        steps = [tuple(map(words.as_state_if_one, step)) for step in steps]
        if not any(map(words.includes_country, steps)):
            steps += words.state_of_ranked_city(graph.description(entity_id) or "", steps)
    stated = [place for place in graph.targets(entity_id, "P17") if gazetteer.is_state(place)]
    steps = [tuple(words.as_division_if_one(p, steps, stated) for p in step) for step in steps]
    steps = words.finest_first(steps)
    countries = [step for step in steps if words.includes_country(step)]
    finer = [step for step in steps if step not in countries]
    beside = [step for step in finer if all(WORLD.search(p.text) for p in step)] if countries else []
    # A nation within a state comes before the state.
    countries.sort(key=lambda step: any(p.qid and gazetteer.is_state(p.qid) for p in step))
    return [step for step in finer if step not in beside] + countries, beside


class _UnlinkedNameResolver:
    """The places that names in descriptions mean where the gazetteer links them to no entity."""

    def __init__(self, graph: Graph, gazetteer: Gazetteer) -> None:
        self._graph = graph
        self._gazetteer = gazetteer

    def is_country(self, qid: str | None) -> bool:
        """Whether the place is a sovereign state or of the class country, as the Netherlands within their kingdom."""
        return qid is not None and (self._gazetteer.is_state(qid) or COUNTRY in self._graph.classes(qid))

    def includes_country(self, step: Step) -> bool:
        """Whether one of the places of the step is a state or of the class country."""
        return any(self.is_country(place.qid) for place in step)

    def split_double_names(self, chain: Iterable[Step]) -> list[Step]:
        """The chain with each unlinked name of two places split into two steps, and without words that are no names."""
        out: list[Step] = []
        for step in chain:
            parted = [((place,), None) if place.qid else self._split_name(place) for place in step]
            known = {p.qid for s in out for p in s}
            out.append(tuple(p for places, _ in parted for p in places if p.qid or not _NO_NAME.fullmatch(p.text)))
            out.append(tuple(whole for _, whole in parted if whole is not None and whole.qid not in known))
        return [step for step in out if step]

    def _split_name(self, place: Place) -> tuple[Step, Place | None]:
        """The places in an unlinked name, and the state or division that it puts them in."""
        text = place.text
        match = None if self._gazetteer.ids_of_places_named(text, sites=True) else _OF.fullmatch(text)
        match = match or _OWNED.fullmatch(text)
        if match and (qid := self._state_or_division(match["whole"])):
            part = match["part"].removeprefix("the ")
            parts = (Place(text=part, written=place.written),) if part[:1].isupper() else ()
            return parts, self._linked_place(Place(text=match["whole"]), qid)
        side = _SIDE.fullmatch(text) if normalise(text) not in _NOT_PARTS else None
        if side and (qid := self._state_by_label(side["whole"]) or self._state_by_alias(side["whole"])):
            return (place,), self._linked_place(Place(text=side["whole"]), qid)
        return (place,), None

    def as_state_if_one(self, place: Place) -> Place:
        """The one present state with this unlinked name, else the place as it is."""
        state = None if place.qid else self._state_by_label(place.text)
        return place if state is None else self._linked_place(place, state)

    def as_division_if_one(self, place: Place, chain: Sequence[Step], stated: Sequence[str] = ()) -> Place:
        """The one first-level division of the chain's state, or of a stated one, with this name, else the place as it
        is.

        A snapshot may know the city of a name and not the region, so aliases are accepted only for divisions.
        """
        if place.qid or _SIDE.fullmatch(place.text):
            return place
        states = [p.qid for step in chain for p in step if p.qid and self._gazetteer.is_state(p.qid)]
        inside = {normalise(n) for state in states or stated for n in self._graph.names(state)}
        typed = _TYPED.fullmatch(place.text)
        names = dict.fromkeys((place.text, typed["name"] if typed else place.text))
        known = dict.fromkeys(q for name in names for q in self._gazetteer.ids_of_places_named(name))
        divisions = [
            q
            for q in known
            if self._graph.is_instance(q, FIRST_DIVISION)
            and not inside.isdisjoint(self._gazetteer.container_names(q))
            and not self._graph.is_historical(q)
        ]
        return self._linked_place(place, divisions[0]) if len(divisions) == 1 else place

    def finest_first(self, chain: Sequence[Step]) -> list[Step]:
        """The steps, each before its known containers: "area of London, within the City of Westminster"."""
        out: list[Step] = []
        for step in chain:
            # Every place of the step is known to lie in the other, and no place of the other in the step.
            held = (all(self._lie_inside(step, other)) and not any(self._lie_inside(other, step)) for other in out)
            out.insert(next((at for at, inner in enumerate(held) if inner), len(out)), step)
        return out

    def _lie_inside(self, inner: Step, whole: Step) -> list[bool]:
        """For each place of `inner`, whether it is known to lie in one of the places of `whole`."""
        names = {normalise(n) for p in whole for n in (p.text, *(self._graph.names(p.qid) if p.qid else ()))}
        return [p.qid is not None and not names.isdisjoint(self._gazetteer.container_names(p.qid)) for p in inner]

    def state_of_ranked_city(self, description: str, chain: Sequence[Step]) -> list[Step]:
        """The state whose largest city, capital or main port the description calls the place, as one step; empty for
        none.
        """
        for match in _RANKED.finditer(first_segment(description)):
            state = self._state_by_label(match["state"].strip())
            if state and state not in {p.qid for step in chain for p in step}:
                return [(Place(text=self._graph.label(state) or "", qid=state, written=match["state"].strip()),)]
        return []

    def _state_by_label(self, name: str) -> str | None:
        """The one present state with this label, or whose label begins with it ("United States")."""
        known = self._gazetteer.ids_of_places_named(name)
        states = [q for q in known if self.is_country(q) and (self._graph.label(q) or "").startswith(name)]
        others = [q for q in known if q not in states and self._graph.label(q) == name]
        if any(self._graph.is_instance(q, FIRST_DIVISION) for q in others):
            return None  # the name is ambiguous: Georgia is a state and a division
        return states[0] if len(states) == 1 and not self._graph.is_historical(states[0]) else None

    def _state_by_alias(self, name: str) -> str | None:
        """The one present state with this name among its aliases: "China" in "Eastern China"."""
        if WORLD.search(name):
            return None
        states = [q for q in self._gazetteer.ids_of_places_named(name) if self._gazetteer.is_state(q)]
        return states[0] if len(states) == 1 and not self._graph.is_historical(states[0]) else None

    def _state_or_division(self, name: str) -> str | None:
        """The state with this name, else the one first-level division with this label."""
        divisions = [
            q
            for q in self._gazetteer.ids_of_places_named(name)
            if self._graph.label(q) == name and self._graph.is_instance(q, FIRST_DIVISION)
        ]
        return self._state_by_label(name) or (divisions[0] if len(divisions) == 1 else None)

    def _linked_place(self, place: Place, qid: str) -> Place:
        return Place(text=self._graph.label(qid) or place.text, qid=qid, written=place.written or place.text)


# Whether two places are one under two names: London and Greater London, the Netherlands and their kingdom.

# Words that a name may have in addition without denoting a larger place.
_SAME = re.compile(
    r"^(?:(?:kingdom|republic|commonwealth|municipality|city|town|commune) of (?:the )?)"
    r"| (?:municipality|commune|urban area)$"
)
# Descriptions of two administrative units of the same area, as many counties and cities are.
_COEXTENSIVE = re.compile(r"\bco-?(?:extensive|terminous)\b")
_MUNICIPALITY = re.compile(r"\b(?:municipality|commune)\b", re.I)


def is_outer_no_larger(graph: Graph, inner: str, outer: str) -> bool:
    """Whether the place `outer` is no larger than the place `inner` inside it.

    True if one of these holds: the description calls `outer` coextensive with `inner`; the labels differ only by a
    word such as "Municipality"; one has the label of the other among its names, and `outer` is a town or municipality
    or is described as containing `inner`; the divisions of `outer` are named after `inner` (Greater London and its
    London boroughs).
    """
    small, large = (normalise(graph.label(qid) or "") for qid in (inner, outer))
    if small != large and small == _SAME.sub("", large):
        return True
    town = small.split(",")[0]
    if phrase_in(town, large):
        parts = graph.targets(outer, "P150")
        graph.fetch(parts)
        divisions = [normalise(label) for part in parts if (label := graph.label(part))]
        if len(divisions) > 1 and 2 * sum(label.startswith(town) for label in divisions) > len(divisions):
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


# The kind of a dependent territory in words: "a British overseas territory".

# Words of classes of dependent territories.
_DEPENDENCY = re.compile(r"\b(?:territor(?:y|ies)|dependency|collectivity)\b", re.I)
_NAMED = re.compile(r"[A-Z]")  # a capital letter: the label names the state


def dependent_territory_tier_if_any(case: LadderCase, key: str) -> list[Proposal]:
    """The tier "a ... territory" for the answer, or for the place `key` that contains it; an empty list for other
    places.
    """
    qid = case.answer if key == ANSWER else key
    if not case.gazetteer.classes_as_present_dependency(qid):
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


def unambiguous_continent_statement(graph: Graph, place: str) -> Statement | None:
    """The P30 statement for the whole of the place or most of it, or None.

    If there are several values, the one without the qualifier "applies to part" is used, else the one that the
    description names. None where neither decides, and where the description names a part of the world on another
    continent.
    """
    stated = [s for s in graph.current(place, CONTINENT) if s.target and graph.label(s.target)]
    whole = [s for s in stated if not s.qualifier(APPLIES_TO_PART)] or stated
    named_parts = _parts_of_world(graph, place)
    if len(whole) > 1:
        whole = [
            s for s in whole if named_parts and all(_world_part_lies_on(name, s.target or "") for name in named_parts)
        ]
    if len(whole) != 1 or CONTINENT_CLASS not in graph.classes(whole[0].target or ""):
        return None
    return whole[0] if all(_world_part_lies_on(name, whole[0].target or "") for name in named_parts) else None


def continent_statement_for_part(graph: Graph, place: str, holder: str) -> Statement | None:
    """The P30 statement of `holder` that applies to the part `place`: Oceania for Hawaii."""
    for statement in graph.statements(holder, CONTINENT):
        parts = {s.value.id for s in statement.qualifier(APPLIES_TO_PART) if isinstance(s.value, EntityValue)}
        if place in parts and statement.rank != "deprecated" and statement.target and not has_ended(statement):
            return statement
    return None


def lies_on_other_continent(graph: Graph, place: str, holder: str, continent: str) -> bool:
    """Whether there is evidence that `place`, within `holder`, is not on the continent of `holder`."""
    continents = {s.target for s in graph.current(place, CONTINENT) if s.target}
    if continents:
        return continent not in continents
    own = continent_statement_for_part(graph, place, holder)
    if own is not None:
        return own.target != continent
    if any(_ELSEWHERE.search(graph.label(kind) or "") for kind in graph.classes(place)):
        return True
    return not all(_world_part_lies_on(name, continent) for name in _parts_of_world(graph, place))


def may_lie_on_continent(name: str, continent: str) -> bool:
    """Whether a part of the world that the name contains may lie on the continent; True where it contains none."""
    parts = WORLD.findall(name)
    return not parts or any(_world_part_lies_on(part, continent) for part in parts)


def continent_of_world_part_in_name(name: str) -> str | None:
    """The id of the continent of the part of the world in a name; None where there is none or several."""
    continents = {c for c in _WITHIN for part in WORLD.findall(name) if _world_part_lies_on(part, c)}
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


def _world_part_lies_on(name: str, continent: str) -> bool:
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
    """The location statements about entities of one case: best rank, not ended, about existing containers."""

    def __init__(self, case: LadderCase) -> None:
        self.case = case
        self.graph = case.graph

    def location_statements(self, entity_id: str, *, all_properties: bool) -> list[Statement]:
        """The statements of the first of PLACE_PROPERTIES with a usable value; only P131 and P361 without
        `all_properties`.
        """
        chain = self.case.gazetteer.description_chain(entity_id)
        for prop in PLACE_PROPERTIES if all_properties else ("P131", "P361"):
            if prop == "P706" and chain:
                continue  # P706 (physical feature) locates hills, not towns
            usable = [
                s
                for s in self.statements_now_or_at_question_date(entity_id, prop)
                if self.may_be_container(s.target or "")
            ]
            if statements := self._statements_about_whole_entity(entity_id, prop, usable):
                # All containers ended before the question's date, and the description names today's ones: use the
                # description.
                all_gone = all(self._target_is_past(s) and not self.was_true_at_question_date(s) for s in statements)
                return [] if all_gone and chain else statements
        return []

    def _statements_about_whole_entity(self, entity_id: str, prop: str, statements: list[Statement]) -> list[Statement]:
        """The statements about the present location of the whole entity; for P361 only states or provinces, and none
        for an entity that is one itself.
        """
        if prop == "P131":
            statements = self._statements_in_current_state(entity_id, statements)
            if entity_id == self.case.answer:
                statements = [s for s in statements if self._may_contain_whole(entity_id, s.target or "")]
        elif prop == "P361":
            statements = [
                s
                for s in statements
                if self._is_first_level_division(s.target or "") and not self._is_first_level_division(entity_id)
            ]
        return statements

    def _may_contain_whole(self, entity_id: str, container: str) -> bool:
        """True unless the entity is a river, lake or other thing that may lie in several places, and its description
        does not name the container.

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

    def _statements_in_current_state(self, entity_id: str, statements: list[Statement]) -> list[Statement]:
        """The statements without former states; for divisions directly within a state, the state alone."""
        statements = self._statements_in_todays_division(
            entity_id, self._statements_in_described_state(entity_id, statements)
        )
        states = [s for s in statements if self.case.gazetteer.is_state(s.target or "")]
        today = {s.target for s in self.statements_now_or_at_question_date(entity_id, "P17")} if states else set()
        if today:
            statements = [s for s in statements if s not in states or s.target in today]
            states = [s for s in states if s.target in today]
        return states if states and self._is_first_level_division(entity_id) else statements

    def _statements_in_described_state(self, entity_id: str, statements: list[Statement]) -> list[Statement]:
        """The statements whose places are known to lie in the state of the description, where it names one of several
        places.

        Mumbai has a statement for the Bombay Presidency, of which no end is stated.
        """
        described = {p.qid for step in self.case.gazetteer.description_chain(entity_id) for p in step if p.qid}
        states = [qid for qid in described if self.case.gazetteer.is_state(qid)]
        if len(statements) < 2 or not states or described.isdisjoint(s.target for s in statements):
            return statements
        names = {normalise(name) for state in states for name in self.graph.names(state)}
        above = self.case.gazetteer.container_names
        return [s for s in statements if s.target in described or not names.isdisjoint(above(s.target or ""))]

    def _statements_in_todays_division(self, entity_id: str, statements: list[Statement]) -> list[Statement]:
        """The statements without earlier divisions where the description names the present one: Alberta, not the
        North-West Territories.
        """
        divisions = [s for s in statements if self._is_first_level_division(s.target or "")]
        if not divisions:
            return statements
        described = [p.qid for step in self.case.gazetteer.description_chain(entity_id) for p in step if p.qid]
        past = [s for s in divisions if s.target not in described]
        if len(past) == len(divisions):
            today = next(
                (q for q in described if self._is_first_level_division(q) and not self.graph.is_historical(q)), None
            )
            past = [s for s in divisions if today is not None and self._cannot_both_contain(s.target or "", today)]
        return [s for s in statements if s not in past]

    def _cannot_both_contain(self, place: str, other: str) -> bool:
        """Whether nothing can lie in both places: they share a class, and neither is within the other."""
        above, names = self.case.gazetteer.container_names, self.graph.names
        nested = any(normalise(n) in above(place) for n in names(other)) or any(
            normalise(n) in above(other) for n in names(place)
        )
        return not nested and not set(self.graph.classes(place)).isdisjoint(self.graph.classes(other))

    def statements_now_or_at_question_date(self, entity_id: str, prop: str) -> list[Statement]:
        """The statements of present values, and of those at the question's date; former places only where there are no
        others.
        """
        today = [s for s in self.graph.current(entity_id, prop) if s.target]
        self.graph.fetch(s.target for s in today if s.target)
        statements = [s for s in today if not self._target_is_past(s)]
        # A former place may contain other former things, and things that existed in its time.
        statements = statements or [
            s for s in today if self.no_longer_exists(entity_id) or self._may_have_contained_at_question_date(s)
        ]
        if self.case.at is not None:
            then = self.graph.statements_valid_at(entity_id, prop, self.case.at)
            statements = [*statements, *(s for s in then if s.target and s not in statements)]
        return statements

    def country_statements(self, qid: str) -> list[Statement]:
        """The statements of the entity's countries: by P17, else P361; never about the answer itself."""
        for prop in ("P17", "P361"):
            states = [
                s for s in self.statements_now_or_at_question_date(qid, prop) if s.target not in (qid, self.case.answer)
            ]
            if qid == self.case.answer:
                states = [s for s in states if self._may_contain_whole(qid, s.target or "")]
            if prop == "P361":
                states = [s for s in states if "country" in self.case.gazetteer.classes(s.target or "")]
            if states:
                return states
        return []

    def _target_is_past(self, statement: Statement) -> bool:
        """Whether the target no longer exists: dissolved, described as former, or described as located in a former
        place.
        """
        target = statement.target or ""
        if self.no_longer_exists(target):
            return True
        around = [p.qid for step in self.case.gazetteer.description_chain(target) for p in step if p.qid]
        return not self.case.gazetteer.is_state(target) and bool(around) and self.no_longer_exists(around[-1])

    def was_true_at_question_date(self, statement: Statement) -> bool:
        """Whether a statement about a former place was true at the date of the question, by its qualifiers, else by
        the dates of the target.
        """
        at = self.case.at
        if at is None or (held := valid_at(statement, at)) is not None:
            return at is not None and bool(held)
        ends = self._time_keys_of_property(statement.target or "", "P576")
        begins = self._time_keys_of_property(statement.target or "", "P571")
        return bool(ends) and max(ends) >= time_key(at) and (not begins or min(begins) <= time_key(at, late=True))

    def _may_have_contained_at_question_date(self, statement: Statement) -> bool:
        """Whether a former place may have contained something at the date of the question, by its own dates."""
        at, target = self.case.at, statement.target or ""
        ends, begins = self._time_keys_of_property(target, "P576"), self._time_keys_of_property(target, "P571")
        if at is None:  # a former state is never the present one; names of former districts are still used
            return "country" not in self.case.gazetteer.classes(target)
        return not (ends and max(ends) < time_key(at)) and not (begins and min(begins) > time_key(at, late=True))

    def _time_keys_of_property(self, entity_id: str, prop: str) -> list[tuple[int, int, int]]:
        values = (s.value for s in self.graph.statements(entity_id, prop) if s.rank != "deprecated")
        return [time_key(value, late=prop == "P576") for value in values if isinstance(value, TimeValue)]

    def no_longer_exists(self, qid: str) -> bool:
        """Whether the entity no longer exists, by statement or description."""
        return self.graph.is_historical(qid) or bool(_PAST.search(self.graph.description(qid) or ""))

    def _is_first_level_division(self, qid: str) -> bool:
        return self.graph.is_instance(qid, FIRST_DIVISION)

    def may_be_container(self, qid: str) -> bool:
        """Whether the place has a label in the snapshot and is neither the answer nor a world, so that it may be a
        container.
        """
        return qid not in WORLDS and qid != self.case.answer and self.graph.label(qid) is not None
