"""Results kept for texts that come again, in bounded memory whatever the texts are."""

from __future__ import annotations

from collections.abc import Callable
from functools import _lru_cache_wrapper, lru_cache
from typing import Any, TypeVar

T = TypeVar("T")


class Memory:
    """Caches that are emptied together before what they keep exceeds a number of characters.

    `functools.lru_cache` counts entries, of any size. Here the functions count the texts that they compute something
    of, whether one after the other computes something of the same text or not; so a result that is there already is
    found as fast as in `lru_cache`. A character costs about 100 bytes at most, in all caches together.
    """

    def __init__(self, *, characters: int) -> None:
        self.characters = characters
        self.caches: list[_lru_cache_wrapper[Any]] = []
        self._counted = 0

    def remembered(self, entries: int) -> Callable[[Callable[..., T]], _lru_cache_wrapper[T]]:
        """Keep the last `entries` results of a function that counts its texts, or calls one that does."""

        def decorate(function: Callable[..., T]) -> _lru_cache_wrapper[T]:
            cache = lru_cache(maxsize=entries)(function)
            self.caches.append(cache)
            return cache

        return decorate

    def count(self, characters: int) -> None:
        """Take note that so many characters are read for the first time; forget everything where they are too many."""
        self._counted += characters
        if self._counted > self.characters:
            self.forget()
            self._counted = characters

    def forget(self) -> None:
        """Forget every result."""
        self._counted = 0
        for cache in self.caches:
            cache.cache_clear()


MATCHING = Memory(characters=1 << 22)
"""What the matchers know of predictions, questions and names."""
