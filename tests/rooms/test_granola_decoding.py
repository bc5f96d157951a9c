"""One answer of several responses: the finest that enough of them entail."""

from __future__ import annotations

from granola.decoding.aggregation_rules import DragGraph, SelfConsistency
from granola.decoding.decision import Counting
from granola.decoding.response_aggregation import Aggregator
from granola.decoding.samples import SampleRow
from kg.store.sqlite import SQLiteStore

ROW = SampleRow(
    id="1",
    question="Where was Barack Obama born?",
    relation="P19",
    samples=("Honolulu", "Honolulu", "Hilo, Hawaii", "somewhere in Hawaii"),
)


def test_what_all_of_them_entail_and_what_most_say(store: SQLiteStore) -> None:
    linked = Aggregator(store)
    ((_, sure),) = linked.decide([ROW], DragGraph(support=1))
    assert "Hawaii" in sure.text
    ((_, said),) = linked.decide([ROW], SelfConsistency(counting=Counting.TEXT))
    assert said.text == "Honolulu"
