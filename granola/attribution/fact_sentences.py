"""The one verbaliser of facts: of ladders' evidence and of descriptions, as sentences.

Citations of benchmarks are worded by the same templates (`granola.attribution.fact_wording.sentence_of`).
"""

from __future__ import annotations

from abstraction.tiers import Evidence
from granola.attribution.fact_wording import sentence_of


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
