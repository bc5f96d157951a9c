"""Ladders under a language model: what it finds of each level surprising, beside the bits that the graph gives it.

And ladders' evidence, or descriptions, as knowledge texts, to be judged as any others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from abstraction.models.prompts import Prompt
from abstraction.rows import TieredRow
from abstraction.tiers import Evidence
from granola.knowledge.knowledge_items import KnowledgeItem
from granola.knowledge.knowledge_prompts import GIVEN_QUERY, as_text
from granola.text_models.text_scorers import Continuation, ContinuationModel


@dataclass(frozen=True, kw_only=True, slots=True)
class LevelSurprise:
    """A tier of a level, from 1: `surprisal` in bits of its text behind the question, `per_token` the same a token.

    `bits` are the graph's, None where it gives none. NaN where the model gave no number.
    """

    row: str
    level: int
    text: str
    surprisal: float
    per_token: float
    bits: float | None

    def to_json(self) -> dict[str, Any]:
        """NaN as null."""
        record = {"id": self.row, "level": self.level, "text": self.text, "surprisal": self.surprisal,
                  "per_token": self.per_token, "bits": self.bits}  # fmt: skip
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value for name, value in record.items()
        }


def level_surprises(
    rows: Sequence[TieredRow], model: ContinuationModel, prompts: Mapping[str, Prompt]
) -> list[LevelSurprise]:
    """Of each level of each row its first tier, in their order."""
    prompt = prompts[GIVEN_QUERY.name]
    tiers = [(row, number, level.tiers[0]) for row in rows for number, level in enumerate(row.levels, 1) if level.tiers]
    asked = [Continuation(as_text(prompt, {"query": row.question}), f" {tier.text}") for row, _, tier in tiers]
    return [
        LevelSurprise(
            row=row.id,
            level=number,
            text=tier.text,
            surprisal=scores.bits,
            per_token=-scores.mean / math.log(2),
            bits=tier.bits,
        )
        for (row, number, tier), scores in zip(tiers, model.token_scores(asked) if asked else [], strict=True)
    ]


def evidence_in_words(evidence: Evidence) -> str:
    """A step of evidence as a sentence; empty for what has no words of its own."""
    if evidence.kind == "statement":
        subject, prop, value = (
            evidence.labels.get(part or "") or part or ""
            for part in (evidence.subject, evidence.property, evidence.value)
        )
        return f"{subject}: {prop} is {value}."
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
