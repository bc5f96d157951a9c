"""A cache of results that lives as long as the object they were computed from."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, TypeVarTuple
from weakref import WeakKeyDictionary

Source = TypeVar("Source")
Others = TypeVarTuple("Others")
Result = TypeVar("Result")


def kept_with_source(function: Callable[[Source, *Others], Result]) -> Callable[[Source, *Others], Result]:
    """Cache the results of a function by its other arguments, as long as its first argument lives, usually a graph."""
    memory: WeakKeyDictionary[Source, dict[tuple[Any, ...], Result]] = WeakKeyDictionary()

    @wraps(function)
    def kept(source: Source, *others: *Others) -> Result:
        known = memory.setdefault(source, {})
        if others not in known:
            known[others] = function(source, *others)
        return known[others]

    return kept
