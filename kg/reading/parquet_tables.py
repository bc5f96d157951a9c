"""Entities as flat tables, and a folder of such tables in Parquet, read in order.

    entities        id, sitelinks, datatype
    terms           entity, kind (label, alias, description), language, ordinal (of aliases, from 0), text
    statements      id, subject, property, ordinal (place among the subject's statements of the property, from 0),
                    rank, datatype, and a value
    qualifiers      subject, property, ordinal (of the statement), position (in the statement, from 0),
                    qualifier (its property), and a value
    redirects       source, target
    value_counts    property, target, entities (of the whole source), here (in the snapshot)
    property_counts property, entities, here

A value is: kind (value, somevalue, novalue); type, WikiData's name of the kind of value; `target`, the id that a
wikibase-entityid points to; `text`, of string and monolingualtext, the JSON of any other type; `language`;
year (-1 is 1 BCE), month, day, precision, calendar; amount, unit, lower, upper as exact decimals in text.

Rows are sorted in the order of the entities (items by number, then properties by number), then by property number,
ordinal and position.

A folder contains one file per table (statements.parquet) or, as a cluster writes it, one folder per table
(statements/part-00000.parquet ..., in the order of their names), and manifest.json.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import orjson

from kg.base.files import MANIFEST
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
)
from kg.base.packages import install_hint
from kg.errors import ExportError, SourceError
from kg.store import schema
from kg.store.entity_rows import RowGroups, entity_from_parts

Table = Literal["entities", "terms", "statements", "qualifiers", "redirects", "value_counts", "property_counts"]

_PARTS = ("kind", "type", "target", "text", "language")
_DATE = {"year": "int64", "month": "int8", "day": "int8", "precision": "int8", "calendar": "string"}
_AMOUNT = ("amount", "unit", "lower", "upper")
_VALUE: Mapping[str, str] = dict.fromkeys(_PARTS, "string") | _DATE | dict.fromkeys(_AMOUNT, "string")
# Columns and their Arrow types.
TABLES: Mapping[Table, Mapping[str, str]] = {
    "entities": {"id": "string", "sitelinks": "int32", "datatype": "string"},
    "terms": {"entity": "string", "kind": "string", "language": "string", "ordinal": "int32", "text": "string"},
    "statements": {
        **{"id": "string", "subject": "string", "property": "string", "ordinal": "int32"},
        **{"rank": "string", "datatype": "string"},
        **_VALUE,
    },
    "qualifiers": {
        **{"subject": "string", "property": "string", "ordinal": "int32", "position": "int32", "qualifier": "string"},
        **_VALUE,
    },
    "redirects": {"source": "string", "target": "string"},
    "value_counts": {"property": "string", "target": "string", "entities": "int64", "here": "int64"},
    "property_counts": {"property": "string", "entities": "int64", "here": "int64"},
}
OF_ENTITIES: tuple[Table, ...] = ("entities", "terms", "statements", "qualifiers")

Rows = dict[Table, list[tuple[Any, ...]]]

_NO_CELLS = (None,) * 12  # the empty cells of a value: its columns except kind and type
FORMAT = 1  # version of the folder's format, increased with every change of columns


def rows_of(entities: Iterable[Entity]) -> Rows:
    """The rows of entities in the four tables that are about entities."""
    rows: Rows = {table: [] for table in OF_ENTITIES}
    for entity in entities:
        subject = entity.id
        rows["entities"].append((subject, entity.sitelinks, entity.datatype))
        for language in sorted(entity.labels.keys() | entity.descriptions.keys() | entity.aliases.keys()):
            if language in entity.labels:
                rows["terms"].append((subject, "label", language, 0, entity.labels[language]))
            for ordinal, text in enumerate(entity.aliases.get(language, ())):
                rows["terms"].append((subject, "alias", language, ordinal, text))
            if language in entity.descriptions:
                rows["terms"].append((subject, "description", language, 0, entity.descriptions[language]))
        ordinals: dict[str, int] = {}
        for statement in sorted(entity.statements, key=lambda statement: int(statement.property[1:])):
            prop = statement.property
            ordinal = ordinals.get(prop, 0)
            ordinals[prop] = ordinal + 1
            head = (statement.id, subject, prop, ordinal, statement.rank.value, statement.datatype)
            rows["statements"].append(head + _value_cells(statement.kind, statement.value))
            for position, snak in enumerate(statement.qualifiers):
                place = (subject, prop, ordinal, position, snak.property)
                rows["qualifiers"].append(place + _value_cells(snak.kind, snak.value))
    return rows


def _value_cells(kind: SnakKind, value: Value | None) -> tuple[Any, ...]:
    if value is None:
        return (kind.value, None, *_NO_CELLS)
    if isinstance(value, EntityValue):
        return ("value", "wikibase-entityid", value.id, *_NO_CELLS[1:])
    if isinstance(value, TimeValue):
        time = (value.year, value.month, value.day, value.precision, value.calendar)
        return ("value", "time", None, None, None, *time, None, None, None, None)
    if isinstance(value, QuantityValue):
        numbers = (str(value.amount), value.unit, _decimal_text(value.lower), _decimal_text(value.upper))
        return ("value", "quantity", *_NO_CELLS[:8], *numbers)
    if isinstance(value, TextValue):
        of = "string" if value.language is None else "monolingualtext"
        return ("value", of, None, value.text, value.language, *_NO_CELLS[3:])
    return ("value", value.type, None, value.json, None, *_NO_CELLS[3:])


def _decimal_text(number: Decimal | None) -> str | None:
    return None if number is None else str(number)


def entities_of(
    entities: Iterable[Sequence[Any]],
    terms: Iterable[Sequence[Any]],
    statements: Iterable[Sequence[Any]],
    qualifiers: Iterable[Sequence[Any]],
) -> Iterator[Entity]:
    """The inverse of `rows_of`: rows of the four tables in their order, read side by side.

    Raises SourceError where rows are left over: of an entity that is not there, or out of order.
    """
    term_groups = RowGroups(terms, 0)
    statement_groups = RowGroups(statements, 1)
    qualifier_groups = RowGroups(qualifiers, 0)
    for subject, sitelinks, datatype in entities:
        snaks: dict[tuple[str, int], list[Snak]] = {}
        for _, prop, ordinal, _, of, *cells in qualifier_groups.take_rows_of(subject):
            kind, value = _kind_and_value(cells)
            snaks.setdefault((prop, ordinal), []).append(Snak(property=of, kind=kind, value=value))
        stated: list[Statement] = []
        for name, _, prop, ordinal, rank, of, *cells in statement_groups.take_rows_of(subject):
            kind, value = _kind_and_value(cells)
            stated.append(
                Statement(
                    id=name,
                    subject=subject,
                    property=prop,
                    rank=Rank(rank),
                    kind=kind,
                    value=value,
                    qualifiers=tuple(snaks.get((prop, ordinal), ())),
                    datatype=of,
                )
            )
        rows = term_groups.take_rows_of(subject)
        terms_of_it = ((schema.KINDS.index(kind), language, text) for _, kind, language, _, text in rows)
        yield entity_from_parts(subject, sitelinks, datatype, terms_of_it, stated)
    for table, groups in (("terms", term_groups), ("statements", statement_groups), ("qualifiers", qualifier_groups)):
        if groups.following is not None:
            raise SourceError(
                f"the table {table} has rows of {groups.following[0]}, which the entities do not have at that place;"
                " its files are out of order, or not of one export"
            )


def _kind_and_value(cells: Sequence[Any]) -> tuple[SnakKind, Value | None]:
    kind, of, target, text, language, year, month, day, precision, calendar, amount, unit, lower, upper = cells
    if kind != "value":
        return SnakKind(kind), None
    value: Value
    if of == "wikibase-entityid":
        value = EntityValue(id=target)
    elif of == "time":
        value = TimeValue(year=year, month=month, day=day, precision=precision, calendar=calendar)
    elif of == "quantity":
        value = QuantityValue(
            amount=Decimal(amount),
            unit=unit,
            lower=None if lower is None else Decimal(lower),
            upper=None if upper is None else Decimal(upper),
        )
    elif of in ("string", "monolingualtext"):
        value = TextValue(text=text, language=language)
    else:
        value = OtherValue(type=of, json=text)
    return SnakKind.VALUE, value


def arrow_schema(table: Table) -> Any:
    """The Arrow schema of a table."""
    arrow = import_pyarrow()
    return arrow.schema([(name, getattr(arrow, of)()) for name, of in TABLES[table].items()])


def record_batch(rows: Sequence[tuple[Any, ...]], schema: Any) -> Any:
    """The rows as one Arrow RecordBatch."""
    arrow = import_pyarrow()
    columns = zip(zip(*rows, strict=True), schema.types, strict=True)
    return arrow.RecordBatch.from_arrays([arrow.array(column, type=of) for column, of in columns], schema=schema)


class ParquetTables:
    """An exported folder, read through in order. Raises SourceError for a folder that is none."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        import_pyarrow()
        try:
            self.manifest: Mapping[str, Any] = orjson.loads((self.folder / MANIFEST).read_bytes())
        except (OSError, orjson.JSONDecodeError) as error:
            raise SourceError(f"{folder} is no folder of Parquet tables: {MANIFEST} cannot be read: {error}") from error
        if (given := self.manifest.get("format")) != FORMAT:
            raise SourceError(
                f"{folder} has tables of format {given}; this version reads {FORMAT}, which"
                " 'granola snapshot export --format parquet' writes"
            )

    def entities(self) -> Iterator[Entity]:
        """All entities: items by number, then properties by number."""
        return entities_of(*(self.rows(table) for table in OF_ENTITIES))

    def redirects(self) -> Iterator[tuple[str, str]]:
        """(merged id, target id)."""
        return ((source, target) for source, target in self.rows("redirects"))

    def rows(self, table: Table) -> Iterator[Sequence[Any]]:
        """The rows of a table, files in the order of their names."""
        arrow = import_pyarrow()
        from pyarrow import parquet  # type: ignore[import-untyped]  # ships no stubs

        names = list(TABLES[table])
        for path in self._files_of_table(table):
            try:
                with parquet.ParquetFile(path) as file:
                    for batch in file.iter_batches(batch_size=10_000, columns=names):
                        columns = [batch.column(name).to_pylist() for name in names]
                        yield from zip(*columns, strict=True)
            except (OSError, arrow.ArrowInvalid, KeyError) as error:
                raise SourceError(f"{path} cannot be read: {error}") from error

    def _files_of_table(self, table: Table) -> list[Path]:
        whole, parts = self.folder / f"{table}.parquet", self.folder / table
        if whole.is_file():
            return [whole]
        if parts.is_dir():
            return sorted(parts.glob("part-*.parquet"))  # names have leading zeros, so this is the order of rows
        raise SourceError(f"{self.folder} has no table {table}: neither {whole.name} nor a folder {table}")


def import_pyarrow() -> Any:
    """The module pyarrow. Raises ExportError where it is not installed."""
    try:
        import pyarrow
    except ImportError as error:
        raise ExportError(f"Parquet needs pyarrow: {install_hint('parquet')}") from error
    return pyarrow
