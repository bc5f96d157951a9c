"""A snapshot held against itself, and against another."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

from kg.export.snapshot_diff import diff
from kg.export.verification import verify


def test_a_whole_snapshot_is_well_and_a_changed_one_is_not(demo: Path, tmp_path: Path) -> None:
    assert verify(demo / "snapshot.sqlite").problems == ()
    changed = tmp_path / "changed.sqlite"
    shutil.copy(demo / "snapshot.sqlite", changed)
    with sqlite3.connect(changed) as database:
        database.execute("UPDATE entity SET sitelinks = sitelinks + 1")
    assert verify(changed).problems


def test_a_snapshot_does_not_differ_from_itself(demo: Path) -> None:
    assert diff(demo / "snapshot.sqlite", demo / "snapshot.sqlite").same
