"""An answer in, an ordered ladder of coarser correct answers out, each with its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from abstraction.errors import AbstractionError
    from abstraction.pipeline import LadderMaker, make_ladders
    from abstraction.rows import QARow, RejectedRow, TieredRow, read_questions, read_tiered, write_tiered
    from abstraction.tiers import Evidence, Ladder, Level, Tier

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
