"""Resolution of place names in descriptions by the rest of their chain; and capitals of units with common names.

Names may contain "of" and "and" (Isle of Man, Bosnia and Herzegovina), so the joined words are looked up before they
are split. Of several namesakes the one whose own containers agree with the rest of the chain is chosen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from abstraction.base.relations import Classifier, Relation
from abstraction.text.descriptions.place_grammar import PLURAL, TYPED, PlaceUnit, barer_names, parse_place
from abstraction.text.language.languages import bundled_demonyms
from kg.base.model import QuantityValue, normalise, number_within_kind
from kg.graph.graph import Graph

PLACES = frozenset({"place", "country"})  # answer classes of places
SITES = PLACES | {"school", "building", "organisation"}  # answer classes of everything with a fixed location
STATE = frozenset({"Q3624078", "Q15634554"})  # sovereign states, states with limited recognition
PAST_STATE = "Q3024240"  # historical country
COUNTRY = "Q6256"  # country; nations within a state are countries too (England)
DEPENDENT = "Q161243"  # dependent territory
# Classes of first-level divisions: states, provinces, regions, constituent countries.
FIRST_DIVISION = frozenset(
    {"Q10864048", "Q35657", "Q107390", "Q1221156", "Q5852411", "Q11828004", "Q36784", "Q3336843"}
)
SETTLEMENTS = frozenset({"Q486972", "Q515", "Q3957", "Q532"})  # human settlement, city, town, village
CONTAINERS = ("P131", "P17", "P361", "P30")  # located in, country, part of, continent
DEPTH = 8  # steps upward at most; real chains are shorter

# Regions that are never a tier, though chains lead through them.
_PASSED_THROUGH = re.compile(
    r"\b(?:electoral|constituency|statistical|planning region|judicial|police|health (?:district|region|board)|diocese|"
    r"census division|nuts\b|parliamentary|metropolitan statistical|time zone|development region|former)",
    re.I,
)
_SUBURB = re.compile(r"\bsuburb")
# A part of a city, named after it.
_PART_OF = re.compile(r"(?:Downtown|Midtown|Uptown|Central|Inner|Old Town|Historic) (?P<whole>[A-ZÀ-Þ].+)")
# A place that contains the named ones instead of lying in them: "landmass comprising X and Y".
_ENCLOSES = re.compile(
    r"\b(?:compris|contain|includ|consist|surround|cover|encompass|border|centred|located (?:near|between))"
    r"|\b(?:north|south|east|west|north-?east|north-?west|south-?east|south-?west)$",
    re.I,
)
# Names of parts of the world, for those that the snapshot lacks.
WORLD = re.compile(
    r"\b(?:Africa|Americas?|Asia|Europe|Oceania|Eurasia|Balkans|Caribbean|Middle East|Near East|Scandinavia"
    r"|Caucasus|Levant"
    r"|Maghreb|Iberian|Polynesia|Micronesia|Melanesia|Pacific|Atlantic|Indian Ocean|Baltic|Nordic|Arabian"
    r"|Himalayas|Sahel"
    r"|Antilles|Horn of)\b"
)
# Kinds of things that may lie in several places at once.
_SPREAD = re.compile(
    r"\b(?:universit|college|river|stream|lake|mountain|range|hills|railway|railroad|road|highway|route|canal|park|forest|"
    r"desert|border|valley|empire|republic|state|country|city in)",
    re.I,
)
_KINDS = frozenset(filter(None, PLURAL.values()))
_INNER = re.compile(r"(?<!\s)\s++(?:in|of|on|within)\s++(?:the\s++)?(?=[A-ZÀ-Þa-z])")  # a preposition within a unit
_DIRECTIONS = frozenset(
    {"North", "South", "East", "West", "Upper", "Lower", "Northern", "Southern", "Eastern", "Western"}
)
_PAIR = re.compile(r", | and | & ")  # the joints of "X and Y"


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A resolved name: `qid` where the snapshot contains the place, else only the text."""

    text: str
    qid: str | None = None
    written: str = ""

    @property
    def key(self) -> str:
        """The QID, or a key derived from the text."""
        return self.qid or f"text:{normalise(self.text)}"


@dataclass(frozen=True, slots=True)
class _Namesakes:
    """The places with a name: possible ones, those labelled with it, and those for which the name alone is enough."""

    possible: frozenset[str]
    labelled: frozenset[str]
    sure: frozenset[str]


class Gazetteer:
    """Place names and containers in one graph. Results depend on the snapshot only."""

    def __init__(self, graph: Graph, classifier: Classifier) -> None:
        self._graph = graph
        self.classes = classifier
        self._above: dict[str, frozenset[str]] = {}
        self._containers: dict[str, tuple[tuple[str | None, frozenset[str]], ...]] = {}
        self._chains: dict[str, tuple[tuple[Place, ...], ...]] = {}

    def description_chain(self, entity_id: str) -> tuple[tuple[Place, ...], ...]:
        """The chain in the entity's own description, finest first; each step is one or more places."""
        known = self._chains.get(entity_id)
        if known is None:
            self._chains[entity_id] = ()  # stops recursion where the description leads back here
            description = self._graph.description(entity_id)
            phrase = parse_place(description) if description else None
            known = ()
            if phrase and not _ENCLOSES.search(phrase.kind):
                spread = bool(_SPREAD.search(phrase.kind))
                known = self.resolve(phrase.units, exclude=entity_id, spread=spread)
                if _SUBURB.search(phrase.kind):
                    known = self._without_city_beside_suburb(known, entity_id)
            if description and not any(self.is_state(p.qid) for step in known for p in step if p.qid):
                known = (*known, *self._chain_by_demonym(description, entity_id))
            self._chains[entity_id] = known
        return known

    def _without_city_beside_suburb(
        self, steps: tuple[tuple[Place, ...], ...], suburb: str
    ) -> tuple[tuple[Place, ...], ...]:
        """The steps without a city beside the suburb, to which no statement leads: Los Angeles for Beverly Hills."""
        stated = self._containers_by_statements(suburb)
        if not steps or not stated:
            return steps
        beside = any(p.qid and p.qid not in stated and self._graph.is_instance(p.qid, SETTLEMENTS) for p in steps[0])
        return steps[1:] if beside else steps

    def resolve(
        self, units: Sequence[PlaceUnit], *, exclude: str | None = None, spread: bool = False
    ) -> tuple[tuple[Place, ...], ...]:
        """Resolve the units of a chain, finest first. Coarser units are resolved before finer ones.

        `spread`: whether the thing may lie in several places at once, so that "in X and Y" means both.
        """
        steps: list[tuple[Place, ...]] = []
        for unit in reversed(units):
            for part in reversed(self._split_unit_unless_known_name(unit.text)):
                coarser = [place for step in steps for place in step]
                if WORLD.search(part) and any(p.qid and self.is_state(p.qid) for p in coarser):
                    continue  # "in north-west Europe, part of the United Kingdom": Europe is not in a state
                steps = [*self._whole_of_named_part(part, coarser, exclude), *steps]
                coarser = [place for step in steps for place in step]
                places = self._resolve_unit(part, coarser, exclude, after_on=unit.preposition == "on", spread=spread)
                if not places or {p.key for p in places} & {p.key for p in coarser}:
                    continue
                is_list = len(coarser) > 1 and all(p.qid and self.is_state(p.qid) for p in coarser)
                also = self._resolve_unit(part, (), exclude, after_on=False, spread=False) if is_list else ()
                if also and all(p.qid and self.is_state(p.qid) for p in also):
                    steps = [(*also, *coarser)]  # "of Argentina, Brazil and Paraguay" is a list, not a chain
                else:
                    steps.insert(0, places)
        return tuple(steps)

    def is_state(self, entity_id: str) -> bool:
        """Whether the entity is a sovereign state of the present or past, where every chain ends.

        Only its own P31 counts: through P279 the countries of the United Kingdom would be states too.
        """
        classes = self._graph.classes(entity_id)
        if not STATE.isdisjoint(classes):
            return True
        return PAST_STATE in classes and self._graph.is_historical(entity_id)  # Florence was one, and is a city

    def classes_as_present_dependency(self, entity_id: str) -> tuple[str, ...]:
        """The classes that make the entity a present dependent territory outside the state that governs it.

        Empty for other entities, and for those that are also divisions of the state (Guadeloupe, a region of France).
        """
        kinds = self._graph.classes(entity_id)
        dependent = tuple(k for k in kinds if k == DEPENDENT or DEPENDENT in self._graph.targets(k, "P279"))
        if not dependent or self.is_state(entity_id) or self._graph.is_historical(entity_id):
            return ()
        divided = any(
            not FIRST_DIVISION.isdisjoint(self._graph.class_and_superclasses(k)) for k in kinds if k not in dependent
        )
        return () if divided else dependent

    def is_region_unused_as_tier(self, entity_id: str) -> bool:
        """Whether the entity is a region that is not used as a place name: a constituency, a statistical region."""
        kinds = [self._graph.label(c) or "" for c in self._graph.classes(entity_id)]
        if kinds and all(_PASSED_THROUGH.search(k) for k in kinds):
            return True
        return bool(_PASSED_THROUGH.search(self._graph.label(entity_id) or ""))

    def _chain_by_demonym(self, description: str, entity_id: str) -> tuple[tuple[Place, ...], ...]:
        """A chain of the country alone, by a demonym: "Italian comune" lies in Italy."""
        if PLACES.isdisjoint(self.classes(entity_id)):
            return ()
        match = re.match(r"((?:[A-Z][\w.-]+ )?[A-Z][\w.-]+) [a-z]", description)
        if match is None:
            return ()
        for qid in bundled_demonyms().countries.get(normalise(match[1]), ()):
            label = self._graph.label(qid)
            if label and qid != entity_id and self.is_state(qid) and not self._graph.is_historical(qid):
                return ((Place(text=label, qid=qid, written=match[1]),),)
        return ()

    def container_names(self, entity_id: str) -> frozenset[str]:
        """Normalised names of all containers, by statements and by the description."""
        if entity_id not in self._above:
            climbed = self._containers_by_statements(entity_id).values()
            self._above[entity_id] = frozenset().union(*climbed, *self._normalised_names_by_described_place(entity_id))
        return self._above[entity_id]

    def containers_up_to_state_with_names(self, entity_id: str) -> tuple[tuple[str | None, frozenset[str]], ...]:
        """The containers of the entity up to its state: QIDs (None for those from the description) and normalised
        names.
        """
        known = self._containers.get(entity_id)
        if known is None:
            climbed = self._containers_by_statements(entity_id, beyond_states=False)
            out: list[tuple[str | None, frozenset[str]]] = list(climbed.items())
            for names in self._normalised_names_by_described_place(entity_id):
                # A place from both statements and description counts once; parts of the world are too vague to count.
                if any(not names.isdisjoint(held) for _, held in out) or any(map(WORLD.search, map(str.title, names))):
                    continue
                out.append((None, names))
            known = self._containers[entity_id] = tuple(out)
        return known

    def _containers_by_statements(self, entity_id: str, *, beyond_states: bool = True) -> dict[str, frozenset[str]]:
        """Containers by statements with their normalised names, nearest first."""
        places: dict[str, frozenset[str]] = {}
        layer = [entity_id]
        for _ in range(DEPTH):
            self._graph.fetch(layer)
            upward = [
                target
                for i in layer
                if beyond_states or not self.is_state(i)
                for prop in CONTAINERS
                for target in self._graph.targets(i, prop)
            ]
            layer = [t for t in dict.fromkeys(upward) if t not in places and t != entity_id]
            if not layer:
                break
            self._graph.fetch(layer)
            places.update((place, self.names_of(place)) for place in layer)
        return places

    def _normalised_names_by_described_place(self, entity_id: str) -> list[frozenset[str]]:
        """The normalised names of each place in the chain of the entity's description."""
        description = self._graph.description(entity_id)
        phrase = parse_place(description) if description else None
        names = [
            frozenset(normalise(v) for v in barer_names(part))
            for unit in (phrase.units if phrase else ())
            for part in self._split_unit_unless_known_name(unit.text)
        ]
        if description:
            names += [self.names_of(p.qid) for s in self._chain_by_demonym(description, entity_id) for p in s if p.qid]
        return names

    def names_of(self, entity_id: str) -> frozenset[str]:
        """The normalised names of an entity."""
        return frozenset(normalise(n) for n in self._graph.names(entity_id))

    def inhabitants(self, entity_id: str) -> float:
        """The largest stated number of inhabitants; 0 for none."""
        stated = (s.value for s in self._graph.statements(entity_id, "P1082") if s.rank != "deprecated")
        return max((float(value.amount) for value in stated if isinstance(value, QuantityValue)), default=0.0)

    def has_county_of_name_elsewhere(self, entity_id: str, name: str) -> bool:
        """Whether a county with the name lies elsewhere than the entity: then a town of the name probably does too."""
        county = f"{name} County"
        mine = self.container_names(entity_id)
        if normalise(county) in mine or self._graph.is_instance(entity_id, STATE | FIRST_DIVISION):
            return False
        counties = [m.id for m in self._graph.find(county) if m.id != entity_id and m.kind == "label"]
        return any(_differ_in_state_or_division(mine, self.container_names(q)) for q in counties)

    def ids_of_places_named(self, text: str, *, sites: bool = False) -> list[str]:
        """QIDs of places with the name (with `sites` also of schools, buildings, organisations), in the order of the
        store.
        """
        fitting = SITES if sites else PLACES
        matches = self._graph.find(text)
        if not matches and re.search(r"\b[A-Z]\.[A-Z]$", text):
            matches = self._graph.find(f"{text}.")  # "Washington D.C", cut at the end of its sentence
        self._graph.fetch(match.id for match in matches)
        out = dict.fromkeys(m.id for m in matches if not fitting.isdisjoint(self.classes(m.id)))
        return list(out)

    def _split_unit_unless_known_name(self, text: str) -> list[str]:
        """The parts of "A of B in C", unless the whole is a known name."""
        if self._graph.find(text):
            return [text]
        owner = re.fullmatch(r"([A-ZÀ-Þ][\w .-]+)['’]s ([A-ZÀ-Þ].+)", text)
        if owner:
            return [owner[2], owner[1]]
        typed = TYPED.match(text)
        for match in _INNER.finditer(text):
            left, right = text[: match.start()], text[match.end() :]
            if not any(c.isupper() for c in left) or not barer_names(right)[-1][:1].isupper():
                continue
            if match.group().strip().startswith("of") and not (
                self.ids_of_places_named(left) and self._graph.find(right)
            ):
                continue
            if typed and typed.end() >= match.end():
                continue
            return [*self._split_unit_unless_known_name(left), *self._split_unit_unless_known_name(right)]
        return [text]

    def _resolve_unit(
        self, text: str, coarser: Sequence[Place], exclude: str | None, *, after_on: bool, spread: bool
    ) -> tuple[Place, ...]:
        """The places that a unit of a chain refers to, by the rest of the chain; empty for none."""
        for variant in barer_names(text):
            if qid := self._id_of_agreeing_place(variant, coarser, exclude):
                if after_on and not self._graph.is_instance(qid, {"Q23442"}):
                    return ()  # "on the Danube" is next to it; "on Long Island" is inside
                return (Place(text=self._graph.label(qid) or variant, qid=qid, written=text),)
        if both := self._resolve_pair(text, coarser, exclude, after_on=after_on, spread=spread):
            return both
        name = barer_names(text)[-1]
        if after_on or not re.match(r"[A-ZÀ-Þ][\w'’.-]+", name) or len(name.split()) > 6:
            return ()
        return (Place(text=name, written=text),)

    def _resolve_pair(
        self, text: str, coarser: Sequence[Place], exclude: str | None, *, after_on: bool, spread: bool
    ) -> tuple[Place, ...]:
        """The places of "X and Y" where a thing can lie in both; else empty."""
        pair = _PAIR.search(text, 1)
        if pair is None or pair.end() == len(text):
            return ()
        left, right = text[: pair.start()], text[pair.end() :]
        last = right.split()[-1]
        if left in _DIRECTIONS and right.split()[0] in _DIRECTIONS:  # "South and North Dakota"
            left = " ".join([left, *right.split()[1:]])
        if last in PLURAL:
            right = right[: -len(last)].strip()
            left, right = (f"{side} {PLURAL[last]}".strip() for side in (left, right))
        alike = last in _KINDS and left.endswith(f" {last}")  # "Eaton County and Clinton County"
        # "Windsor and Maidenhead" may be one borough. It is two places only if the thing can lie in two (`spread`).
        if coarser and not (last in PLURAL or alike or spread or all(map(WORLD.search, (left, right)))):
            return ()
        both = [self._resolve_unit(side, coarser, exclude, after_on=after_on, spread=False) for side in (left, right)]
        return (*both[0], *both[1]) if all(both) else ()

    def _whole_of_named_part(
        self, text: str, coarser: Sequence[Place], exclude: str | None
    ) -> tuple[tuple[Place, ...], ...]:
        """The place that a part is named after and that contains it: Los Angeles for Downtown Los Angeles."""
        match = _PART_OF.match(text)
        if match is None:
            return ()
        whole = self._id_of_agreeing_place(match["whole"], coarser, exclude)
        if whole is None or whole in {p.qid for p in coarser}:
            return ()
        return ((Place(text=self._graph.label(whole) or match["whole"], qid=whole),),)

    def _id_of_agreeing_place(self, name: str, coarser: Sequence[Place], exclude: str | None) -> str | None:
        """The place with the name that agrees with the coarser ones; None where the snapshot may have only a namesake.

        An alias is accepted for a state (USA), or where a container below the state agrees: the snapshot may lack the
        place itself (Quebec, but have Quebec City).
        """
        namesakes = self._namesakes(name, exclude)
        if not coarser:
            # "in China": a state with the name as alias is preferred to a region with it as label.
            alone: Collection[str] = namesakes.sure
            if not any(COUNTRY in self._graph.classes(c) for c in namesakes.sure & namesakes.labelled):
                alone = [c for c in namesakes.sure if self.is_state(c)] or namesakes.sure
            return self._best_candidate(name, alone)
        for place in coarser[:-1] or coarser:
            # Only a common container below the state is proof: Paris, Texas.
            wanted = {normalise(n) for n in (place.text, *(self._graph.names(place.qid) if place.qid else ()))}
            believed = namesakes.sure if place.qid and self.is_state(place.qid) else namesakes.possible
            meeting = [c for c in believed if c == place.qid or not wanted.isdisjoint(self.container_names(c))]
            if meeting:
                return self._best_candidate(name, meeting)
        # A wrong namesake is worse than a bare name: the rest of the chain must not contradict it.
        return self._best_candidate(
            name, [c for c in namesakes.possible & namesakes.labelled if not self.container_names(c)]
        )

    def _namesakes(self, name: str, exclude: str | None) -> _Namesakes:
        label = self._graph.label
        known = frozenset(self.ids_of_places_named(name, sites=True)) - {exclude}
        labelled = frozenset(c for c in known if _fold_label(label(c) or "") == _fold_label(name))
        possible = frozenset(c for c in known if not self._graph.is_historical(c)) or labelled
        possible = frozenset(c for c in possible if not PLACES.isdisjoint(self.classes(c))) or possible
        states = frozenset(filter(self.is_state, possible))
        if not WORLD.search(name):
            return _Namesakes(possible, labelled, possible & (labelled | states))
        possible -= states - labelled  # "America" is not a state here, "South Africa" is
        parts = frozenset(c for c in possible if WORLD.search(label(c) or ""))
        return _Namesakes(possible, labelled, possible & (labelled | parts))

    def _best_candidate(self, name: str, candidates: Collection[str]) -> str | None:
        """The best candidate: label equal to the name, then states, first-level divisions, and the smallest id."""
        key = normalise(name)

        def order(qid: str) -> tuple[bool, int, int]:
            kinds = (STATE, FIRST_DIVISION)
            rank = next((rank for rank, kind in enumerate(kinds) if self._graph.is_instance(qid, kind)), len(kinds))
            return normalise(self._graph.label(qid) or "") != key, rank, number_within_kind(qid)

        return min(candidates, key=order, default=None)


def _differ_in_state_or_division(places: frozenset[str], others: frozenset[str]) -> bool:
    """Whether two sets of containers (normalised names) belong to different states or different divisions."""
    states = bundled_demonyms().names
    for kept in (lambda n: n in states, lambda n: n not in states and not WORLD.search(n.title())):
        mine, theirs = frozenset(filter(kept, places)), frozenset(filter(kept, others))
        if mine and theirs and mine.isdisjoint(theirs):
            return True
    return False


def _fold_label(name: str) -> str:
    """A name folded for comparison with labels: without accents and punctuation."""
    text = unicodedata.normalize("NFKD", normalise(name))
    return "".join(c for c in text if c.isalnum())


# Capitals of units with common names: many states have a Washington County, each with its own seat.

CAPITAL = "P36"  # the property "capital"
# A unit of a county-like kind in a question.
_UNIT = re.compile(
    r"[A-ZÀ-Þ][\w.'’-]{0,40}+(?: (?:of|and|the|de|la|[A-ZÀ-Þ][\w.'’-]{0,40}+)){0,8} "
    r"(?P<kind>County|District|Parish|Province|Region|Department)$"
)


def is_capital_of_another_unit_than_asked(
    candidate: str, relation: Relation, question: str, gazetteer: Gazetteer
) -> bool:
    """Whether a candidate for a capital lies in another unit of the kind asked for, as another county."""
    asked = _unit_whose_capital_is_asked(relation, question)
    if asked is None:
        return False
    kind, name = normalise(asked["kind"]), normalise(asked[0])
    same_kind = [above for above in gazetteer.container_names(candidate) if above.endswith(f" {kind}")]
    return bool(same_kind) and name not in same_kind and not any(a.startswith(name) for a in same_kind)


def is_weak_candidate_for_capital(qid: str, relation: Relation, question: str, gazetteer: Gazetteer) -> bool:
    """Whether the name is too weak as the only evidence for a candidate for a capital.

    Seats of counties have many namesakes, of which the snapshot may contain another. A state is not a capital.
    """
    if relation.id != CAPITAL:
        return False
    asked = _unit_whose_capital_is_asked(relation, question)
    return (asked is not None and asked["kind"] == "County") or gazetteer.is_state(qid)


def _unit_whose_capital_is_asked(relation: Relation, question: str) -> re.Match[str] | None:
    return _UNIT.search(question.rstrip("?. ")) if relation.id == CAPITAL else None


def phrase_in(phrase: str, text: str) -> bool:
    """Whether the phrase occurs in the text as whole words."""
    start = text.find(phrase) if phrase else -1
    while start >= 0:
        end = start + len(phrase)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not (before.isalnum() or after.isalnum()):
            return True
        start = text.find(phrase, start + 1)
    return False
