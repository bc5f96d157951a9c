"""The tolerant reader of one entity object."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import orjson
import pytest
from dump_json import entity_json
from hypothesis import given
from hypothesis import strategies as st
from strategies import entities

from kg.model import (
    Entity,
    EntityValue,
    OtherValue,
    QuantityValue,
    Rank,
    SnakKind,
    TextValue,
    TimeValue,
)
from kg.reading.entity_json import decode, edges
from kg.reading.snaks import Unreadable, read_quantity, read_time

ITEM = {"type": "wikibase-entityid", "value": {"entity-type": "item", "numeric-id": 5, "id": "Q5"}}
GREGORIAN = "http://www.wikidata.org/entity/Q1985727"
JULIAN = "http://www.wikidata.org/entity/Q1985786"


def claim(datavalue: object = ITEM, /, **more: Any) -> dict[str, Any]:
    snak = {"snaktype": "value", "property": "P31", "datavalue": datavalue}
    return {"mainsnak": snak, "type": "statement", "rank": "normal", "id": "Q1$a", **more}


def read(data: object, **options: Any) -> Entity:
    decoded = decode(data, **options)
    assert decoded.rejects == ()
    assert decoded.entity is not None
    return decoded.entity


def value_of(datavalue: object) -> object:
    return read({"id": "Q1", "claims": {"P31": [claim(datavalue)]}}).statements[0].value


@given(entities())
def test_what_a_dump_writes_is_read_back(entity: Entity) -> None:
    line = orjson.dumps(entity_json(entity))
    assert read(orjson.loads(line)) == entity


@given(entities())
def test_light_edges_agree_with_the_full_reading(entity: Entity) -> None:
    expected = {
        (s.property, s.target)
        for s in entity.statements
        if s.rank is not Rank.DEPRECATED and s.kind is not SnakKind.NOVALUE
    }
    assert set(edges(entity_json(entity))) == expected


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


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
    decoded = decode(document)
    list(edges(document))
    assert decoded.entity is not None or decoded.rejects


@given(json_values)
def test_any_json_is_read_or_rejected(value: object) -> None:
    decoded = decode(value)
    assert decoded.entity is None
    assert len(decoded.rejects) == 1


@pytest.mark.parametrize("key", ["labels", "descriptions", "aliases", "claims", "sitelinks"])
@pytest.mark.parametrize("empty", [[], {}, None, ...])
def test_empty_maps_in_every_form(key: str, empty: object) -> None:
    data = {"type": "item", "id": "Q1", "labels": {}, "claims": {}}
    data.pop(key, None)
    if empty is not ...:
        data[key] = empty
    assert read(data) == Entity(id="Q1")


@pytest.mark.parametrize("empty", [[], {}, None])
def test_empty_qualifiers_in_every_form(empty: object) -> None:
    data = {"id": "Q1", "claims": {"P31": [claim(qualifiers=empty)]}}
    assert read(data).statements[0].qualifiers == ()


@pytest.mark.parametrize(
    ("datavalue", "expected"),
    [
        ({"type": "wikibase-entityid", "value": {"entity-type": "item", "numeric-id": 42}}, "Q42"),
        ({"type": "wikibase-entityid", "value": {"entity-type": "property", "numeric-id": 31}}, "P31"),
        ({"type": "wikibase-entityid", "value": {"entity-type": "lexeme", "numeric-id": 7}}, "L7"),
        ({"type": "wikibase-entityid", "value": {"entity-type": "form", "id": "L7-F2"}}, "L7-F2"),
        ({"type": "wikibase-entityid", "value": {"numeric-id": 1, "id": "Q42"}}, "Q42"),
        ({"type": "wikibase-entityid", "value": "Q42"}, "Q42"),
        ({"type": "wikibase-entityid", "value": "q42"}, "Q42"),
        ("Q42", "Q42"),
        ("q42", "Q42"),
    ],
)
def test_entity_values_of_all_years(datavalue: object, expected: str) -> None:
    assert value_of(datavalue) == EntityValue(id=expected)


def test_texts_of_all_kinds() -> None:
    assert value_of({"type": "string", "value": "x"}) == TextValue(text="x")
    assert value_of("plain string of an old dump") == TextValue(text="plain string of an old dump")
    given = {"type": "monolingualtext", "value": {"text": "Wien", "language": "de"}}
    assert value_of(given) == TextValue(text="Wien", language="de")


def test_unknown_types_are_kept_whole_in_one_canonical_form() -> None:
    one = value_of({"type": "new", "value": {"b": [1, 2.5], "a": None}})
    other = value_of({"type": "new", "value": {"a": None, "b": [1, 2.5]}})
    assert one == other == OtherValue(type="new", json='{"a":null,"b":[1,2.5]}')


def test_old_terms_are_plain_strings() -> None:
    data = {"id": "Q1", "labels": {"en": "x"}, "aliases": {"en": ["y", {"language": "en", "value": "z"}]}}
    entity = read(data)
    assert entity.labels == {"en": "x"}
    assert entity.aliases == {"en": ("y", "z")}
    assert read({"id": "Q1", "aliases": {"en": {"0": {"language": "en", "value": "y"}}}}).aliases == {"en": ("y",)}


def test_missing_datatype_and_rank_and_id() -> None:
    statement = claim()
    del statement["rank"], statement["id"]
    (found,) = read({"id": "Q1", "claims": {"P31": [statement]}}).statements
    assert (found.datatype, found.rank) == (None, Rank.NORMAL)


def test_a_statement_without_an_id_keeps_its_name_beside_others() -> None:
    """And under another rank; equal values are numbered."""

    def names(*values: str) -> list[str]:
        stated = [{**claim(value), "id": None} for value in values]
        return [one.id for one in read({"id": "Q1", "claims": {"P31": stated}}).statements]

    (alone,) = names("Q5")
    assert alone.startswith("Q1$P31-")
    assert names("Q6", "Q5", "Q5")[1:] == [alone, f"{alone}-2"]


def test_mediainfo_style_statements_and_claims_as_a_list() -> None:
    expected = read({"id": "Q1", "claims": {"P31": [claim()]}})
    assert read({"id": "Q1", "statements": {"P31": [claim()]}}) == expected
    assert read({"id": "Q1", "claims": [claim()]}) == expected
    assert read({"id": "Q1", "claims": {"P31": claim()}}) == expected
    assert read({"id": "q1", "claims": {"p31": [claim()]}}).statements == expected.statements


def test_languages_are_chosen_by_the_terms_own_language() -> None:
    data = {
        "id": "Q1",
        "labels": {"de": {"language": "mul", "value": "x"}, "en": {"language": "en", "value": "y"}},
        "aliases": {"fr": [{"language": "fr", "value": "z"}]},
    }
    assert read(data).labels == {"mul": "x", "en": "y"}  # a fallback that the API put under "de"
    chosen = read(data, languages=frozenset({"de", "mul"}))
    assert (chosen.labels, chosen.aliases) == ({"mul": "x"}, {})


def test_qualifiers_follow_their_order() -> None:
    qualifiers = {
        "P580": [{"snaktype": "somevalue", "property": "P580"}],
        "P582": [{"snaktype": "novalue", "property": "P582"}],
    }
    data = {
        "id": "Q1",
        "claims": {"P31": [claim(qualifiers=qualifiers, **{"qualifiers-order": ["P582", "P580"]})]},
    }
    assert [s.property for s in read(data).statements[0].qualifiers] == ["P582", "P580"]
    partial = {
        "id": "Q1",
        "claims": {"P31": [claim(qualifiers=qualifiers, **{"qualifiers-order": ["P582"]})]},
    }
    assert [s.property for s in read(partial).statements[0].qualifiers] == ["P582", "P580"]


def test_redirects_of_the_api() -> None:
    decoded = decode({"id": "Q1", "redirects": {"from": "Q9", "to": "Q1"}})
    assert decoded.redirects == ("Q9",)


BAD_TIME = {"type": "time", "value": {"time": "yesterday", "precision": 11}}


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("no object", "bad-statement"),
        ({}, "bad-statement"),
        ({"mainsnak": None}, "bad-statement"),
        ({"mainsnak": []}, "bad-snak"),
        ({"mainsnak": {"property": "Q5", "snaktype": "value", "datavalue": ITEM}}, "bad-property"),
        ({"mainsnak": {"property": "P31", "snaktype": "maybe"}}, "unknown-snaktype"),
        ({"mainsnak": {"property": "P31", "snaktype": ["value"]}}, "unknown-snaktype"),
        ({"mainsnak": {"property": "P31", "snaktype": "value"}}, "no-datavalue"),
        (claim({"value": 3}), "no-datavalue"),
        (claim({"type": "string", "value": 3}), "bad-text"),
        (claim({"type": "monolingualtext", "value": {"text": "x"}}), "bad-text"),
        (claim({"type": "wikibase-entityid", "value": {"entity-type": "item"}}), "bad-entity-id"),
        (claim({"type": "wikibase-entityid", "value": {"id": "Q0"}}), "bad-entity-id"),
        (claim({"type": "wikibase-entityid", "value": {"id": 5}}), "bad-entity-id"),
        (claim(BAD_TIME), "bad-time"),
        (claim({"type": "quantity", "value": {"amount": 1.5}}), "bad-quantity"),
        (claim(rank="best"), "bad-rank"),
        (claim(rank=["normal"]), "bad-statement"),
        (
            claim(qualifiers={"P582": [{"snaktype": "value", "property": "P582", "datavalue": BAD_TIME}]}),
            "bad-time",
        ),
        (claim(qualifiers={"end": []}), "bad-property"),
    ],
)
def test_a_bad_statement_is_rejected_and_the_rest_kept(statement: object, reason: str) -> None:
    if statement == claim(qualifiers={"end": []}):
        statement["qualifiers"]["end"] = [{"snaktype": "novalue"}]  # type: ignore[index]
    good = claim(id="Q1$good")
    decoded = decode({"id": "Q1", "labels": {"en": {"value": "x"}}, "claims": {"P31": [statement, good]}})
    assert decoded.entity is not None
    assert [s.id for s in decoded.entity.statements] == ["Q1$good"]
    assert decoded.entity.labels == {"en": "x"}
    (reject,) = decoded.rejects
    assert (reject.reason, reject.entity) == (reason, "Q1")


def test_a_bad_term_is_rejected_and_the_rest_kept() -> None:
    decoded = decode({"id": "Q1", "labels": {"en": {"value": 3}, "de": {"value": "x"}}, "aliases": {"en": [7]}})
    assert decoded.entity is not None
    assert decoded.entity.labels == {"de": "x"}
    assert [reject.reason for reject in decoded.rejects] == ["bad-term", "bad-term"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"type": "lexeme", "id": "L3"}, "lexeme"),
        ({"id": "L3", "lemmas": {}}, "lexeme"),
        ({"type": "mediainfo", "id": "M3"}, "mediainfo"),
        ({"type": "schema", "id": "E3"}, "unknown-kind"),
        ({"type": "item"}, "no-id"),
        ({"type": "item", "id": 3}, "no-id"),
        ({"type": "item", "id": "Q0"}, "bad-id"),
        ({"type": "item", "id": "Q1; DROP"}, "bad-id"),
        ({"id": "Q3", "missing": ""}, "missing"),
        ([], "not-an-object"),
        (None, "not-an-object"),
    ],
)
def test_what_is_no_item_or_property_is_rejected_whole(data: object, reason: str) -> None:
    decoded = decode(data)
    assert decoded.entity is None
    assert [reject.reason for reject in decoded.rejects] == [reason]


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
        ("1961-08-04", None, TimeValue(year=1961, month=8, day=4, precision=11)),
        ("+1961-00-00T00:00:00Z", None, TimeValue(year=1961, precision=9)),
    ],
)
def test_times(time: str, precision: int | None, expected: TimeValue) -> None:
    data: dict[str, Any] = {"time": time, "calendarmodel": GREGORIAN}
    if precision is not None:
        data["precision"] = precision
    assert read_time(data) == expected


def test_calendars() -> None:
    data = {"time": "+1582-10-04T00:00:00Z", "precision": 11}
    assert read_time({**data, "calendarmodel": JULIAN}).calendar == "julian"
    assert read_time({**data, "calendarmodel": "https://www.wikidata.org/wiki/Q1985727"}).calendar == "gregorian"
    assert read_time(data).calendar == "gregorian"


@pytest.mark.parametrize(
    "bad",
    [
        {"time": "+0000-00-00T00:00:00Z", "precision": 9},
        {"time": "+1961-13-00T00:00:00Z", "precision": 9},
        {"time": "+1961-01-32T00:00:00Z", "precision": 11},
        {"time": "+1961-01-01T00:00:00Z", "precision": 15},
        {"time": "+1961-01-01T00:00:00Z", "precision": -1},
        {"time": "+1961-01-01T00:00:00Z", "precision": True},
        {"time": "+1961-01-01T00:00:00Z", "precision": 9, "calendarmodel": "http://x/Q1"},
        {"time": 1961, "precision": 9},
        {"precision": 9},
        "+1961-01-01T00:00:00Z",
    ],
)
def test_bad_times(bad: object) -> None:
    with pytest.raises(Unreadable) as caught:
        read_time(bad)
    assert caught.value.reason == "bad-time"


METRE = "http://www.wikidata.org/entity/Q11573"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"amount": "+10.50", "unit": "1"}, QuantityValue(amount=Decimal("10.50"))),
        ({"amount": "10"}, QuantityValue(amount=Decimal(10))),
        ({"amount": 10, "unit": ""}, QuantityValue(amount=Decimal(10))),
        ({"amount": "-3", "unit": METRE}, QuantityValue(amount=Decimal(-3), unit="Q11573")),
        (
            {"amount": "+10", "unit": "1", "lowerBound": "+11", "upperBound": "+9"},
            QuantityValue(amount=Decimal(10), lower=Decimal(9), upper=Decimal(11)),
        ),
        ({"amount": "+10", "unit": "1", "upperBound": "+9"}, QuantityValue(amount=Decimal(10))),
        (
            {"amount": "+0.1234567890123456789012345678901234567890"},
            QuantityValue(amount=Decimal("0.1234567890123456789012345678901234567890")),
        ),
    ],
)
def test_quantities(data: dict[str, Any], expected: QuantityValue) -> None:
    found = read_quantity(data)
    assert found == expected
    assert str(found.amount) == str(expected.amount)  # "10.50" is not "10.5"


@pytest.mark.parametrize(
    "bad",
    [
        {"amount": "NaN"},
        {"amount": "1e999999999"},
        {"amount": "Infinity"},
        {"amount": True},
        {"amount": "+1", "unit": "metre"},
        {"amount": "+1", "unit": ["1"]},
        {"amount": "+1", "lowerBound": "x", "upperBound": "+1"},
        {},
        None,
    ],
)
def test_bad_quantities(bad: object) -> None:
    with pytest.raises(Unreadable) as caught:
        read_quantity(bad)
    assert caught.value.reason == "bad-quantity"
