"""An entity of the snapshot as JSON: its names, and all its statements with what holds today marked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from abstraction.evidence import literal
from granola.service.incoming.problems import HTTPProblem
from granola.service.work.snapshot_session import SnapshotSession
from granola.service.work.snapshot_work import check_language, named
from kg.model import ENTITY_ID, Entity, EntityValue, OtherValue, QuantityValue, Snak, Statement, TextValue, TimeValue
from kg.terms import fallback_chain
from kg.walks.ranks import END, POINT, START, current

MOST_STATEMENTS = 2_000


def read_entity(session: SnapshotSession, entity_id: str) -> Entity:
    """The entity. Raises HTTPProblem for an id that is none, and for one that the snapshot lacks."""
    if not ENTITY_ID.match(entity_id):
        raise HTTPProblem(422, "entity-id", "no id of an item or a property; expected Q or P and a number, as in Q42")
    entity: Entity | None = session.store.entities([entity_id]).get(entity_id)
    if entity is None:
        raise HTTPProblem(404, "unknown-entity", f"the snapshot has no {entity_id}")
    return entity


def entity_json(session: SnapshotSession, entity_id: str, *, language: str) -> dict[str, Any]:
    """The entity with names in a language and its fallbacks, and its statements, every rank."""
    check_language(session, language)
    entity = read_entity(session, entity_id)
    chain = fallback_chain(language)
    shown = entity.statements[:MOST_STATEMENTS]
    holds = current_ids(session, entity, language)
    labels = {
        i: name["label"]
        for i, name in named(session, _mentioned([entity.id], shown), language).items()
        if name["label"]
    }
    return {
        "id": entity.id,
        "sitelinks": entity.sitelinks,
        "labels": {code: entity.labels[code] for code in chain if code in entity.labels},
        "descriptions": {code: entity.descriptions[code] for code in chain if code in entity.descriptions},
        "aliases": {code: list(entity.aliases[code]) for code in chain if code in entity.aliases},
        "statements": [_statement(s, s.id in holds) for s in shown],
        "more": len(entity.statements) - len(shown),
        "names": labels,
    }


def current_ids(session: SnapshotSession, entity: Entity, language: str) -> frozenset[str]:
    """Ids of the statements that hold today, as ladders see it."""
    historical = session.maker(language).graph.is_historical
    by_property: dict[str, list[Statement]] = {}
    for statement in entity.statements:
        by_property.setdefault(statement.property, []).append(statement)
    return frozenset(s.id for group in by_property.values() for s in current(group, historical=historical))


def _statement(statement: Statement, holds: bool) -> dict[str, Any]:
    times = {
        name: text for name, prop in (("start", START), ("end", END), ("at", POINT)) if (text := _time(statement, prop))
    }
    return {
        "id": statement.id,
        "property": statement.property,
        "rank": str(statement.rank),
        "current": holds,
        **_snak(Snak(property=statement.property, kind=statement.kind, value=statement.value)),
        **times,
        "qualifiers": [{"property": snak.property, **_snak(snak)} for snak in statement.qualifiers],
    }


def _snak(snak: Snak) -> Mapping[str, Any]:
    value = snak.value
    out: dict[str, Any] = {"kind": str(snak.kind)}
    if isinstance(value, EntityValue):
        return out | {"entity": value.id}
    if isinstance(value, TimeValue):
        return out | {"text": _text(snak), "precision": value.precision, "calendar": value.calendar}
    if isinstance(value, QuantityValue):
        return out | {"text": str(value.amount)} | ({"unit": value.unit} if value.unit else {})
    if isinstance(value, TextValue):
        return out | {"text": value.text} | ({"language": value.language} if value.language else {})
    if isinstance(value, OtherValue):
        return out | {"text": value.json, "type": value.type}
    return out


def _text(snak: Snak) -> str | None:
    return literal(Statement(id="", subject="", property=snak.property, value=snak.value))


def _time(statement: Statement, prop: str) -> str | None:
    return next((_text(snak) for snak in statement.qualifier(prop) if isinstance(snak.value, TimeValue)), None)


def _mentioned(ids: Sequence[str], statements: Iterable[Statement]) -> list[str]:
    mentioned = list(ids)
    for statement in statements:
        mentioned += [statement.property, *([statement.target] if statement.target else [])]
        for snak in statement.qualifiers:
            mentioned += [snak.property, *([snak.value.id] if isinstance(snak.value, EntityValue) else [])]
        if isinstance(statement.value, QuantityValue) and statement.value.unit:
            mentioned.append(statement.value.unit)
    return [i for i in dict.fromkeys(mentioned) if ENTITY_ID.match(i)]
