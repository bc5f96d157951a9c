"""Ladders' evidence, or descriptions, as knowledge texts, to be judged as any others."""

from __future__ import annotations

from collections.abc import Iterable

from abstraction.rows import TieredRow
from granola.attribution.fact_sentences import step_sentence
from granola.knowledge.knowledge_items import KnowledgeItem


def items_of_ladders(rows: Iterable[TieredRow], *, descriptions: bool = False) -> list[KnowledgeItem]:
    """The evidence of each row's tiers as a text to judge, one sentence a step, each once; rows without any have "".

    `descriptions`: those alone.
    """
    items = []
    for row in rows:
        steps = [step for level in row.levels for tier in level.tiers for step in tier.evidence]
        kinds = ("description",) if descriptions else ("description", "statement")
        sentences = [step_sentence(step) for step in steps if step.kind in kinds]
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
