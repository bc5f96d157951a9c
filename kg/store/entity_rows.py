"""Entities <-> the rows of a snapshot file. The layout is described in `kg.store.schema`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import orjson

from kg.base.model import (
    Entity,
    EntityValue,
    OtherValue,
    QuantityValue,
    Rank,
    Snak,
    SnakKind,
    Statement,
    TextValue,
    TimeValue,
    Value,
    id_of,
    signed_number,
)
from kg.store import schema
from kg.store.protocol import NameMatch

StatementRow = tuple[int, int, int, int, int, int | str | None, str | None, bytes | str, int | str | None]
TermRow = tuple[int, str, int, int, str]
# An entity whole: number, sitelinks, datatype, then its rows of term and of statement, each in the order of
# their keys and all columns of all rows in one list.
Record = tuple[int, int, str | None, list[Any], list[Any]]

# Keys are plain texts, which a dict finds faster; a Rank, which is a text, is found too.
RANK_CODES = {rank.value: schema.RANKS.index(rank) for rank in Rank}
_RANKS = tuple(map(Rank, schema.RANKS))
_KINDS = (SnakKind.SOMEVALUE, SnakKind.NOVALUE, *[SnakKind.VALUE] * 7)  # by the value types in `kg.store.schema`
DATATYPE_CODES = {name: code for code, name in enumerate(schema.DATATYPES)}
# In capitals alone, so that 16 bytes give an id back as it was: older statements have small letters.
UUID = re.compile(r"[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}\Z")


def record_of(entity: Entity, number: int) -> Record:
    """The record of an entity: all its rows except those of the table `name`."""
    terms: list[TermRow] = [(number, language, schema.LABEL, 0, text) for language, text in entity.labels.items()]
    terms += [(number, language, schema.DESCRIPTION, 0, text) for language, text in entity.descriptions.items()]
    for language, texts in entity.aliases.items():
        terms += [(number, language, schema.ALIAS, ordinal, text) for ordinal, text in enumerate(texts)]
    ordinals: dict[str, int] = {}
    statements: list[StatementRow] = []
    for statement in entity.statements:
        prop, datatype = statement.property, statement.datatype
        ordinal = ordinals.get(prop, 0)
        ordinals[prop] = ordinal + 1
        kind, value = _encode_snak(statement)
        qualifiers = [[int(snak.property[1:]), *_encode_snak(snak)] for snak in statement.qualifiers]
        statements.append(
            (
                number,
                int(prop[1:]),
                ordinal,
                RANK_CODES[statement.rank],
                kind,
                json_text(value) if type(value) is list else value,
                json_text(qualifiers) if qualifiers else None,
                short_statement_id(statement.id, entity.id),
                DATATYPE_CODES.get(datatype, datatype) if datatype is not None else None,
            )
        )
    statements.sort(key=itemgetter(0, 1, 2))
    flat = [list(chain.from_iterable(rows)) for rows in (sorted(terms), statements)]
    return number, entity.sitelinks, entity.datatype, flat[0], flat[1]


def json_text(value: Any) -> str:
    """A value as JSON, for a column or as one parameter of a query."""
    return orjson.dumps(value).decode()


def short_statement_id(name: str, subject: str) -> str | bytes:
    """A statement's id as it is stored; see `kg.store.schema`."""
    prefix = len(subject) + 1
    if name[:prefix] == subject + "$":
        if len(name) == prefix + 36 and UUID.match(name, prefix):
            return bytes.fromhex(name[prefix:].replace("-", ""))
        return name[prefix - 1 :]
    return "=" + name if name[:1] in ("$", "=") else name  # else it would be read back as a short form


def full_statement_id(subject: str, stored: bytes | str) -> str:
    """The inverse of `short_statement_id`."""
    if isinstance(stored, bytes):
        digits = stored.hex().upper()
        return f"{subject}${digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
    if stored[:1] == "$":
        return subject + stored
    return stored[1:] if stored[:1] == "=" else stored


def _encode_snak(snak: Snak | Statement) -> tuple[int, Any]:
    if snak.value is None:
        return (schema.SOMEVALUE if snak.kind is SnakKind.SOMEVALUE else schema.NOVALUE), None
    return encode_value(snak.value)


def encode_value(value: Value) -> tuple[int, Any]:
    """The columns type and value of a value; a list is to be stored as JSON."""
    if isinstance(value, EntityValue):
        number = signed_number(value.id)
        return (schema.ENTITY, number) if number is not None else (schema.OTHER_ENTITY, value.id)
    if isinstance(value, TextValue):
        if value.language is None:
            return schema.STRING, value.text
        return schema.MONOLINGUAL, [value.text, value.language]
    if isinstance(value, TimeValue):
        parts = [value.year, value.month or 0, value.day or 0, value.precision]
        return schema.TIME, parts if value.calendar == "gregorian" else [*parts, 1]
    if isinstance(value, OtherValue):
        return schema.OTHER, [value.type, value.json]
    if value.lower is not None and value.upper is not None:
        return schema.QUANTITY, [str(value.amount), value.unit, str(value.lower), str(value.upper)]
    return schema.QUANTITY, [str(value.amount)] if value.unit is None else [str(value.amount), value.unit]


@lru_cache(maxsize=10_000)  # WikiData has some 12,000 properties, few of them frequent
def _property_id(number: int) -> str:
    return f"P{number}"


@lru_cache(maxsize=100_000)
def _entity_value(number: int) -> EntityValue:
    """A reference to an entity: the same object wherever it repeats."""
    return EntityValue(id=id_of(number))


def decode_statement(
    subject: str,
    prop: int,
    rank: int,
    kind: int,
    value: Any,
    qualifiers: str | None,
    name: bytes | str,
    datatype: int | str | None,
) -> Statement:
    """One statement from its row; `subject` is the id of the row's number."""
    if kind > schema.OTHER_ENTITY and kind != schema.STRING:
        value = orjson.loads(value)
    return Statement(
        id=full_statement_id(subject, name),
        subject=subject,
        property=_property_id(prop),
        rank=_RANKS[rank],
        kind=_KINDS[kind],
        value=_decode_value(kind, value),
        qualifiers=() if qualifiers is None else _decode_qualifiers(qualifiers),
        datatype=schema.DATATYPES[datatype] if type(datatype) is int else datatype,  # type: ignore[arg-type]
    )


def _decode_qualifiers(text: str) -> tuple[Snak, ...]:
    return tuple(
        Snak(property=_property_id(prop), kind=_KINDS[kind], value=_decode_value(kind, value))
        for prop, kind, value in orjson.loads(text)
    )


def _decode_value(kind: int, value: Any) -> Value | None:
    if kind == schema.ENTITY:
        return _entity_value(value)
    if kind == schema.STRING:
        return TextValue(text=value)
    if kind == schema.TIME:
        return TimeValue(
            year=value[0],
            month=value[1] or None,
            day=value[2] or None,
            precision=value[3],
            calendar="julian" if len(value) > 4 else "gregorian",
        )
    if kind == schema.QUANTITY:
        bounded = len(value) == 4
        return QuantityValue(
            amount=Decimal(value[0]),
            unit=value[1] if len(value) > 1 else None,
            lower=Decimal(value[2]) if bounded else None,
            upper=Decimal(value[3]) if bounded else None,
        )
    if kind == schema.MONOLINGUAL:
        return TextValue(text=value[0], language=value[1])
    if kind == schema.OTHER_ENTITY:
        return EntityValue(id=value)
    if kind == schema.OTHER:
        return OtherValue(type=value[0], json=value[1])
    return None


def entity_of(record: Sequence[Any]) -> Entity:
    """The inverse of `record_of`."""
    number, sitelinks, datatype, terms, statements = record
    subject = id_of(number)
    worded = ((kind, language, text) for _, language, kind, _, text in zip(*[iter(terms)] * 5, strict=True))
    rows = zip(*[iter(statements)] * 9, strict=True)
    stated = (decode_statement(subject, prop, *columns) for _, prop, _, *columns in rows)
    return entity_from_parts(subject, sitelinks, datatype, worded, stated)


def entity_from_parts(
    subject: str,
    sitelinks: int,
    datatype: str | None,
    terms: Iterable[tuple[int, str, str]],
    statements: Iterable[Statement],
) -> Entity:
    """An entity from its terms (kind, language, text; aliases in their order) and its statements."""
    texts: dict[int, dict[str, str]] = {schema.LABEL: {}, schema.DESCRIPTION: {}}
    aliases: dict[str, list[str]] = {}
    for kind, language, text in terms:
        if kind == schema.ALIAS:
            aliases.setdefault(language, []).append(text)
        else:
            texts[kind][language] = text
    return Entity(
        id=subject,
        labels=texts[schema.LABEL],
        descriptions=texts[schema.DESCRIPTION],
        aliases={language: tuple(several) for language, several in aliases.items()},
        statements=tuple(statements),
        sitelinks=sitelinks,
        datatype=datatype,
    )


def matches_in_order(carriers: Iterable[Sequence[Any]]) -> list[NameMatch]:
    """The matches of one name, in the order of `Store.find`, of rows (number, kind, language, text) in any order."""
    best: dict[int, tuple[int, str, str]] = {}
    for number, kind, language, text in carriers:
        match = (kind, language, text)
        if number not in best or match < best[number]:  # labels have the smaller kind
            best[number] = match
    ordered = sorted(best.items(), key=lambda one: (one[1][0], abs(one[0]), -one[0]))
    return [name_match(number, *match) for number, match in ordered]


def name_match(number: int, kind: int, language: str, text: str) -> NameMatch:
    """A match from a row of the table `name`."""
    return NameMatch(id=id_of(number), kind="label" if kind == schema.LABEL else "alias", language=language, text=text)


class RowGroups:
    """Rows in the order of a column, handed out by it; `following` has the rows that were not asked for, or None."""

    def __init__(self, rows: Iterable[Any], column: int = 0) -> None:
        self._groups = groupby(rows, key=itemgetter(column))
        self.following = next(self._groups, None)

    def take_rows_of(self, key: int | str) -> list[Any]:
        """The rows of a key, or [] where it has none. Keys must be asked for in the order of the rows."""
        if self.following is None or self.following[0] != key:
            return []
        found = list(self.following[1])
        self.following = next(self._groups, None)
        return found
