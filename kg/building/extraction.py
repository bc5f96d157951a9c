"""A block of a dump -> the rows and counts that a snapshot takes from it. Pure: done anywhere, in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import md5
from itertools import chain
from operator import itemgetter
from typing import Any

import msgspec
import orjson
from msgspec import UNSET
from msgspec.structs import replace

from kg.base.model import normalise, signed_number, signed_number_uncached
from kg.building.closure import IdSet
from kg.reading.dump import Block, lines_of, parse_objects
from kg.reading.entity_json import (
    HEAD,
    LONGEST_NAME,
    CoordinateData,
    EntityData,
    EntityPartReader,
    OtherData,
    QuantityData,
    Reject,
    StringData,
    TextInLanguageData,
    TimeData,
    TypedStatement,
    Unreadable,
    entity_decoder,
    is_language_code,
    language_term_pairs,
    number_of_entity,
    property_number,
    read_coordinate,
    read_entity_reference,
    read_quantity,
    read_time,
    sketch_decoder,
)
from kg.store import schema
from kg.store.entity_rows import DATATYPE_CODES, RANK_CODES, UUID, Record, TermRow, encode_value, short_statement_id
from kg.store.filling import digest_sum_bytes, record_digest

_UNKNOWN = {"somevalue": schema.SOMEVALUE, "novalue": schema.NOVALUE}
_first = itemgetter(0)
_is_uuid, _from_hex = UUID.match, bytes.fromhex
_REMEMBERED = 1 << 17  # entity references, some 30 MB a worker
_LISTS = (schema.TIME, schema.QUANTITY, schema.MONOLINGUAL, schema.OTHER)  # kinds of value that are stored as JSON
_OTHER_LANGUAGE = Unreadable("bad-term", "a term of another language inside")
# an entity that raises one of these is then read part by part
_REFUSED = (msgspec.DecodeError, Unreadable, UnicodeDecodeError, RecursionError)


# A key is one integer where both parts are of the sizes that occur, else text: a Counter of integers is fast.
_VALUE_BITS, _PROPERTY_BITS = 43, 20  # 63 bits in all: keys fit an SQLite integer
_HALF = 1 << (_VALUE_BITS - 1)


def property_value_key(prop: int, value: int = 0) -> int | str:
    """One key for a property, or for a property and an entity's number."""
    if -_HALF < value < _HALF and prop < 1 << _PROPERTY_BITS:
        return prop << _VALUE_BITS | (value + _HALF)
    return f"{prop} {value}"


def split_property_value_key(key: int | str) -> tuple[int, int]:
    """The inverse of `property_value_key`; the value is 0 for a property alone."""
    if isinstance(key, str):
        prop, value = key.split()
        return int(prop), int(value)
    return key >> _VALUE_BITS, (key & ((1 << _VALUE_BITS) - 1)) - _HALF


class TypedRowMaker:
    """Makes rows of decoded entities, and remembers the properties and targets that occur often."""

    def __init__(self) -> None:
        self._properties: dict[str, int] = {}
        self._targets: dict[str, tuple[int, int | str]] = {}

    def record(self, entity: Any, number: int) -> Record:
        """The record of an entity. Raises `Unreadable` where `EntityPartReader.readable_parts` would remove a part."""
        terms: list[TermRow] = []
        for kind, given in ((schema.LABEL, entity.labels), (schema.DESCRIPTION, entity.descriptions)):
            for code, term in language_term_pairs(given):
                if term.language != code:
                    raise _OTHER_LANGUAGE
                terms.append((number, code, kind, 0, term.value))
        for code, group in language_term_pairs(entity.aliases):
            for ordinal, term in enumerate(group):
                if term.language != code:
                    raise _OTHER_LANGUAGE
                terms.append((number, code, schema.ALIAS, ordinal, term.value))
        terms.sort()  # by the key of the table, so that equal entities give equal bytes, and one digest
        statements = self._statement_columns(entity.claims, number, entity.id) if entity.claims else []
        sitelinks = entity.sitelinks
        flat = list(chain.from_iterable(terms))
        return number, len(sitelinks) if sitelinks else 0, entity.datatype, flat, statements

    def check_statement(self, subject: str, prop: str, statement: TypedStatement) -> None:
        """Raise `Unreadable` where a statement cannot be stored as one row."""
        self._statement_columns({prop: [statement]}, 0, subject)

    def _statement_columns(self, claims: Any, number: int, subject: str) -> list[Any]:
        if type(claims) is not dict:
            raise Unreadable("bad-statement", "statements in a list, not a map by property")
        columns: list[Any] = []
        add = columns.extend  # local names: the loop runs for every statement of a dump
        value_of, targets, ranks, codes = self._encode_value, self._targets, RANK_CODES, DATATYPE_CODES
        unnamed: Counter[str] = Counter()  # truthy data have no ids
        prefix = subject + "$"
        start = len(prefix)
        length = start + 36
        groups = [(self._property_number(prop), prop, group) for prop, group in claims.items()]
        groups.sort(key=_first)  # the order of the table, so that rows are appended at its end
        for prop_number, prop, group in groups:
            for ordinal, statement in enumerate(group):
                snak = statement.mainsnak
                rank = ranks.get(statement.rank)
                if rank is None:
                    raise Unreadable("bad-rank", f"rank {statement.rank!r:.80} is none of {', '.join(ranks)}")
                if snak.property != prop:
                    raise Unreadable("bad-property", f"{snak.property:.40} stands under {prop:.40}")
                if snak.snaktype == "value":
                    data = snak.datavalue
                    target = targets.get(data.value.id) if type(data) is EntityData else None
                    kind, value = target or value_of(data)
                    if type(value) is list:  # the column takes a number, a text or JSON
                        value = orjson.dumps(value).decode()
                else:
                    kind, value = _kind_of_valueless_snak(snak.snaktype), None
                name = statement.id or _key_of_statement_without_id(
                    f"{prefix}{prop}", snak.snaktype, kind, value, unnamed
                )
                if len(name) == length and name.startswith(prefix) and _is_uuid(name, start):
                    name = _from_hex(name[start:].replace("-", ""))  # what `short_statement_id` does, but faster
                elif len(name) <= LONGEST_NAME:
                    name = short_statement_id(name, subject)
                else:
                    raise Unreadable("bad-id", f"a statement's id of {len(name)} characters")
                datatype = snak.datatype
                qualifiers = statement.qualifiers
                add(
                    (
                        number,
                        prop_number,
                        ordinal,
                        rank,
                        kind,
                        value,
                        self._qualifiers_json(qualifiers, statement.order) if qualifiers else None,
                        name,
                        None if datatype is None else codes.get(datatype, datatype),
                    )
                )
        return columns

    def _property_number(self, prop: str) -> int:
        number = self._properties.get(prop)
        if number is None:
            number = self._properties[prop] = property_number(prop)
        return number

    def _qualifiers_json(self, snaks_by_property: Any, order: list[str]) -> str | None:
        if type(snaks_by_property) is not dict:
            raise Unreadable("bad-statement", "qualifiers in a list, not a map by property")
        qualifiers = []
        for prop in dict.fromkeys(chain((prop for prop in order if prop in snaks_by_property), snaks_by_property)):
            number = self._property_number(prop)
            for snak in snaks_by_property[prop]:
                if snak.property != prop:
                    raise Unreadable("bad-property", f"qualifier {snak.property:.40} stands under {prop:.40}")
                if snak.snaktype == "value":
                    qualifiers.append([number, *self._encode_value(snak.datavalue)])
                else:
                    qualifiers.append([number, _kind_of_valueless_snak(snak.snaktype), None])
        return orjson.dumps(qualifiers).decode() if qualifiers else None

    def _encode_value(self, data: Any) -> tuple[int, Any]:
        kind = type(data)
        if kind is EntityData:
            given = data.value.id
            target = self._targets.get(given)
            if target is None:
                target = self._encode_and_remember_target(given)
            return target
        if kind is StringData:
            return schema.STRING, data.value
        if kind is TimeData:
            value = data.value
            return schema.TIME, _encode_time(value.time, value.precision, value.calendarmodel)
        if kind is QuantityData:
            value = data.value
            return schema.QUANTITY, _encode_quantity(value.amount, value.unit, value.lower, value.upper)
        if kind is TextInLanguageData:
            if not is_language_code(data.value.language):
                raise Unreadable("bad-text", f"{data.value.language:.40} is no language code")
            return schema.MONOLINGUAL, [data.value.text, data.value.language]
        if kind is CoordinateData:
            try:
                return encode_value(read_coordinate(orjson.loads(memoryview(data.value))))
            except orjson.JSONDecodeError as error:
                raise Unreadable("bad-coordinate", str(error)) from None
        if kind is OtherData:
            return schema.OTHER, [data.value.type, data.value.json]
        raise Unreadable("no-datavalue", "a value snak needs a datavalue")

    def _encode_and_remember_target(self, entity_id: str) -> tuple[int, int | str]:
        number = signed_number_uncached(entity_id)
        if number is not None:
            target: tuple[int, int | str] = (schema.ENTITY, number)
        else:
            target = encode_value(read_entity_reference(entity_id))
        if len(self._targets) > _REMEMBERED:
            self._targets.clear()  # the frequent ones, classes and countries, are remembered again after a few entities
        self._targets[entity_id] = target
        return target

    def edges_not_deprecated(self, claims: Any) -> Iterator[tuple[int, int | None]]:
        """(property, target or None) of every statement that is neither deprecated nor "no value".

        A partial reading, enough for counts and walks over a whole source; `claims` are those of the sketch decoder.
        """
        if not claims:
            return
        if type(claims) is not dict:
            raise Unreadable("bad-statement", "statements in a list, not a map by property")
        for group in claims.values():
            for statement in group:
                if statement.rank == "deprecated":  # not followed and not counted: known to be wrong
                    continue
                snak = statement.mainsnak
                kind = snak.snaktype
                if kind == "novalue":  # "no value" states that there is none
                    continue
                prop = self._property_number(snak.property)
                if kind == "somevalue":
                    yield prop, None
                else:
                    data = snak.datavalue
                    if kind != "value" or data is UNSET:
                        raise Unreadable("no-datavalue", f"a snak of type {kind:.40} without a value")
                    if data.type == "wikibase-entityid":
                        entity_id = "" if type(data.value) is str else data.value.id or ""
                        target = self._targets.get(entity_id)
                        if target is None:
                            target = self._encode_and_remember_target(entity_id)
                        yield prop, target[1] if target[0] == schema.ENTITY else None  # type: ignore[misc]
                    else:
                        yield prop, None


def _kind_of_valueless_snak(snaktype: str) -> int:
    kind = _UNKNOWN.get(snaktype)
    if kind is None:
        raise Unreadable("unknown-snaktype", f"snaktype {snaktype:.40} is none of value, {', '.join(_UNKNOWN)}")
    return kind


def _key_of_statement_without_id(prefix: str, snaktype: str, kind: int, value: Any, unnamed: Counter[str]) -> str:
    """The key that identifies a statement without an id: its value, so that it does not change with its neighbours.

    Statements of equal values are numbered.
    """
    identity = None if snaktype != "value" else [kind, orjson.loads(value) if kind in _LISTS else value]
    # 64 bits are enough within one entity
    digest = md5(orjson.dumps([snaktype, identity]), usedforsecurity=False).hexdigest()[:16]
    name = f"{prefix}-{digest}"
    unnamed[name] += 1
    return name if unnamed[name] == 1 else f"{name}-{unnamed[name]}"


@lru_cache(maxsize=1 << 15)  # the same days occur in many statements and qualifiers
def _encode_time(time: str, precision: int, model: str) -> list[Any]:
    """The stored form of a time with the given parts."""
    stored: list[Any] = encode_value(read_time(time, precision, model))[1]
    return stored


@lru_cache(maxsize=1 << 15)
def _encode_quantity(amount: str, unit: str, lower: str | None, upper: str | None) -> list[Any]:
    """The stored form of a quantity with the given parts."""
    stored: list[Any] = encode_value(read_quantity(amount, unit, lower, upper))[1]
    return stored


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractionPlan:
    """Which entities and counts to extract.

    `chosen` and `keys` (normalised names) select entities; `everything` selects all that are not excluded.
    `properties`: extract every property entity too. `counted`: the properties all of whose values are counted, whether
    the subject is selected or not. `along`: in a survey, which extracts nothing else, the properties whose edges are
    collected.
    """

    languages: frozenset[str] | None = None
    everything: bool = False
    chosen: IdSet = field(default_factory=IdSet)
    excluded: IdSet = field(default_factory=IdSet)
    keys: frozenset[str] = frozenset()
    properties: bool = False
    along: frozenset[int] = frozenset()
    counted: frozenset[int] = frozenset()


class BlockRows(msgspec.Struct, array_like=True, gc=False):
    """The rows and counts extracted from a block.

    `numbers`: every item and property, in order; `kept` lists for each whether it is selected. `records`: for each
    selected entity its rows (see `kg.store.entity_rows.record_of`). `tallies`: for each other entity the keys to count
    it under (see `property_value_key`). `digest`: the sum of the records' digests. `entities`: the number of
    objects read, of all kinds. In a survey: `edges` as (property, subject, value), and `named`, the entities that have
    one of the names.
    """

    entities: int = 0
    numbers: list[Any] = []
    kept: list[Any] = []
    records: list[Any] = []
    tallies: list[Any] = []
    rejects: list[Reject] = []
    redirects: list[Any] = []
    digest: bytes = b""
    edges: list[Any] = []
    named: list[Any] = []


class Extractor:
    """Extracts from blocks what one plan asks for."""

    def __init__(self, plan: ExtractionPlan) -> None:
        self._plan = plan
        self._named = bool(plan.keys)
        self._whole = entity_decoder(plan.languages)
        self._sketch = sketch_decoder(plan.languages, named=self._named)
        self._rows = TypedRowMaker()
        self._part_reader = EntityPartReader(plan.languages, self._rows.check_statement)
        self._encode = msgspec.msgpack.Encoder().encode

    def extract(self, block: Block, limit: int | None = None) -> BlockRows:
        """The rows of selected entities and the counts of the others, or the edges and names that a survey collects."""
        batch = BlockRows()  # msgspec copies the empty default lists
        digests = 0
        for line, text in lines_of(block):
            if batch.entities == limit:
                break
            try:
                digests += self._add_entity_return_digest(text, batch)
                batch.entities += 1
            except _REFUSED:
                for at, parsed in parse_objects(Block(line=line, data=text, single=True)):
                    if batch.entities == limit:
                        break
                    digests += self._add_readable_parts_return_digest(at, parsed, batch)
        batch.digest = digest_sum_bytes(digests)
        return batch

    def _add_entity_return_digest(self, text: bytes, batch: BlockRows) -> int:
        """Add an entity, and return its digest (0 if it is not selected). Raises one of _REFUSED, adding nothing."""
        plan = self._plan
        if not plan.everything or plan.excluded:
            head = None if self._named or plan.along else HEAD.match(text)
            number = None if head is None else signed_number(head[1].decode())
            if number is None or not self._is_selected_by_number(number):
                sketch = self._sketch(text)
                number = _entity_number(sketch)
                picked = self._is_selected_by_number(number)
                named = (
                    self._named
                    and not picked
                    and any(normalise(name) in plan.keys for name in _labels_and_aliases_of(sketch))
                )
                if plan.along or not (picked or named):
                    return self._add_edges_or_counts(
                        batch, number, list(self._rows.edges_not_deprecated(sketch.claims)), named
                    )
        entity = self._whole(text)
        number = _entity_number(entity)
        record = self._rows.record(entity, number)
        if entity.redirects is not UNSET and (merged := signed_number(entity.redirects.source)) not in (None, number):
            batch.redirects.append((merged, number))
        encoded = self._encode(record)  # encoded once for both uses: the digest, and the transfer from the worker
        batch.numbers.append(number)
        batch.kept.append(True)
        batch.records.append(msgspec.Raw(encoded))
        return record_digest(encoded)

    def _add_readable_parts_return_digest(self, line: int, parsed: Any, batch: BlockRows) -> int:
        """Add the readable parts of an entity, and the others as rejects; return the digest that was added."""
        if isinstance(parsed, Reject):
            batch.rejects.append(replace(parsed, line=line))
            return 0
        batch.entities += 1
        text, rejects = self._part_reader.readable_parts(parsed)
        digest = self._add_entity_return_digest(text, batch) if text is not None else 0
        if text is None or (batch.kept and batch.kept[-1]):  # rejects only of selected entities
            batch.rejects += [replace(reject, line=line) for reject in rejects]
        return digest

    def _is_selected_by_number(self, number: int) -> bool:
        plan = self._plan
        if number in plan.excluded:  # entities selected by id or name are never excluded
            return False
        return plan.everything or number in plan.chosen or (plan.properties and number < 0)

    def _add_edges_or_counts(
        self, batch: BlockRows, number: int, pairs: list[tuple[int, int | None]], named: bool
    ) -> int:
        if along := self._plan.along:
            batch.edges += [(prop, number, value) for prop, value in pairs if value is not None and prop in along]
            batch.named += [number] * named
            return 0
        keys = set()  # an entity counts once for a value that it states twice
        counted = self._plan.counted
        for prop, value in pairs:
            keys.add(property_value_key(prop))
            # Only values in the snapshot are counted, or, with a selection by name, all.
            if value is not None and (self._named or prop in counted or self._is_selected_by_number(value)):
                keys.add(property_value_key(prop, value))
        batch.numbers.append(number)
        batch.kept.append(False)
        batch.tallies.append(list(keys))
        return 0


def _entity_number(entity: Any) -> int:
    return number_of_entity(entity.id, entity.type, missing=entity.missing is not UNSET)


def _labels_and_aliases_of(sketch: Any) -> Iterator[str]:
    for _, term in language_term_pairs(sketch.labels):
        yield term.value
    for _, terms in language_term_pairs(sketch.aliases):
        yield from (term.value for term in terms)
