"""A ladder for the page: its levels, the evidence of each tier with its addresses, the predictions that match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from abstraction.base.tiers import REASONS, Evidence, Tier
from kg.base.model import ENTITY_ID

if TYPE_CHECKING:
    from abstraction.files.rows import TieredRow
    from granola.scoring.items import ItemScore

# The statement ids that WikiData's pages use as anchors; other ids were made for data without ids.
_STATEMENT_ID = re.compile(r"\A[QP][0-9]+\$[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}\Z", re.IGNORECASE)


def address(qid: str, *, prop: str | None = None, statement: str | None = None) -> str | None:
    """The page of an entity at WikiData, at a statement or else at those of `prop`; None for an invalid id."""
    # Ids may come from files of others and are put into an address.
    if not ENTITY_ID.match(qid) or (prop is not None and not ENTITY_ID.match(prop)):
        return None
    page = f"Property:{qid}" if qid.startswith("P") else qid
    # Pages of entities have anchors for statements and for properties.
    anchor = statement if statement and _STATEMENT_ID.match(statement) else prop
    return f"https://www.wikidata.org/wiki/{page}" + (f"#{anchor}" if anchor else "")


_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
# Dates in the form of `abstraction.base.evidence.literal`: a year of four digits or more, month and day optional.
_TIME = re.compile(r"(-?)(\d{4,16})(?:-(\d\d)(?:-(\d\d))?)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidencePart:
    """A part of a row. In a quotation `marked` are the words used, `text` and `after` the text before and after them.
    """

    kind: Literal["entity", "relation", "value", "quote", "reason"]
    text: str
    href: str | None = None
    title: str = ""
    marked: str = ""
    after: str = ""
    language: str = ""


EvidenceRow = tuple[EvidencePart, ...]  # parts that form one line


def entity(entity_id: str, label: str | None) -> EvidencePart:
    """The part for an entity, with its name."""
    return EvidencePart(
        kind="entity", text=label or entity_id, href=address(entity_id), title=entity_id if label else ""
    )


def rows(evidence: Iterable[Evidence]) -> list[EvidenceRow]:
    """A row for each chain of steps: a step that continues from the one before shares its row."""
    out: list[EvidenceRow] = []
    end: str | None = None
    for step in evidence:
        parts = _parts(step)
        # The step starts where the last one ended: its subject is printed once.
        if step.subject is not None and step.subject == end:
            out[-1] = (*out[-1], *parts[1:])
        else:
            out.append(parts)
        end = step.value if step.kind == "statement" else None
    return out


def readable_date(text: str) -> str:
    """A date of evidence as people write it: `4 August 1961`, `March 44 BCE`, `476`; other texts as they are."""
    match = _TIME.fullmatch(text)
    # A month outside 1 to 12 is no date.
    if match is None or int(match[3] or 1) not in range(1, 13):
        return text
    minus, year, month, day = match.groups()
    parts = [*([str(int(day))] if day else []), *([_MONTHS[int(month) - 1]] if month else []), str(int(year))]
    return " ".join([*parts, *(["BCE"] if minus else [])])


def _parts(step: Evidence) -> tuple[EvidencePart, ...]:
    if step.kind == "statement" and step.subject and step.property:
        value = step.value or ""
        href = address(step.subject, prop=step.property, statement=step.statement)
        end = (
            entity(value, step.labels.get(value))
            # A value that is an entity gets a link, any other a readable text.
            if ENTITY_ID.match(value)
            else EvidencePart(kind="value", text=readable_date(value))
        )
        relation = EvidencePart(
            kind="relation", text=step.labels.get(step.property, step.property), href=href, title=step.property
        )
        note = (EvidencePart(kind="reason", text=step.text),) if step.text else ()
        return (entity(step.subject, step.labels.get(step.subject)), relation, end, *note)
    if step.kind == "description" and step.text:
        start, stop = step.span or (len(step.text), len(step.text))
        quote = EvidencePart(
            kind="quote", text=step.text[:start], marked=step.text[start:stop], after=step.text[stop:],
            language=step.language or "",
        )  # fmt: skip
        return (entity(step.subject, step.labels.get(step.subject)), quote) if step.subject else (quote,)
    if step.kind == "model":
        return (EvidencePart(kind="reason", text=f"in a model’s words; {step.check or 'not checked'}"),)
    return (EvidencePart(kind="reason", text=step.text or step.value or step.kind),)


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
