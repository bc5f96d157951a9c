"""A tiered file as scoring needs it: its rows without evidence, and what of it stands in a signature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from abstraction.faults import fault_of
from abstraction.formats.records import RejectedRow
from abstraction.rows import TieredRow, read_tiered
from abstraction.tiers import Level
from granola.errors import PredictionError
from granola.scoring import language_of
from granola.signature import prompts_of, short_hash, snapshot_of


@dataclass(frozen=True, kw_only=True, slots=True)
class TieredFile:
    """The rows of a tiered file in order, its rejected rows, and its part of a score's signature."""

    rows: tuple[TieredRow, ...]
    rejected: tuple[RejectedRow, ...]
    hash: str
    snapshot: str
    prompts: str

    def languages(self) -> Mapping[str, int]:
        """How many rows name each language."""
        return Counter(code for row in self.rows if (code := language_of(row)) is not None)


def read_tiered_file(path: Path | str, *, name: str | None = None) -> TieredFile:
    """Read `path`, which messages call `name`; a bad or repeated row is rejected with a reason.

    Raises RowError for an unusable file, PredictionError for one without a good row.
    """
    rejected: list[RejectedRow] = []
    rows = tuple(_shared(read_tiered(path, on_reject=rejected.append, evidence=False), rejected))
    if not rows:
        reason = f"; {rejected[0].source}: {rejected[0].reason}" if rejected else ""
        raise PredictionError(f"{name or path} has no tiered row{reason}; make one with granola tiers")
    return TieredFile(
        rows=rows,
        rejected=tuple(rejected),
        hash=short_hash(path),
        snapshot=snapshot_of(name or path),
        prompts=prompts_of(name or path),
    )


def _shared(rows: Iterable[TieredRow], rejected: list[RejectedRow]) -> Iterator[TieredRow]:
    """The rows, equal levels being one object: there are few countries and many questions."""
    known: dict[Any, Level] = {}
    for row in rows:
        try:
            levels = tuple(known.setdefault(_content(level), level) for level in row.levels)
        except Exception as error:
            fault = fault_of(error, "reading")
            rejected.append(fault.rejected(source=row.source, id=row.id, text=row.question))
        else:
            yield replace(row, levels=levels)


def _content(level: Level) -> Any:
    """What a level is, but for fields that mean nothing here; itself, by identity, where it has such fields."""
    if level.extra or any(tier.extra for tier in level.tiers):
        return id(level)
    return tuple((tier.text, tier.qid, tier.aliases, tier.bits) for tier in level.tiers)
