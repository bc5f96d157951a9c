"""A set of entity numbers that stays small: one bit each, in pages made where they are needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_BITS = 16  # ids a page: 2**16, 8 KiB


class IdSet:
    """Integers of either sign (see `kg.store.entity_rows.number_of`), ascending. All of WikiData takes 20 MB."""

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._pages: dict[int, bytearray] = {}
        self._size = 0
        for number in numbers:
            self.add(number)

    @classmethod
    def from_pages(cls, pages: Iterable[tuple[int, bytes]]) -> IdSet:
        """The set whose `pages` were kept."""
        id_set = cls()
        for key, bits in pages:
            id_set._pages[key] = bytearray(bits)
            id_set._size += int.from_bytes(bits, "little").bit_count()
        return id_set

    def pages(self) -> Iterator[tuple[int, bytes]]:
        """The set in pieces, for keeping."""
        for key, bits in self._pages.items():
            yield key, bytes(bits)

    def add(self, number: int) -> bool:
        """Put a number in; whether it is new."""
        page = self._pages.get(number >> _BITS)
        if page is None:
            page = self._pages[number >> _BITS] = bytearray(1 << (_BITS - 3))
        at, bit = (number >> 3) & ((1 << (_BITS - 3)) - 1), 1 << (number & 7)
        if page[at] & bit:
            return False
        page[at] |= bit
        self._size += 1
        return True

    def __contains__(self, number: int) -> bool:
        page = self._pages.get(number >> _BITS)
        return page is not None and bool(page[(number >> 3) & ((1 << (_BITS - 3)) - 1)] & (1 << (number & 7)))

    def __iter__(self) -> Iterator[int]:
        for key in sorted(self._pages):
            for at, byte in enumerate(self._pages[key]):
                if byte:
                    first = (key << _BITS) + (at << 3)
                    yield from (first + bit for bit in range(8) if byte >> bit & 1)

    def __len__(self) -> int:
        return self._size
