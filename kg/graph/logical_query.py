"""A logical query: paths from given entities to the answer.

All of them are wanted (one hop: a single triple; one path; a tree of several that meet in the answer), or any of them
(a union). Hu et al. 2025 (CAQA), section 3.3, whose shapes are for Freebase; there a pair of edges through a CVT node
counts as one hop, here a pair of edges through a statement node does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from kg.base.model import ENTITY_ID
from kg.errors import QueryShapeError


class Shape(StrEnum):
    """The shape of a query."""

    SINGLE = "single"
    PATH = "path"
    TREE = "tree"
    UNION = "union"


@dataclass(frozen=True, kw_only=True, slots=True)
class Hop:
    """One step from a node to the next: along a property, or (`forward` False) against it.

    With `qualifier` the next node is that qualifier's value of a statement of the property; only forward.
    """

    property: str
    forward: bool = True
    qualifier: str | None = None

    def __post_init__(self) -> None:
        for one in (self.property, self.qualifier):
            if one is not None and not (one.startswith("P") and ENTITY_ID.match(one)):
                raise QueryShapeError(f"{one!r} is no property; expected P and a number, as in P19")
        if self.qualifier is not None and not self.forward:
            raise QueryShapeError("a qualifier's value is reached from its statement only, not the other way")


@dataclass(frozen=True, kw_only=True, slots=True)
class Branch:
    """The way from the entity `start` to the answer. `via` has one id or None for each node in between."""

    start: str
    hops: tuple[Hop, ...]
    via: tuple[str | None, ...] = ()

    def __post_init__(self) -> None:
        if not self.hops:
            raise QueryShapeError(f"no hop leads away from {self.start}; at least one is wanted")
        if not self.via:
            object.__setattr__(self, "via", (None,) * (len(self.hops) - 1))
        if len(self.via) != len(self.hops) - 1:
            raise QueryShapeError(f"{len(self.hops)} hops have {len(self.hops) - 1} nodes between, not {len(self.via)}")
        for one in (self.start, *self.via):
            if one is not None and not ENTITY_ID.match(one):
                raise QueryShapeError(f"{one!r} is no entity; expected Q and a number, as in Q42")

    @property
    def properties(self) -> frozenset[str]:
        """Every property on the way."""
        return frozenset(one for hop in self.hops for one in (hop.property, hop.qualifier) if one is not None)


@dataclass(frozen=True, kw_only=True, slots=True)
class LogicalQuery:
    """Branches that all lead to the answer; with `union` True any of them is enough."""

    branches: tuple[Branch, ...]
    union: bool = False

    def __post_init__(self) -> None:
        if not self.branches:
            raise QueryShapeError("a query without branches asks for nothing")
        if len(set(self.branches)) < len(self.branches):
            raise QueryShapeError("a branch stands twice in the query")
        if self.union and len(self.branches) < 2:
            raise QueryShapeError("a union has two branches or more")

    @property
    def shape(self) -> Shape:
        """Single, path, tree or union."""
        if self.union:
            return Shape.UNION
        if len(self.branches) > 1:
            return Shape.TREE
        return Shape.SINGLE if len(self.branches[0].hops) == 1 else Shape.PATH

    @property
    def properties(self) -> frozenset[str]:
        """Every property of the query."""
        return frozenset().union(*(branch.properties for branch in self.branches))

    @property
    def named_entities(self) -> frozenset[str]:
        """Every entity that the query names."""
        return frozenset(one for branch in self.branches for one in (branch.start, *branch.via) if one is not None)

    def to_json(self) -> dict[str, Any]:
        """The form stored in files, with every field, so that columns of many queries have one type."""
        data: dict[str, Any] = _reader().dump_python(self, mode="json")
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LogicalQuery:
        """The inverse of `to_json`; "forward", "qualifier", "via" and "union" may be absent. Raises QueryShapeError."""
        try:
            return _reader().validate_python(data)
        except ValidationError as error:
            raise QueryShapeError(
                f"this is no query: {error}; expected what docs/reference/attribution.md shows"
            ) from error


@cache
def _reader() -> TypeAdapter[LogicalQuery]:
    return TypeAdapter(LogicalQuery)
