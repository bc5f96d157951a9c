"""An entity of the snapshot as JSON: its names, and all its statements with what holds today marked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from abstraction.evidence import literal
from granola.service.incoming.problems import HTTPProblem
from granola.service.work.snapshot_session import SnapshotSession
from granola.service.work.snapshot_work import named
from kg.model import ENTITY_ID, Entity, EntityValue, OtherValue, QuantityValue, Snak, Statement, TextValue, TimeValue
from kg.terms import fallback_chain
from kg.walks.ranks import END, POINT, START, current

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
    holds = _current_ids(session, entity, language)
    names = named(session, _mentioned(entity, shown), language)
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


def _current_ids(session: SnapshotSession, entity: Entity, language: str) -> frozenset[str]:
    """Ids of the statements that hold today, as ladders see it."""
    historical = session.maker(language).graph.is_historical
    by_property: dict[str, list[Statement]] = {}
    for statement in entity.statements:
        by_property.setdefault(statement.property, []).append(statement)
    return frozenset(s.id for group in by_property.values() for s in current(group, historical=historical))


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


def _mentioned(entity: Entity, statements: Iterable[Statement]) -> list[str]:
    mentioned = [entity.id]
    for one in statements:
        snaks = (Snak(property=one.property, kind=one.kind, value=one.value), *one.qualifiers)
        for snak in snaks:
            mentioned += [snak.property, *([snak.value.id] if isinstance(snak.value, EntityValue) else [])]
        if isinstance(one.value, QuantityValue) and one.value.unit:
            mentioned.append(one.value.unit)
    return [i for i in mentioned if ENTITY_ID.match(i)]
