"""JSON values inside a long text, one at a time and none longer than allowed.

A parser holds up all threads while it reads a value, so whoever has others to serve reads many small ones.
"""

from __future__ import annotations

import json
import re
from typing import Any

_FIRST = 1 << 14  # characters; most values end before
_TOKEN = 16  # characters; what is so near the end of a piece may be cut by it
_SPACE = re.compile(r"[ \t\r\n]*")
_decoder = json.JSONDecoder()


class TooLongError(ValueError):
    """A value is longer than allowed."""


def read_value(text: str, at: int, most: int | None) -> tuple[Any, int]:
    """(value, end) of the JSON value that begins at `at`, as `json.JSONDecoder.raw_decode`.

    Raises JSONDecodeError, RecursionError, and TooLongError for one of more than `most` characters.
    """
    if most is None:
        return _decoded(text, at)
    for size in (min(_FIRST, most), most):
        is_rest = at + size >= len(text)
        try:
            value, end = _decoded(text[at : at + size], 0)
        except json.JSONDecodeError as error:
            if is_rest or (error.pos < size - _TOKEN and not error.msg.startswith("Unterminated")):
                raise json.JSONDecodeError(error.msg, text, at + error.pos) from None
        else:
            if is_rest or end < size - _TOKEN:
                return value, at + end
    raise TooLongError(f"longer than {most:,} characters")


def _decoded(text: str, at: int) -> tuple[Any, int]:
    try:
        return _decoder.raw_decode(text, at)
    except json.JSONDecodeError:
        raise
    except ValueError as error:  # a number of thousands of digits
        raise json.JSONDecodeError(str(error), text, at) from None


def read_object(text: str, most: int) -> dict[str, Any]:
    """The JSON object that a text is, read by its values, and those that are arrays by their items.

    Raises JSONDecodeError, RecursionError, and TooLongError for a value or an item of more than `most` characters.
    """
    found: dict[str, Any] = {}
    at = _after(text, 0, "{")
    while text[at : at + 1] != "}":
        if found:
            at = _after(text, at, ",")
        key, at = read_value(text, at, most)
        if not isinstance(key, str):
            raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
        at = _after(text, at, ":")
        read = _read_array if text[at : at + 1] == "[" else _read_named
        found[key], at = read(text, at, key, most)
        at = _skip(text, at)
    if (at := _skip(text, at + 1)) < len(text):
        raise json.JSONDecodeError("Extra data", text, at)
    return found


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
