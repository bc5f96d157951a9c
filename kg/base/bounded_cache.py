"""Caches with bounded memory: a limit on the total size of their values and on the length of their keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import _lru_cache_wrapper, lru_cache, update_wrapper
from inspect import signature
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")


def bounded_cache(*, entries: int, longest: int) -> Callable[[F], F]:
    """A decorator that caches the last `entries` results of a function whose first argument is a text or has a length.

    Where that argument is longer than `longest` (characters of a text), the result is not cached: the function is
    called each time. So the cache, unlike `functools.lru_cache`, which counts entries alone, has a bounded size if
    results are no larger than some multiple of the argument. `cache_clear` and `cache_info` are those of `lru_cache`.
    """

    def decorate(function: F) -> F:
        remembered = lru_cache(maxsize=entries)(function)

        def cached_if_short(text: Any) -> Any:
            return remembered(text) if len(text) <= longest else function(text)

        def cached_if_text_is_short(text: Any, *others: Any) -> Any:
            return remembered(text, *others) if len(text) <= longest else function(text, *others)

        # Names are normalised some hundred times per row: passing on further arguments would be measurably slower.
        call: Any = cached_if_short if len(signature(function).parameters) == 1 else cached_if_text_is_short
        update_wrapper(call, function)
        call.cache_clear = remembered.cache_clear
        call.cache_info = remembered.cache_info
        return cast(F, call)

    return decorate


class SizedDict(dict[K, V]):
    """A dict that is cleared when an insertion would make it larger than `most`, in the unit of `size`.

    The entry inserted last is always present. Insert by `[]` alone, for only there sizes are counted; a replaced entry
    counts again.
    """

    def __init__(self, most: int, size: Callable[[K, V], int]) -> None:
        super().__init__()
        self.most = most
        self.held = 0
        self._size = size

    def __setitem__(self, key: K, value: V) -> None:
        size = self._size(key, value)
        if self.held + size > self.most:
            self.clear()  # all of it: to know the oldest would cost bookkeeping at every read
        self.held += size
        super().__setitem__(key, value)

    def clear(self) -> None:
        """Remove all entries."""
        super().clear()
        self.held = 0


class TextCaches:
    """Caches that are emptied together before their content exceeds a number of characters.

    `functools.lru_cache` counts entries, of any size. Here functions that read texts count the characters whenever they
    compute a result, so that a cached result is returned as fast as by `lru_cache`. A character costs about 200 bytes
    at most, in all caches together.
    """

    def __init__(self, *, characters: int) -> None:
        self.characters = characters
        self.caches: list[_lru_cache_wrapper[Any]] = []
        self._counted = 0

    def memoize(
        self, entries: int, *, size: Callable[[Any], int] | None = None
    ) -> Callable[[Callable[..., T]], _lru_cache_wrapper[T]]:
        """A decorator that caches the last `entries` results; `size` returns the characters of the first argument.

        No `size` is needed for a function of parts of texts whose characters another function counts.
        """

        def decorate(function: Callable[..., T]) -> _lru_cache_wrapper[T]:
            def call_counting_characters(text: Any, *others: Any, **named: Any) -> T:
                self._counted += size(text) if size else 0
                if self._counted > self.characters:  # texts that were dropped since count too: a bound, not a size
                    self.clear_caches()
                return function(text, *others, **named)

            cache = lru_cache(maxsize=entries)(update_wrapper(call_counting_characters, function) if size else function)
            self.caches.append(cache)
            return cache

        return decorate

    def clear_caches(self) -> None:
        """Empty all caches."""
        self._counted = 0
        for cache in self.caches:
            cache.cache_clear()
