"""What a thing lies in: the statements that tell it, today or at the question's date; which containers are sure,
which are no larger than the place itself, of which state it is a dependency, and its continent."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from abstraction.ladders.entity_values import current_values
from abstraction.language.demonyms import bundled_demonyms
from abstraction.language.phrases import indefinite
from abstraction.linking.gazetteer import FIRST_DIVISION, SETTLEMENTS, WORLD, Place
from abstraction.linking.link_features import phrase_in
from abstraction.proposals import ANSWER, LadderCase, Proposal
from kg.model import EntityValue, Statement, TimeValue
from kg.terms import normalise
from kg.walks.graph import Graph
from kg.walks.ranks import APPLIES_TO_PART, CONTINENT, has_ended, time_key, valid_at

# What surely holds a thing. Some places lie in one of several, and it is not known in which.

Upward = Mapping[str, Collection[str]]


def all_above(up: Upward, key: str, without: Collection[str] = ()) -> set[str]:
    """The keys above a key, reached without going through some."""
    seen: set[str] = set()
    stack = [key]
    while stack:
        for above in up.get(stack.pop(), ()):
            if above not in seen and above not in without:
                seen.add(above)
                stack.append(above)
    return seen


def entailed(up: Upward, either: Mapping[str, Sequence[Collection[str]]], key: str) -> set[str]:
    """The keys of what surely holds what `key` names.

    `either` has, by key, groups of places of which one or another holds it: Dallas stretches into five counties.
    Those that hold none of their group count alike, and only what all of them lie in is sure.
    """
    known: dict[str, set[str]] = {}

    def holders(inner: str) -> set[str]:
        if inner not in known:
            known[inner] = set()  # a circle adds nothing
            groups = [finest for group in either.get(inner, ()) if len(finest := _finest(up, group)) > 1]
            sure = set(up.get(inner, ())).difference(*groups)
            shared = (set.intersection(*({place} | holders(place) for place in group)) for group in groups)
            known[inner] = set().union(*({place} | holders(place) for place in sure), *shared)
        return known[inner]

    return holders(key)


def _finest(up: Upward, group: Collection[str]) -> set[str]:
    """Those of the places that hold none of the others."""
    return set(group).difference(*(all_above(up, place) for place in group))


# Whether two places are one under two names: London and Greater London, the Netherlands and their kingdom.

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
    town = small.split(",")[0]
    if phrase_in(town, large) and _of_parts_of(graph, outer, town):
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


def _of_parts_of(graph: Graph, outer: str, town: str) -> bool:
    """Whether most of the divisions of a place carry the name of the town, behind which their own follows."""
    parts = graph.targets(outer, "P150")
    graph.fetch(parts)
    named = [normalise(label) for part in parts if (label := graph.label(part))]
    return len(named) > 1 and 2 * sum(label.startswith(town) for label in named) > len(named)


# What kind of dependent territory a place is, in words: "a British overseas territory".

_DEPENDENCY = re.compile(r"\b(?:territor(?:y|ies)|dependency|collectivity)\b", re.I)
_NAMED = re.compile(r"[A-Z]")  # it tells whose it is


def dependency(case: LadderCase, key: str) -> list[Proposal]:
    """The tier that says so of the answer, or of the place `key` that holds it; at most one."""
    qid = case.answer if key == ANSWER else key
    if not case.gazetteer.dependency(qid):
        return []
    kinds = [
        v for v in current_values(case.graph, qid, "P31") if _NAMED.search(v.label) and _DEPENDENCY.search(v.label)
    ]
    if not kinds:
        return []
    kind = min(kinds, key=lambda value: (len(value.label), value.label))
    # "British Overseas Territories" -> "British overseas territory"; a name behind "of" stays as it is.
    label, of, name = kind.label.partition(" of ")
    first, *rest = label.replace("Territories", "territory").replace("territories", "territory").split()
    text = indefinite(" ".join([first, *(word.lower() for word in rest)]) + of + name)
    evidence = (kind.evidence,)
    return [Proposal(key=normalise(text), text=text, parents=(key,), evidence=evidence, conditions=kind.conditions)]


# On which continent a place lies: as the coarsest tier of a where-question, and only where all of it does.
#
# A state's continent is that of a place within it unless something says the place lies elsewhere: its own P30, the
# part that another P30 value of the state applies to, an overseas territory in between, or another part of the world
# in its description. Of a state on two continents only a place's own P30 counts.

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
    """The one P30 value that holds for all or most of the place: of several the one without a part that it is limited
    to, else the one that the description names.

    None where that cannot be known, and where the description tells of a part of the world on another continent.
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
    """What `holder` states as the continent of the part of it that the place is: Oceania, of Hawaii."""
    for statement in graph.statements(holder, CONTINENT):
        parts = {s.value.id for s in statement.qualifier(APPLIES_TO_PART) if isinstance(s.value, EntityValue)}
        if place in parts and statement.rank != "deprecated" and statement.target and not has_ended(statement):
            return statement
    return None


def lies_elsewhere(graph: Graph, place: str, holder: str, continent: str) -> bool:
    """Whether anything tells that `place`, within `holder`, is not on `holder`'s continent."""
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


# The statements that tell where a thing lies.


# Where the thing is, most direct first; the first property with a value is used.
PLACE_PROPERTIES = ("P131", "P276", "P159", "P706", "P361")
# Descriptions of what is gone: "Former ...", "... between 1919 and 1933", "(1721-1917)", occupation zones.
_PAST = re.compile(
    r"^(?:a\s+|the\s+)?(?:former|historical|historic|defunct|ancient|dissolved|medieval)\b"
    r"|\b\d{3,4}\s*[–—-]\s*\d{2,4}\b"
    r"|\b(?:between|from)\s+\d{3,4}\b|\buntil\s+\d{3,4}\b|\b1\d{3} (?:and|to) 1\d{3}\b|\boccupied\b"
    r"|^(?:[\w-]+ ){0,2}(?:empire|caliphate|khanate)\b|\bpredecessor\b|\bSoviet (?:republic|socialist)\b",
    re.I,
)
_SPREADING = re.compile(
    r"\b(?:rivers?|streams?|lakes?|reservoir|seas?|oceans?|straits?|gulf|mountain range|desert)\b", re.I
)
WORLDS = frozenset({"Q2", "Q525", "Q544", "Q39731", "Q48227", "Q5107"})  # Earth, Sun, Solar System, hemispheres...


class Containers:
    """The statements that put things of one case into larger ones: of best rank, not ended, their targets not gone."""

    def __init__(self, case: LadderCase) -> None:
        self.case = case
        self.graph = case.graph

    def of(self, entity_id: str, *, all_properties: bool) -> list[Statement]:
        """What contains the entity: by the first of PLACE_PROPERTIES with a usable value, P131 and P361 alone without
        `all_properties`."""
        chain = self.case.gazetteer.chain(entity_id)
        for prop in PLACE_PROPERTIES if all_properties else ("P131", "P361"):
            if prop == "P706" and chain:
                continue  # a landform is where a hill lies, not a town
            usable = [s for s in self.values(entity_id, prop) if self.usable(s.target or "")]
            if statements := self._of_the_whole(entity_id, prop, usable):
                # Only what is gone, and was before the question's date, and a description that tells of today: the
                # description it is.
                all_gone = all(self._is_past(s) and not self.held_then(s) for s in statements)
                return [] if all_gone and chain else statements
        return []

    def _of_the_whole(self, entity_id: str, prop: str, statements: list[Statement]) -> list[Statement]:
        """Those that tell today's place of all of the entity; by P361 the states or provinces of what is none."""
        if prop == "P131":
            statements = self._agreeing(entity_id, statements)
            if entity_id == self.case.answer:
                statements = [s for s in statements if self._may_hold_all(entity_id, s.target or "")]
        elif prop == "P361":
            statements = [
                s for s in statements if self._is_division(s.target or "") and not self._is_division(entity_id)
            ]
        return statements

    def _may_hold_all(self, entity_id: str, container: str) -> bool:
        """Whether a thing that may lie in many places lies in this one as a whole, as far as its description tells.

        Of a river or lake statements name one place and another, and a snapshot need not have them all.
        """
        kinds = (self.graph.label(kind) or "" for kind in self.graph.classes(entity_id))
        description = self.graph.description(entity_id)
        if description is None or not any(map(_SPREADING.search, kinds)):
            return True
        text = normalise(description)
        table = bundled_demonyms()
        adjectives = (table.adjectives.get(container), *table.variants.get(container, ()))
        return any(phrase_in(normalise(name), text) for name in (*self.graph.names(container), *adjectives) if name)

    def _agreeing(self, entity_id: str, statements: list[Statement]) -> list[Statement]:
        """Without a state that is not its state today, and, for what lies directly in its state, nothing between."""
        statements = self._in_todays_division(entity_id, self._in_the_described_state(entity_id, statements))
        states = [s for s in statements if self.case.gazetteer.is_state(s.target or "")]
        today = {s.target for s in self.values(entity_id, "P17")} if states else set()
        if today:
            statements = [s for s in statements if s not in states or s.target in today]
            states = [s for s in states if s.target in today]
        return states if states and self._is_division(entity_id) else statements

    def _in_the_described_state(self, entity_id: str, statements: list[Statement]) -> list[Statement]:
        """Where the description names one of several, without those that are not known to lie in its state.

        Mumbai was of the Bombay Presidency, which no one says has ended.
        """
        described = {p.qid for step in self.case.gazetteer.chain(entity_id) for p in step if p.qid}
        states = [qid for qid in described if self.case.gazetteer.is_state(qid)]
        if len(statements) < 2 or not states or described.isdisjoint(s.target for s in statements):
            return statements
        names = {normalise(name) for state in states for name in self.graph.names(state)}
        above = self.case.gazetteer.above
        return [s for s in statements if s.target in described or not names.isdisjoint(above(s.target or ""))]

    def _in_todays_division(self, entity_id: str, statements: list[Statement]) -> list[Statement]:
        """Of Alberta, and what it was part of before, the one that the description tells."""
        divisions = [s for s in statements if self._is_division(s.target or "")]
        if not divisions:
            return statements
        described = [p.qid for step in self.case.gazetteer.chain(entity_id) for p in step if p.qid]
        past = [s for s in divisions if s.target not in described]
        if len(past) == len(divisions):
            today = next((q for q in described if self._is_division(q) and not self.graph.is_historical(q)), None)
            past = [s for s in divisions if today is not None and self._exclude(s.target or "", today)]
        return [s for s in statements if s not in past]

    def _exclude(self, place: str, other: str) -> bool:
        """Whether a place in one of the two cannot lie in the other: of the same kind, and neither within the other."""
        above, names = self.case.gazetteer.above, self.graph.names
        nested = any(normalise(n) in above(place) for n in names(other)) or any(
            normalise(n) in above(other) for n in names(place)
        )
        return not nested and not set(self.graph.classes(place)).isdisjoint(self.graph.classes(other))

    def values(self, entity_id: str, prop: str) -> list[Statement]:
        """Today's values, what is gone only where nothing else is left; beside them those of the question's date."""
        today = [s for s in self.graph.current(entity_id, prop) if s.target]
        self.graph.fetch(s.target for s in today if s.target)
        statements = [s for s in today if not self._is_past(s)]
        # What is gone holds what is gone with it, or what was there while it lasted.
        statements = statements or [s for s in today if self.is_gone(entity_id) or self._may_have_held(s)]
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
        """Whether the target is gone: dissolved, described so, or described as lying in what is gone."""
        target = statement.target or ""
        if self.is_gone(target):
            return True
        around = [p.qid for step in self.case.gazetteer.chain(target) for p in step if p.qid]
        return not self.case.gazetteer.is_state(target) and bool(around) and self.is_gone(around[-1])

    def held_then(self, statement: Statement) -> bool:
        """Whether a statement on what is gone held at the question's date: by its own times, else its target's."""
        at = self.case.at
        if at is None or (held := valid_at(statement, at)) is not None:
            return at is not None and bool(held)
        ends = self._times(statement.target or "", "P576")
        begins = self._times(statement.target or "", "P571")
        return bool(ends) and max(ends) >= time_key(at) and (not begins or min(begins) <= time_key(at, late=True))

    def _may_have_held(self, statement: Statement) -> bool:
        """Whether what is gone may have held something at the question's date, as far as its own times tell."""
        at, target = self.case.at, statement.target or ""
        ends, begins = self._times(target, "P576"), self._times(target, "P571")
        if at is None:  # a state that is no more is never today's; of a district the name is still told
            return "country" not in self.case.gazetteer.classes(target)
        return not (ends and max(ends) < time_key(at)) and not (begins and min(begins) > time_key(at, late=True))

    def _times(self, entity_id: str, prop: str) -> list[tuple[int, int, int]]:
        values = (s.value for s in self.graph.statements(entity_id, prop) if s.rank != "deprecated")
        return [time_key(value, late=prop == "P576") for value in values if isinstance(value, TimeValue)]

    def is_gone(self, qid: str) -> bool:
        """Whether it exists no more, by statement or description."""
        return self.graph.is_historical(qid) or bool(_PAST.search(self.graph.description(qid) or ""))

    def _is_division(self, qid: str) -> bool:
        return self.graph.is_instance(qid, FIRST_DIVISION)

    def usable(self, qid: str) -> bool:
        """Whether the walk may go there: not what the snapshot lacks, whose statements nobody can follow."""
        return qid not in WORLDS and qid != self.case.answer and self.graph.label(qid) is not None
