"""Extensions of queries: a union of namesakes, or one triple added at the head or at the answer.

Hu et al. 2025 (CAQA), section 3.3 and Table 3. A triple at the head replaces the name of its target in the question by
its own subject, so that it is needed for the answer. A triple at the answer enters it by the rule, but leaves it in
the examples of the appendix: `AnswerEdge`. A query whose drawn extension is impossible stays as it is; the paper
leaves this open.
"""

from __future__ import annotations

import random
from collections.abc import Sequence, Set
from enum import StrEnum

from granola.evidence.attribution.relation_table import (
    RelationValues,
    follow_up_relations,
    known_properties,
    relations_asked_together,
)
from kg.graph.logical_query import Branch, Grounding, Hop, LogicalQuery, Shape, StoreFacts
from kg.graph.query_mining import name_of, namesakes

HUB = 500  # values of more entities are not added: such a fact ("is human") identifies nothing
_TRIED = 4  # relations tried per query; each costs a read of the store


class Extension(StrEnum):
    """The kind of extension."""

    NONE = "none"
    UNION = "union"
    HEAD = "head"
    ANSWER = "answer"


class AnswerEdge(StrEnum):
    """The direction of a triple added at the answer: into it, as the rule says, or out of it, as the examples do."""

    ENTERS = "enters"
    LEAVES = "leaves"


_OPTIONS = {
    Shape.SINGLE: (Extension.UNION, Extension.HEAD, Extension.ANSWER, Extension.NONE),
    Shape.PATH: (Extension.HEAD, Extension.ANSWER),
    Shape.TREE: (Extension.HEAD, Extension.ANSWER),
    Shape.UNION: (Extension.NONE,),
}  # equally likely


class QueryExtender:
    """Extends queries over a store."""

    def __init__(
        self, facts: StoreFacts, values: RelationValues, *, answer_edge: AnswerEdge = AnswerEdge.ENTERS
    ) -> None:
        self._facts = facts
        self._values = values
        self._answer_edge = answer_edge

    def extend(self, grounding: Grounding, drawing: random.Random) -> tuple[Extension, LogicalQuery | None]:
        """Draw an extension; return it with the extended query, not yet grounded, or None where impossible."""
        option = drawing.choice(_OPTIONS[grounding.query.shape])
        if option is Extension.UNION:
            return option, self._add_namesakes(grounding.query)
        if option is Extension.HEAD:
            return option, self._add_at_head(grounding, drawing)
        return option, self._add_at_answer(grounding, drawing) if option is Extension.ANSWER else None

    def _add_namesakes(self, query: LogicalQuery) -> LogicalQuery | None:
        branch = query.branches[0]
        hop = branch.hops[0]
        if not hop.forward:
            return None
        others = namesakes(self._facts, [branch.start]).get(branch.start, [])
        same = [entity_id for entity_id in others if self._facts.targets(entity_id, hop)]
        branches = (branch, *(Branch(start=entity_id, hops=branch.hops) for entity_id in same))
        return LogicalQuery(branches=branches, union=True) if same else None

    def _add_at_head(self, grounding: Grounding, drawing: random.Random) -> LogicalQuery | None:
        """Replace a start entity by another from which one relation leads to it alone: "the spouse of Anna Scott".

        Only for branches with a single hop: "the star of the work that another is based on" is not a natural question.
        """
        branches = grounding.query.branches
        at = drawing.randrange(len(branches))
        branch = branches[at]
        if len(branch.hops) > 1:
            return None
        relations = {one for one, asked in follow_up_relations().items() if branch.hops[0].property in asked}
        edge = self._edge_to(branch.start, grounding, drawing, relations - grounding.query.properties)
        # "The child of X" is ambiguous if X has several.
        if edge is None or len(self._facts.targets(*edge)) > 1:
            return None
        longer = Branch(start=edge[0], hops=(edge[1], *branch.hops))
        return LogicalQuery(branches=(*branches[:at], longer, *branches[at + 1 :]))

    def _add_at_answer(self, grounding: Grounding, drawing: random.Random) -> LogicalQuery | None:
        answer, branches = drawing.choice(grounding.answers), grounding.query.branches
        if self._answer_edge is AnswerEdge.ENTERS:
            together = [set(relations_asked_together().get(branch.hops[-1].property, ())) for branch in branches]
            edge = self._edge_to(answer, grounding, drawing, set.intersection(*together))
        else:
            edge = self._edge_from(answer, grounding, drawing)
        return LogicalQuery(branches=(*branches, Branch(start=edge[0], hops=(edge[1],)))) if edge else None

    def _edge_to(
        self, target: str, grounding: Grounding, drawing: random.Random, relations: Set[str]
    ) -> tuple[str, Hop] | None:
        """An entity outside the query and one of the relations, by which it leads to `target`."""
        pairs = [(prop, target) for prop in self._values.relations_to(target) if prop in relations]
        counts = self._facts.store.value_counts(pairs)
        # Count first: listing the subjects of a hub is expensive.
        few = [pair for pair in pairs if 0 < counts.get(pair, 0) <= HUB]
        drawing.shuffle(few)
        for pair in few[:_TRIED]:
            carriers = self._facts.store.referrers([pair], limit=HUB).get(pair, [])
            if entities := self._usable_entities(carriers, grounding):
                return drawing.choice(entities), Hop(property=pair[0])
        return None

    def _edge_from(self, target: str, grounding: Grounding, drawing: random.Random) -> tuple[str, Hop] | None:
        """A value of the answer, by a relation that the query does not use."""
        edges = [
            (value, Hop(property=prop, forward=False))
            for prop in sorted(set(known_properties()) - grounding.query.properties)
            for value in self._facts.targets(target, Hop(property=prop))
        ]
        # One read of the store for all targets.
        usable = set(self._usable_entities([reached for reached, _ in edges], grounding))
        edges = [edge for edge in edges if edge[0] in usable]
        return drawing.choice(edges) if edges else None

    def _usable_entities(self, ids: Sequence[str], grounding: Grounding) -> list[str]:
        """The entities that have a name, are outside the query, and share no name with its entities."""
        taken = grounding.entities
        names = {None, *(name_of(self._facts.entity(entity_id)) for entity_id in taken)}
        self._facts.fetch(ids)
        others = (entity_id for entity_id in ids if entity_id.startswith("Q") and entity_id not in taken)
        return [one for one in others if name_of(self._facts.entity(one)) not in names]
