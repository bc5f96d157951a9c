"""Errors as RFC 9457 problem documents (`application/problem+json`) with codes that programs can rely on.

The codes of the library's errors are the names of their classes: `UnknownRelationError` is "unknown-relation".
Messages name no file and no address of the server.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import orjson
from starlette.responses import Response

from abstraction.errors import AbstractionError
from granola.errors import GranolaError
from kg.errors import KGError, MirrorError, SelectionError, SnapshotError

MEDIA_TYPE = "application/problem+json"
SHOWN = 5  # things that are wrong with one request
_UNREADABLE = "the snapshot cannot be read at the moment; ask again, and tell whoever runs this service if it stays so"
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)")  # messages name the command line's options; fields are called alike
# Descriptions of the values of fields whose pattern is hard to read.
_INPUT = "Input should be "  # how pydantic begins what it expects
_EXPECTED = {"language": "a language's code, as en or pt-br", "relation": "a property's id, as P19"}


@dataclass(eq=False)
class HTTPProblem(Exception):  # noqa: N818  # what RFC 9457 calls it
    """An answer that is an error. `detail` has the given value, the allowed ones, and the next step."""

    status: int
    code: str
    detail: str
    retry_after: int | None = field(default=None, kw_only=True)
    more: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    def __str__(self) -> str:
        return self.detail

    def to_json(self) -> dict[str, Any]:
        """The problem document."""
        return {
            "type": f"urn:granola:problem:{self.code}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
            **self.more,
        }

    def response(self) -> Response:
        """The response with this document."""
        headers = {"Cache-Control": "no-store"}
        if self.retry_after is not None:
            headers["Retry-After"] = str(self.retry_after)
        if self.status == 401:
            # Basic first: browsers ask for a password only where the first scheme of the line is one that they know.
            headers["WWW-Authenticate"] = 'Basic realm="granola", charset="UTF-8", Bearer realm="granola"'
        return Response(orjson.dumps(self.to_json()), self.status, headers, media_type=MEDIA_TYPE)


def problem_of(error: Exception) -> HTTPProblem:
    """The problem that answers a request which raised `error`."""
    if isinstance(error, HTTPProblem):
        return error
    if isinstance(error, MirrorError | SnapshotError | OSError):
        code = _code_of(error) if isinstance(error, KGError) else "snapshot"
        return HTTPProblem(503, code, _UNREADABLE, retry_after=5)
    if isinstance(error, GranolaError | AbstractionError | SelectionError):
        return HTTPProblem(422, _code_of(error), _OPTION.sub(lambda found: found[1].replace("-", "_"), str(error)))
    return HTTPProblem(500, "internal", "the service has failed at this request; its log says where")


def _code_of(error: BaseException) -> str:
    """`RowError` is "row", `UnknownRelationError` "unknown-relation"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", type(error).__name__.removesuffix("Error")).lower()


def problem_of_errors(errors: Sequence[Mapping[str, Any]]) -> HTTPProblem:
    """The problem for errors of pydantic; fields are written as `levels.0.1`."""
    told = list(dict.fromkeys(map(_field_error_message, errors)))
    more = f"; and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    return HTTPProblem(422, "request", "; ".join(told[:SHOWN]) + more)


def _field_error_message(error: Mapping[str, Any]) -> str:
    """A sentence with the field, its value, and the expected one."""
    place = ".".join(str(part) for part in error["loc"] if part not in ("body", "query", "path"))
    if error["type"] == "extra_forbidden":
        return f"{place} is no field that is known here"
    if error["type"] == "missing":
        return f"{place} is missing"
    given = repr(error.get("input"))
    given = given if len(given) <= 40 and given.isprintable() else "another value"
    message = error["msg"]
    if place in _EXPECTED or message.startswith(_INPUT):
        return f"{place} is {given}; expected {_EXPECTED.get(place) or message.removeprefix(_INPUT)}"
    return f"{place} is {given}: {message[:1].lower()}{message[1:]}"


def overload_problem(what: str, *, retry_after: int = 1) -> HTTPProblem:
    """The problem of a request that would wait too long."""
    return HTTPProblem(503, "overloaded", f"{what}; ask again in a moment", retry_after=retry_after)


def time_limit_problem(seconds: float) -> HTTPProblem:
    """The problem of a request that took longer than `seconds`."""
    detail = f"no answer within {seconds:g} s, which is what one request may take"
    return HTTPProblem(503, "time-limit", detail, retry_after=5)


def too_many_problem(code: str, detail: str, most: int, given: int | None = None) -> HTTPProblem:
    """The problem of a request with `given` parts where at most `most` are allowed."""
    return HTTPProblem(413, code, detail, more={"most": most} if given is None else {"given": given, "most": most})
