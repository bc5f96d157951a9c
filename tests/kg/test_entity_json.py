"""Entity objects as blocks of a dump hold them: what is read of them, and what is rejected."""

from __future__ import annotations

import gzip
from decimal import Decimal
from typing import Any

import msgspec
import orjson
import pytest
from dump_json import entity_json
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import entities

from kg.base.model import (
    Entity,
    EntityValue,
    OtherValue,
    QuantityValue,
    Rank,
    SnakKind,
    TextValue,
    TimeValue,
    signed_number,
)
from kg.building.closure import IdSet
from kg.building.extraction import BlockRows, ExtractionPlan, Extractor, property_value_key
from kg.reading.dump import Block
from kg.reading.entity_json import EntityPartReader, Unreadable, read_quantity, read_time
from kg.store.entity_rows import entity_of
from tests.conftest import WHOLE_ENTITIES, needs_whole_entities
from tests.thorough import examples

ITEM = {"type": "wikibase-entityid", "value": {"entity-type": "item", "numeric-id": 5, "id": "Q5"}}
BAD_TIME = {"type": "time", "value": {"time": "yesterday", "precision": 11, "calendarmodel": "Q1985727"}}
GREGORIAN = "http://www.wikidata.org/entity/Q1985727"
JULIAN = "http://www.wikidata.org/entity/Q1985786"
METRE = "http://www.wikidata.org/entity/Q11573"
EVERYTHING = ExtractionPlan(everything=True)


def claim(datavalue: object = ITEM, /, **more: Any) -> dict[str, Any]:
    snak = {"snaktype": "value", "property": "P31", "datavalue": datavalue}
    return {"mainsnak": snak, "type": "statement", "rank": "normal", "id": "Q1$a", **more}


def extracted(data: object, plan: ExtractionPlan = EVERYTHING) -> BlockRows:
    text = data if isinstance(data, bytes) else orjson.dumps(data)
    return msgspec.msgpack.decode(
        msgspec.msgpack.encode(Extractor(plan).extract(Block(line=1, data=text))), type=BlockRows
    )


def entities_in(batch: BlockRows) -> list[Entity]:
    return [entity_of(record) for record in batch.records]


def read(data: object, languages: frozenset[str] | None = None) -> Entity:
    batch = extracted(data, ExtractionPlan(everything=True, languages=languages))
    assert batch.rejects == []
    (entity,) = entities_in(batch)
    return entity


@given(entities())
def test_what_a_dump_writes_is_read_back(entity: Entity) -> None:
    assert read(entity_json(entity)) == entity


@given(entities(), st.integers(1, 12))
def test_of_who_is_not_selected_the_values_count(entity: Entity, chosen: int) -> None:
    batch = extracted(entity_json(entity), ExtractionPlan(chosen=IdSet([chosen]), counted=frozenset({31})))
    if batch.records:
        return
    counted = [s for s in entity.statements if s.rank is not Rank.DEPRECATED and s.kind is not SnakKind.NOVALUE]
    pairs = {(s.property, signed_number(s.target)) for s in counted if s.target}
    expected = {property_value_key(int(s.property[1:])) for s in counted}
    expected |= {
        property_value_key(int(prop[1:]), value)
        for prop, value in pairs
        if value and (prop == "P31" or value == chosen)
    }
    assert set(batch.tallies[0]) == expected


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None, max_examples=examples(100))
@given(entities(), st.data())
def test_nothing_in_an_entity_makes_the_reader_fail(entity: Entity, data: st.DataObject) -> None:
    """Any part of an entity object may be anything."""
    document = entity_json(entity)
    at: Any = document
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at))) if isinstance(at, list) else []
        if not keys:
            break
        key = data.draw(st.sampled_from(keys))
        if not isinstance(at[key], dict | list) or not data.draw(st.integers(0, 3)):
            at[key] = data.draw(json_values)
            break
        at = at[key]
    batch = extracted(document)
    assert batch.records or batch.rejects
    for plan in (
        ExtractionPlan(chosen=IdSet([99])),
        ExtractionPlan(keys=frozenset({"a"})),
        ExtractionPlan(along=frozenset({31})),
    ):
        extracted(document, plan)


@needs_whole_entities
def test_real_entities_are_read_at_once_and_in_pieces_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """What WikiData writes today needs no second reading, or the speed of the first would be lost unnoticed."""
    data = gzip.decompress(WHOLE_ENTITIES.read_bytes())
    at_once = extracted(data)
    assert len(at_once.records) == 49
    extractor = Extractor(EVERYTHING)
    for record, line in zip(at_once.records, data.splitlines()[1:], strict=False):
        text, rejects = extractor._part_reader.readable_parts(orjson.loads(line.rstrip(b",")))
        assert (rejects, extracted(text).records) == ([], [record])
    monkeypatch.setattr(EntityPartReader, "readable_parts", lambda *_: pytest.fail("a second reading was needed"))
    for plan in (
        EVERYTHING,
        ExtractionPlan(chosen=IdSet([1, -31]), properties=True),
        ExtractionPlan(along=frozenset({31})),
    ):
        extracted(data, plan)


@pytest.mark.parametrize("key", ["labels", "descriptions", "aliases", "claims", "sitelinks"])
@pytest.mark.parametrize("empty", [[], {}, None, ...])
def test_empty_maps_in_every_form(key: str, empty: object) -> None:
    data = {"type": "item", "id": "Q1", "labels": {}, "claims": {}}
    data.pop(key, None)
    assert read(data if empty is ... else data | {key: empty}) == Entity(id="Q1")
    assert read({"id": "Q1", "claims": {"P31": [claim(qualifiers=[])]}}).statements[0].qualifiers == ()


@pytest.mark.parametrize(
    ("datavalue", "expected"),
    [
        ({"type": "wikibase-entityid", "value": {"numeric-id": 1, "id": "Q42"}}, EntityValue(id="Q42")),
        ({"type": "wikibase-entityid", "value": {"entity-type": "form", "id": "L7-F2"}}, EntityValue(id="L7-F2")),
        ({"type": "string", "value": "x"}, TextValue(text="x")),
        (
            {"type": "monolingualtext", "value": {"text": "Wien", "language": "de"}},
            TextValue(text="Wien", language="de"),
        ),
        ({"type": "new", "value": {"b": [1, 2.5], "a": None}}, OtherValue(type="new", json='{"a":null,"b":[1,2.5]}')),
    ],
)
def test_values(datavalue: object, expected: object) -> None:
    snak = {"snaktype": "value", "property": "P1", "datavalue": datavalue}
    (statement,) = read({"id": "Q1", "claims": {"P31": [claim(datavalue, qualifiers={"P1": [snak]})]}}).statements
    assert statement.value == statement.qualifiers[0].value == expected


def test_a_statement_without_an_id_keeps_its_name_beside_others() -> None:
    """And under another rank; equal values are numbered."""

    def names(*values: str) -> list[str]:
        stated = [{**claim({"type": "string", "value": value}), "id": None} for value in values]
        return [one.id for one in read({"id": "Q1", "claims": {"P31": stated}}).statements]

    (alone,) = names("b")
    assert alone.startswith("Q1$P31-")
    assert names("a", "b", "b")[1:] == [alone, f"{alone}-2"]


@pytest.mark.parametrize("order", [["P582", "P580"], ["P582"]])
def test_qualifiers_follow_their_order(order: list[str]) -> None:
    qualifiers = {
        "P580": [{"snaktype": "somevalue", "property": "P580"}],
        "P582": [{"snaktype": "novalue", "property": "P582"}],
    }
    data = {"id": "Q1", "claims": {"P31": [claim(qualifiers=qualifiers, **{"qualifiers-order": order})]}}
    assert [s.property for s in read(data).statements[0].qualifiers] == ["P582", "P580"]


def test_redirects_of_the_api() -> None:
    assert extracted({"id": "Q1", "redirects": {"from": "Q9", "to": "Q1"}}).redirects == [[9, 1]]


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("no object", "bad-statement"),
        ({"mainsnak": []}, "bad-statement"),
        (claim(rank=["normal"]), "bad-statement"),
        (claim({"type": "string", "value": 3}), "bad-statement"),
        (claim({"type": "quantity", "value": {"amount": 1.5}}), "bad-statement"),
        (claim(mainsnak={"property": "Q5", "snaktype": "value", "datavalue": ITEM}), "bad-property"),
        (claim(mainsnak={"property": "P31", "snaktype": "maybe"}), "unknown-snaktype"),
        (claim(mainsnak={"property": "P31", "snaktype": "value"}), "no-datavalue"),
        (claim({"type": "wikibase-entityid", "value": {"id": "Q0"}}), "bad-entity-id"),
        (claim(BAD_TIME), "bad-time"),
        (claim(rank="best"), "bad-rank"),
        (claim(qualifiers={"P582": [{"snaktype": "value", "property": "P582", "datavalue": BAD_TIME}]}), "bad-time"),
        (claim(qualifiers={"end": [{"snaktype": "novalue", "property": "end"}]}), "bad-property"),
    ],
)
def test_a_bad_statement_is_rejected_and_the_rest_kept(statement: object, reason: str) -> None:
    label = {"language": "en", "value": "x"}
    batch = extracted({"id": "Q1", "labels": {"en": label}, "claims": {"P31": [statement, claim(id="Q1$good")]}})
    (entity,) = entities_in(batch)
    assert ([s.id for s in entity.statements], entity.labels) == (["Q1$good"], {"en": "x"})
    (reject,) = batch.rejects
    assert (reject.reason, reject.entity, reject.line) == (reason, "Q1", 1)


def test_a_bad_term_is_rejected_and_the_rest_kept() -> None:
    labels = {"en": {"language": "en", "value": 3}, "de": {"language": "de", "value": "x"}, "fr": {"language": "nl"}}
    batch = extracted({"id": "Q1", "labels": labels, "aliases": {"en": [7]}})
    assert entities_in(batch)[0].labels == {"de": "x"}
    assert [reject.reason for reject in batch.rejects] == ["bad-term"] * 3


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"type": "lexeme", "id": "L3"}, "lexeme"),
        ({"type": "mediainfo", "id": "M3"}, "mediainfo"),
        ({"type": "schema", "id": "E3"}, "unknown-kind"),
        ({"type": "item"}, "no-id"),
        ({"type": "item", "id": 3}, "no-id"),
        ({"type": "item", "id": "Q0"}, "bad-id"),
        ({"id": "Q3", "missing": ""}, "missing"),
        (7, "not-an-object"),
        (b"{", "not-json"),
    ],
)
def test_what_is_no_item_or_property_is_rejected_whole(data: object, reason: str) -> None:
    batch = extracted(data)
    assert batch.records == []
    assert [reject.reason for reject in batch.rejects] == [reason]


@pytest.mark.parametrize(
    ("time", "precision", "expected"),
    [
        ("+1961-08-04T00:00:00Z", 11, TimeValue(year=1961, month=8, day=4, precision=11)),
        ("+00000001961-08-04T00:00:00Z", 11, TimeValue(year=1961, month=8, day=4, precision=11)),
        ("+1961-08-00T00:00:00Z", 10, TimeValue(year=1961, month=8, precision=10)),
        ("+1961-08-04T00:00:00Z", 9, TimeValue(year=1961, precision=9)),
        ("+1961-00-00T00:00:00Z", 11, TimeValue(year=1961, precision=9)),
        ("+1961-08-00T00:00:00Z", 11, TimeValue(year=1961, month=8, precision=10)),
        ("+1961-08-04T12:30:00Z", 14, TimeValue(year=1961, month=8, day=4, precision=11)),
        ("+1900-02-30T00:00:00Z", 11, TimeValue(year=1900, month=2, day=30, precision=11)),
        ("-0044-03-15T00:00:00Z", 11, TimeValue(year=-44, month=3, day=15, precision=11)),
        ("+1902-00-00T00:00:00Z", 7, TimeValue(year=1902, precision=7)),
        ("-13798000000-00-00T00:00:00Z", 3, TimeValue(year=-13798000000, precision=3)),
    ],
)
def test_times(time: str, precision: int, expected: TimeValue) -> None:
    assert read_time(time, precision, GREGORIAN) == expected
    assert read_time("+1582-10-04T00:00:00Z", 11, JULIAN).calendar == "julian"


@pytest.mark.parametrize(
    ("time", "precision", "model"),
    [
        ("+0000-00-00T00:00:00Z", 9, GREGORIAN),
        ("+1961-13-00T00:00:00Z", 9, GREGORIAN),
        ("+1961-01-32T00:00:00Z", 11, GREGORIAN),
        ("+1961-01-01T00:00:00Z", 15, GREGORIAN),
        ("+1961-01-01T00:00:00Z", -1, GREGORIAN),
        ("+1961-01-01T00:00:00Z", 9, "http://x/Q1"),
        ("1961", 9, GREGORIAN),
    ],
)
def test_bad_times(time: str, precision: int, model: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_time(time, precision, model)
    assert caught.value.reason == "bad-time"


LONG = "+0.1234567890123456789012345678901234567890"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("+10.50", "1", None, None), QuantityValue(amount=Decimal("10.50"))),
        (("10", "", None, None), QuantityValue(amount=Decimal(10))),
        (("-3", METRE, None, None), QuantityValue(amount=Decimal(-3), unit="Q11573")),
        (("+10", "1", "+11", "+9"), QuantityValue(amount=Decimal(10), lower=Decimal(9), upper=Decimal(11))),
        (("+10", "1", None, "+9"), QuantityValue(amount=Decimal(10))),
        ((LONG, "1", None, None), QuantityValue(amount=Decimal(LONG))),
        (("NaN", "1", None, None), None),
        (("1e999999999", "1", None, None), None),
        (("+1", "metre", None, None), None),
        (("+1", "1", "x", "+1"), None),
    ],
)
def test_quantities(parts: tuple[str, str, str | None, str | None], expected: QuantityValue | None) -> None:
    if expected is None:
        with pytest.raises(Unreadable) as caught:
            read_quantity(*parts)
        assert caught.value.reason == "bad-quantity"
        return
    found = read_quantity(*parts)
    assert (found, str(found.amount)) == (expected, str(expected.amount))  # "10.50" is not "10.5"
