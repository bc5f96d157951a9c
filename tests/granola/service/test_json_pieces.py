"""JSON that is read value by value: the same as read at once, and nothing longer than allowed."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstraction.errors import RowError
from abstraction.faults import RejectedRow
from abstraction.files.records import Record
from granola.service.incoming.json_pieces import TooLongError, body_records, read_object, read_value

MOST = 1 << 20
LONG = "x" * 20_000  # longer than what is looked at first
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.just(LONG)
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)
objects = st.dictionaries(st.text(), values, max_size=5)


@given(objects, st.sampled_from([None, 0, 3]), st.booleans())
def test_the_whole_is_what_it_is_read_at_once(data: object, indent: int | None, ascii_only: bool) -> None:
    text = f"\n {json.dumps(data, indent=indent, ensure_ascii=ascii_only)} \t"
    found = read_object(text, MOST)
    assert found == data
    assert json.dumps(found) == json.dumps(data)


@given(objects, st.data())
def test_what_is_no_json_is_refused(data: object, draw: st.DataObject) -> None:
    text = json.dumps(data)
    at = draw.draw(st.integers(0, len(text)))
    damaged = text[:at] + draw.draw(st.sampled_from(['"', ",", "]", "}", ":", "x", ""])) + text[at + 1 :]
    try:
        expected = json.loads(damaged)
    except ValueError:
        expected = None
    if isinstance(expected, dict):
        assert read_object(damaged, MOST) == expected
    else:
        with pytest.raises(json.JSONDecodeError):
            read_object(damaged, MOST)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": "' + "x" * 900 + '"}', "^a is longer than 500 characters"),
        ('{"rows": [1, [' + "1, " * 300 + "1]]}", r"^rows\[2\] is longer than 500"),
        ('{"rows": {"a": [' + "1, " * 300 + "1]}}", "^rows is longer than 500"),
    ],
)
def test_what_is_longer_than_allowed_is_named(text: str, told: str) -> None:
    assert read_object(text, 2_000) == json.loads(text)
    with pytest.raises(TooLongError, match=told):
        read_object(text, 500)


def test_a_value_that_goes_on_behind_the_first_piece_is_read_whole() -> None:
    for size in range(16_360, 16_400):
        for text in (f'["{"x" * size}"]', "[" + " " * size + "12345678]", "[" + " " * size + "true]"):
            assert read_value(text, 0, MOST) == (json.loads(text), len(text))
            assert read_object(f'{{"a": {text}}}', MOST) == {"a": json.loads(text)}
    with pytest.raises(RecursionError):
        read_value("[" * 100_000, 0, MOST)


def test_damage_is_told_where_it_is() -> None:
    text = '[{"a": 1},\n {"b" 2},\n "' + "x" * 40_000 + '"]'
    with pytest.raises(json.JSONDecodeError, match="line 2 column 7"):
        read_value(text, text.index("{", 5), MOST)


def test_records_of_an_array_are_called_by_their_places_and_lines_by_their_numbers() -> None:
    good, bad = '{"question": "?"}', "7"
    found = [one.source for one in body_records(f"[{good}, {bad},\n{good}]".encode(), MOST)]
    assert found == ["request[1]", "request[2]", "request[3]"]
    lines = f"{good}\n\n{bad}\n" + json.dumps({"question": "x" * 900})
    records = list(body_records(lines.encode(), 500))
    assert [one.source for one in records] == ["request:1", "request:3", "request:4"]
    assert isinstance(records[2], RejectedRow)
    assert records[2].reason.startswith("longer than 500 bytes, the most that one record may have")


def test_an_item_of_an_array_that_is_too_long_is_named() -> None:
    body = json.dumps([{"question": "?"}, {"question": "x" * 900}]).encode()
    with pytest.raises(RowError, match=r"^request\[2\] is longer than 500 characters"):
        list(body_records(body, 500))


def test_objects_of_many_fields_and_huge_numbers_are_rejected_in_their_places() -> None:
    many = json.dumps({str(n): n for n in range(20_000)})
    for body in (f"[{many}, {{}}]", f"{many}\n{{}}\n"):
        first, second = body_records(body.encode(), MOST)
        assert isinstance(first, RejectedRow)
        assert first.reason == "20,000 fields; allowed are 10,000"
        assert isinstance(second, Record)
    first, *_ = body_records(('[{"id": ' + "9" * 400 + "}]").encode(), MOST)
    assert isinstance(first, RejectedRow)
    assert "400 digits" in first.reason


def test_many_damaged_items_take_time_by_their_number_only() -> None:
    def seconds(number: int) -> float:
        body = ("[" + '{"id": x},\n' * number + '{"id": 1}]').encode()
        began = time.process_time()
        assert len(list(body_records(body, MOST))) == number + 1
        return time.process_time() - began

    seconds(100)
    # The best of three: other work on the machine slows a run, and quickens none.
    long, short = (min(seconds(number) for _ in range(3)) for number in (40_000, 10_000))
    assert long < 12 * max(short, 0.05)
