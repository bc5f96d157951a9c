"""What each condition of a tier tells, in bits, under the facet that it belongs to; and shares of the world by place.

Conditions of one facet overlap (a county and its state, a singer and a musician): together they tell as much as the
rarest of them. The facets of a tier are counted together where the snapshot holds all carriers of one (`Joint`):
share of that one, times the shares of the others among its carriers. Else facets are taken as independent.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from abstraction.classes import Classifier, anchors
from abstraction.descriptions.attested_words import DESCRIPTIONS_READ, Vocabulary
from abstraction.information.counting import Hierarchy, Pair, ValueCounts
from abstraction.information.literal_bits import years_of
from abstraction.linking.gazetteer import Gazetteer
from abstraction.properties import with_role
from abstraction.tiers import Condition
from kg.bounded_cache import SizedDict
from kg.model import entity_number
from kg.terms import fallback_chain, normalise
from kg.walks.graph import Graph
from kg.walks.ranks import stated

# How conditions go together, counted where the snapshot holds every carrier of one of them.

MOST = 1_000  # carriers of the condition that the others are counted among
CARRIERS_KEPT = 400_000  # carriers, and sets of their values, that are kept: 80 MB each at most
FEWEST = 5  # of them with a statement of the other property


class Joint:
    """Shares among the carriers of a condition: exact, since all carriers that the whole source has are at hand."""

    def __init__(self, counts: ValueCounts) -> None:
        self._counts = counts
        self._carriers: SizedDict[frozenset[Pair], tuple[str, ...]] = SizedDict(
            CARRIERS_KEPT, lambda pairs, carriers: 5 * len(pairs) + len(carriers)
        )
        self._values: SizedDict[tuple[frozenset[Pair], str], tuple[int, Mapping[frozenset[str], int]]] = SizedDict(
            CARRIERS_KEPT, lambda key, counted: 5 * len(key[0]) + 5 * len(counted[1])
        )

    def share(self, base: frozenset[Pair], prop: str, values: Collection[str]) -> float | None:
        """The share of the entities with any pair of `base`, of those with `prop`, whose `prop` is one of the values.

        None where the base has more than `MOST` carriers, the snapshot lacks one of them, fewer than `FEWEST` have the
        property, or none has such a value.
        """
        carriers = self._carriers_of(base)
        if not carriers:
            return None
        key = (base, prop)
        if key not in self._values:
            read = self._counts.store.entities(carriers, languages=(), properties=(prop,))
            sets = (frozenset(s.target for s in stated(entity.values(prop)) if s.target) for entity in read.values())
            counted = Counter(held for held in sets if held)
            self._values[key] = counted.total(), counted
        total, sets_counted = self._values[key]
        hits = sum(count for held, count in sets_counted.items() if not held.isdisjoint(values))
        return hits / total if hits and total >= FEWEST else None

    def _carriers_of(self, base: frozenset[Pair]) -> tuple[str, ...]:
        """All carriers of the base, by the order of its pairs; none where not all are known."""
        if base not in self._carriers:
            pairs = sorted(base)
            self._counts.read(pairs)
            counts = {pair: self._counts.of(*pair) for pair in pairs}
            carriers: dict[str, None] = {}
            if sum(counts.values()) <= MOST:
                held = self._counts.store.referrers(pairs, limit=MOST + 1)
                if all(len(held.get(pair, ())) == count for pair, count in counts.items()):
                    carriers = dict.fromkeys(carrier for pair in pairs for carrier in held.get(pair, ()))
            self._carriers[base] = tuple(carriers)
        return self._carriers[base]


# How much of the world lies in a place, and which states a part of the world holds.
#
# Where: entities placed by P131, P276, P159 or P706, in a container or in any container inside it. A state has the
# entities that P17 gives it, where that is a larger share; a part of the world what its states have together.

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


# What each condition of a tier tells.


# Kinds whose members are classes: a tier above one of them holds its instances and subclasses.
CLASS_VALUED = frozenset({"genre", "occupation", "language", "position", "office", "award"})
_OF_CLASS = with_role("class")
_HOLDS = {"self": "where", **dict.fromkeys(with_role("where"), "where")}
_FACETS = {**_HOLDS, **{prop: facet for facet in ("nation", "role", "whole", "when") for prop in with_role(facet)}}
_RARE = with_role("rare")
# Properties that are counted together; of where something lies only the state, all else being summed over containers.
_JOINT = with_role("joint")
PHRASES_KEPT = 10_000_000  # characters of phrases that are kept: 40 MB at most
LONGEST = 20  # words of a phrase's end that may name a class
# Words of a condition by their mark, and the property whose values they may name.
_NAMES = {"kind": "P31", "occupation": "P106", "office": "P39"}


@dataclass(frozen=True, slots=True)
class ConditionBits:
    """Bits of a condition, with the property and value that they were counted by, if any."""

    facet: str
    bits: float
    prop: str = ""
    value: str = ""


def information(share: float) -> float:
    """-log2 of a share in (0, 1]; 0 for more."""
    return max(0.0, -math.log2(share))


class Facets:
    """Bits of single conditions, from one store."""

    def __init__(self, counts: ValueCounts, vocabulary: Vocabulary) -> None:
        self._counts = counts
        self._vocabulary = vocabulary
        self.world = World(counts, vocabulary.language)
        self.classes = Hierarchy(counts, ("P31", "P279"), ("P279",))
        self.taxa = Hierarchy(counts, ("P171",), ("P171",))
        self._below = {prop: Hierarchy(counts, (prop,), ("P279",)) for prop in ("P106", "P136")}
        self._sizes: dict[str, int] = {}
        self._known: SizedDict[tuple[str, str, str], ConditionBits | None] = SizedDict(
            PHRASES_KEPT, lambda key, _: sum(map(len, key)) + 200
        )
        self._joint = Joint(counts)

    def size(self, kind: str) -> int:
        """How many statements of the source make something one of an answer class, under the nearest anchors."""
        if kind not in self._sizes:
            known = anchors()
            of_kind = {qid for qid, kinds in known.items() if kind in kinds}
            held = self.classes.at_or_below(sorted(of_kind), but=known.keys() - of_kind)
            self._sizes[kind] = sum(self.classes.direct.get(qid, 0) for qid in held)
        return self._sizes[kind]

    def bits_of(self, conditions: Collection[Condition], kind: str, size: float, phrase: str) -> float | None:
        """Bits of all conditions together among `size` members of `kind`; None where none of them can be counted.

        `phrase` is the tier's text without its article.
        """
        by_facet: dict[str, ConditionBits] = {}
        for condition in sorted(conditions, key=lambda c: (c.property, c.value)):
            counted = self._of_condition(condition, kind, size, phrase)
            if counted is not None and (counted.facet not in by_facet or counted.bits > by_facet[counted.facet].bits):
                by_facet[counted.facet] = counted
        if not by_facet:
            return None
        parts = sorted(by_facet.values(), key=lambda part: (-part.bits, part.facet))
        return min(math.log2(size), self._together(parts) if len(parts) > 1 else parts[0].bits)

    def _together(self, parts: Sequence[ConditionBits]) -> float:
        """Bits of several facets, the rarest first."""
        base = next((part for part in parts if part.prop in _JOINT), None)
        bits = 0.0
        for part in parts:
            share = None
            if base is not None and part is not base and part.prop in _JOINT:
                pairs = frozenset(
                    (base.prop, value) for value in self._values(base) if self._counts.of(base.prop, value)
                )
                share = self._joint.share(pairs, part.prop, self._values(part))
            bits += part.bits if share is None else information(share)
        return bits

    def _values(self, part: ConditionBits) -> Collection[str]:
        """The values of the property that say as much, the value's own subclasses among them."""
        held = self.classes if part.prop == "P31" else self._below.get(part.prop)
        return held.at_or_below([part.value]) if held else (part.value,)

    def _of_condition(self, condition: Condition, kind: str, size: float, phrase: str) -> ConditionBits | None:
        prop, value = condition.property, condition.value
        if prop == "text":
            return self._worded(value, kind, size, phrase)
        share = self._share(prop, value, kind, size)
        if share is None:
            return None
        facet = "class" if prop == "P31" or (kind in CLASS_VALUED and prop in _OF_CLASS) else _FACETS.get(prop, prop)
        return ConditionBits(facet, information(share), prop, value)

    def _share(self, prop: str, value: str, kind: str, size: float) -> float | None:
        if prop in _HOLDS:
            return self.world.share(value)
        if prop == "P31" or (kind in CLASS_VALUED and prop in _OF_CLASS):
            # A class is one of the answers where classes are; persons and bands are not.
            # What has more members than the population does not lie in it, and how much they share is not known.
            mass = self.classes.mass(value) + (kind in CLASS_VALUED)
            return mass / self.size(kind) if 0 < mass <= self.size(kind) else None
        if prop == "P171":
            return self.taxa.share(value)
        if _FACETS.get(prop) == "when":
            return 1 / years_of(prop)
        if prop in self._below:
            return self._below[prop].share(value)
        count = self._counts.of(prop, value)
        return count / max(size if prop in _RARE else self._counts.total(prop), count) if count else None

    def _worded(self, value: str, kind: str, size: float, phrase: str) -> ConditionBits | None:
        """What words tell that no statement stands for, where they name a class, an office or a nation."""
        mark, colon, words = value.partition(":")
        head = phrase.partition(" in ")[0]  # "defensive position in American football", "port city in California"
        if not colon:
            mark, words = "kind" if head.endswith(value) else "mod", value
        if mark == "ordinal":
            return ConditionBits("role", math.log2(size))  # there was one
        if mark in _NAMES:
            return self._named(_NAMES[mark], words, kind, size)
        if mark == "land":
            nations = self._vocabulary.nations(words)
            return (
                self._of_condition(Condition(property="P27", value=nations[0]), kind, size, phrase) if nations else None
            )
        if mark == "mod":
            return self._modified(words, head)
        return None

    def _named(self, prop: str, phrase: str, kind: str, size: float) -> ConditionBits | None:
        """By the class that the phrase names; by how many descriptions say it; else by the class that its end names."""
        key = (prop, phrase, kind)
        if key not in self._known:
            words = phrase.split(" ")
            counted = self._called(prop, phrase, kind, size)
            if counted is None and prop != "P39":
                ends = (" ".join(words[at:]) for at in range(max(1, len(words) - LONGEST), len(words)))
                named = (of_end for end in ends if (of_end := self._called(prop, end, kind, size)))
                counted = self._described(prop, phrase, size) or next(named, None)
            self._known[key] = counted
        return self._known[key]

    def _called(self, prop: str, name: str, kind: str, size: float) -> ConditionBits | None:
        """By the value of the property that has the name, the most frequent of several."""
        if prop == "P106":
            entity_ids = self._vocabulary.occupations.get(normalise(name), ())
        else:
            languages = fallback_chain(self._vocabulary.language)
            matches = self._counts.store.find([name], languages=languages).get(name, [])
            entity_ids = tuple(match.id for match in matches)
        self._counts.read((prop, qid) for qid in entity_ids)
        best = max(entity_ids, key=lambda qid: (self._counts.of(prop, qid), -entity_number(qid)), default=None)
        if best is None or not self._counts.of(prop, best):
            return None
        return self._of_condition(Condition(property=prop, value=best), kind, size, "")

    def _described(self, prop: str, phrase: str, size: float) -> ConditionBits | None:
        count = self._endings.get(normalise(phrase), 0) * self._scale
        return ConditionBits(_FACETS.get(prop, "class"), information(count / max(size, count))) if count else None

    def _modified(self, words: str, phrase: str) -> ConditionBits | None:
        """A modifier by how many of the descriptions that call something by the head have it before the head."""
        whole = normalise(phrase)
        at = f" {whole} ".find(f" {words} ")
        if at < 0:
            return None
        part, all_ = (self._endings.get(end, 0) for end in (whole[at:], whole[at + len(words) + 1 :]))
        return ConditionBits("words", information(part / all_)) if part and all_ else None

    @cached_property
    def _scale(self) -> float:
        """Entities of the source for each whose description was read."""
        read = min(self._counts.store.manifest()["counts"].get("items", 0), DESCRIPTIONS_READ)
        return max(1.0, self._counts.total("P31") / read) if read else 1.0

    @cached_property
    def _endings(self) -> Mapping[str, int]:
        """How many descriptions have an opening that ends with a phrase."""
        counts: dict[str, int] = {}
        for opening, count in self._vocabulary.phrases.items():
            words = opening.split(" ")
            for at in range(len(words)):
                end = " ".join(words[at:])
                counts[end] = counts.get(end, 0) + count
        return counts
