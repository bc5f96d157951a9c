"""A tiered file for scoring: its rows without evidence, and its part of the signature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from abstraction.base.faults import RejectedRow
from abstraction.files.rows import TieredRow, read_tiered
from granola.errors import PredictionError
from granola.scoring.items import language_of
from granola.scoring.packed_rows import PackedRows
from granola.scoring.signature import prompts_of, snapshot_of


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
    spoken = Counter[str]()
    # Evidence is most of a file, and no metric needs it.
    for row in read_tiered(path, on_reject=rejected.append, evidence=False):
        rows.append(row)
        if (code := language_of(row)) is not None:
            spoken[code] += 1
    if not rows:
        reason = f"; {rejected[0].source}: {rejected[0].reason}" if rejected else ""
        raise PredictionError(f"{path} has no tiered row{reason}; make one with granola tiers")
    return TieredFile(
        rows=rows,
        rejected=tuple(rejected),
        languages=spoken,
        snapshot=snapshot_of(path),
        prompts=prompts_of(path),
    )
