"""What the OpenAPI document tells beside the routes and their types: problems, headers, the token, a batch's lines."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from granola.service.incoming.bounded_routes import BoundedRoute
from granola.service.incoming.problem_answers import MEDIA_TYPE
from granola.service.incoming.schemas import ProblemDocument, Question

_PROBLEM = {
    "description": "Not answered: `code` says why, `detail` what to do. After 503 ask again in `Retry-After` seconds.",
    "headers": {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}},
    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}},
}
_HEADERS = {
    "Granola-Snapshot": {"schema": {"type": "string"}, "description": "Id of the snapshot that the answer is from."},
    "Granola-Version": {"schema": {"type": "string"}, "description": "Version of the program."},
}
_TOKENS = {
    "token": {"type": "http", "scheme": "bearer", "description": "The secret of GRANOLA_TOKEN, if one is set."},
    "password": {"type": "http", "scheme": "basic", "description": "The same as a password; any name."},
}
_LINES = (
    'One line a row, in order: a tiered row, or {"rejected": {source, reason, excerpt}}. '
    "A connection that is cut before the end of the answer leaves the remaining rows unanswered."
)
BATCH: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "Rows as in a file of questions: one JSON object a line, or a JSON array.",
        "content": {
            "application/x-ndjson": {"schema": {"type": "string"}},
            "application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Question"}}},
        },
    },
    "responses": {
        "200": {"description": _LINES, "content": {"application/x-ndjson": {"schema": {"type": "string"}}}},
    },
}


def describe(app: FastAPI) -> None:
    """Complete the document that FastAPI makes of the routes."""
    original = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            whole = original()
            whole["components"]["securitySchemes"] = _TOKENS
            for route in app.routes:
                if isinstance(route, BoundedRoute) and route.include_in_schema:
                    for told in whole["paths"][route.path].values():
                        told["security"] = [*([{name: []} for name in _TOKENS] if route.bound.token else []), {}]
                        told["responses"]["200"]["headers"] = _HEADERS
                        told["responses"] = {"200": told["responses"]["200"], "default": _PROBLEM}
            schemas = whole["components"]["schemas"]
            for name in ("HTTPValidationError", "ValidationError"):  # FastAPI's own, which no route answers
                schemas.pop(name, None)
            for kind in (ProblemDocument, Question):
                schema = kind.model_json_schema(ref_template="#/components/schemas/{model}")
                schemas |= schema.pop("$defs", {}) | {kind.__name__: schema}
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]  # FastAPI's own way
