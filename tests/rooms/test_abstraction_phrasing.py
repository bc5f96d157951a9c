"""Ladders in a model's words, each line checked by the graph."""

from __future__ import annotations

from abstraction.files.rows import TieredRow
from abstraction.phrasing.phraser import ModelPhraser
from kg.store.sqlite import SQLiteStore
from tests.abstraction.scripted_model import Scripted


def test_what_the_graph_contradicts_is_left_out(store: SQLiteStore, row: TieredRow) -> None:
    said = "Answer 1: Honolulu\nAnswer 2: Hawaii\nAnswer 3: Canada"
    (phrased,) = ModelPhraser(Scripted(lambda request: said), store).stream([row])
    names = {tier.text for level in phrased.levels for tier in level.tiers}
    assert "Hawaii" in names
    assert "Canada" not in names
