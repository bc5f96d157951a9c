"""A cache whose memory has a bound: of its entries, and of the length of what they are kept under."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, update_wrapper
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def bounded_cache(*, entries: int, longest: int) -> Callable[[F], F]:
    """Keep the last `entries` results of a function whose first argument is a text or another value with a length.

    Nothing is kept where that is longer than `longest` (characters of a text): the function is called each time. So
    `functools.lru_cache`, which counts entries alone, cannot be filled with texts of any size. Results should be no
    larger than some multiple of the argument. `cache_clear` and `cache_info` are those of `lru_cache`.
    """

    def bound(function: F) -> F:
        kept = lru_cache(maxsize=entries)(function)

        def call(text: Any, *others: Any) -> Any:
            return kept(text, *others) if len(text) <= longest else function(text, *others)

        update_wrapper(call, function)
        call.cache_clear = kept.cache_clear  # type: ignore[attr-defined]
        call.cache_info = kept.cache_info  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return bound
