"""Long sequences of small values in little memory: pickled one by one, packed by the block."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")

BLOCK = 64  # values; the cost of reading one in any order grows with it


class Packed(Sequence[T], Generic[T]):
    """A sequence that one appends to; a value is made anew each time that it is read.

    `pack` gives plain data for a value, `unpack` the value again. Read in order it costs little, in any order some
    20 microseconds a value.
    """

    def __init__(self, pack: Callable[[T], Any], unpack: Callable[[Any], T]) -> None:
        self._pack = pack
        self._unpack = unpack
        self._blocks: list[bytes] = []
        self._last: list[bytes] = []
        self._read: tuple[int, list[bytes]] = (-1, [])

    def append(self, value: T) -> None:
        """Put a value behind the others."""
        self._last.append(pickle.dumps(self._pack(value), protocol=pickle.HIGHEST_PROTOCOL))
        if len(self._last) == BLOCK:
            import zstandard

            joined = pickle.dumps(self._last, protocol=pickle.HIGHEST_PROTOCOL)
            self._blocks.append(zstandard.ZstdCompressor(level=1).compress(joined))
            self._last = []

    def __len__(self) -> int:
        return len(self._blocks) * BLOCK + len(self._last)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"index {index} is outside a sequence of {len(self)}")
        return self._unpack(pickle.loads(self._block(place // BLOCK)[place % BLOCK]))

    def __iter__(self) -> Iterator[T]:
        for number in range(len(self._blocks) + 1):
            for one in self._block(number):
                yield self._unpack(pickle.loads(one))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return len(self) == len(other) and all(map(_equal, self, other))

    __hash__ = None  # type: ignore[assignment]  # it grows

    def _block(self, number: int) -> list[bytes]:
        if number == len(self._blocks):
            return self._last
        known, values = self._read
        if known != number:
            import zstandard

            values = pickle.loads(zstandard.ZstdDecompressor().decompress(self._blocks[number]))
            self._read = number, values
        return values


def _equal(one: object, other: object) -> bool:
    return one == other
