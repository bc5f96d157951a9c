"""How JSON that is sent is read: as a whole for one request, record by record for a batch."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from abstraction.errors import RowError
from abstraction.faults import RejectedRow, excerpt
from abstraction.files.records import Record, read_items, record_of_line
from granola.service.incoming.limits import DIGITS, MOST_FIELDS, MOST_VALUES, SMALL
from granola.service.incoming.problems import HTTPProblem
from granola.service.incoming.validation_errors import problem_of_errors

M = TypeVar("M", bound=BaseModel)
_FIRST = 1 << 14  # characters; most items of an array end before
_TOKEN = 16  # characters; what is so near the end of a piece may be cut by it


def read_body(body: bytes, kind: type[M]) -> M:
    """A body as its type. Raises HTTPProblem that says what is wrong with it."""
    check_values(body)
    try:
        data = json.loads(body.decode("utf-8-sig") or "{}")
        if fault := fault_of(data):
            raise HTTPProblem(400, "json", fault)
        return kind.model_validate(data)
    except ValidationError as error:
        raise problem_of_errors(error.errors(include_url=False)) from None
    except RecursionError:
        raise HTTPProblem(400, "json", _FAULTS["Recursion limit reached"]) from None
    except UnicodeDecodeError:
        raise HTTPProblem(400, "json", "the body is no text in UTF-8") from None
    except ValueError as error:
        raise HTTPProblem(400, "json", f"the body is no JSON: {error}") from None


def check_values(body: bytes) -> None:
    """Raise HTTPProblem for JSON of more values than are read at a time; signs inside texts count as well."""
    if len(body) > MOST_VALUES and body.count(b",") + body.count(b"[") + body.count(b"{") > MOST_VALUES:
        raise HTTPProblem(
            413, "too-many-values", f"the JSON has more than {MOST_VALUES:,} values; send several requests",
            more={"most": MOST_VALUES},
        )  # fmt: skip


def fault_of(data: Any) -> str:
    """Why what JSON can write cannot be written again in an answer; empty where it can.

    Halves of surrogate pairs are no text; lists and objects may be nested some hundred times.
    """
    try:
        orjson.dumps([[[[data]]]])  # as deep as an answer puts what was sent
        return ""
    except orjson.JSONEncodeError as error:
        fault = str(error).partition(":")[0]
    if fault.startswith("Integer"):  # of more than 64 bits, which come back as they are
        try:
            json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
            return ""
        except UnicodeEncodeError:
            fault = "str is not valid UTF-8"
        except (ValueError, RecursionError) as error:
            fault = str(error)
    return _FAULTS.get(fault, f"the JSON cannot be written again: {fault}")


_FAULTS = {
    "str is not valid UTF-8": "half of a surrogate pair is no text",
    "Recursion limit reached": "the JSON is nested too deeply to be a request",
}


def body_records(body: bytes) -> Iterator[Record | RejectedRow]:
    """The records of a body: a JSON array's, called by their places, "request[1]" the first; or one on each line.

    A line of more than `SMALL` bytes is rejected, and so is an object of more than `MOST_FIELDS` fields. Raises
    RowError where there is nothing, and for an item of more than `SMALL` characters.
    """
    body = body.removeprefix(b"\xef\xbb\xbf")
    first = body.lstrip()[:1]
    if not first:
        raise RowError("request is empty; expected a JSON array, or one JSON object a line")
    for record in _items(body) if first == b"[" else _lines(body):
        if isinstance(record, Record) and len(record.data) > MOST_FIELDS:
            shown = excerpt(", ".join(islice(record.data, 50)))
            reason = f"{len(record.data):,} fields; allowed are {MOST_FIELDS:,}"
            yield RejectedRow(source=record.source, reason=reason, excerpt=shown)
        elif isinstance(record, Record) and (fault := fault_of(record.data)):
            yield RejectedRow(source=record.source, reason=fault, excerpt=excerpt(repr(record.data)[:400]))
        else:
            yield record


def _items(body: bytes) -> Iterator[Record | RejectedRow]:
    called: list[str] = []

    def call(number: int, line: int) -> str:
        called[:] = [f"request[{number}]"]
        return called[0]

    try:
        yield from read_items(body.decode("utf-8", "surrogateescape"), call, partial(_read_item, most=SMALL))
    except _TooLongError as error:
        raise RowError(f"{called[0]} is {error}") from error


def _lines(body: bytes) -> Iterator[Record | RejectedRow]:
    for number, raw in enumerate(io.BytesIO(body), 1):
        source, line = f"request:{number}", raw.strip()
        if len(raw.rstrip(b"\n")) > SMALL:
            reason = f"longer than {SMALL:,} bytes, the most that one record may have; split it or leave it out"
            yield RejectedRow(source=source, reason=reason, excerpt=excerpt(line))
        elif line:
            yield record_of_line(line, source)


class _TooLongError(Exception):
    pass


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


def _read_item(text: str, at: int, most: int) -> tuple[Any, int]:
    """(value, end) of an item of a long array, looked for in ever larger pieces: an error costs what its piece does."""
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
            raise _TooLongError(f"longer than {most:,} characters")
        size = min(8 * size, most)
