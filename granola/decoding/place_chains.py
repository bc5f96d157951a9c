"""Place chains in responses: "Kunming, Yunnan, China" is that Kunming, whatever its namesakes.

Among those that carry the first name, the one is meant whose own containers are the rest of the chain. Where the
snapshot lacks it, the rest is still said: something in Yunnan, China.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from abstraction.descriptions.place_grammar import variants
from abstraction.descriptions.trimming import spell_countries
from abstraction.linking.gazetteer import PLACES, Gazetteer
from abstraction.linking.linker import Linker
from abstraction.relations import Relation
from abstraction.tiers import Level
from kg.model import entity_number
from kg.store.protocol import NameMatch
from kg.terms import normalise
from kg.walks.graph import Graph

_SIDE = (
    r"(?:(?:north|south|east|west|central)(?:[- ]?(?:east|west))?(?:ern)?\s++(?=[A-ZÀ-Þ]))?"  # "in northern Germany"
)
_PARTED = re.compile(
    rf"(?:(?<!\s)\s++)?+(?:,\s*+(?:in\s++)?{_SIDE}|[()]\s*+)|(?<!\s)\s++in\s++(?:the\s++)?{_SIDE}(?=[A-ZÀ-Þ])"
)
_NEGATED = re.compile(r"(?:not|never|neither|outside)\b(?! far\b)", re.IGNORECASE)  # "not in Hamburg"
LONGEST = 6  # parts of a chain
LadderOf = Callable[[str, Relation], Sequence[Level]]


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """What a response answers: the relation or its stand-in, the ids that the subject may have, the question."""

    asked: Relation
    subjects: tuple[str, ...]
    question: str


def parts_of(text: str) -> tuple[str, ...]:
    """The names in a chain, finest first; empty for a text that is no chain."""
    if _NEGATED.match(text):
        return ()
    parts = tuple(part for part in _PARTED.split(text) if part)
    return parts if 2 <= len(parts) <= LONGEST and all(any(c.isalpha() for c in part) for part in parts) else ()


class Chains:
    """Resolves chains in one graph. Answers depend on the snapshot and the context alone."""

    def __init__(self, graph: Graph, gazetteer: Gazetteer, linker: Linker, ladder_of: LadderOf) -> None:
        """`ladder_of` gives what an entity entails as an answer of a relation."""
        self._ladder_of = ladder_of
        self._graph = graph
        self._gazetteer = gazetteer
        self._linker = linker

    def is_chain(self, parts: Sequence[str]) -> bool:
        """Whether the names behind the first end in a place that the snapshot knows."""
        return len(parts) > 1 and bool(self._known(parts[-1]))

    def resolve(self, parts: Sequence[str], context: AnswerContext) -> str | None:
        """The entity of the first name that lies in the others; None where none is known to.

        A place of a chain speaks against a candidate that lies in another of its class (another state, another
        country). One that is no more, as the German Empire, does not; where all are such, the name alone decides.
        """
        around = [(self._names(part), self._known(part)) for part in parts[1:]]
        agreeing = self._agreeing(self._carriers(parts[0]), around, context)
        most = max(agreeing.values(), default=0)
        best = [qid for qid, agree in agreeing.items() if agree == most]
        past = all(ids and all(map(self._graph.is_historical, ids)) for _, ids in around)
        if len(best) > 1 or (not best and past):
            link = self._linker.link(parts[0], context.asked, subjects=context.subjects, question=context.question)
            if link.qid in best or (past and not link.abstained and link.confidence != "low"):
                return link.qid
        return min(best, key=entity_number, default=None)

    def _carriers(self, name: str) -> list[str]:
        """Ids of the items that carry a name, or may be meant by it where none does."""
        named = [m.id for v in (name, *variants(name)) for m in self._graph.find(v) if m.id[0] == "Q"]
        return list(dict.fromkeys(named or [m.id for m in self._linker.typed.find(name, placed=True)]))

    def _agreeing(
        self, candidates: Sequence[str], around: Sequence[tuple[frozenset[str], list[str]]], context: AnswerContext
    ) -> dict[str, int]:
        """In how many of the places around each candidate lies, of those that lie in one and in no other of its class.

        A place around: its names, and the ids that it may mean.
        """
        self._graph.fetch(candidates)
        agreeing: dict[str, int] = {}
        for qid in candidates:
            above = self._above(qid, context)
            agree = sum(not names.isdisjoint(above) for names, _ in around)
            if not agree or self._linker.given(qid, context.asked).abstained is not None:
                continue
            within = [i for i, _ in self._gazetteer.containers(qid) if i is not None]
            if not any(
                names.isdisjoint(above) and self._gazetteer.lies_elsewhere(within, ids) for names, ids in around
            ):
                agreeing[qid] = agree
        return agreeing

    def _above(self, qid: str, context: AnswerContext) -> frozenset[str]:
        """Names of what contains the entity, by the graph and by its ladder, which reads descriptions further."""
        tiers = (tier for level in self._ladder_of(qid, context.asked)[1:] for tier in level.tiers)
        return self._gazetteer.above(qid).union(normalise(name) for tier in tiers for name in tier.names())

    def fits(self, parts: Sequence[str], context: AnswerContext) -> str | None:
        """The entity of the first name alone, where it lies in no other state than the rest: "Nanjing, China"; or None.

        The snapshot need not know where it lies: then the chain tells.
        """
        link = self._linker.link(parts[0], context.asked, subjects=context.subjects, question=context.question)
        if link.qid is None or link.abstained or link.confidence == "low":
            return None
        around = self.rest(parts, context)
        if around is None:
            return None
        states, theirs = (self._states(qid, context) for qid in (link.qid, around[1]))
        return link.qid if theirs and (not states or states & theirs) else None

    def _states(self, qid: str, context: AnswerContext) -> frozenset[str]:
        tiers = (tier.qid for level in self._ladder_of(qid, context.asked) for tier in level.tiers)
        return frozenset(qid for qid in tiers if qid is not None and self._gazetteer.is_state(qid))

    def rest(self, parts: Sequence[str], context: AnswerContext) -> tuple[str, str] | None:
        """(name, id) of the finest place behind the first name that can be told; None where none can."""
        for start in range(1, len(parts)):
            if start < len(parts) - 1:
                qid = self.resolve(parts[start:], context)
            else:
                link = self._linker.link(
                    parts[start], context.asked, subjects=context.subjects, question=context.question
                )
                qid = None if link.abstained or link.confidence == "low" else link.qid
            if qid is not None:
                shown = self._graph.shown_label(qid)
                return (shown[0] if shown else parts[start]), qid
        return None

    def _known(self, name: str) -> list[str]:
        """Ids of the places that a name in a chain may mean."""
        plain = dict.fromkeys(i for v in (name, *variants(name)) for i in self._gazetteer.known(v))
        return list(plain or dict.fromkeys(m.id for m in self._typed(name)))

    def _names(self, part: str) -> frozenset[str]:
        """What a place around may be called where a name in a chain stands for it."""
        spelled = (part, *variants(part), spell_countries(part), *(m.text for m in self._typed(part)))
        return frozenset(map(normalise, spelled))

    def _typed(self, name: str) -> list[NameMatch]:
        matches = self._linker.typed.find(name, placed=True)
        return [m for m in matches if not PLACES.isdisjoint(self._gazetteer.classes(m.id))]
