"""Evidence in words."""

from __future__ import annotations

from abstraction.tiers import Evidence


def evidence_line(evidence: Evidence) -> str:
    """One line: a statement as subject, property, value; a description with the words used; a rule."""

    def with_id(entity_id: str | None) -> str:
        label = evidence.labels.get(entity_id or "")
        return f"{label} ({entity_id})" if label else entity_id or "?"

    if evidence.kind == "statement":
        return f"{with_id(evidence.subject)} — {with_id(evidence.property)} — {with_id(evidence.value)}"
    if evidence.kind == "description":
        text = evidence.text or ""
        if evidence.span:
            start, end = evidence.span
            text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
        return f"description of {with_id(evidence.subject)}: “{text}”"
    if evidence.kind == "model":
        return f"written by a model, {evidence.check} (call {(evidence.call or '?')[:12]})"
    return f"rule: {evidence.text}"
