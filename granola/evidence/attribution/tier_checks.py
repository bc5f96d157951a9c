"""Tiers as attribution items: their evidence as citations, and whether it supports them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from abstraction.base.tiers import Evidence, Tier
from abstraction.files.rows import TieredRow
from abstraction.verifying.entailment import EntailmentChecker
from abstraction.verifying.verdicts import Flaw, TierCheck
from granola.evidence.attribution.categories import Category
from granola.evidence.attribution.fact_wording import sentence_of
from kg.store.protocol import Store

# flaws by which the evidence leads to something else
_CONTRADICTS = frozenset({Flaw.OTHER_CONCLUSION, Flaw.STATEMENT_CHANGED, Flaw.DESCRIPTION_CHANGED, Flaw.RULE_WRONG})
# flaws by which the evidence is absent
_MISSES = frozenset({Flaw.NO_EVIDENCE, Flaw.ENTITY_GONE, Flaw.STATEMENT_GONE, Flaw.WRONG_PROPERTY})


@dataclass(frozen=True, kw_only=True, slots=True)
class TierAttribution:
    """The relation of the evidence of one tier to it; None where undecidable. `flaws`: why it is not supportive."""

    row: str
    level: int
    position: int
    text: str
    citations: tuple[str, ...]
    category: Category | None
    flaws: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The JSON row in files and in replies of the service."""
        return {
            "row": self.row, "level": self.level, "tier": self.position, "text": self.text,
            "citations": list(self.citations), "category": None if self.category is None else str(self.category),
            "flaws": list(self.flaws),
        }  # fmt: skip


class TierAttributor:
    """Checks tiers in one snapshot by replaying their evidence and following the chain from the answer."""

    def __init__(self, store: Store, *, language: str = "en") -> None:
        self._checker = EntailmentChecker(store, language=language)

    @property
    def held(self) -> int:
        """The number of entities in the cache."""
        return self._checker.graph.held

    def checked(self, row: TieredRow) -> list[TierAttribution]:
        """The outcome for each tier above the answer, in the order of the row."""
        outcomes = []
        for check in self._checker.check(row):
            tier = row.levels[check.level - 1].tiers[check.position - 1]
            outcomes.append(
                TierAttribution(
                    row=row.id,
                    level=check.level,
                    position=check.position,
                    text=check.text,
                    citations=citations_of(tier),
                    category=category_of(check),
                    flaws=tuple(f"{finding.flaw}: {finding.detail}" for finding in check.findings),
                )
            )
        return outcomes


def category_of(check: TierCheck) -> Category | None:
    """The category for the outcome of a check.

    Contradictory: the steps lead to another entity, or the snapshot now states otherwise. Irrelevant: no step is
    valid. Partially supportive: a step is missing or outdated, or does not cover all words.
    """
    if check.status == "unchecked":
        return None
    flaws = {finding.flaw for finding in check.findings}
    # A rise of bits is a flaw of the order of levels, not of the evidence.
    if check.status == "entailed" or flaws <= {Flaw.BITS_RISE}:
        return Category.SUPPORTIVE
    if flaws & _CONTRADICTS:
        return Category.CONTRADICTORY
    return Category.IRRELEVANT if flaws - {Flaw.BITS_RISE} <= _MISSES else Category.PARTIAL


def citations_of(tier: Tier) -> tuple[str, ...]:
    """The evidence of a tier as sentences, worded as citations; calls of a model are omitted."""
    return tuple(dict.fromkeys(text for step in tier.evidence if (text := _sentence(step))))


def _sentence(step: Evidence) -> str:
    ends = (step.subject, step.property, step.value)
    subject, label, value = (step.labels.get(one or "") or one or "" for one in ends)
    if step.kind == "statement":
        return sentence_of(step.property or "", subject, label, value)
    if step.kind == "description":
        return f"{subject} is {step.text or ''}."
    return step.text or "" if step.kind == "rule" else ""
