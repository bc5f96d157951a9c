"""What each condition of a tier tells, in bits, under the facet that it belongs to.

Conditions of one facet overlap (a county and its state, a singer and a musician): together they tell as much as the
rarest of them. The facets of a tier are counted together where the snapshot holds all carriers of one (`Joint`):
share of that one, times the shares of the others among its carriers. Else facets are taken as independent.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from abstraction.classes import anchors
from abstraction.descriptions.attested_words import DESCRIPTIONS_READ, Vocabulary
from abstraction.information.counting import Hierarchy, ValueCounts
from abstraction.information.joint import Joint
from abstraction.information.literal_bits import years_of
from abstraction.information.place_shares import World
from abstraction.properties import with_role
from abstraction.tiers import Condition
from kg.bounded_cache import SizedDict
from kg.model import entity_number
from kg.terms import fallback_chain, normalise

# Kinds whose members are classes: a tier above one of them holds its instances and subclasses.
CLASS_VALUED = frozenset({"genre", "occupation", "language", "position", "office", "award"})
_OF_CLASS = with_role("class")
_HOLDS = {"self": "where", **dict.fromkeys(with_role("where"), "where")}
_FACETS = {**_HOLDS, **{prop: facet for facet in ("nation", "role", "whole", "when") for prop in with_role(facet)}}
_RARE = with_role("rare")
# Properties that are counted together; of where something lies only the state, all else being summed over containers.
_JOINT = with_role("joint")
KEPT = 10_000_000  # characters of phrases that are kept: 40 MB at most
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
            KEPT, lambda key, _: sum(map(len, key)) + 200
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
