"""The properties that are read of entities, each with its roles: one table, every list of them derived from it."""

from __future__ import annotations

from functools import cache, partial

from abstraction.errors import UnknownRelationError
from abstraction.package_data import package_data

_data = partial(package_data, "properties.json")


@cache
def properties() -> frozenset[str]:
    """Ids of all of them."""
    return frozenset(_data()["properties"])


def label_of(prop: str) -> str | None:
    """WikiData's English label of a property that is read, or that a question may be read as asking for; else None."""
    row = _data()["properties"].get(prop)
    # Some are not read of entities.
    label: str | None = package_data("relation_labels.json")["labels"].get(prop) if row is None else row["label"]
    return label


def titled(prop: str) -> str:
    """`P38 currency`; the id alone where no label is known."""
    label = label_of(prop)
    return f"{prop} {label}" if label else prop


@cache
def with_role(role: str) -> frozenset[str]:
    """Ids of those that have a role; data/properties.json says what each means. Raises UnknownRelationError."""
    if role not in _data()["roles"]:
        raise UnknownRelationError(f"no role {role!r}; there are {', '.join(_data()['roles'])}")
    return frozenset(prop for prop, row in _data()["properties"].items() if role in row["roles"])
