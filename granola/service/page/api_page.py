"""The interface's documentation as a page: what the OpenAPI document says, for people, without a script."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from granola import __version__
from granola.pages.templates import render_page

POLICY = (
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_LIMITS = {
    "minLength": "at least {:,} characters",
    "maxLength": "at most {:,} characters",
    "minItems": "at least {:,}",
    "maxItems": "at most {:,}",
    "minimum": "{:,} or more",
    "exclusiveMinimum": "above {:,}",
    "maximum": "up to {:,}",
    "exclusiveMaximum": "below {:,}",
}
_FIRST = ("ladders", "judging", "snapshot")  # groups in the order of the page; others follow
_DEEPEST = 3  # objects inside objects whose fields are told in their place


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """A parameter or a field of a body: `path` leads to it, as in `question_entity.text`."""

    path: str
    type: str
    needed: bool
    words: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """One route as the page describes it."""

    id: str
    method: str
    path: str
    summary: str
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    body_words: str
    gives: tuple[Field, ...]
    answers: tuple[tuple[str, str], ...]
    example: str


def render(document: Mapping[str, Any], address: str) -> bytes:
    """The page's bytes for the OpenAPI document of a service at `address`."""
    groups: dict[str, list[Route]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            groups.setdefault((operation.get("tags") or ["other"])[0], []).append(
                _route(document, path, method, operation, address)
            )
    ordered = dict(
        sorted(groups.items(), key=lambda group: _FIRST.index(group[0]) if group[0] in _FIRST else len(_FIRST))
    )
    return render_page("api", groups=ordered, version=__version__, address=address).encode("utf-8", "replace")


def _route(document: Mapping[str, Any], path: str, method: str, operation: Mapping[str, Any], address: str) -> Route:
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    answer = operation["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("schema", {})
    return Route(
        id=f"{method}-{path.strip('/').replace('/', '-').replace('{', '').replace('}', '')}",
        method=method.upper(),
        path=path,
        summary=operation.get("description") or operation.get("summary", ""),
        parameters=tuple(_parameter(document, parameter) for parameter in operation.get("parameters", ())),
        body=tuple(_fields(document, schema)),
        body_words=operation.get("requestBody", {}).get("description", ""),
        gives=tuple(_fields(document, answer)),
        answers=tuple((status, response.get("description", "")) for status, response in operation["responses"].items()),
        example=_example(document, path, method, operation, schema, address),
    )


def _parameter(document: Mapping[str, Any], parameter: Mapping[str, Any]) -> Field:
    schema = parameter.get("schema", {})
    words = " ".join(filter(None, (parameter.get("description", ""), _description(document, schema))))
    return Field(
        path=parameter["name"], type=_type(document, schema), needed=parameter.get("required", False), words=words
    )


def _fields(
    document: Mapping[str, Any], schema: Mapping[str, Any], before: str = "", depth: int = 0
) -> Iterator[Field]:
    """The fields of an object, and of those in it down to _DEEPEST; of a list, those of its items."""
    whole = _whole(document, schema)
    if whole.get("type") == "array":
        yield from _fields(document, whole.get("items", {}), before or "[].", depth)
        return
    for name, inner in whole.get("properties", {}).items():
        needed = name in whole.get("required", ())
        yield Field(
            path=before + name, type=_type(document, inner), needed=needed, words=_description(document, inner)
        )  # fmt: skip
        if depth < _DEEPEST:
            yield from _fields(
                document, _inside(document, inner), f"{before}{name}{_mark(document, inner)}.", depth + 1
            )


def _whole(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema with its reference followed; of several, the one that is not null."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return document["components"]["schemas"].get(name, {})  # type: ignore[no-any-return]  # JSON
    options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    return _whole(document, options[0]) if len(options) == 1 else schema


def _inside(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    whole = _whole(document, schema)
    return _whole(document, whole.get("items", {})) if whole.get("type") == "array" else whole


def _mark(document: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    return "[]" if _whole(document, schema).get("type") == "array" else ""


def _type(document: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    if len(options) > 1:
        return " or ".join(dict.fromkeys(_type(document, option) for option in options))
    whole = _whole(document, schema)
    if "enum" in whole:
        return " | ".join(map(json.dumps, whole["enum"]))
    if whole.get("type") == "array":
        return f"list of {_type(document, whole.get('items', {}))}"
    return str(whole.get("type", "any"))


def _description(document: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """The description of a field with its limits and its default."""
    whole = _whole(document, schema)
    words = [str(schema.get("description") or (whole.get("description", "") if "$ref" not in schema else ""))]
    limits = [text.format(whole[key]) for key, text in _LIMITS.items() if key in whole]
    if limits:
        words.append(f"{', '.join(limits)}.")
    if schema.get("default") is not None:
        words.append(f"Default: {json.dumps(schema['default'], ensure_ascii=False)}.")
    return " ".join(filter(None, words))


def _example(
    document: Mapping[str, Any], path: str, method: str, operation: Mapping[str, Any], schema: Mapping[str, Any],
    address: str,
) -> str:  # fmt: skip
    """A command that asks the service; blank where no example is known."""
    query = []
    for parameter in operation.get("parameters", ()):
        known = (parameter.get("schema", {}).get("examples") or [parameter.get("example")])[0]
        if parameter["in"] == "path" and known:
            path = path.replace("{" + parameter["name"] + "}", str(known))
        elif parameter["in"] == "query" and parameter.get("required") and known:
            query.append(f"{parameter['name']}={known}")
    if method == "get":
        return f"curl '{address}{path}{'?' + '&'.join(query) if query else ''}'"
    if "application/x-ndjson" in operation.get("requestBody", {}).get("content", {}):
        return f"curl '{address}{path}' -H 'Content-Type: application/x-ndjson' --data-binary @questions.jsonl"
    fields = _whole(document, schema).get("properties", {})
    body = {name: inner["examples"][0] for name, inner in fields.items() if inner.get("examples")}
    if not body:
        return ""
    text = json.dumps(body, ensure_ascii=False).replace("'", "'\\''")
    return f"curl '{address}{path}' -H 'Content-Type: application/json' -d '{text}'"
