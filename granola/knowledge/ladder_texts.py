"""Ladders' evidence, or descriptions, as knowledge texts, to be judged as any others."""

from __future__ import annotations

from collections.abc import Iterable

from abstraction.rows import TieredRow
from abstraction.tiers import Evidence
from granola.attribution.fact_wording import sentence_of
from granola.knowledge.knowledge_items import KnowledgeItem


def evidence_in_words(evidence: Evidence) -> str:
    """A step of evidence as a sentence; empty for what has no words of its own."""
    if evidence.kind == "statement":
        subject, prop, value = (
            evidence.labels.get(part or "") or part or ""
            for part in (evidence.subject, evidence.property, evidence.value)
        )
        return sentence_of(evidence.property or "", subject, prop, value)
    if evidence.kind == "description":
        subject = evidence.labels.get(evidence.subject or "") or evidence.subject or ""
        return f"{subject} is {evidence.text}."
    return ""


def items_of_ladders(rows: Iterable[TieredRow], *, descriptions: bool = False) -> list[KnowledgeItem]:
    """The evidence of each row's tiers as a text to judge, one sentence a step, each once; rows without any have "".

    `descriptions`: those alone.
    """
    items = []
    for row in rows:
        steps = [step for level in row.levels for tier in level.tiers for step in tier.evidence]
        sentences = [evidence_in_words(step) for step in steps if not descriptions or step.kind == "description"]
        topic = str((row.question_entity or {}).get("text") or "")
        items.append(
            KnowledgeItem(
                id=row.id,
                query=row.question,
                topic=topic,
                knowledge=" ".join(dict.fromkeys(sentence for sentence in sentences if sentence)),
                gold=tuple(row.answers),
                source=row.source,
            )
        )
    return items
