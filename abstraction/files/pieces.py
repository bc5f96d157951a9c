"""JSON values inside a long text, one at a time and none longer than allowed.

A parser holds up all threads while it reads a value, so whoever has others to serve reads many small ones.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import orjson

DEPTH = 254  # lists and objects inside each other: what orjson writes; Python's own recursion ends at 1,000
DIGITS = 300  # of a whole number; more are no finite float
_FIRST = 1 << 14  # characters; most values end before
_TOKEN = 16  # characters; what is so near the end of a piece may be cut by it
_SPACE = re.compile(r"[ \t\r\n]*")


class TooLongError(ValueError):
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


def loads(text: str) -> Any:
    """The JSON value that a text is. Raises ValueError where it is none, too deep, or has numbers out of range."""
    try:
        value = _decoder.decode(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    if is_too_deep(value, text.count("[") + text.count("{")):
        raise ValueError(TOO_DEEP)
    return value


TOO_DEEP = f"lists and objects are nested more than {DEPTH} deep"


def is_too_deep(value: object, brackets: int) -> bool:
    """Whether a JSON value nests deeper than `DEPTH`; `brackets` are those that open one in its text, or more."""
    if brackets <= DEPTH:
        return False
    try:
        orjson.dumps(value)
        return False
    except TypeError:  # too deep, or a whole number of more than 64 bits
        pass
    level, depth = [value], 0
    while level and depth <= DEPTH:
        depth += 1
        inside = (inner for outer in level for inner in (outer.values() if isinstance(outer, dict) else outer))  # type: ignore[attr-defined]
        level = [inner for inner in inside if isinstance(inner, dict | list)]
    return depth > DEPTH


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
