"""How JSON that is sent is read: by the route's own type, and answered by its own function.

What frameworks do around that costs more than a ladder's bytes, so the gate goes here without them.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints
from urllib.parse import parse_qsl

import orjson
from fastapi import FastAPI, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError

from granola.service.incoming.json_pieces import TooLongError, read_object
from granola.service.incoming.problems import HTTPProblem
from granola.service.incoming.validation_errors import problem_of_errors

PARAMETER = "asked"  # of the functions that have a lane: all that they take
MOST_VALUES = 1_200_000  # of one body: more would hold up everybody while they are read
SMALL = 1 << 20  # bytes of the body of a request that is about one question
LARGE = frozenset({"/v1/ladders", "/v1/score"})
AT_ONCE = 1 << 16  # bytes that are read in the way of all others


@dataclass(frozen=True, slots=True)
class BodyRoute:
    """A POST route that takes one type of body and nothing else. `failed` answers the errors that are its own."""

    path: str
    kind: type[BaseModel]
    function: Callable[[Any], Awaitable[Response]]
    failed: Callable[[Exception], Response]
    errors: tuple[type[Exception], ...]
    apart: Callable[[Callable[[], BaseModel]], Awaitable[BaseModel]]

    async def answer(self, media_type: bytes, query: bytes, body: bytes) -> Response:
        """The route's answer, what is wrong with the request included."""
        try:
            self._check(media_type, query, body)
            if len(body) <= AT_ONCE:
                return await self.function(self._read(body))
            return await self.function(await self.apart(lambda: self._read(body)))
        except self.errors as error:
            return self.failed(error)

    def _check(self, media_type: bytes, query: bytes, body: bytes) -> None:
        kind = media_type.partition(b";")[0].strip().lower()
        if kind != b"application/json" and not (kind.startswith(b"application/") and kind.endswith(b"+json")):
            raise HTTPProblem(415, "media-type", "send JSON, with the header Content-Type: application/json")
        if query:
            names = ", ".join(sorted({name for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True)}))
            raise HTTPProblem(422, "request", f"{names[:100]} stands in the address; {self.path} reads its body alone")
        check_values(body)

    def _read(self, body: bytes) -> BaseModel:
        try:
            data = _parsed(body)
        except TooLongError as error:
            raise HTTPProblem(413, "body-size", f"{error}; send less at a time", more={"most": SMALL}) from None
        except RecursionError:
            raise HTTPProblem(400, "json", "the JSON is nested too deeply to be a request") from None
        except UnicodeDecodeError:
            raise HTTPProblem(400, "json", "the body is no text in UTF-8") from None
        except ValueError as error:
            raise HTTPProblem(400, "json", f"the body is no JSON: {error}") from None
        try:
            return self.kind.model_validate(data)
        except RecursionError:
            raise HTTPProblem(400, "json", "the JSON is nested too deeply to be a request") from None
        except ValidationError as error:
            raise problem_of_errors(error.errors(include_url=False)) from None


def check_values(body: bytes) -> None:
    """Raise HTTPProblem for JSON of more values than are read at a time; signs inside texts count as well."""
    if len(body) > MOST_VALUES and body.count(b",") + body.count(b"[") + body.count(b"{") > MOST_VALUES:
        raise HTTPProblem(
            413, "too-many-values", f"the JSON has more than {MOST_VALUES:,} values; send several requests",
            more={"most": MOST_VALUES},
        )  # fmt: skip


def _parsed(body: bytes) -> Any:
    text = body.decode("utf-8-sig")
    data = json.loads(text or "{}") if len(body) <= SMALL else read_object(text, SMALL)
    if fault := fault_of(data):
        raise HTTPProblem(400, "json", fault)
    return data


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


def lanes_of(
    app: FastAPI,
    failed: Callable[[Exception], Response],
    errors: tuple[type[Exception], ...],
    apart: Callable[[Callable[[], BaseModel]], Awaitable[BaseModel]],
) -> Mapping[str, BodyRoute]:
    """By path, the lanes of all POST routes whose function takes a single `asked`; `apart` reads large bodies."""
    lanes = {}
    for route in app.routes:
        if isinstance(route, APIRoute) and route.methods == {"POST"}:
            hints = {name: kind for name, kind in get_type_hints(route.endpoint).items() if name != "return"}
            if list(hints) == [PARAMETER]:
                lanes[route.path] = BodyRoute(route.path, hints[PARAMETER], route.endpoint, failed, errors, apart)
    return lanes
