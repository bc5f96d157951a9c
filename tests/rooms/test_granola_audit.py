"""Audits by the graph, and sheets for people."""

from __future__ import annotations

from pathlib import Path

from abstraction.rows import read_tiered
from granola.audit.offences import FindingTally, audit_axes
from granola.audit.sheets import draw, read_sheet, write_sheet
from kg.store.sqlite import SQLiteStore


def test_the_demos_tiers_hold(store: SQLiteStore, demo: Path) -> None:
    tally = FindingTally()
    assert list(audit_axes(read_tiered(demo / "tiers.jsonl"), store, tally)) == []
    assert tally.total.tiers > 50


def test_a_sheet_that_is_drawn_can_be_read(demo: Path, tmp_path: Path) -> None:
    items = draw(read_tiered(demo / "tiers.jsonl"), 5, seed=1)
    write_sheet(items, tmp_path / "sheet.csv", source="tiers.jsonl", seed=1)
    assert len(read_sheet(tmp_path / "sheet.csv").items) == 5
