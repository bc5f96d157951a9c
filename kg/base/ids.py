"""Ids of entities as integers, as a snapshot stores them, and sets of such integers that stay small."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kg.base.bounded_cache import bounded_cache
from kg.base.model import ENTITY_ID
from kg.errors import SnapshotError

# A set of entity numbers that stays small: one bit each, in pages made where they are needed.

_BITS = 16  # ids a page: 2**16, 8 KiB


class IdSet:
    """Integers of either sign (see `number_of`), ascending. All of WikiData takes 20 MB."""

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


# Ids as integers.


@bounded_cache(entries=1 << 16, longest=20)
def number_of(entity_id: str) -> int | None:
    """The integer of an item or property id (items positive, properties negative), None for anything else."""
    return number_afresh(entity_id)


def number_afresh(entity_id: str) -> int | None:
    """`number_of` for ids that do not come again: nothing is kept."""
    if not ENTITY_ID.match(entity_id):
        return None
    return int(entity_id[1:]) if entity_id[0] == "Q" else -int(entity_id[1:])


def number_after(entity_id: str | None) -> int:
    """The position from which iteration over ids continues: after `entity_id`, from 0 where it is None.

    Raises SnapshotError for a malformed id.
    """
    number = 0 if entity_id is None else number_of(entity_id)
    if number is None:
        raise SnapshotError(f"cannot go on after {entity_id!r}: it is no item or property id")
    return number


def id_of(number: int) -> str:
    """The inverse of `number_of`."""
    return f"Q{number}" if number > 0 else f"P{-number}"
