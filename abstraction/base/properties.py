"""Reads the files of `abstraction/data`; the table of the properties that are read of entities, with their roles."""

from __future__ import annotations

import json
from functools import cache, partial
from importlib.resources import files
from typing import Any

from abstraction.errors import UnknownRelationError


def package_text(name: str) -> str:
    """The text of a file in `abstraction/data`."""
    return files("abstraction").joinpath("data", name).read_text(encoding="utf-8")


@cache
def package_data(name: str) -> Any:
    """The content of a JSON file in `abstraction/data`. All callers share the object: do not change it."""
    return json.loads(package_text(name))


_data = partial(package_data, "properties.json")


@cache
def property_ids() -> frozenset[str]:
    """The ids of all properties in the table."""
    return frozenset(_data()["properties"])


def label_of(prop: str) -> str | None:
    """WikiData's English label of a property in the table, or of one that a question may ask for; else None."""
    row = _data()["properties"].get(prop)
    # Relations of questions need a label too, though entities are not read for them.
    label: str | None = package_data("relation_labels.json")["labels"].get(prop) if row is None else row["label"]
    return label


def id_with_label(prop: str) -> str:
    """`P38 currency`; the id alone where no label is known."""
    label = label_of(prop)
    return f"{prop} {label}" if label else prop


@cache
def with_role(role: str) -> frozenset[str]:
    """The ids of properties with a role; data/properties.json explains the roles. Raises UnknownRelationError."""
    if role not in _data()["roles"]:
        raise UnknownRelationError(f"no role {role!r}; there are {', '.join(_data()['roles'])}")
    return frozenset(prop for prop, row in _data()["properties"].items() if role in row["roles"])
