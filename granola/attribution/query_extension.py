"""Queries made more complex: a union of namesakes, or one more triple at the head or at the answer.

Hu et al. 2025 (CAQA), section 3.3 and Table 3. The rule lets the triple at the answer enter it, the examples of the
paper's appendix let it leave: `AnswerEdge`. What is done where a drawn option is impossible is not stated there:
`Impossible`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from granola.attribution.relation_table import RelationValues, excluded
from kg.queries import Branch, Grounding, Hop, LogicalQuery, Shape, StoreFacts
from kg.queries.query_mining import name_of, namesakes


class Extension(StrEnum):
    """What was done to a query."""

    NONE = "none"
    UNION = "union"
    HEAD = "head"
    ANSWER = "answer"


class AnswerEdge(StrEnum):
    """Whether a triple added at the answer leads to it, as the rule says, or away from it, as the examples do."""

    ENTERS = "enters"
    LEAVES = "leaves"


class HeadEntity(StrEnum):
    """Whether a query names the entity that a new head leads to, or the head alone."""

    NAMED = "named"
    HIDDEN = "hidden"


class Impossible(StrEnum):
    """What becomes of a query for which the drawn option is impossible: it stays as it is, or another is drawn."""

    UNCHANGED = "unchanged"
    REDRAWN = "redrawn"


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtensionSettings:
    """`hub`: values that more entities have, and entities met by more than that, are not added."""

    answer_edge: AnswerEdge = AnswerEdge.ENTERS
    head: HeadEntity = HeadEntity.NAMED
    impossible: Impossible = Impossible.UNCHANGED
    hub: int = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtendedQuery:
    """A query after it was extended; `drawn` is what was to be done, `made` what could be."""

    query: LogicalQuery
    drawn: Extension
    made: Extension


_OPTIONS = {
    Shape.SINGLE: (Extension.UNION, Extension.HEAD, Extension.ANSWER, Extension.NONE),
    Shape.PATH: (Extension.HEAD, Extension.ANSWER),
    Shape.TREE: (Extension.HEAD, Extension.ANSWER),
    Shape.UNION: (Extension.NONE,),
}  # equally likely


class QueryExtender:
    """Extends queries over a store."""

    def __init__(
        self, facts: StoreFacts, settings: ExtensionSettings | None = None, values: RelationValues | None = None
    ) -> None:
        self._facts = facts
        self._values = values or RelationValues(facts)
        self._settings = settings or ExtensionSettings()

    def extended(self, grounding: Grounding, drawing: random.Random) -> ExtendedQuery:
        """One option, drawn, and what is done where it is impossible. The result is to be grounded anew."""
        query = grounding.query
        options = list(_OPTIONS[query.shape])
        drawing.shuffle(options)
        tried = options if self._settings.impossible is Impossible.REDRAWN else options[:1]
        for option in tried:
            made = self._made(option, grounding, drawing)
            if made is not None:
                return ExtendedQuery(query=made, drawn=options[0], made=option)
        return ExtendedQuery(query=query, drawn=options[0], made=Extension.NONE)

    def _made(self, option: Extension, grounding: Grounding, drawing: random.Random) -> LogicalQuery | None:
        if option is Extension.NONE:
            return grounding.query
        if option is Extension.UNION:
            return self._union(grounding.query)
        return self._head(grounding, drawing) if option is Extension.HEAD else self._answer(grounding, drawing)

    def _union(self, query: LogicalQuery) -> LogicalQuery | None:
        branch = query.branches[0]
        hop = branch.hops[0]
        if not hop.forward:
            return None
        others = namesakes(self._facts, [branch.start]).get(branch.start, [])
        same = [entity_id for entity_id in others if self._facts.targets(entity_id, hop)]
        branches = (branch, *(Branch(start=entity_id, hops=branch.hops) for entity_id in same))
        return LogicalQuery(branches=branches, union=True) if same else None

    def _head(self, grounding: Grounding, drawing: random.Random) -> LogicalQuery | None:
        query = grounding.query
        at = drawing.randrange(len(query.branches))
        branch = query.branches[at]
        edge = self._leading_to(branch.start, grounding, drawing)
        if edge is None:
            return None
        start, hop = edge
        named = branch.start if self._settings.head is HeadEntity.NAMED else None
        longer = Branch(start=start, hops=(hop, *branch.hops), via=(named, *branch.via))
        return LogicalQuery(branches=(*query.branches[:at], longer, *query.branches[at + 1 :]))

    def _answer(self, grounding: Grounding, drawing: random.Random) -> LogicalQuery | None:
        answer = drawing.choice(grounding.answers)
        if self._settings.answer_edge is AnswerEdge.ENTERS:
            edge = self._leading_to(answer, grounding, drawing)
        else:
            edge = self._led_to(answer, grounding, drawing)
        if edge is None:
            return None
        start, hop = edge
        return LogicalQuery(branches=(*grounding.query.branches, Branch(start=start, hops=(hop,))))

    def _leading_to(self, target: str, grounding: Grounding, drawing: random.Random) -> tuple[str, Hop] | None:
        """An entity outside the query and a relation that is not in it, which leads to `target`."""
        store = self._facts.store
        inside = grounding.query.properties
        pairs = [(prop, target) for prop in self._values.leading_to(target) if prop not in inside]
        counts = store.value_counts(pairs)
        few = [pair for pair in pairs if 0 < counts.get(pair, 0) <= self._settings.hub]
        drawing.shuffle(few)
        for pair in few[:4]:
            carriers = store.referrers([pair], limit=self._settings.hub).get(pair, [])
            entities = self._usable(carriers, grounding)
            if entities:
                return drawing.choice(entities), Hop(property=pair[0])
        return None

    def _led_to(self, target: str, grounding: Grounding, drawing: random.Random) -> tuple[str, Hop] | None:
        """An entity that the answer leads to by a relation that is not in the query."""
        entity = self._facts.entity(target)
        barred = grounding.query.properties | excluded()
        edges = [
            (statement.target, Hop(property=statement.property, forward=False))
            for statement in (entity.statements if entity is not None else ())
            if statement.target is not None and statement.property not in barred
        ]
        usable = set(self._usable([reached for reached, _ in edges], grounding))
        edges = [edge for edge in edges if edge[0] in usable]
        return drawing.choice(edges) if edges else None

    def _usable(self, ids: Sequence[str], grounding: Grounding) -> list[str]:
        taken = {
            entity_id for fact in grounding.facts() for entity_id in (fact.subject, fact.object)
        } | grounding.query.given
        names = {name_of(self._facts.entity(entity_id)) for entity_id in taken}
        self._facts.fetch(ids)
        name_by_id = {
            entity_id: name_of(self._facts.entity(entity_id))
            for entity_id in ids
            if entity_id.startswith("Q") and entity_id not in taken
        }
        return [entity_id for entity_id, name in name_by_id.items() if name is not None and name not in names]
