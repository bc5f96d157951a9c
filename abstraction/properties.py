"""The properties that are read of entities, each with its roles: one table, every list of them derived from it."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from abstraction.errors import UnknownRelationError


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((files("abstraction") / "data" / "properties.json").read_text(encoding="utf-8"))
    return data


@cache
def properties() -> frozenset[str]:
    """Ids of all of them."""
    return frozenset(_data()["properties"])


def label_of(prop: str) -> str | None:
    """WikiData's English label of a property of the table, None for others."""
    row = _data()["properties"].get(prop)
    return None if row is None else row["label"]


@cache
def with_role(role: str) -> frozenset[str]:
    """Ids of those that have a role; data/properties.json says what each means. Raises UnknownRelationError."""
    if role not in _data()["roles"]:
        raise UnknownRelationError(f"no role {role!r}; there are {', '.join(_data()['roles'])}")
    return frozenset(prop for prop, row in _data()["properties"].items() if role in row["roles"])
