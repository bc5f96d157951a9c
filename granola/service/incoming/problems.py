"""What goes wrong, as RFC 9457 has it: `application/problem+json` with a code that programs can rely on.

The codes of errors that the command line knows, too, are the names of their classes: `UnknownRelationError` is
"unknown-relation" in both. Messages name no file and no address of the server's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import orjson

from abstraction.errors import AbstractionError, ModelError
from granola.errors import GranolaError
from kg.errors import KGError, MirrorError, SelectionError, SnapshotError

_UNREADABLE = "the snapshot cannot be read at the moment; ask again, and tell whoever runs this service if it stays so"
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)")  # messages name the command line's options; fields are called alike
_SILENT = "the model gives no answer at the moment; ask again later, or without it"


class HTTPProblem(Exception):  # noqa: N818  # what RFC 9457 calls it
    """An answer that is an error. `detail` says what was given, what is allowed, and what to do."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        retry_after: int | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.retry_after = retry_after
        self.more = dict(more or {})

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

    def body(self) -> bytes:
        """The document's bytes."""
        return orjson.dumps(self.to_json())

    def headers(self) -> dict[str, str]:
        """The headers that belong to it, besides type and length."""
        headers = {"Cache-Control": "no-store"}
        if self.retry_after is not None:
            headers["Retry-After"] = str(self.retry_after)
        if self.status == 401:
            # Basic first: browsers ask for a password only where the first scheme of the line is one that they know.
            headers["WWW-Authenticate"] = 'Basic realm="granola", charset="UTF-8", Bearer realm="granola"'
        return headers


def code_of(error: BaseException) -> str:
    """The code of an error of ours: `RowError` is "row", `UnknownRelationError` "unknown-relation"."""
    name = type(error).__name__.removesuffix("Error")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


def problem_of(error: Exception) -> HTTPProblem:
    """What to answer where a request has raised `error`."""
    if isinstance(error, HTTPProblem):
        return error
    if isinstance(error, ModelError):
        return HTTPProblem(503, code_of(error), _SILENT, retry_after=10)
    if isinstance(error, MirrorError | SnapshotError | OSError):
        return HTTPProblem(
            503, code_of(error) if isinstance(error, KGError) else "snapshot", _UNREADABLE, retry_after=5
        )
    if isinstance(error, GranolaError | AbstractionError | SelectionError):
        return HTTPProblem(422, code_of(error), _OPTION.sub(lambda found: found[1].replace("-", "_"), str(error)))
    return HTTPProblem(500, "internal", "the service has failed at this request; its log says where")


def overloaded(what: str, *, retry_after: int = 1) -> HTTPProblem:
    """The refusal of a request that would have to wait too long."""
    return HTTPProblem(503, "overloaded", f"{what}; ask again in a moment", retry_after=retry_after)


def too_large(most: int) -> HTTPProblem:
    """The refusal of a body that is larger than may be sent there."""
    return HTTPProblem(
        413, "body-size", f"the body has more than {most:,} bytes; send less at a time", more={"most": most}
    )


def too_slow(seconds: float) -> HTTPProblem:
    """The answer where a request has used up its time."""
    return HTTPProblem(
        503, "time-limit", f"no answer within {seconds:g} s, which is what one request may take", retry_after=5
    )


def no_model() -> HTTPProblem:
    """The refusal where the service has no model."""
    return HTTPProblem(
        422, "no-model", "this service was started without a model; whoever runs it can give it one: --model MODEL"
    )
