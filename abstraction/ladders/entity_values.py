"""Entities that statements point to, and the tiers that name them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from abstraction.base.evidence import from_statement
from abstraction.base.tiers import Condition, Evidence
from abstraction.ladders.phrase_parts import states
from abstraction.ladders.proposals import ANSWER, Proposal
from kg.base.model import Statement
from kg.graph.graph import Graph


@dataclass(frozen=True, slots=True)
class NamedValue:
    """The entity that a statement points to, with its label."""

    graph: Graph
    statement: Statement
    qid: str
    label: str

    @property
    def evidence(self) -> Evidence:
        """The statement as evidence."""
        return from_statement(self.graph, self.statement)

    @property
    def conditions(self) -> frozenset[Condition]:
        """The value of the statement as conditions of a tier."""
        return states(self.statement.property, self.qid)


def named_values(graph: Graph, statements: Iterable[Statement]) -> list[NamedValue]:
    """The values of statements that are entities with a label, in their order."""
    return [
        NamedValue(graph, statement, statement.target, label)
        for statement in statements
        if statement.target and (label := graph.label(statement.target))
    ]


def current_values(graph: Graph, entity_id: str, prop: str) -> list[NamedValue]:
    """The present values of a property that are entities with a label."""
    return named_values(graph, graph.current(entity_id, prop))


def entity_proposal(
    graph: Graph,
    qid: str,
    label: str,
    evidence: tuple[Evidence, ...],
    conditions: frozenset[Condition],
    *,
    parents: tuple[str, ...] = (ANSWER,),
    order: int = 0,
) -> Proposal:
    """The tier that names an entity: its label as the text, its other names as aliases."""
    return Proposal(
        key=qid,
        text=label,
        parents=parents,
        qid=qid,
        aliases=tuple(name for name in graph.names(qid) if name != label),
        evidence=evidence,
        conditions=conditions,
        order=order,
    )
