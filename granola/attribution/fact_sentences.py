"""The one verbaliser of facts: of ladders' evidence, of a snapshot's statements, of descriptions, as sentences.

Citations of benchmarks are worded by the same templates (`granola.attribution.fact_wording.sentence_of`).
"""

from __future__ import annotations

from collections.abc import Mapping

from abstraction.tiers import Evidence
from granola.attribution.fact_wording import sentence_of
from kg.model import EntityValue, QuantityValue, TextValue, TimeValue

_MONTHS = ("", "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")  # fmt: skip


def step_sentence(step: Evidence) -> str:
    """A step of evidence as a sentence; "" for a model's call, which is no evidence."""

    def named(entity_id: str | None) -> str:
        return step.labels.get(entity_id or "") or entity_id or ""

    if step.kind == "statement":
        return sentence_of(step.property or "", *map(named, (step.subject, step.property, step.value)))
    if step.kind == "description":
        return described(named(step.subject), step.text or "")
    return step.text or "" if step.kind == "rule" else ""


def described(subject: str, description: str) -> str:
    """A description as a sentence about its entity."""
    return f"{subject} is {description}."


def value_words(value: object, named: Mapping[str, str]) -> str:
    """A statement's value as a reader says it, entities and units by `named`; "" for one that has no words here."""
    if isinstance(value, EntityValue):
        return named.get(value.id, "")
    if isinstance(value, TimeValue):
        year = str(value.year) if value.year > 0 else f"{-value.year} BC"
        month = _MONTHS[value.month] if value.month else ""
        return " ".join(part for part in (month, f"{value.day}," if value.day else "", year) if part)
    if isinstance(value, QuantityValue):
        return f"{value.amount} {named.get(value.unit or '', '')}".strip()
    return value.text if isinstance(value, TextValue) else ""
