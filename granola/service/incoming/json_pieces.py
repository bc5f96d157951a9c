"""JSON that is sent, read value by value: a piece at a time, and none longer than allowed.

A parser holds up all threads while it reads a value, so whoever has others to serve reads many small ones.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

from abstraction.errors import RowError
from abstraction.faults import RejectedRow, excerpt
from abstraction.files.records import Record, read_items, record_of_line

FIELDS = 10_000  # of a record
DIGITS = 300  # of a whole number; more are no finite float
_FIRST = 1 << 14  # characters; most values end before
_TOKEN = 16  # characters; what is so near the end of a piece may be cut by it
_SPACE = re.compile(r"[ \t\r\n]*")


class TooLongError(Exception):
    """A value is longer than allowed."""


class _NumberError(ValueError):
    pass


def _whole(digits: str) -> int:
    if len(digits) > DIGITS:
        raise _NumberError(f"a number of {len(digits):,} digits, allowed are {DIGITS}")
    return int(digits)


def _fraction(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _NumberError("a number that is infinite as a double")
    return number


_decoder = json.JSONDecoder(parse_int=_whole, parse_float=_fraction)


def read_value(text: str, at: int, most: int) -> tuple[Any, int]:
    """(value, end) of the JSON value that begins at `at`, as `json.JSONDecoder.raw_decode`.

    Raises JSONDecodeError, RecursionError, and TooLongError for one of more than `most` characters.
    """
    try:
        return read_item(text, at, most)
    except json.JSONDecodeError as error:
        raise json.JSONDecodeError(error.msg, text, at + error.pos) from None


def read_item(text: str, at: int, most: int) -> tuple[Any, int]:
    """As `read_value`, but an error's place is counted from `at`, which costs nothing in a long text."""
    size = min(_FIRST, most)
    while True:
        is_rest = at + size >= len(text)
        piece = text[at : at + size]
        try:
            value, end = _decoder.raw_decode(piece)
        except _NumberError as error:
            raise json.JSONDecodeError(str(error), piece, 0) from None
        except json.JSONDecodeError as error:
            if is_rest or (error.pos < size - _TOKEN and not error.msg.startswith("Unterminated")):
                raise
        else:
            if is_rest or end < size - _TOKEN:
                return value, at + end
        if size == most:
            raise TooLongError(f"longer than {most:,} characters")
        size = min(8 * size, most)


def read_object(text: str, most: int) -> dict[str, Any]:
    """The JSON object that a text is, read by its values, and those that are arrays by their items.

    Raises JSONDecodeError, RecursionError, and TooLongError for a value or an item of more than `most` characters.
    """
    values: dict[str, Any] = {}
    at = _after(text, 0, "{")
    while text[at : at + 1] != "}":
        if values:
            at = _after(text, at, ",")
        key, at = read_value(text, at, most)
        if not isinstance(key, str):
            raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
        at = _after(text, at, ":")
        read = _read_array if text[at : at + 1] == "[" else _read_named
        values[key], at = read(text, at, key, most)
        at = _skip(text, at)
    if (at := _skip(text, at + 1)) < len(text):
        raise json.JSONDecodeError("Extra data", text, at)
    return values


def _read_array(text: str, at: int, key: str, most: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    at = _after(text, at, "[")
    while text[at : at + 1] != "]":
        if items:
            at = _after(text, at, ",")
        item, at = _read_named(text, at, f"{key}[{len(items) + 1}]", most)
        items.append(item)
        at = _skip(text, at)
    return items, at + 1


def _read_named(text: str, at: int, name: str, most: int) -> tuple[Any, int]:
    try:
        return read_value(text, at, most)
    except TooLongError as error:
        raise TooLongError(f"{name} is {error}") from None


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _after(text: str, at: int, sign: str) -> int:
    """Where what stands behind a sign begins. Raises JSONDecodeError where another stands."""
    at = _skip(text, at)
    if text[at : at + 1] != sign:
        raise json.JSONDecodeError(f"Expecting {sign!r} delimiter", text, at)
    return _skip(text, at + 1)


def body_records(body: bytes, most: int) -> Iterator[Record | RejectedRow]:
    """The records of a body: a JSON array's, called by their places, "request[1]" the first; or one on each line.

    A line of more than `most` bytes is rejected, and so is an object of more than `FIELDS` fields. Raises RowError
    where there is nothing, and for an item of more than `most` characters.
    """
    body = body.removeprefix(b"\xef\xbb\xbf")
    first = body.lstrip()[:1]
    if not first:
        raise RowError("request is empty; expected a JSON array, or one JSON object a line")
    for record in _items(body, most) if first == b"[" else _lines(body, most):
        if isinstance(record, Record) and len(record.data) > FIELDS:
            shown = excerpt(", ".join(islice(record.data, 50)))
            reason = f"{len(record.data):,} fields; allowed are {FIELDS:,}"
            yield RejectedRow(source=record.source, reason=reason, excerpt=shown)
        else:
            yield record


def _items(body: bytes, most: int) -> Iterator[Record | RejectedRow]:
    place = ""

    def called(number: int, line: int) -> str:
        nonlocal place
        place = f"request[{number}]"
        return place

    try:
        yield from read_items(body.decode("utf-8", "surrogateescape"), called, partial(read_item, most=most))
    except TooLongError as error:
        raise RowError(f"{place} is {error}") from error


def _lines(body: bytes, most: int) -> Iterator[Record | RejectedRow]:
    for number, raw in enumerate(io.BytesIO(body), 1):
        source, line = f"request:{number}", raw.strip()
        if len(raw.rstrip(b"\n")) > most:
            reason = f"longer than {most:,} bytes, the most that one record may have; split it or leave it out"
            yield RejectedRow(source=source, reason=reason, excerpt=excerpt(line))
        elif line:
            yield record_of_line(line, source)
