"""Place chains in responses: "Kunming, Yunnan, China" is the Kunming in Yunnan, not a namesake.

If the snapshot lacks the first place, the rest is still entailed: a place in Yunnan, China. Several countries in a row
are several answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from abstraction.base.relations import Relation
from abstraction.base.tiers import Level
from abstraction.linking.gazetteer import Gazetteer
from abstraction.linking.linker import Link, Linker
from abstraction.text.descriptions.place_grammar import variants
from kg.graph.graph import Graph

_SIDE = (
    r"(?:(?:north|south|east|west|central)(?:[- ]?(?:east|west))?(?:ern)?\s++(?=[A-ZÀ-Þ]))?"  # "in northern Germany"
)
_SEPARATOR = re.compile(
    rf"(?:(?<!\s)\s++)?+(?:,\s*+(?:(?:and|in)\s++)?{_SIDE}|[()]\s*+)|(?<!\s)\s++in\s++(?:the\s++)?{_SIDE}(?=[A-ZÀ-Þ])"
)
_NEGATED = re.compile(r"(?:not|never|neither|outside)\b(?! far\b)", re.IGNORECASE)  # "not in Hamburg"
LONGEST = 6  # parts of a chain; longer lists are not chains
LadderOf = Callable[[str, Relation], Sequence[Level]]


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """The context of a response: the relation or its substitute, candidate ids of the subject, and the question."""

    asked: Relation
    subjects: tuple[str, ...]
    question: str


def parts_of(text: str) -> tuple[str, ...]:
    """The names in a chain, finest first; empty for other texts."""
    if _NEGATED.match(text):
        return ()
    parts = tuple(part for part in _SEPARATOR.split(text) if part)
    return parts if 2 <= len(parts) <= LONGEST and all(any(c.isalpha() for c in part) for part in parts) else ()


def unambiguous_entity(link: Link, gazetteer: Gazetteer) -> str | None:
    """The entity of a link; of several candidates the only sovereign state: "Lebanon" among towns of that name."""
    if link.abstained or link.confidence != "low" or not link.rivals:
        return None if link.abstained else link.qid
    states = [qid for qid in (link.qid, *link.rivals) if qid is not None and gazetteer.is_state(qid)]
    return states[0] if len(states) == 1 else None


class Chains:
    """Resolves chains in one graph; results depend on the snapshot and the context alone."""

    def __init__(self, graph: Graph, gazetteer: Gazetteer, linker: Linker, ladder_of: LadderOf) -> None:
        """`ladder_of` returns what an entity entails as an answer to a relation."""
        self._graph = graph
        self._gazetteer = gazetteer
        self._linker = linker
        self._ladder_of = ladder_of

    def is_chain(self, parts: Sequence[str]) -> bool:
        """Whether the last part is a place in the snapshot."""
        return len(parts) > 1 and any(self._gazetteer.places_named(name) for name in (parts[-1], *variants(parts[-1])))

    def entity(self, parts: Sequence[str], context: AnswerContext) -> str | None:
        """The entity of the first part: one inside all other parts, or an unambiguous one in the same state.

        None if there is none. In the second case the snapshot need not contain the full chain of containers: "Nanjing,
        China".
        """
        inside = self._link(", ".join(parts), context)
        if inside is None and len(parts) > 2:  # places in between may be missing from the snapshot
            inside = self._link(f"{parts[0]}, {parts[-1]}", context)
        # The full name matches: no namesake can be meant.
        if len(parts) == 1 or (inside is not None and self._graph.label(inside) == parts[0]):
            return inside
        first = None if parts[0].islower() else self._link(parts[0], context)  # "a country" is no name
        rest = None if first is None else self.rest_of_chain(parts, context)
        if first is None or rest is None:
            return inside
        # A first part in another state than the rest is a namesake.
        states, theirs = self._states_of(first, context), self._states_of(rest[1], context)
        return first if theirs and (not states or states & theirs) else inside

    def rest_of_chain(self, parts: Sequence[str], context: AnswerContext) -> tuple[str, str] | None:
        """(name, id) of the finest part after the first that can be resolved; None if there is none."""
        for start in range(1, len(parts)):
            if (qid := self.entity(parts[start:], context)) is not None:
                return parts[start], qid
        return None

    def is_list(self, parts: Sequence[str], context: AnswerContext) -> bool:
        """Whether the parts are several countries: "Austria, Germany" where the question is for a country."""
        if context.asked.asks == "country":
            return True
        linked = [self._link(part, context) for part in parts]
        return all(qid is not None and self._gazetteer.is_state(qid) for qid in linked)

    def _link(self, name: str, context: AnswerContext) -> str | None:
        link = self._linker.link(name, context.asked, subjects=context.subjects, question=context.question)
        return unambiguous_entity(link, self._gazetteer)

    def _states_of(self, qid: str, context: AnswerContext) -> frozenset[str]:
        tiers = (tier.qid for level in self._ladder_of(qid, context.asked) for tier in level.tiers)
        return frozenset(qid for qid in tiers if qid is not None and self._gazetteer.is_state(qid))
