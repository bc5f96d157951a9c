"""Long sequences of small values in little memory, packed by the block; tiered rows without evidence, their shared
coarse levels kept once."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

from abstraction.rows import TieredRow
from abstraction.tiers import Level, Tier

# Long sequences of small values in little memory: pickled one by one, packed by the block.

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


# Tiered rows.


SHARED = 50_000  # levels that are kept once; the others stand in their rows


class PackedRows(Sequence[TieredRow]):
    """Rows in order, each made anew when it is read; `ids` are theirs."""

    def __init__(self, rows: Iterable[TieredRow] = ()) -> None:
        self.ids: list[str] = []
        self._shared: list[Level] = []
        self._numbers: dict[Any, int] = {}
        self._packed: Packed[TieredRow] = Packed(self._pack, self._unpack)
        for row in rows:
            self.append(row)

    def append(self, row: TieredRow) -> None:
        """Put a row behind the others."""
        self._packed.append(row)
        self.ids.append(row.id)  # only where the row could be packed

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> TieredRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[TieredRow]: ...
    def __getitem__(self, index: int | slice) -> TieredRow | list[TieredRow]:
        return self._packed[index]

    def __iter__(self) -> Iterator[TieredRow]:
        return iter(self._packed)

    def _pack(self, row: TieredRow) -> tuple[Any, ...]:
        first, *coarser = row.levels
        levels = [_plain(first), *map(self._number, coarser)]
        return (
            row.id,
            row.question,
            row.answers,
            levels,
            row.relation,
            dict(row.question_entity) if row.question_entity is not None else None,
            row.abstained,
            dict(row.extra),
        )

    def _number(self, level: Level) -> int | tuple[Any, ...]:
        """The number of a level that is kept once, or the level itself, as plain data."""
        plain = _plain(level)
        if len(plain) > 1:  # with fields of its own, which may be of any kind
            return plain
        known = self._numbers.get(plain)
        if known is None:
            if len(self._shared) == SHARED:
                return plain
            known = self._numbers[plain] = len(self._shared)
            self._shared.append(_level(plain))
        return known

    def _unpack(self, data: tuple[Any, ...]) -> TieredRow:
        id_, question, answers, levels, relation, entity, abstained, extra = data
        return TieredRow(
            id=id_,
            question=question,
            answers=answers,
            levels=tuple(self._shared[one] if isinstance(one, int) else _level(one) for one in levels),
            relation=relation,
            question_entity=entity,
            abstained=abstained,
            extra=extra,
        )


def _plain(level: Level) -> tuple[Any, ...]:
    """A level as plain data: its tiers, and what other fields the level and each tier have, where any have some."""
    tiers = tuple([(tier.text, tier.qid, tier.aliases, tier.bits, tier.bits_asked) for tier in level.tiers])
    if not level.extra and not any([tier.extra for tier in level.tiers]):  # noqa: C419  a list costs less than a generator
        return (tiers,)
    return tiers, dict(level.extra), [dict(tier.extra) for tier in level.tiers]


def _level(plain: tuple[Any, ...]) -> Level:
    tiers, extra, of_tiers = plain if len(plain) > 1 else (plain[0], _NOTHING, None)
    return Level(
        tiers=tuple(
            Tier(
                text=text,
                qid=qid,
                aliases=aliases,
                bits=bits,
                bits_asked=asked,
                extra=of_tiers[place] if of_tiers else _NOTHING,
            )
            for place, (text, qid, aliases, bits, asked) in enumerate(tiers)
        ),
        extra=extra,
    )


_NOTHING: dict[str, Any] = {}
