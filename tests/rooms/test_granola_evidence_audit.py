"""Audits by the graph, and sheets for people."""

from __future__ import annotations

from pathlib import Path

from abstraction.files.rows import read_tiered
from granola.evidence.annotation_sheets import TIERS, tier_sheet_items
from granola.evidence.audit.offences import audit
from granola.evidence.verdict_rows import sheet_form
from kg.store.sqlite import SQLiteStore


def test_the_demos_tiers_hold(store: SQLiteStore, demo: Path) -> None:
    audited = audit(read_tiered(demo / "tiers.jsonl"), store)
    assert audited.findings == []
    assert audited.total["tiers"] > 50


def test_tiers_become_items_of_a_sheet(demo: Path) -> None:
    rows = list(read_tiered(demo / "tiers.jsonl"))
    items = list(tier_sheet_items(rows))
    assert len(items) == sum(len(level.tiers) for row in rows for level in row.levels[1:])
    assert sheet_form(items[0]) is TIERS
