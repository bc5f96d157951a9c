"""An answer in, an ordered ladder of coarser correct answers out, each with its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.base.packages import lazy_names

if TYPE_CHECKING:
    from abstraction.base.faults import RejectedRow
    from abstraction.base.tiers import Evidence, Ladder, Level, Tier
    from abstraction.errors import AbstractionError
    from abstraction.files.rows import QARow, TieredRow, read_questions, read_tiered, write_tiered
    from abstraction.maker.pipeline import LadderMaker, make_ladders

__all__ = [
    "AbstractionError",
    "Evidence",
    "Ladder",
    "LadderMaker",
    "Level",
    "QARow",
    "RejectedRow",
    "Tier",
    "TieredRow",
    "make_ladders",
    "read_questions",
    "read_tiered",
    "write_tiered",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
