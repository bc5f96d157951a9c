"""Replaying evidence: does the snapshot say what a step says, and may the statement be used today?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from abstraction.evidence import value_of
from abstraction.tiers import Evidence
from abstraction.verifying.findings import Finding, Flaw
from kg.model import Entity, Rank, SnakKind, Statement, TimeValue
from kg.walks.graph import Graph
from kg.walks.ranks import has_ended, valid_at


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplayedStep:
    """What a replayed step says of `subject`: the entity `target`, or the `words` of a description or a literal."""

    subject: str
    property: str | None = None
    target: str | None = None
    words: str = ""
    description: str = ""
    start: int = 0


def replay(
    graph: Graph, evidence: Evidence, *, dates: Sequence[TimeValue] = (), own_words: str | None = None
) -> tuple[ReplayedStep | None, list[Finding]]:
    """The step that a piece of evidence makes, None for a rule, a model's call or where nothing stands, and its flaws.

    `dates` are the question's own dates: an ended statement may be used for one that it covers. `own_words` is what
    the row itself says of an answer that the snapshot describes otherwise or not at all.
    """
    if evidence.kind in ("rule", "model"):
        return None, []
    subject = evidence.subject
    entity = graph.entity(subject) if subject else None
    if subject is None or (entity is None and own_words is None):
        return None, [Finding(flaw=Flaw.ENTITY_GONE, detail=str(subject))]
    if evidence.kind == "description":
        return _described(graph, evidence, subject, own_words)
    return _stated(graph, evidence, subject, entity, dates)


def _stated(
    graph: Graph, evidence: Evidence, subject: str, entity: Entity | None, dates: Sequence[TimeValue]
) -> tuple[ReplayedStep | None, list[Finding]]:
    in_words = f"{subject} {evidence.property} {evidence.value}"
    statement = _statement(entity, evidence) if entity is not None else None
    if statement is None:
        return None, [Finding(flaw=Flaw.STATEMENT_GONE, detail=f"{in_words} ({evidence.statement})")]
    if value_of(statement) != evidence.value:
        detail = f"{in_words}: the snapshot says {value_of(statement)}"
        return None, [Finding(flaw=Flaw.STATEMENT_CHANGED, detail=detail)]
    step = ReplayedStep(
        subject=subject,
        property=statement.property,
        target=statement.target,
        words="" if statement.target else evidence.value or "",
    )
    return step, [Finding(flaw=flaw, detail=in_words) for flaw in _unusable(graph, statement, dates)]


def _statement(entity: Entity, evidence: Evidence) -> Statement | None:
    """The entity's statement that the evidence names, or of evidence that names none the one with its value."""
    held = [s for s in entity.statements if s.property == evidence.property]
    by_id = next((s for s in held if s.id == evidence.statement), None)
    if by_id is not None or evidence.statement is not None:
        return by_id
    return next((s for s in held if value_of(s) == evidence.value), None)


def _unusable(graph: Graph, statement: Statement, dates: Sequence[TimeValue]) -> list[Flaw]:
    if statement.rank is Rank.DEPRECATED:
        return [Flaw.STATEMENT_DEPRECATED]
    if any(valid_at(statement, at) for at in dates):
        return []  # it held at the question's date, whatever holds today
    if has_ended(statement):
        return [Flaw.STATEMENT_ENDED]
    if statement.rank is Rank.NORMAL and any(
        s.rank is Rank.PREFERRED and s.kind is SnakKind.VALUE
        for s in graph.statements(statement.subject, statement.property)
    ):
        return [Flaw.STATEMENT_OUTRANKED]
    return []


def _described(
    graph: Graph, evidence: Evidence, subject: str, own_words: str | None
) -> tuple[ReplayedStep | None, list[Finding]]:
    text = evidence.text or ""
    if text not in (graph.description(subject), own_words) or not text:
        detail = f"{subject}: {evidence.text!r}; the snapshot says {graph.description(subject)!r}"
        return None, [Finding(flaw=Flaw.DESCRIPTION_CHANGED, detail=detail)]
    if evidence.span is None:
        return None, [Finding(flaw=Flaw.SPAN_MISSING, detail=f"{subject}: {text!r}")]
    start, end = evidence.span
    if not 0 <= start < end <= len(text) or not text[start:end].strip():
        return None, [Finding(flaw=Flaw.SPAN_OUTSIDE, detail=f"{subject}: [{start}, {end}) of {text!r}")]
    return ReplayedStep(subject=subject, words=text[start:end], description=text, start=start), []
