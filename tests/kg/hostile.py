"""Values that no honest source writes, as texts, as JSON and as terms of RDF."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from dump_json import entity_json
from every_kind import ALL_KINDS

MANY = "9" * 5000
TEXTS = (
    "",
    "²",
    "٣",
    "-1",
    "300000000",
    "300000000000000000000",
    MANY,
    "9" * 1_000_000,
    "1E+1000000000",
    "-1e999",
    "1e308",
    "nan",
    "INF",
    "1_0",
    "Infinity",
    f"Q{MANY}",
    f"P{MANY}",
    f"L{MANY}",
    f"http://www.wikidata.org/entity/Q{MANY}",
    "http://www.wikidata.org/entity/Q0",
    "Q1٣",
    f"+{MANY}-01-01T00:00:00Z",
    "+100000000000000000000-01-01T00:00:00Z",
    "2001-99-99T00:00:00Z",
    "-0000-01-01T00:00:00Z",
    "+٢٠٠١-01-01T00:00:00Z",
    "Point(1e999 1e308)",
    "Point(nan ²)",
    "x" * 10_000,
    'a" . <a:b> <c:d> "e',
    "a> <b:c> <d:e> . <f:g",
    "new\nline\r\ttab\x00\x01\x7f\u0085\u2028\ufeff\ufffe",
    "</script><b>&amp;'\\\\\"",
    "wikibase-item> . <a:b> <c:d> <e:f> . <x:",
    "\\u0000\\",
    "ab 'c' \"d\" {e} |f| ^g `h`",
)
JSON = (*TEXTS, None, True, 0, -1, 2**63, 2**64, 1e308, -1.5, [], {}, [[]], {"value": []}, [1, "²"])


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where there is a literal, or a container, in an object."""
    if at:
        yield at
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*at, key))


def changed(value: Any, at: tuple[Any, ...], put: Any) -> Any:
    """A copy with something else at a place."""
    value = copy.deepcopy(value)
    inner = value
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = put
    return value


def renamed(value: Any, at: tuple[Any, ...], key: str) -> Any:
    """A copy with another key at a place."""
    value = copy.deepcopy(value)
    inner = value
    for step in at[:-1]:
        inner = inner[step]
    inner[key] = inner.pop(at[-1])
    return value


def model_entity(name: str) -> dict[str, Any]:
    """An entity with each kind of value once or twice, under another id."""
    seen: dict[tuple[str, str], int] = {}
    kept = []
    for one in ALL_KINDS.statements:
        kind = (one.property, type(one.value).__name__)
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= 2:
            kept.append(one)
    data = entity_json(ALL_KINDS)
    names = {one.id for one in kept}
    data["claims"] = {
        prop: held for prop, group in data["claims"].items() if (held := [one for one in group if one["id"] in names])
    }
    data["id"] = name
    for group in data["claims"].values():
        for one in group:
            one["id"] = one["id"].replace("Q1$", f"{name}$", 1)
    return data


EXPLODING = Decimal("1E+1000000000")
