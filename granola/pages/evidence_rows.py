"""Evidence as the page draws it: rows of entities, relations and quotations, each with its address at WikiData."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from abstraction.tiers import Evidence
from granola.pages.wikidata_links import address
from kg.model import ENTITY_ID
from kg.walks.ranks import SetAside

_WHY = {
    SetAside.DEPRECATED: "marked as wrong (deprecated)",
    SetAside.NO_VALUE: "states that there is no value, or none known",
    SetAside.HEDGED: "stated with a reserve",
    SetAside.ENDED: "has ended",
    SetAside.TO_COME: "is still to come",
    SetAside.NOT_PREFERRED: "WikiData prefers another value",
    SetAside.PART: "holds of a part only",
    SetAside.DISPUTED: "disputed",
    SetAside.HISTORICAL: "exists no more",
}
_TIMES = (("from", "start"), ("until", "end"), ("in", "at"))
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
# As `abstraction.evidence.literal` writes times: a year of four digits or more, maybe with month and day.
_TIME = re.compile(r"(-?)(\d{4,16})(?:-(\d\d)(?:-(\d\d))?)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidencePart:
    """A piece of a row. Of a quotation `text` is what stands before the words used, `marked` they, `after` the rest."""

    kind: Literal["entity", "relation", "value", "quote", "reason"]
    text: str
    href: str | None = None
    title: str = ""
    marked: str = ""
    after: str = ""
    language: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceRow:
    """Parts that are read on. `anew` where no row before leads here: another way begins, of the entity `start`."""

    parts: tuple[EvidencePart, ...]
    anew: bool = False
    start: str | None = None


def entity(entity_id: str, label: str | None) -> EvidencePart:
    """An entity by its name."""
    return EvidencePart(
        kind="entity", text=label or entity_id, href=address(entity_id), title=entity_id if label else ""
    )


def rows(evidence: Iterable[Evidence]) -> list[EvidenceRow]:
    """The steps in order; those that lead on from the step before stand in its row."""
    out: list[EvidenceRow] = []
    known: set[str] = set()  # ids that the rows so far have led to, and words of descriptions
    end: str | None = None
    for step in evidence:
        parts = _parts(step)
        if step.subject is not None and step.subject == end:
            out[-1] = EvidenceRow(parts=(*out[-1].parts, *parts[1:]), anew=out[-1].anew, start=out[-1].start)
        else:
            out.append(EvidenceRow(parts=parts, anew=bool(out) and _is_anew(step, known), start=step.subject))
        end = step.value if step.kind == "statement" else None
        known.update(_led_to(step))
    return out


def past(statement: Mapping[str, Any]) -> tuple[EvidenceRow, str]:
    """A statement that does not hold today, as `granola.service.work.entities.set_aside` tells it, and why not."""
    names = statement["names"]
    subject, prop, value = statement["subject"], statement["property"], statement.get("entity")
    href = address(subject, prop=prop, statement=statement["id"])
    value_part = (
        entity(value, names.get(value))
        if value
        else EvidencePart(
            kind="value",
            text=readable_date(statement.get("text") or {"somevalue": "unknown", "novalue": "none"}[statement["kind"]]),
        )
    )
    times = ", ".join(f"{word} {readable_date(statement[key])}" for word, key in _TIMES if statement.get(key))
    why = SetAside(statement["because"])
    reason = times if why is SetAside.ENDED and statement.get("end") else ", ".join(filter(None, (_WHY[why], times)))
    relation = EvidencePart(kind="relation", text=names.get(prop, prop), href=href, title=prop)
    return EvidenceRow(parts=(entity(subject, names.get(subject)), relation, value_part)), reason


def readable_date(text: str) -> str:
    """A date of evidence as people write it: `4 August 1961`, `March 44 BCE`, `476`; other texts as they are."""
    match = _TIME.fullmatch(text)
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


def _is_anew(step: Evidence, known: Collection[str]) -> bool:
    if step.subject is None or step.subject in known:
        return False
    return step.labels.get(step.subject, step.subject).casefold() not in known


def _led_to(step: Evidence) -> Iterable[str]:
    yield from filter(None, (step.subject, step.value))
    if step.text is not None and step.span is not None:
        yield step.text[slice(*step.span)].casefold()
