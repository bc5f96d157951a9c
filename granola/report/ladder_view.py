"""A ladder in words and on pages: the evidence of each tier with its addresses at WikiData."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from abstraction.base.tiers import Evidence
from kg.base.model import ENTITY_ID

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
# Dates in the form of `abstraction.base.tiers.literal_text`: a year of four digits or more, month and day optional.
_TIME = re.compile(r"(-?)(\d{4,16})(?:-(\d\d)(?:-(\d\d))?)?")
# The statement ids that WikiData's pages use as anchors; other ids were made for data without ids.
_STATEMENT_ID = re.compile(r"\A[QP][0-9]+\$[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}\Z", re.IGNORECASE)


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


# Evidence as pages draw it.


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidencePart:
    """A part of a row. In a quotation `marked` are the words used, `text` and `after` the text before and after them.
    """

    kind: Literal["entity", "relation", "value", "quote", "reason"]
    text: str
    href: str | None = None
    marked: str = ""
    after: str = ""
    language: str = ""


EvidenceRow = tuple[EvidencePart, ...]  # parts that form one line


def wikidata_url(qid: str, *, prop: str | None = None, statement: str | None = None) -> str | None:
    """The page of an entity at WikiData, at a statement or else at those of `prop`; None for an invalid id."""
    # Ids may come from files of others and are put into an address.
    if not ENTITY_ID.match(qid) or (prop is not None and not ENTITY_ID.match(prop)):
        return None
    page = f"Property:{qid}" if qid.startswith("P") else qid
    # Pages of entities have anchors for statements and for properties.
    anchor = statement if statement and _STATEMENT_ID.match(statement) else prop
    return f"https://www.wikidata.org/wiki/{page}" + (f"#{anchor}" if anchor else "")


def evidence_rows(evidence: Iterable[Evidence]) -> list[EvidenceRow]:
    """A row for each chain of steps: a step that continues from the one before shares its row."""
    out: list[EvidenceRow] = []
    end: str | None = None
    for step in evidence:
        parts = _parts_of_step(step)
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


def _parts_of_step(step: Evidence) -> tuple[EvidencePart, ...]:
    def link_to_entity(entity_id: str) -> EvidencePart:
        return EvidencePart(kind="entity", text=step.labels.get(entity_id) or entity_id, href=wikidata_url(entity_id))

    if step.kind == "statement" and step.subject and step.property:
        value = step.value or ""
        href = wikidata_url(step.subject, prop=step.property, statement=step.statement)
        relation = EvidencePart(kind="relation", text=step.labels.get(step.property, step.property), href=href)
        # A value that is an entity gets a link, any other a readable text.
        end = link_to_entity(value) if ENTITY_ID.match(value) else EvidencePart(kind="value", text=readable_date(value))
        note = (EvidencePart(kind="reason", text=step.text),) if step.text else ()
        return (link_to_entity(step.subject), relation, end, *note)
    if step.kind == "description" and step.text:
        start, stop = step.span or (len(step.text), len(step.text))
        quote = EvidencePart(
            kind="quote", text=step.text[:start], marked=step.text[start:stop], after=step.text[stop:],
            language=step.language or "",
        )  # fmt: skip
        return (link_to_entity(step.subject), quote) if step.subject else (quote,)
    if step.kind == "model":
        return (EvidencePart(kind="reason", text=f"in a model’s words; {step.check or 'not checked'}"),)
    return (EvidencePart(kind="reason", text=step.text or step.value or step.kind),)
