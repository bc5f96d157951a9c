"""Relations as benchmarks of attribution see them: how they are worded, which tell of each other, which ask nothing."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from abstraction.properties import with_role


@cache
def _data() -> dict[str, Any]:
    path = files("granola") / "attribution" / "data" / "relation_wordings.json"
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


@cache
def excluded() -> frozenset[str]:
    """Relations that a benchmark does not use: names, maintenance, classes, ratings."""
    return frozenset(_data()["excluded"])


@cache
def used() -> tuple[str, ...]:
    """Relations with words of their own that a benchmark uses, by number."""
    return tuple(prop for prop in _data()["wordings"] if prop not in excluded())


@cache
def near(relation: str) -> frozenset[str]:
    """The relation and those that tell something of it: where one is born tells of one's country."""
    return frozenset({relation}).union(*(set(group) for group in _data()["groups"].values() if relation in group))


def wording(relation: str) -> dict[str, str]:
    """The templates of a relation: `says`, `asks`, `against`, each where it has one."""
    wordings: dict[str, str] = _data()["wordings"].get(relation, {})
    return wordings


@cache
def enclosing() -> frozenset[str]:
    """Relations that lead to what contains an entity, or to its kind."""
    return with_role("containing") | with_role("classing")
