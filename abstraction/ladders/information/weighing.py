"""Ladders with bits, and the invariant that bits never rise towards coarser levels.

Information content after Resnik 1995, "Using information content to evaluate semantic similarity in a taxonomy": -log2
of the share of a population that has a property. The population is the same for a whole ladder: the possible answers
of the question (`population_of`). The answer is one of its N members, log2(N) bits.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from abstraction.base.relations import Relation
from abstraction.base.tiers import Condition, Level, Tier
from abstraction.ladders.information.counting import ValueCounts
from abstraction.ladders.information.facets import Facets, information
from abstraction.ladders.proposals import ANSWER, Proposal
from abstraction.text.descriptions.attested_words import Vocabulary
from abstraction.text.language.comparable_words import bare
from kg.base.bounded_cache import SizedDict
from kg.base.terms import normalise
from kg.store.protocol import Store

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
_TINY = 1e-9  # rounding error between sums in different orders


class Information:
    """Bits of tiers from one store. The same ladder always gets the same bits.

    `lowered` counts the tiers, once per ladder, whose own counts gave more bits than a finer tier.
    """

    def __init__(self, store: Store, vocabulary: Vocabulary) -> None:
        self._counts = ValueCounts(store)
        self._facets = Facets(self._counts, vocabulary)
        self._bits: SizedDict[tuple[str, frozenset[Condition], str], float | None] = SizedDict(
            KEPT, lambda key, _: 200 + len(key[2]) + sum(200 + len(condition.value) for condition in key[1])
        )
        self.lowered = 0

    def with_bits(
        self,
        levels: Sequence[Level],
        nodes: Mapping[str, Proposal],
        *,
        asked: Relation,
        kinds: Collection[str],
    ) -> tuple[Level, ...]:
        """The levels, the answer's first, with bits; `nodes` are the proposals that the other levels were made from.

        Everything that has a finer tier has the coarser ones too, so n of the coarser tier is at least that of the
        finer. Counts include only what the source states and the snapshot places, and may be too small; then the count
        of the finer tier is the better lower bound of n, and the coarser tier gets its bits.
        """
        kind = population_of(asked, kinds)
        size = self.size(kind) if kind else 0
        if kind is None or size < 2:
            return tuple(levels)
        answer = math.log2(size)
        keys = {normalise(node.text): key for key, node in nodes.items()}
        counted_bits: dict[str, float | None] = {}
        bounds: dict[str, float] = {}

        def bound(key: str) -> float:
            """Bits of a proposal, if any, which no coarser one may exceed."""
            known = bounds.get(key)
            if known is None:
                bounds[key] = answer  # a cycle sets no bound
                known = min((bound(parent) for parent in nodes[key].parents if parent in nodes), default=answer)
                counted = counted_bits[key] = self._bits_of(kind, size, nodes[key])
                if counted is not None and counted < known:
                    known = counted
                elif counted is not None and counted > known + _TINY:
                    self.lowered += 1
                bounds[key] = known
            return known

        def with_bits_of_node(tier: Tier) -> Tier:
            key = keys.get(normalise(tier.text), ANSWER)
            if key == ANSWER:
                return tier
            bits = bound(key)
            return tier if counted_bits[key] is None else replace(tier, bits=bits)

        first = Level(tiers=tuple(replace(tier, bits=answer) for tier in levels[0].tiers))
        return (first, *(Level(tiers=tuple(map(with_bits_of_node, level.tiers))) for level in levels[1:]))

    def bits_of_answer(self, qid: str, relation: str) -> float | None:
        """The bits of an answer among all answers of the relation in the source, add-one smoothed; None for none."""
        total = self._counts.total(relation)
        return math.log2((total + 1) / (self._counts.of(relation, qid) + 1)) if total else None

    def bits_of_container(self, qid: str, asked: Relation, kinds: Collection[str]) -> float | None:
        """The bits of lying in a place, in the population for answers of its classes; None where they are unknown."""
        kind = population_of(asked, kinds)
        size = self.size(kind) if kind in _LOCATED else 0
        if kind is None or size < 2:
            return None
        condition = Condition(property="self", value=qid)
        return self._bits_of(kind, size, Proposal(key=qid, text=qid, qid=qid, conditions=frozenset({condition})))

    def size(self, kind: str) -> int:
        """N: the number of members of the population in the whole source."""
        if kind in _LOCATED:
            return self._facets.world.located
        if kind == _STATES:
            return len(self._facets.world.states)
        return self._facets.taxa.statements if kind == "taxon" else self._facets.size(kind)

    def _bits_of(self, kind: str, size: int, node: Proposal) -> float | None:
        phrase = bare(node.text) if any(c.property == "text" for c in node.conditions) else ""
        key = (kind, node.conditions, phrase)
        if key not in self._bits:
            bits_of = self._bits_of_states if kind == _STATES else self._facets.bits_of
            self._bits[key] = bits_of(node.conditions, kind, size, phrase)
        return self._bits[key]

    def _bits_of_states(self, conditions: Collection[Condition], kind: str, size: float, phrase: str) -> float | None:
        """Bits among countries, where each counts once; only parts of the world can be counted."""
        held = [self._facets.world.states_in(c.value) for c in conditions if c.property == "self"]
        known = [count for count in held if count]
        return information(min(known) / size) if known else None


def population_of(asked: Relation, kinds: Collection[str]) -> str | None:
    """The population that the answers of a question are drawn from, as an answer class; None where it is unknown.

    For places, schools and buildings it is every located entity; for questions after a country the sovereign states;
    else the answer's class: persons, record labels, works, genres.
    """
    if asked.asks in _DECIDES:
        return asked.asks
    return next((kind for kind in _ORDER if kind in kinds), None)


def rising_tiers(levels: Sequence[Level]) -> list[tuple[int, int]]:
    """(level, position), both from 1, of the tiers with more bits than any tier that they may follow from.

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
