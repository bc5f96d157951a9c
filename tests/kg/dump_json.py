"""Entities as the dump writes them: the inverse of the reader, for tests alone."""

from __future__ import annotations

from typing import Any

import orjson

from kg.base.model import (
    Entity,
    EntityValue,
    OtherValue,
    QuantityValue,
    Snak,
    SnakKind,
    TextValue,
    TimeValue,
    Value,
)

CALENDARS = {"gregorian": "Q1985727", "julian": "Q1985786"}


def datavalue(value: Value) -> dict[str, Any]:
    match value:
        case EntityValue(id=target):
            return {"type": "wikibase-entityid", "value": {"id": target}}
        case TimeValue():
            sign = "-" if value.year < 0 else "+"
            stamp = f"{sign}{abs(value.year):04}-{value.month or 0:02}-{value.day or 0:02}T00:00:00Z"
            return {
                "type": "time",
                "value": {
                    "time": stamp,
                    "precision": value.precision,
                    "calendarmodel": f"http://www.wikidata.org/entity/{CALENDARS[value.calendar]}",
                    "timezone": 0,
                    "before": 0,
                    "after": 0,
                },
            }
        case QuantityValue():
            unit = "1" if value.unit is None else f"http://www.wikidata.org/entity/{value.unit}"
            out = {"amount": f"{value.amount:+f}", "unit": unit}
            if value.lower is not None and value.upper is not None:
                out |= {"lowerBound": f"{value.lower:+f}", "upperBound": f"{value.upper:+f}"}
            return {"type": "quantity", "value": out}
        case TextValue(text=text, language=None):
            return {"type": "string", "value": text}
        case TextValue(text=text, language=language):
            return {"type": "monolingualtext", "value": {"text": text, "language": language}}
        case OtherValue(type=kind, json=json):
            return {"type": kind, "value": orjson.loads(json)}
    raise AssertionError(value)


def snak_json(prop: str, kind: SnakKind, value: Value | None, datatype: str | None = None) -> dict[str, Any]:
    out: dict[str, Any] = {"snaktype": str(kind), "property": prop}
    if datatype is not None:
        out["datatype"] = datatype
    if value is not None:
        out["datavalue"] = datavalue(value)
    return out


def qualifiers_json(qualifiers: tuple[Snak, ...]) -> dict[str, list[dict[str, Any]]]:
    out: dict[str, list[dict[str, Any]]] = {}
    for snak in qualifiers:
        out.setdefault(snak.property, []).append(snak_json(snak.property, snak.kind, snak.value))
    return out


def entity_json(entity: Entity) -> dict[str, Any]:
    claims: dict[str, list[dict[str, Any]]] = {}
    for one in entity.statements:
        statement: dict[str, Any] = {
            "type": "statement",
            "id": one.id,
            "rank": str(one.rank),
            "mainsnak": snak_json(one.property, one.kind, one.value, one.datatype),
        }
        if one.qualifiers:
            statement["qualifiers"] = qualifiers_json(one.qualifiers)
            statement["qualifiers-order"] = list(statement["qualifiers"])
        claims.setdefault(one.property, []).append(statement)
    out: dict[str, Any] = {
        "type": "item" if entity.id.startswith("Q") else "property",
        "id": entity.id,
        "labels": {code: {"language": code, "value": text} for code, text in entity.labels.items()},
        "descriptions": {code: {"language": code, "value": text} for code, text in entity.descriptions.items()},
        "aliases": {
            code: [{"language": code, "value": text} for text in texts] for code, texts in entity.aliases.items()
        },
        "claims": claims,
        "sitelinks": {f"site{n}": {} for n in range(entity.sitelinks)},
    }
    if entity.datatype is not None:
        out["datatype"] = entity.datatype
    return out


def lines(*entities: Entity) -> bytes:
    """A dump in its usual shape."""
    return b"[\n" + b",\n".join(orjson.dumps(entity_json(entity)) for entity in entities) + b"\n]\n"
