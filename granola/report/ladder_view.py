"""A ladder for the page: its levels, the evidence of each tier, and the predictions that match a level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from abstraction.base.tiers import REASONS, Evidence, Tier
from granola.report.pages.evidence_rows import EvidencePart, EvidenceRow, entity, rows

if TYPE_CHECKING:
    from abstraction.files.rows import TieredRow
    from granola.scoring.items import ItemScore

# Evidence in words.


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
            # Brackets mark the words from which the tier was read.
            text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
        return f"description of {with_id(evidence.subject)}: “{text}”"
    if evidence.kind == "model":
        return f"written by a model, {evidence.check} (call {(evidence.call or '?')[:12]})"
    return f"rule: {evidence.text}"


# The ladder.


SHOWN_ALIASES = 8  # names of a tier that the page lists; more hide the ladder
LONGEST = 90  # characters of a prediction shown with its level


@dataclass(frozen=True, kw_only=True, slots=True)
class TierView:
    """A tier, its item at WikiData where it has one, and the steps that entail it; `more` aliases are not shown.

    `language` is that of the text where it is known, `is_foreign` where it is another than the row's.
    """

    text: str
    language: str
    is_foreign: bool
    link: EvidencePart | None
    bits: float | None
    aliases: Sequence[str]
    more: int
    evidence: Sequence[EvidenceRow]


@dataclass(frozen=True, kw_only=True, slots=True)
class LevelView:
    """The tiers of a level, and by system the shortened predictions that matched it."""

    tiers: Sequence[TierView]
    matched: Sequence[tuple[str, str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class LadderView:
    """The levels, finest first, the most bits that a tier has, and why there is no coarser answer."""

    levels: Sequence[LevelView]
    most_bits: float
    abstained: str
    reason: str


def gold(row: TieredRow) -> str:
    """The gold answers, each once."""
    return " / ".join(dict.fromkeys(row.answers))


def shorten_prediction(text: str) -> str:
    """At most LONGEST characters of a text."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def view_ladder(row: TieredRow, scored: Sequence[tuple[str, ItemScore]]) -> LadderView:
    """The row's ladder with the items of systems."""
    from granola.scoring.items import language_of

    return LadderView(
        levels=[
            LevelView(
                tiers=[_view_tier(tier, language_of(row) or "") for tier in level.tiers],
                matched=[
                    (system, shorten_prediction(item.prediction or ""))
                    for system, item in scored
                    if item.verdict and item.verdict.level == number
                ],
            )
            for number, level in enumerate(row.levels, start=1)
        ],
        most_bits=max((tier.bits or 0.0 for level in row.levels for tier in level.tiers), default=0.0),
        abstained=row.abstained or "",
        reason=REASONS.get(row.abstained, "") if row.abstained else "",
    )


def _view_tier(tier: Tier, row_language: str) -> TierView:
    return TierView(
        text=tier.text,
        language=tier.language or row_language,
        is_foreign=tier.language is not None,
        link=entity(tier.qid, None) if tier.qid is not None else None,
        bits=tier.bits,
        aliases=tier.aliases[:SHOWN_ALIASES],
        more=max(0, len(tier.aliases) - SHOWN_ALIASES),
        evidence=rows(tier.evidence),
    )
