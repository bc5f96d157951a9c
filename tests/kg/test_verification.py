"""Verifying a snapshot: every kind of damage is found, and a sound file is well."""

from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path

import pytest
from store_contract import ALL

from kg.errors import SnapshotError
from kg.export.comparison import verify
from kg.store.sqlite import SQLiteStore


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    path = tmp_path / "a #1.snapshot"
    SQLiteStore.create(path, ALL, redirects={"Q77": "Q90"}).close()
    return path


def test_a_sound_snapshot_is_well(snapshot: Path) -> None:
    told: list[str] = []
    result = verify(snapshot, progress=told.append)
    assert result.problems == ()
    assert list(result.checked) == told == ["pages", "counts", "content"]


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("DELETE FROM statement WHERE subject = 142", r"statements: the manifest says \d+, found is \d+"),
        ("UPDATE term SET text = 'Rome' WHERE entity = 90", "snapshot_id: the manifest says"),
        ("DELETE FROM entity WHERE id = 90", r"entities: the manifest says \d+, found is \d+"),
        ("UPDATE value_count SET entities = 1 WHERE target = 515", "snapshot_id: the manifest says"),
        ("DELETE FROM property_count", "snapshot_id: the manifest says"),
        ("UPDATE statement SET value = '[' WHERE property = 1082", "snapshot_id: the manifest says"),
        (
            """UPDATE manifest SET value = '"x"' WHERE key = 'snapshot_id'""",
            "snapshot_id: the manifest says 'x', found is ",
        ),
        ("DELETE FROM manifest WHERE key = 'snapshot_id'", "unfinished: its manifest lacks snapshot_id"),
        ("DELETE FROM manifest WHERE key = 'counts'", "unfinished: its manifest lacks counts"),
        ("DROP TABLE redirect", "no such table: redirect"),
    ],
)
def test_tampering_is_found(snapshot: Path, sql: str, problem: str) -> None:
    with sqlite3.connect(snapshot) as connection:
        connection.execute(sql)
    assert any(re.search(problem, found) for found in verify(snapshot).problems)


def test_damaged_pages_are_found(snapshot: Path) -> None:
    content = bytearray(snapshot.read_bytes())
    for at in range(5 * 4096, len(content), 4096):
        content[at : at + 60] = b"\xa5" * 60
    snapshot.write_bytes(content)
    assert verify(snapshot).problems


def test_a_truncated_file_is_found(snapshot: Path) -> None:
    os.truncate(snapshot, snapshot.stat().st_size // 2)
    (problem,) = verify(snapshot).problems
    assert "truncated" in problem


def test_what_is_no_snapshot_cannot_be_verified(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("x" * 500)
    with pytest.raises(SnapshotError, match="no snapshot"):
        verify(path)
    with pytest.raises(FileNotFoundError):
        verify(tmp_path / "none")
