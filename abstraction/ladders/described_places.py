"""The containers that a description names, in order from the finest to the state.

Descriptions have no fixed order ("in Greece, part of Athens urban area"), may contain two places in one name ("South
Island of New Zealand") or the side of a place ("Eastern China"). Words that cannot name a container are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from abstraction.base.trimming import first_segment
from abstraction.ladders.kept_results import kept_with_source
from abstraction.linking.gazetteer import FIRST_DIVISION, WORLD, Gazetteer, Place
from kg.base.terms import normalise
from kg.graph.graph import Graph

Step = tuple[Place, ...]
# The class "country", which nations within a state have too (England).
COUNTRY = "Q6256"
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
_TYPED_END = re.compile(rf"(?<= ){_TYPE}\Z")
_TYPED = re.compile(rf"(?:{_TYPE} of )?(?P<name>.+?)(?: {_TYPE})?")
# "the second largest city of France": the rank of a place names its state.
_RANKED = re.compile(
    r"\b(?:largest|biggest|oldest|major|main|important|populous|capital)\b[^,;]{0,250}?\b(?:of|in) (?:the )?"
    r"(?P<state>[A-ZÀ-Þ][\w .-]+)"
)


_Chain = tuple[list[Step], list[Step]]
# Results are kept per gazetteer; a row with a description of its own has its own gazetteer.


@kept_with_source
def described_chain(gazetteer: Gazetteer, graph: Graph, entity_id: str) -> _Chain:
    """The steps of the described chain of an entity, finest first and the state last; and its parts of the world.

    Parts of the world that a description names in addition to the state are returned separately: the place lies in
    them, the whole state may not ("autonomous city of Spain in North Africa").
    """
    words = _NameReader(graph, gazetteer)
    steps = words.split(gazetteer.chain(entity_id))
    if not any(map(words.holds_country, steps)):
        steps = [tuple(map(words.as_state, step)) for step in steps]
        if not any(map(words.holds_country, steps)):
            steps += words.state_of_ranked_city(graph.description(entity_id) or "", steps)
    stated = [place for place in graph.targets(entity_id, "P17") if gazetteer.is_state(place)]
    steps = [tuple(words.as_division(p, steps, stated) for p in step) for step in steps]
    steps = words.finest_first(steps)
    countries = [step for step in steps if words.holds_country(step)]
    finer = [step for step in steps if step not in countries]
    beside = [step for step in finer if all(WORLD.search(p.text) for p in step)] if countries else []
    # A nation within a state comes before the state.
    countries.sort(key=lambda step: any(p.qid and gazetteer.is_state(p.qid) for p in step))
    return [step for step in finer if step not in beside] + countries, beside


def _typed_pair(text: str) -> tuple[str, str] | None:
    """Two places of one type: "Eaton County and Clinton County"; of a longer list, the last place and all words before
    it.
    """
    match = _TYPED_END.search(text)
    if match is None:
        return None
    left, joint, right = text.rpartition(f" {match[0]} and ")
    return (f"{left} {match[0]}", right) if left and joint and right != match[0] else None


class _NameReader:
    """The interpretation of names in descriptions that no entity is linked to."""

    def __init__(self, graph: Graph, gazetteer: Gazetteer) -> None:
        self._graph = graph
        self._gazetteer = gazetteer

    def is_country(self, qid: str | None) -> bool:
        """Whether the place is a state or called a country, as the Netherlands within their kingdom."""
        return qid is not None and (self._gazetteer.is_state(qid) or COUNTRY in self._graph.classes(qid))

    def holds_country(self, step: Step) -> bool:
        """Whether one of the places is a state or called a country."""
        return any(self.is_country(place.qid) for place in step)

    def split(self, chain: Iterable[Step]) -> list[Step]:
        """The chain with unlinked names split where they contain two places, and without words that are no names."""
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
        if pair := _typed_pair(text):
            return tuple(Place(text=name, written=place.written) for name in pair), None
        match = None if self._gazetteer.places_named(text, sites=True) else _OF.fullmatch(text)
        match = match or _OWNED.fullmatch(text)
        if match and (qid := self._state_or_division(match["whole"])):
            part = match["part"].removeprefix("the ")
            parts = (Place(text=part, written=place.written),) if part[:1].isupper() else ()
            return parts, self._linked_place(Place(text=match["whole"]), qid)
        side = _SIDE.fullmatch(text) if normalise(text) not in _NOT_PARTS else None
        if side and (qid := self._state(side["whole"]) or self._state_by_alias(side["whole"])):
            return (place,), self._linked_place(Place(text=side["whole"]), qid)
        return (place,), None

    def as_state(self, place: Place) -> Place:
        """The one present state with this unlinked name, else the place as it is."""
        state = None if place.qid else self._state(place.text)
        return place if state is None else self._linked_place(place, state)

    def as_division(self, place: Place, chain: Sequence[Step], stated: Sequence[str] = ()) -> Place:
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
        known = dict.fromkeys(q for name in names for q in self._gazetteer.places_named(name))
        divisions = [
            q
            for q in known
            if self._graph.is_instance(q, FIRST_DIVISION)
            and not inside.isdisjoint(self._gazetteer.above(q))
            and not self._graph.is_historical(q)
        ]
        return self._linked_place(place, divisions[0]) if len(divisions) == 1 else place

    def finest_first(self, chain: Sequence[Step]) -> list[Step]:
        """The steps, each before its known containers: "area of London, within the City of Westminster"."""
        out: list[Step] = []
        for step in chain:
            at = next((n for n, other in enumerate(out) if self._lies_in(step, other)), len(out))
            out.insert(at, step)
        return out

    def _lies_in(self, step: Step, other: Step) -> bool:
        """Whether every place of `step` is known to lie in `other`, and no place of `other` in `step`."""

        def inside(inner: Step, whole: Step) -> list[bool]:
            names = {normalise(n) for p in whole for n in (p.text, *(self._graph.names(p.qid) if p.qid else ()))}
            return [p.qid is not None and not names.isdisjoint(self._gazetteer.above(p.qid)) for p in inner]

        return all(inside(step, other)) and not any(inside(other, step))

    def state_of_ranked_city(self, description: str, chain: Sequence[Step]) -> list[Step]:
        """The state of which the description calls the place the largest city, capital, main port and so on."""
        for match in _RANKED.finditer(first_segment(description)):
            state = self._state(match["state"].strip())
            if state and state not in {p.qid for step in chain for p in step}:
                return [(Place(text=self._graph.label(state) or "", qid=state, written=match["state"].strip()),)]
        return []

    def _state(self, name: str) -> str | None:
        """The one present state with this label, or whose label begins with it ("United States")."""
        known = self._gazetteer.places_named(name)
        states = [q for q in known if self.is_country(q) and (self._graph.label(q) or "").startswith(name)]
        others = [q for q in known if q not in states and self._graph.label(q) == name]
        if any(self._graph.is_instance(q, FIRST_DIVISION) for q in others):
            return None  # Georgia may be the one or the other
        return states[0] if len(states) == 1 and not self._graph.is_historical(states[0]) else None

    def _state_by_alias(self, name: str) -> str | None:
        """The one present state with this name among its aliases: "China" in "Eastern China"."""
        if WORLD.search(name):
            return None
        states = [q for q in self._gazetteer.places_named(name) if self._gazetteer.is_state(q)]
        return states[0] if len(states) == 1 and not self._graph.is_historical(states[0]) else None

    def _state_or_division(self, name: str) -> str | None:
        """The state with this name, else the one first-level division with this label."""
        divisions = [
            q
            for q in self._gazetteer.places_named(name)
            if self._graph.label(q) == name and self._graph.is_instance(q, FIRST_DIVISION)
        ]
        return self._state(name) or (divisions[0] if len(divisions) == 1 else None)

    def _linked_place(self, place: Place, qid: str) -> Place:
        return Place(text=self._graph.label(qid) or place.text, qid=qid, written=place.written or place.text)
