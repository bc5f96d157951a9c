"""Results cached per text, in bounded memory whatever the texts are."""

from __future__ import annotations

from collections.abc import Callable
from functools import _lru_cache_wrapper, lru_cache
from typing import Any, TypeVar

T = TypeVar("T")


class Memory:
    """Caches that are emptied together before their content exceeds a number of characters.

    `functools.lru_cache` counts entries, of any size. Here functions count the characters of the texts that they
    compute a result for, so that a cached result is returned as fast as by `lru_cache`. A character costs about 100
    bytes at most, in all caches together.
    """

    def __init__(self, *, characters: int) -> None:
        self.characters = characters
        self.caches: list[_lru_cache_wrapper[Any]] = []
        self._counted = 0

    def memoize(self, entries: int) -> Callable[[Callable[..., T]], _lru_cache_wrapper[T]]:
        """Cache the last `entries` results of a function that counts its texts, or calls one that does."""

        def decorate(function: Callable[..., T]) -> _lru_cache_wrapper[T]:
            cache = lru_cache(maxsize=entries)(function)
            self.caches.append(cache)
            return cache

        return decorate

    def count(self, characters: int) -> None:
        """Add characters that are read for the first time; empty all caches where the total exceeds the limit."""
        self._counted += characters
        if self._counted > self.characters:
            self.forget()
            self._counted = characters

    def forget(self) -> None:
        """Empty all caches."""
        self._counted = 0
        for cache in self.caches:
            cache.cache_clear()


MATCHING = Memory(characters=1 << 22)  # about 400 MB at most
"""The caches of the matchers, for predictions, questions and names."""
