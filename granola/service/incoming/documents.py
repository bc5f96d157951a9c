"""How the OpenAPI document tells what the routes answer besides their results."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from granola.service.incoming.problems import MEDIA_TYPE
from granola.service.incoming.schemas import ProblemDocument, Question

_PROBLEM = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}}}
_DESCRIPTIONS = {
    400: "The body is no JSON.",
    401: "The token is missing or wrong.",
    403: "A page of another site has sent the request.",
    404: "The snapshot has no such entity.",
    408: "The body took too long to arrive.",
    415: "The body is not said to be JSON.",
    413: "The body, or the number of rows, is over the limit.",
    421: "The service is not asked under that name.",
    422: "What was sent is not as it must be; `detail` says where.",
    429: "This client has as many requests under way as one may: ask again after `Retry-After` seconds.",
    500: "The service has failed.",
    503: "Overloaded, over time, or the snapshot is away: ask again after `Retry-After` seconds.",
}
_OF_BODIES = (400, 403, 408, 413, 415, 422)
_RETRY = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}
SNAPSHOT_HEADERS = {
    "Granola-Snapshot": {"schema": {"type": "string"}, "description": "Id of the snapshot that the answer is from."},
    "Granola-Version": {"schema": {"type": "string"}, "description": "Version of the program."},
}
ETAG = {"ETag": {"schema": {"type": "string"}, "description": "Changes with the snapshot and the program."}}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The documentation of these statuses, and of those that every route has."""
    out: dict[int | str, dict[str, Any]] = {}
    for status in sorted({401, 421, 429, 500, 503, *statuses}):
        again = {"headers": _RETRY} if status in (429, 503) else {}
        out[status] = {"description": _DESCRIPTIONS[status], **_PROBLEM, **again}
    return out


def health() -> dict[int | str, dict[str, Any]]:
    """The documentation of what is asked without a token."""
    return {status: problem for status, problem in problems().items() if status in (421, 500)}


def posted() -> dict[int | str, dict[str, Any]]:
    """The documentation of a route that is sent a body."""
    return {200: {"headers": SNAPSHOT_HEADERS}} | problems(*_OF_BODIES)


def gotten(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The documentation of a route that is asked for what a snapshot holds."""
    responses: dict[int | str, dict[str, Any]] = {
        200: {"headers": SNAPSHOT_HEADERS | ETAG},
        304: {"description": "Not modified since the ETag that was sent."},
    }
    return responses | problems(422, *statuses)


def describe(app: FastAPI) -> None:
    """Let the document have the types that routes name without using them as FastAPI would see it."""
    original = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            whole = original()
            schemas = whole["components"]["schemas"]
            whole["components"]["securitySchemes"] = {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The secret of GRANOLA_TOKEN, if one is set.",
                },
                "password": {"type": "http", "scheme": "basic", "description": "The same as a password; any name."},
            }
            for path, routes in whole["paths"].items():
                for route in routes.values():
                    route["security"] = (
                        [{}] if path.startswith("/v1/health/") else [{"token": []}, {"password": []}, {}]
                    )
            for kind in (ProblemDocument, Question):
                schema = kind.model_json_schema(ref_template="#/components/schemas/{model}")
                schemas |= schema.pop("$defs", {}) | {kind.__name__: schema}
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]  # FastAPI's own way


BATCH: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "Rows as in a file of questions: one JSON object a line, or a JSON array.",
        "content": {
            "application/x-ndjson": {"schema": {"type": "string"}},
            "application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Question"}}},
        },
    }
}
LINES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": (
            'One line a row, in order: a tiered row, or {"rejected": {source, reason, excerpt}}. '
            "A connection that is cut before the end of the answer leaves the remaining rows unanswered."
        ),
        "headers": {
            **SNAPSHOT_HEADERS,
            "Granola-Unheeded": {
                "description": "Settings that rows have fields of, which say something else; they are handed on.",
                "schema": {"type": "string"},
            },
        },
        "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
    },
    **problems(*_OF_BODIES),
}
