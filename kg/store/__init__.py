"""Where a snapshot lives."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kg.store.sqlite import SQLiteStore

__all__ = ["open_store"]


def open_store(path: Path | str) -> SQLiteStore:
    """Open a snapshot for reading. Raises FileNotFoundError or `SnapshotError`."""
    from kg.store.sqlite import SQLiteStore

    return SQLiteStore.open(path)
