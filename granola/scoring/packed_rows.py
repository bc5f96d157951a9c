"""Tiered rows in little memory: the fields that scoring reads, as plain data packed in blocks."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, overload

import zstandard

from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import TieredRow

BLOCK = 64  # rows of a block, which is packed and unpacked as one


class PackedRows(Sequence[TieredRow]):
    """Rows in order, rebuilt on each access without evidence and unread fields of tiers; `ids` are their ids.

    Access in order is cheap; any other order unpacks a block for each row.
    """

    def __init__(self, rows: Iterable[TieredRow] = ()) -> None:
        self.ids: list[str] = []
        self._blocks: list[bytes] = []
        self._last: list[TieredRow] = []
        self._read: tuple[int, list[TieredRow]] = (-1, [])
        for row in rows:
            self.append(row)

    def append(self, row: TieredRow) -> None:
        """Append a row."""
        self._last.append(row)
        self.ids.append(row.id)
        if len(self._last) == BLOCK:
            # Tuples, since dataclasses pickle with the names of their fields.
            plain = pickle.dumps([_row_to_tuple(row) for row in self._last], protocol=pickle.HIGHEST_PROTOCOL)
            self._blocks.append(zstandard.ZstdCompressor(level=1).compress(plain))
            self._last = []

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> TieredRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[TieredRow]: ...
    def __getitem__(self, index: int | slice) -> TieredRow | list[TieredRow]:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        number, offset = divmod(range(len(self))[index], BLOCK)
        # The last block read is kept for access in order.
        if self._read[0] != number:
            self._read = number, self._block(number)
        return self._read[1][offset]

    def __iter__(self) -> Iterator[TieredRow]:
        for number in range(len(self._blocks) + 1):
            yield from self._block(number)

    def _block(self, number: int) -> list[TieredRow]:
        if number == len(self._blocks):
            return self._last
        return list(map(_row_from_tuple, pickle.loads(zstandard.ZstdDecompressor().decompress(self._blocks[number]))))


def _row_to_tuple(row: TieredRow) -> tuple[Any, ...]:
    entity = dict(row.question_entity) if row.question_entity is not None else None
    levels = tuple([tuple(map(_tier_to_tuple, level.tiers)) for level in row.levels])
    return row.id, row.question, row.answers, levels, row.relation, entity, row.abstained, dict(row.extra)


def _tier_to_tuple(tier: Tier) -> tuple[Any, ...]:
    return tier.text, tier.qid, tier.aliases, tier.bits, tier.bits_asked, tier.language


def _row_from_tuple(plain: tuple[Any, ...]) -> TieredRow:
    id_, question, answers, (first, *coarser), relation, entity, abstained, extra = plain
    return TieredRow(
        id=id_,
        question=question,
        answers=answers,
        # Level 1 is different in almost every row and would only fill the cache.
        levels=(_level_from_tuples(first), *map(_shared_level, coarser)),
        relation=relation,
        question_entity=entity,
        abstained=abstained,
        extra=extra,
    )


def _level_from_tuples(tiers: tuple[tuple[Any, ...], ...]) -> Level:
    made = [
        Tier(text=text, qid=qid, aliases=aliases, bits=bits, bits_asked=bits_asked, language=code)
        for text, qid, aliases, bits, bits_asked, code in tiers
    ]
    return Level(tiers=tuple(made))


_shared_level = lru_cache(maxsize=1 << 14)(_level_from_tuples)  # many rows have the same coarser levels
