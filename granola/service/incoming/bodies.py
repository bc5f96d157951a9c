"""How JSON that is sent is read: as a whole for one request, record by record for a batch."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from abstraction.base.faults import RejectedRow, excerpt, repr_excerpt
from abstraction.errors import RowError
from abstraction.files.records import Record, record_of_line
from abstraction.files.rows import QARow, question_rows
from granola.service.incoming import limits
from granola.service.incoming.problems import HTTPProblem, problem_of_errors, too_many

M = TypeVar("M", bound=BaseModel)


def read_body(body: bytes, kind: type[M]) -> M:
    """A body as its type. Raises HTTPProblem with the field that is wrong."""
    data = _read_json(body)
    if fault := fault_of(data):
        raise HTTPProblem(400, "json", fault)
    if not isinstance(data, dict):
        raise HTTPProblem(422, "request", "the body is no JSON object")
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise problem_of_errors(error.errors(include_url=False)) from None


def _read_json(body: bytes) -> Any:
    if len(body) > limits.MOST_VALUES and body.count(b",") + body.count(b"[") + body.count(b"{") > limits.MOST_VALUES:
        detail = f"the JSON has more than {limits.MOST_VALUES:,} values; send several requests"
        raise too_many("too-many-values", detail, limits.MOST_VALUES)
    try:
        return json.loads(body.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise HTTPProblem(400, "json", "the body is no text in UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise HTTPProblem(400, "json", f"the body is no JSON: {error}") from None


def fault_of(data: Any) -> str:
    """Why what JSON can write cannot be written again in an answer; empty where it can.

    Halves of surrogate pairs are no text; lists and objects may be nested some hundred times.
    """
    try:
        orjson.dumps([[[[data]]]])  # as deep as an answer puts what was sent
        return ""
    except orjson.JSONEncodeError as error:
        fault = str(error)
    if fault.startswith("Integer"):  # of more than 64 bits, which come back as they are
        try:
            json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
            return ""
        except (ValueError, RecursionError) as error:
            fault = str(error)
    return f"the JSON cannot be written again: {fault}"


# Rows of questions.


def read_question(data: Mapping[str, Any]) -> QARow:
    """The question of one row. Raises RowError, and HTTPProblem for more than is read of one."""
    limits.check_row(data)
    row = next(question_rows([Record(source="the request", data=data)]))
    if isinstance(row, RejectedRow):
        raise RowError(row.reason)
    limits.check_text(row.answers, "answers")
    return row


def read_batch(body: bytes, *, relation: str | None, most: int) -> list[QARow | RejectedRow]:
    """The questions of a batch, a JSON array or JSONL, rejected ones in their places.

    Raises RowError where there is none, and HTTPProblem for more than `most`, or for more answers or relations than so
    many bytes may have.
    """
    rows: list[QARow | RejectedRow] = []
    for row in question_rows(map(_bounded, _records(body)), relation=relation):
        rows.append(row)
        limits.check_rows(len(rows), most)
    if not rows:
        raise RowError("request holds no row; expected a JSON array, or one JSON object a line")
    asked = [row for row in rows if isinstance(row, QARow)]
    limits.check_batch(sum(len(row.answers) for row in asked), len({row.relation for row in asked}), len(body))
    return rows


def _records(body: bytes) -> Iterator[Record | RejectedRow]:
    """The records of a JSON array, called by their places, "request[1]" the first; or one on each line."""
    body = body.removeprefix(b"\xef\xbb\xbf")
    if body.lstrip()[:1] == b"[":
        for number, data in enumerate(_read_json(body), 1):
            source = f"request[{number}]"
            if isinstance(data, dict):
                yield Record(source=source, data=data)
            else:
                yield RejectedRow(source=source, reason="no JSON object", excerpt=repr_excerpt(data))
        return
    for number, raw in enumerate(io.BytesIO(body), 1):
        source, line = f"request:{number}", raw.strip()
        if len(line) > limits.SMALL:
            reason = f"longer than {limits.SMALL:,} bytes, the most that one record may have; split it or leave it out"
            yield RejectedRow(source=source, reason=reason, excerpt=excerpt(line))
        elif line:
            yield record_of_line(line, source)


def _bounded(record: Record | RejectedRow) -> Record | RejectedRow:
    """The record, rejected where it is more than a request for a single ladder may be, or cannot be written again."""
    if isinstance(record, RejectedRow):
        return record
    if not (fault := fault_of(record.data)):
        try:
            limits.check_row(record.data)
            return record
        except RowError as error:
            fault = str(error)
    return RejectedRow(source=record.source, reason=fault, excerpt=repr_excerpt(dict(islice(record.data.items(), 5))))
