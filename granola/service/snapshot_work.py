"""Pieces of work on the snapshot, by the library, for the thread that reads it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from abstraction.base.faults import RejectedRow
from abstraction.base.tiers import literal
from abstraction.files.rows import QARow, TieredRow
from granola.service.problems import HTTPProblem
from granola.service.snapshots import SnapshotSession
from kg.base.model import (
    ENTITY_ID,
    Entity,
    EntityValue,
    OtherValue,
    QuantityValue,
    Snak,
    Statement,
    TextValue,
    TimeValue,
    best_text,
    fallback_chain,
)
from kg.graph.graph import END, POINT, START, current
from kg.store.protocol import NameMatch

SLICE_SECONDS = 0.02  # how long a batch keeps its reader before others have their turn
SLICE_ROWS = 100
NAMES_AN_ENTITY = 5  # that begin alike, of those which complete what is typed


class Batch:
    """The rows of a batch's answer, made slice by slice: a ladder each, or why there is none."""

    def __init__(self, rows: Sequence[QARow | RejectedRow], *, language: str, linker: str) -> None:
        self._rows = rows
        self._language = language
        self._linker = linker
        self._made: Iterator[TieredRow | RejectedRow] | None = None

    def slice(self, session: SnapshotSession) -> list[TieredRow | RejectedRow]:
        """The next rows, for as long as a turn takes; none where all have been made."""
        self._made = self._made or self._make(session)
        until = time.monotonic() + SLICE_SECONDS
        rows = []
        for row in self._made:
            rows.append(row)
            if len(rows) >= SLICE_ROWS or time.monotonic() > until:
                break
        return rows

    def _make(self, session: SnapshotSession) -> Iterator[TieredRow | RejectedRow]:
        questions = (row for row in self._rows if isinstance(row, QARow))
        made = session.maker(self._language, self._linker).make_each(questions)
        for row in self._rows:
            if isinstance(row, QARow):
                session.count_question(row)
            yield next(made) if isinstance(row, QARow) else row


def named(session: SnapshotSession, ids: Iterable[str], language: str) -> dict[str, dict[str, Any]]:
    """Entities briefly: id, label and description in a language or its fallbacks."""
    out = {}
    for entity_id, entity in session.store.entities(list(dict.fromkeys(ids)), properties=()).items():
        label, description = (best_text(terms, language) for terms in (entity.labels, entity.descriptions))
        out[entity_id] = {
            "id": entity.id,
            "label": label[0] if label else None,
            "description": description[0] if description else None,
        }
    return out


def search(session: SnapshotSession, *, name: str, language: str, limit: int, begins: bool) -> dict[str, Any]:
    """Entities that carry a name as label or alias, or one that begins so; upper and lower case do not matter."""
    if begins:
        names = session.store.names_beginning(name, languages=fallback_chain(language), limit=NAMES_AN_ENTITY * limit)
        first: dict[str, NameMatch] = {}  # of each entity, the shortest of its names that begin so
        for match in names:
            if match.id.startswith("Q"):
                first.setdefault(match.id, match)
        matches = list(first.values())
    else:
        matches = session.store.find([name]).get(name, [])
    shown = matches[:limit]
    known = named(session, [match.id for match in shown], language)
    blank = {"label": None, "description": None}
    found = [
        {**blank, **known.get(m.id, {}), "id": m.id, "kind": m.kind, "language": m.language, "text": m.text}
        for m in shown
    ]
    return {"name": name, "found": found, "more": len(matches) - len(shown)}


MOST_STATEMENTS = 2_000


def entity_json(session: SnapshotSession, entity_id: str, *, language: str) -> dict[str, Any]:
    """The entity with names in a language and its fallbacks, and its statements, every rank.

    Raises HTTPProblem for an id that is none, and for one that the snapshot lacks.
    """
    if not ENTITY_ID.match(entity_id):
        raise HTTPProblem(422, "entity-id", "no id of an item or a property; expected Q or P and a number, as in Q42")
    entity: Entity | None = session.store.entities([entity_id]).get(entity_id)
    if entity is None:
        raise HTTPProblem(404, "unknown-entity", f"the snapshot has no {entity_id}")
    chain = fallback_chain(language)
    shown = entity.statements[:MOST_STATEMENTS]
    historical = session.maker(language).graph.is_historical
    by_property: dict[str, list[Statement]] = {}
    for statement in entity.statements:
        by_property.setdefault(statement.property, []).append(statement)
    # The current statements, as ladders use them.
    holds = {one.id for group in by_property.values() for one in current(group, historical=historical)}
    names = named(session, _mentioned_ids(entity, shown), language)
    return {
        "id": entity.id,
        "sitelinks": entity.sitelinks,
        "labels": {code: entity.labels[code] for code in chain if code in entity.labels},
        "descriptions": {code: entity.descriptions[code] for code in chain if code in entity.descriptions},
        "aliases": {code: list(entity.aliases[code]) for code in chain if code in entity.aliases},
        "statements": [_statement_json(statement, statement.id in holds) for statement in shown],
        "more": len(entity.statements) - len(shown),
        "names": {i: name["label"] for i, name in names.items() if name["label"]},
    }


def _statement_json(statement: Statement, holds: bool) -> dict[str, Any]:
    out: dict[str, Any] = {
        "id": statement.id,
        "property": statement.property,
        "rank": str(statement.rank),
        "current": holds,
        **_snak_json(Snak(property=statement.property, kind=statement.kind, value=statement.value)),
    }
    for name, prop in (("start", START), ("end", END), ("at", POINT)):
        times = (snak for snak in statement.qualifier(prop) if isinstance(snak.value, TimeValue))
        if text := next(map(_time, times), None):
            out[name] = text
    qualifiers = [{"property": snak.property, **_snak_json(snak)} for snak in statement.qualifiers]
    return {**out, "qualifiers": qualifiers}


def _snak_json(snak: Snak) -> dict[str, Any]:
    value, kind = snak.value, {"kind": str(snak.kind)}
    if isinstance(value, EntityValue):
        return {**kind, "entity": value.id}
    if isinstance(value, TimeValue):
        return {**kind, "text": _time(snak), "precision": value.precision, "calendar": value.calendar}
    if isinstance(value, QuantityValue):
        return {**kind, "text": str(value.amount), **({"unit": value.unit} if value.unit else {})}
    if isinstance(value, TextValue):
        return {**kind, "text": value.text, **({"language": value.language} if value.language else {})}
    if isinstance(value, OtherValue):
        return {**kind, "text": value.json, "type": value.type}
    return {**kind}


def _time(snak: Snak) -> str | None:
    return literal(Statement(id="", subject="", property=snak.property, value=snak.value))


def _mentioned_ids(entity: Entity, statements: Iterable[Statement]) -> list[str]:
    mentioned = [entity.id]
    for one in statements:
        snaks = (Snak(property=one.property, kind=one.kind, value=one.value), *one.qualifiers)
        for snak in snaks:
            mentioned += [snak.property, *([snak.value.id] if isinstance(snak.value, EntityValue) else [])]
        if isinstance(one.value, QuantityValue) and one.value.unit:
            mentioned.append(one.value.unit)
    return [i for i in mentioned if ENTITY_ID.match(i)]
