"""A tiered file for scoring: its rows in little memory, without evidence, and its part of the signature."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, overload

import zstandard

from abstraction.base.faults import RejectedRow
from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import TieredRow, read_tiered
from granola.base.run_record import record_of
from granola.errors import PredictionError
from granola.scoring.metrics import language_of
from granola.scoring.predictions import valid_prompts_id

SHORT = 8  # hex digits of a hash: a chance collision of two files is one in four billion
BLOCK = 64  # rows of a block, which is packed and unpacked as one
_ROW_FIELDS = ("id", "question", "answers", "relation", "question_entity", "abstained", "extra")
_TIER_FIELDS = ("text", "qid", "aliases", "bits", "bits_asked", "language")
_row_values, _tier_values = attrgetter(*_ROW_FIELDS), attrgetter(*_TIER_FIELDS)


class PackedRows(Sequence[TieredRow]):
    """Rows in order, compressed in blocks, without evidence and unread fields of tiers; `ids` are their ids.

    A million rows would take 3.2 GB as they are, and take 0.7 GB.

    Access in order is cheap; any other order unpacks a block for each row.
    """

    def __init__(self, rows: Iterable[TieredRow] = ()) -> None:
        self.ids: list[str] = []
        self._blocks: list[bytes] = []
        self._last: list[TieredRow] = []
        self._read: tuple[int, list[TieredRow]] = (-1, [])  # the number and the rows of the block unpacked last
        for row in rows:
            self.append(row)

    def append(self, row: TieredRow) -> None:
        """Append a row."""
        self._last.append(row)
        self.ids.append(row.id)
        if len(self._last) == BLOCK:
            # Tuples, since dataclasses are slow to pickle.
            tuples = [
                (_row_values(row), [tuple(map(_tier_values, level.tiers)) for level in row.levels])
                for row in self._last
            ]
            plain = pickle.dumps(tuples, protocol=pickle.HIGHEST_PROTOCOL)
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
            self._read = number, self._unpacked_block(number)
        return self._read[1][offset]

    def __iter__(self) -> Iterator[TieredRow]:
        for number in range(len(self._blocks) + 1):  # one more: the rows that are not packed yet
            yield from self._unpacked_block(number)

    def _unpacked_block(self, number: int) -> list[TieredRow]:
        if number == len(self._blocks):
            return self._last
        tuples = pickle.loads(zstandard.ZstdDecompressor().decompress(self._blocks[number]))
        return [
            TieredRow(levels=tuple(map(_level_of_values, levels)), **dict(zip(_ROW_FIELDS, values, strict=True)))
            for values, levels in tuples
        ]


@lru_cache(maxsize=1 << 14)  # many rows have the same coarser levels
def _level_of_values(tiers: tuple[tuple[Any, ...], ...]) -> Level:
    return Level(tiers=tuple([Tier(**dict(zip(_TIER_FIELDS, values, strict=True))) for values in tiers]))


@dataclass(frozen=True, kw_only=True, slots=True)
class TieredFile:
    """The rows of a tiered file in order, its rejected rows, and its part of a score's signature.

    `languages` are the languages that rows name, with the number of rows of each.
    """

    rows: Sequence[TieredRow]
    rejected: tuple[RejectedRow, ...] = ()
    languages: Mapping[str, int] = field(default_factory=dict)
    snapshot: str = "unknown"
    prompts: str = ""


def read_tiered_file(path: Path | str) -> TieredFile:
    """Read `path`; a bad or repeated row is rejected with a reason.

    Raises RowError for an unusable file, PredictionError for one without a good row.
    """
    rejected: list[RejectedRow] = []
    rows = PackedRows()
    rows_by_language = Counter[str]()
    # Evidence is most of a file, and no metric needs it.
    for row in read_tiered(path, on_reject=rejected.append, evidence=False):
        rows.append(row)
        if (code := language_of(row)) is not None:
            rows_by_language[code] += 1
    if not rows:
        reason = f"; {rejected[0].source}: {rejected[0].reason}" if rejected else ""
        raise PredictionError(f"{path} has no tiered row{reason}; make one with granola tiers")
    phrasing = record_of(path).get("phrasing")
    return TieredFile(
        rows=rows,
        rejected=tuple(rejected),
        languages=rows_by_language,
        snapshot=snapshot_of(path),
        prompts=valid_prompts_id(phrasing.get("prompts") if isinstance(phrasing, dict) else None),
    )


def snapshot_of(tiers: Path | str) -> str:
    """The first characters of the id of the snapshot of a tiered file, from FILE.run.json; "unknown" where it has
    none.
    """
    found = record_of(tiers).get("snapshot")
    return found[:SHORT] if isinstance(found, str) and found else "unknown"
