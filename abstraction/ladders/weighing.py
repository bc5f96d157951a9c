"""Ladders with bits, and the invariant that bits never rise towards coarser levels.

Information content after Resnik 1995, "Using information content to evaluate semantic similarity in a taxonomy": -log2
of the share of a population that has a property, from counts of the whole source. The population is the same for a
whole ladder: the possible answers of the question (`population_of`). The answer is one of its N members, log2(N) bits.

A tier has several conditions, each under a facet. Conditions of one facet overlap (a county and its state, a singer
and a musician): together they have the bits of the rarest. Where the snapshot contains all entities with the condition
of one facet (its carriers), facets are counted jointly (`JointShares`): the share of that facet, times the shares of
the others among its carriers. Otherwise facets are taken as independent.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from abstraction.base.properties import package_data, with_role
from abstraction.base.relations import Classifier, Relation, answer_classes_by_anchor, stop_classes
from abstraction.base.tiers import Condition, Level, Tier
from abstraction.ladders.proposals import Proposal, cached_per_source, reachable
from abstraction.linking.candidates import Pair, ValueCounts
from abstraction.linking.gazetteer import Gazetteer
from abstraction.text.descriptions.attested_words import DESCRIPTIONS_READ, Vocabulary
from abstraction.text.language.phrases import without_article
from kg.base.bounded_cache import SizedDict
from kg.base.model import fallback_chain, normalise, number_within_kind
from kg.graph.graph import Graph, asserted_statements, current
from kg.store.protocol import Store

VALUES = 300_000  # most frequent values of one property that are counted
SEVERAL = 1.2  # mean values per entity above which they overlap too often to be summed
_BATCH = 20_000  # entities read from the store at once


class ValueHierarchy:
    """Values of the properties `counted`, each below the values that its current statements of the properties `up`
    name.

    Counts are of statements in the whole source; a statement counts once, however many paths lead up from its value.
    Cycles are cut. A value that the snapshot lacks has no known place in the hierarchy, so counts are lower bounds.
    Stop classes are left out and not passed.
    """

    def __init__(self, counts: ValueCounts, counted: Sequence[str], up: Sequence[str]) -> None:
        self._counts = counts
        self._counted = tuple(counted)
        self._up = tuple(up)

    @cached_property
    def direct_counts(self) -> Mapping[str, int]:
        """The number of statements of each value, without those of the values below it."""
        counts: dict[str, int] = defaultdict(int)
        for prop in self._counted:
            for value, count in self._counts.store.values_of(prop, limit=VALUES):
                counts[value] += count
        return counts

    @cached_property
    def statement_total(self) -> int:
        """The number of statements of the counted properties."""
        return sum(self.direct_counts.values())

    @cached_property
    def summed_counts_of_properties(self) -> int:
        """The number of entities with a counted property; an entity with two of them counts twice."""
        return sum(self._counts.count_entities_with_property(prop) for prop in self._counted)

    @cached_property
    def _below(self) -> Mapping[str, tuple[str, ...]]:
        """The values directly below each value, read upwards from all values in layers."""
        below: dict[str, list[str]] = defaultdict(list)
        stop = stop_classes()
        seen = set(self.direct_counts)
        layer = sorted(seen)
        while layer:
            upward: dict[str, None] = {}
            for at in range(0, len(layer), _BATCH):
                read = self._counts.store.entities(layer[at : at + _BATCH], languages=(), properties=self._up)
                for qid, entity in read.items():
                    for prop in self._up:
                        for statement in current(entity.values(prop)):
                            target = statement.target
                            if target and target != qid and target not in stop:
                                below[target].append(qid)
                                upward[target] = None
            layer = [qid for qid in upward if qid not in seen]
            seen.update(layer)
        return {value: tuple(lower) for value, lower in below.items()}

    def at_or_below(self, values: Iterable[str], *, but: Collection[str] = ()) -> set[str]:
        """The values and all below them, except `but` and values that only those lead to."""
        start = set(values)
        return start | reachable(start, lambda value: (v for v in self._below.get(value, ()) if v not in but))

    @cached_per_source
    def statement_count(self, value: str) -> int:
        """The number of statements that give the value or one below it."""
        return sum(self.direct_counts.get(lower, 0) for lower in self.at_or_below([value]))

    @cached_per_source
    def share(self, value: str) -> float | None:
        """The share of the entities with a counted property that have the value or one below it; None where none has.

        With about one value per entity the counts are summed. Where entities have several, as with occupations, a sum
        would count them repeatedly: the values are then taken as independent, 1 - prod(1 - n/N), which lies between
        the largest share and the sum.
        """
        if not self.statement_count(value):
            return None
        if self.statement_total <= SEVERAL * self.summed_counts_of_properties:
            return self.statement_count(value) / self.statement_total
        without = 0.0
        for lower in sorted(self.at_or_below([value])):  # in a fixed order floats add up to the same sum
            count = self.direct_counts.get(lower, 0)
            if count >= self.summed_counts_of_properties:
                return 1.0
            without += math.log1p(
                -count / self.summed_counts_of_properties
            )  # logarithms keep the precision of small shares
        return -math.expm1(without)


MOST = 1_000  # carriers of the condition that the others are counted among
SETS_KEPT = 400_000  # sets of values of carriers that are cached: 80 MB at most
FEWEST = 5  # least carriers that have the other property; a share among fewer would be chance


class JointShares:
    """Shares among the carriers of a condition, the entities that have it: exact, since all of them are in the
    snapshot.
    """

    def __init__(self, counts: ValueCounts) -> None:
        self._counts = counts
        self._value_sets: SizedDict[tuple[frozenset[Pair], str], tuple[int, Mapping[frozenset[str], int]]] = SizedDict(
            SETS_KEPT, lambda key, counted: 5 * len(key[0]) + 5 * len(counted[1])
        )

    def share(self, base: frozenset[Pair], prop: str, values: Collection[str]) -> float | None:
        """The share of entities that have one of the values under `prop`, among those that have any pair of `base` and
        a `prop`.

        None where the base has more than `MOST` carriers, the snapshot lacks one of them, fewer than `FEWEST` have the
        property, or none has such a value.
        """
        key = (base, prop)
        if key not in self._value_sets:
            read = self._counts.store.entities(
                self._entities_with_any_pair_unless_incomplete(base), languages=(), properties=(prop,)
            )
            sets = (
                frozenset(s.target for s in asserted_statements(entity.values(prop)) if s.target)
                for entity in read.values()
            )
            counted = Counter(held for held in sets if held)
            self._value_sets[key] = counted.total(), counted
        total, sets_counted = self._value_sets[key]
        hits = sum(count for held, count in sets_counted.items() if not held.isdisjoint(values))
        return hits / total if hits and total >= FEWEST else None

    def _entities_with_any_pair_unless_incomplete(self, base: frozenset[Pair]) -> Collection[str]:
        """All entities with any pair of the base, in the order of its pairs; empty where some are not in the snapshot,
        or too many.
        """
        pairs = sorted(base)
        self._counts.load_pair_counts(pairs)
        counts = {pair: self._counts.count_entities_with_value(*pair) for pair in pairs}
        if sum(counts.values()) > MOST:
            return ()
        held = self._counts.store.referrers(pairs, limit=MOST + 1)  # one more shows that there are too many
        if any(len(held.get(pair, ())) != count for pair, count in counts.items()):
            return ()
        return dict.fromkeys(carrier for pair in pairs for carrier in held.get(pair, ()))


LOCATED = ("P131", "P276", "P159", "P706")  # located in, location, headquarters, physical feature
# Properties from which states and parts of the world are recognised.
_READ = frozenset({"P17", "P30", "P31", "P131", "P276", "P361", "P576"})


class PlaceShares:
    """The share of all located entities that lies in a place, from one store. Keys are those of `gazetteer.Place`:
    QIDs, or `text:` and a name.
    """

    def __init__(self, counts: ValueCounts, language: str) -> None:
        self._counts = counts
        self._language = language
        self._containers = ValueHierarchy(counts, LOCATED, ("P131",))

    @property
    def located_total(self) -> int:
        """N: the number of statements that locate an entity, or of entities with a state where these are more."""
        return max(self._containers.statement_total, self._counts.count_entities_with_property("P17"))

    @property
    def states(self) -> frozenset[str]:
        """Current sovereign states that are values of P17."""
        return self._states_and_states_by_part[0]

    def state_count_in(self, key: str) -> int | None:
        """The number of states in a part of the world; None where none are known."""
        return len(self._states_and_states_by_part[1][key]) if key in self._states_and_states_by_part[1] else None

    @cached_per_source
    def share(self, key: str) -> float | None:
        """The share of all located entities that lies in the place, in (0, 1]; None where none is known to."""
        share = 0.0
        if mass := self._containers.statement_count(key):
            share = (mass + 1) / self._containers.statement_total  # the place itself is one of the answers
        if key in self.states and (of_state := self._counts.count_entities_with_value("P17", key)):
            share = max(share, of_state / self._counts.count_entities_with_property("P17"))
        parts = self._states_and_states_by_part[1]
        if key in parts:
            share = max(share, sum(self.share(state) or 0.0 for state in sorted(parts[key])))
        return min(1.0, share) or None

    @cached_property
    def _states_and_states_by_part(self) -> tuple[frozenset[str], Mapping[str, frozenset[str]]]:
        """The sovereign states; and by the key of each part of the world the states in it."""
        # A graph of its own: a question's row may replace descriptions in its graph, which must not change counts.
        graph = Graph(self._counts.store, language=self._language, properties=_READ)
        gazetteer = Gazetteer(graph, Classifier(graph))
        countries = [value for value, _ in self._counts.store.values_of("P17")]
        self._counts.load_pair_counts(("P17", country) for country in countries)
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
    """Keys of the regions and continents that contain the state: by its description, and by P361 and P30.

    Among several continents those in the description count: overseas territories are no reason to count a state twice.
    """
    keys = set(graph.targets(state, "P361"))
    for step in gazetteer.description_chain(state):
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


# Answer classes whose members are classes: a tier above one of them covers its instances and subclasses.
CLASS_VALUED = frozenset({"genre", "occupation", "language", "position", "office", "award"})
_OF_CLASS = with_role("class")
_HOLDS = {"self": "where", **dict.fromkeys(with_role("where"), "where")}
_FACETS = {**_HOLDS, **{prop: facet for facet in ("nation", "role", "whole", "when") for prop in with_role(facet)}}
_RARE = with_role("rare")  # an entity without the statement lacks the thing, so the share is of all members
# Properties with joint counts; for locations the state alone, since other places are summed over containers.
_JOINT = with_role("joint")
PHRASES_KEPT = 10_000_000  # characters of phrases that are kept: 40 MB at most
LONGEST = 20  # words: the longest end of a phrase that is looked up as the name of a class
# The property whose values a condition in words may name, by the mark of the condition ("kind:rock band").
_NAMES = {"kind": "P31", "occupation": "P106", "office": "P39"}


@dataclass(frozen=True, slots=True)
class ConditionBits:
    """Bits of a condition, with the property and value that they were counted by, if any."""

    facet: str
    bits: float
    prop: str = ""
    value: str = ""


def bits_of_share(share: float) -> float:
    """-log2 of a share in (0, 1]; 0 for more."""
    return max(0.0, -math.log2(share))


class ConditionBitsCounter:
    """Bits of conditions and of sets of conditions, from one store."""

    def __init__(self, counts: ValueCounts, vocabulary: Vocabulary) -> None:
        self._counts = counts
        self._vocabulary = vocabulary
        self.world = PlaceShares(counts, vocabulary.language)
        self.classes = ValueHierarchy(counts, ("P31", "P279"), ("P279",))
        self.taxa = ValueHierarchy(counts, ("P171",), ("P171",))
        self._below = {prop: ValueHierarchy(counts, (prop,), ("P279",)) for prop in ("P106", "P136")}
        self._known: SizedDict[tuple[str, str, str], ConditionBits | None] = SizedDict(
            PHRASES_KEPT, lambda key, _: sum(map(len, key)) + 200
        )
        self._joint = JointShares(counts)

    @cached_per_source
    def population_size(self, kind: str) -> int:
        """The number of statements that make an entity a member of an answer class, by its anchors and the classes
        below them.
        """
        known = answer_classes_by_anchor()
        of_kind = {qid for qid, kinds in known.items() if kind in kinds}
        held = self.classes.at_or_below(sorted(of_kind), but=known.keys() - of_kind)
        return sum(self.classes.direct_counts.get(qid, 0) for qid in held)

    def bits_of(self, conditions: Collection[Condition], kind: str, size: float, phrase: str) -> float | None:
        """Joint bits of the conditions among `size` members of `kind`; None where none of them can be counted.

        `phrase` is the text of the tier without its article.
        """
        by_facet: dict[str, ConditionBits] = {}
        for condition in sorted(conditions, key=lambda c: (c.property, c.value)):
            counted = self._bits_of_condition(condition, kind, size, phrase)
            if counted is not None and (counted.facet not in by_facet or counted.bits > by_facet[counted.facet].bits):
                by_facet[counted.facet] = counted
        if not by_facet:
            return None
        parts = sorted(by_facet.values(), key=lambda part: (-part.bits, part.facet))
        # One member has log2(size) bits, and nothing is rarer.
        return min(math.log2(size), self._joint_bits(parts) if len(parts) > 1 else parts[0].bits)

    def _joint_bits(self, parts: Sequence[ConditionBits]) -> float:
        """Joint bits of conditions of several facets; `parts` begins with the rarest."""
        base = next((part for part in parts if part.prop in _JOINT), None)
        bits = 0.0
        for part in parts:
            share = None
            if base is not None and part is not base and part.prop in _JOINT:
                pairs = frozenset(
                    (base.prop, value)
                    for value in self._values_at_or_below(base)
                    if self._counts.count_entities_with_value(base.prop, value)
                )
                share = self._joint.share(pairs, part.prop, self._values_at_or_below(part))
            bits += part.bits if share is None else bits_of_share(share)
        return bits

    def _values_at_or_below(self, part: ConditionBits) -> Collection[str]:
        """The values that imply the value of a part: the value itself and its subclasses."""
        held = self.classes if part.prop == "P31" else self._below.get(part.prop)
        return held.at_or_below([part.value]) if held else (part.value,)

    def _bits_of_condition(self, condition: Condition, kind: str, size: float, phrase: str) -> ConditionBits | None:
        prop, value = condition.property, condition.value
        if prop == "text":
            return self._bits_of_words(value, kind, size, phrase)
        share = self._share_of_value(prop, value, kind, size)
        if share is None:
            return None
        facet = "class" if prop == "P31" or (kind in CLASS_VALUED and prop in _OF_CLASS) else _FACETS.get(prop, prop)
        return ConditionBits(facet, bits_of_share(share), prop, value)

    def _share_of_value(self, prop: str, value: str, kind: str, size: float) -> float | None:
        if prop in _HOLDS:
            return self.world.share(value)
        if prop == "P31" or (kind in CLASS_VALUED and prop in _OF_CLASS):
            # Where answers are classes, the class itself is one of them.
            # A class larger than the population is not part of it, and their overlap is unknown.
            mass = self.classes.statement_count(value) + (kind in CLASS_VALUED)
            return mass / self.population_size(kind) if 0 < mass <= self.population_size(kind) else None
        if prop == "P171":
            return self.taxa.share(value)
        if _FACETS.get(prop) == "when":
            first, last = year_span(prop)
            return 1 / (last - first + 1)  # a condition with a year: all years of the relation are equally likely
        if prop in self._below:
            return self._below[prop].share(value)
        count = self._counts.count_entities_with_value(prop, value)
        return (
            count / max(size if prop in _RARE else self._counts.count_entities_with_property(prop), count)
            if count
            else None
        )

    def _bits_of_words(self, value: str, kind: str, size: float, phrase: str) -> ConditionBits | None:
        """Bits of a condition in words, without a statement: words that name a class, an office or a nation, or a
        modifier.
        """
        mark, colon, words = value.partition(":")
        head = phrase.partition(" in ")[0]  # "defensive position in American football", "port city in California"
        if not colon:
            mark, words = "kind" if head.endswith(value) else "mod", value
        if mark == "ordinal":
            return ConditionBits("role", math.log2(size))  # one member of the population has the ordinal
        if mark in _NAMES:
            return self._bits_of_class_phrase(_NAMES[mark], words, kind, size)
        if mark == "land" and (nations := self._vocabulary.countries_of_adjective(words)):
            return self._bits_of_condition(Condition(property="P27", value=nations[0]), kind, size, phrase)
        whole = normalise(head)
        at = f" {whole} ".find(f" {words} ") if mark == "mod" else -1
        if at < 0:
            return None
        # A modifier has its share among the descriptions with the same head.
        part, all_ = (self._phrase_ending_counts.get(end, 0) for end in (whole[at:], whole[at + len(words) + 1 :]))
        return ConditionBits("words", bits_of_share(part / all_)) if part and all_ else None

    def _bits_of_class_phrase(self, prop: str, phrase: str, kind: str, size: float) -> ConditionBits | None:
        """Bits of a phrase: by the class it names; else by the number of descriptions with it; else by the class that
        its end names.
        """
        key = (prop, phrase, kind)
        if key not in self._known:
            words = phrase.split(" ")
            counted = self._bits_of_value_named(prop, phrase, kind, size)
            if counted is None and prop != "P39":
                ends = (" ".join(words[at:]) for at in range(max(1, len(words) - LONGEST), len(words)))
                named = (of_end for end in ends if (of_end := self._bits_of_value_named(prop, end, kind, size)))
                count = self._phrase_ending_counts.get(normalise(phrase), 0) * self._entities_per_description
                facet = _FACETS.get(prop, "class")
                counted = ConditionBits(facet, bits_of_share(count / max(size, count))) if count else next(named, None)
            self._known[key] = counted
        return self._known[key]

    def _bits_of_value_named(self, prop: str, name: str, kind: str, size: float) -> ConditionBits | None:
        """Bits by the value of the property with the name, the most frequent of several."""
        if prop == "P106":
            entity_ids = self._vocabulary.occupations.get(normalise(name), ())
        else:
            languages = fallback_chain(self._vocabulary.language)
            matches = self._counts.store.find([name], languages=languages).get(name, [])
            entity_ids = tuple(match.id for match in matches)
        self._counts.load_pair_counts((prop, qid) for qid in entity_ids)
        best = max(
            entity_ids,
            key=lambda qid: (self._counts.count_entities_with_value(prop, qid), -number_within_kind(qid)),
            default=None,
        )
        if best is None or not self._counts.count_entities_with_value(prop, best):
            return None
        return self._bits_of_condition(Condition(property=prop, value=best), kind, size, "")

    @cached_property
    def _entities_per_description(self) -> float:
        """The number of entities in the source per description that was read."""
        read = min(self._counts.store.manifest()["counts"].get("items", 0), DESCRIPTIONS_READ)
        return max(1.0, self._counts.count_entities_with_property("P31") / read) if read else 1.0

    @cached_property
    def _phrase_ending_counts(self) -> Mapping[str, int]:
        """The number of descriptions whose opening ends with a phrase, by phrase."""
        counts: dict[str, int] = {}
        for opening, count in self._vocabulary.phrases.items():
            words = opening.split(" ")
            for at in range(len(words)):
                end = " ".join(words[at:])
                counts[end] = counts.get(end, 0) + count
        return counts


def year_span(relation: str) -> tuple[int, int]:
    """The first and the last year that dates of a relation are drawn from."""
    years = package_data("spreads.json")["years"]
    first, last = years.get(relation, years["default"])
    return first, last


# Classes whose population is every located entity.
_LOCATED = frozenset({"place", "school", "building", "astronomical"})
_STATES = "country"  # the class whose population is the sovereign states
# An answer of several classes is counted in the first of these.
_ORDER = (
    "person", "fictional", "award", "group", "label", "club", "school", "country", "company", "place", "work",
    "genre", "occupation", "office", "language", "position", "taxon", "organisation", "building", "event",
)  # fmt: skip
# Classes asked for that fix the population, whatever the class of the answer.
_DECIDES = frozenset({"place", "country", "school", "genre", "occupation", "language", "position", "award", "taxon"})
KEPT = 40_000_000  # characters of conditions whose bits are kept: 160 MB at most


class TierBits:
    """Bits of the tiers of ladders, from one store; the same ladder always gets the same bits."""

    def __init__(self, store: Store, vocabulary: Vocabulary) -> None:
        self._counts = ValueCounts(store)
        self._facets = ConditionBitsCounter(self._counts, vocabulary)
        self._bits: SizedDict[tuple[str, frozenset[Condition], str], float | None] = SizedDict(
            KEPT, lambda key, _: 200 + len(key[2]) + sum(200 + len(condition.value) for condition in key[1])
        )

    def with_bits(
        self, levels: Sequence[Level], nodes: Mapping[str, Proposal], *, asked: Relation, kinds: Collection[str]
    ) -> tuple[Level, ...]:
        """The levels, the answer's first, with bits; `nodes` are the proposals that the other levels were made from.

        Every entity with a finer tier has the coarser tiers too, so a coarser tier is true of at least as many. Counts
        include only what the source states and the snapshot places, and may be too small; then the count of the finer
        tier is the better lower bound, and the coarser tier gets its bits.
        """
        kind = population_of(asked, kinds)
        size = self.population_size(kind) if kind else 0
        if kind is None or size < 2:
            return tuple(levels)
        answer = math.log2(size)
        keys = {normalise(node.text): key for key, node in nodes.items()}
        counted_bits: dict[str, float | None] = {}
        bounds: dict[str, float] = {}

        def bounded_bits(key: str) -> float:
            """Bits of a proposal, if any, which no coarser one may exceed."""
            known = bounds.get(key)
            if known is None:
                bounds[key] = answer  # a cycle sets no bound
                known = min((bounded_bits(parent) for parent in nodes[key].parents if parent in nodes), default=answer)
                counted = counted_bits[key] = self._proposal_bits(kind, size, nodes[key])
                if counted is not None and counted < known:
                    known = counted
                bounds[key] = known
            return known

        def with_bits_of_node(tier: Tier) -> Tier:
            key = keys.get(normalise(tier.text))
            bits = bounded_bits(key) if key else None
            return tier if not key or counted_bits[key] is None else replace(tier, bits=bits)

        first = Level(tiers=tuple(replace(tier, bits=answer) for tier in levels[0].tiers))
        return (first, *(Level(tiers=tuple(map(with_bits_of_node, level.tiers))) for level in levels[1:]))

    def bits_of_answer(self, qid: str, relation: str) -> float | None:
        """The bits of an answer among all answers of the relation in the source, add-one smoothed; None where it has
        no answers.
        """
        total = self._counts.count_entities_with_property(relation)
        return math.log2((total + 1) / (self._counts.count_entities_with_value(relation, qid) + 1)) if total else None

    def bits_of_container(self, qid: str, asked: Relation, kinds: Collection[str]) -> float | None:
        """The bits of lying in a place, in the population for answers of its classes; None where they are unknown."""
        kind = population_of(asked, kinds)
        size = self.population_size(kind) if kind in _LOCATED else 0
        if kind is None or size < 2:
            return None
        condition = Condition(property="self", value=qid)
        return self._proposal_bits(kind, size, Proposal(key=qid, text=qid, qid=qid, conditions=frozenset({condition})))

    def population_size(self, kind: str) -> int:
        """N: the number of members of the population in the whole source."""
        if kind in _LOCATED:
            return self._facets.world.located_total
        if kind == _STATES:
            return len(self._facets.world.states)
        return self._facets.taxa.statement_total if kind == "taxon" else self._facets.population_size(kind)

    def _proposal_bits(self, kind: str, size: int, node: Proposal) -> float | None:
        phrase = without_article(node.text) if any(c.property == "text" for c in node.conditions) else ""
        key = (kind, node.conditions, phrase)
        if key not in self._bits:
            if kind == _STATES:  # every state counts once, and only shares of parts of the world are known
                held = (self._facets.world.state_count_in(c.value) for c in node.conditions if c.property == "self")
                least = min(filter(None, held), default=None)
                self._bits[key] = bits_of_share(least / size) if least else None
            else:
                self._bits[key] = self._facets.bits_of(node.conditions, kind, size, phrase)
        return self._bits[key]


def population_of(asked: Relation, kinds: Collection[str]) -> str | None:
    """The population that the answers of a question are drawn from, as an answer class; None where it is unknown.

    For places, schools and buildings it is every located entity; for questions after a country the sovereign states;
    else the answer's class: persons, record labels, works, genres.
    """
    if asked.asks in _DECIDES:
        return asked.asks
    return next((kind for kind in _ORDER if kind in kinds), None)


def positions_of_tiers_with_rising_bits(levels: Sequence[Level]) -> list[tuple[int, int]]:
    """(level, position), both from 1, of the tiers that have more bits than every finer tier that may entail them.

    Those are the tiers of the level before; also of finer levels where the level before has a tier without bits, or
    where the row has several answers, whose ladders are joined.
    """
    rising = []
    most = math.inf
    several = len(levels[0].tiers) > 1
    for number, level in enumerate(levels, 1):
        bits = [tier.bits for tier in level.tiers]
        known = [amount for amount in bits if amount is not None]
        rising += [(number, at) for at, amount in enumerate(bits, 1) if amount is not None and amount > most]
        here = max(known, default=most)
        unsure = number > 1 and (several or len(known) < len(bits))
        most = max(here, most) if unsure and most < math.inf else here
    return rising
