"""Tiered rows in little memory, without their evidence: as plain data, packed by the block."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, overload

from abstraction.rows import TieredRow
from abstraction.tiers import Level, Tier

BLOCK = 64  # rows that are packed, and read, together


class PackedRows(Sequence[TieredRow]):
    """Rows in order, each made anew when it is read; `ids` are theirs.

    Read in order they cost little; another order unpacks a block for each row.
    """

    def __init__(self, rows: Iterable[TieredRow] = ()) -> None:
        self.ids: list[str] = []
        self._blocks: list[bytes] = []
        self._last: list[TieredRow] = []
        self._read: tuple[int, list[TieredRow]] = (-1, [])
        for row in rows:
            self.append(row)

    def append(self, row: TieredRow) -> None:
        """Put a row behind the others."""
        self._last.append(row)
        self.ids.append(row.id)
        if len(self._last) == BLOCK:
            import zstandard

            plain = pickle.dumps([_plain(row) for row in self._last], protocol=pickle.HIGHEST_PROTOCOL)
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
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"index {index} is outside a sequence of {len(self)}")
        number, offset = divmod(place, BLOCK)
        if self._read[0] != number:
            self._read = number, self._block(number)
        return self._read[1][offset]

    def __iter__(self) -> Iterator[TieredRow]:
        for number in range(len(self._blocks) + 1):
            yield from self._block(number)

    def _block(self, number: int) -> list[TieredRow]:
        if number == len(self._blocks):
            return self._last
        import zstandard

        return list(map(_row, pickle.loads(zstandard.ZstdDecompressor().decompress(self._blocks[number]))))


def _plain(row: TieredRow) -> tuple[Any, ...]:
    entity = dict(row.question_entity) if row.question_entity is not None else None
    levels = [(tuple(map(_plain_tier, level.tiers)), _extra_of(level)) for level in row.levels]
    return row.id, row.question, row.answers, levels, row.relation, entity, row.abstained, dict(row.extra)


def _plain_tier(tier: Tier) -> tuple[Any, ...]:
    return tier.text, tier.qid, tier.aliases, tier.bits, tier.bits_asked, tier.language


def _extra_of(level: Level) -> tuple[dict[str, Any], list[dict[str, Any]]] | None:
    """What other fields the level and each of its tiers have; None where none has any, which is common."""
    if not level.extra and not any([tier.extra for tier in level.tiers]):  # noqa: C419  a list costs less than a generator
        return None
    return dict(level.extra), [dict(tier.extra) for tier in level.tiers]


def _row(plain: tuple[Any, ...]) -> TieredRow:
    id_, question, answers, levels, relation, entity, abstained, extra = plain
    return TieredRow(
        id=id_,
        question=question,
        answers=answers,
        levels=(_level(*levels[0]), *(_shared(*level) for level in levels[1:])),
        relation=relation,
        question_entity=entity,
        abstained=abstained,
        extra=extra,
    )


_PlainTiers = tuple[tuple[Any, ...], ...]


def _level(tiers: _PlainTiers, extra: tuple[dict[str, Any], list[dict[str, Any]]] | None) -> Level:
    made = tuple(
        [
            Tier(text=text, qid=qid, aliases=aliases, bits=bits, bits_asked=bits_asked, language=code)
            for text, qid, aliases, bits, bits_asked, code in tiers
        ]
    )
    if extra is None:
        return Level(tiers=made)
    of_level, of_tiers = extra
    return Level(
        tiers=tuple(replace(tier, extra=more) for tier, more in zip(made, of_tiers, strict=True)), extra=of_level
    )


@lru_cache(maxsize=1 << 14)
def _coarse(tiers: _PlainTiers) -> Level:
    return _level(tiers, None)


def _shared(tiers: _PlainTiers, extra: tuple[dict[str, Any], list[dict[str, Any]]] | None) -> Level:
    """A level that many rows have: made once where it has no fields of its own."""
    return _coarse(tiers) if extra is None else _level(tiers, extra)
