"""Results that are kept for as long as what they were read from."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, TypeVarTuple
from weakref import WeakKeyDictionary

Source = TypeVar("Source")
Others = TypeVarTuple("Others")
Result = TypeVar("Result")


def kept_with_source(function: Callable[[Source, *Others], Result]) -> Callable[[Source, *Others], Result]:
    """Keep what the function returns, by its other arguments, while its first one lives: a graph, as a rule."""
    memory: WeakKeyDictionary[Source, dict[tuple[Any, ...], Result]] = WeakKeyDictionary()

    @wraps(function)
    def kept(source: Source, *others: *Others) -> Result:
        known = memory.setdefault(source, {})
        if others not in known:
            known[others] = function(source, *others)
        return known[others]

    return kept
