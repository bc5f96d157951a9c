"""Evidence as the page draws it: rows of entities, relations and quotations, each with its address at WikiData."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from abstraction.base.tiers import Evidence
from granola.report.pages.wikidata_links import address
from kg.base.model import ENTITY_ID

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
