"""Making evidence: one step of reasoning, with readable names for the ids in it."""

from __future__ import annotations

from abstraction.descriptions.text import span_of
from abstraction.tiers import Evidence
from kg.graph import Graph
from kg.model import QuantityValue, Statement, TextValue, TimeValue


def from_statement(graph: Graph, statement: Statement) -> Evidence:
    """The statement as evidence; its value as a QID, or literally where it is no entity."""
    ids = [statement.subject, statement.property, *([statement.target] if statement.target else [])]
    labels = {i: label for i in ids if (label := graph.label(i))}
    return Evidence(
        kind="statement",
        subject=statement.subject,
        property=statement.property,
        value=statement.target or literal(statement),
        statement=statement.id,
        labels=labels,
    )


def from_description(graph: Graph, entity_id: str, words: str) -> Evidence:
    """The words of an entity's description that were used; no span where cleaning changed them."""
    text = graph.description(entity_id) or ""
    label = graph.label(entity_id)
    return Evidence(
        kind="description",
        subject=entity_id,
        language=graph.language,
        text=text,
        span=span_of(text, words),
        labels={entity_id: label} if label else {},
    )


def literal(statement: Statement) -> str | None:
    """A value that is no entity, in plain text: ISO-like dates at their precision, amounts with their unit."""
    value = statement.value
    if isinstance(value, TextValue):
        return value.text
    if isinstance(value, TimeValue):
        sign = "-" if value.year < 0 else ""
        parts = [f"{sign}{abs(value.year):04d}"]
        if value.month is not None:
            parts.append(f"{value.month:02d}")
            if value.day is not None:
                parts.append(f"{value.day:02d}")
        return "-".join(parts)
    if isinstance(value, QuantityValue):
        return f"{value.amount}" + (f" {value.unit}" if value.unit else "")
    return None
