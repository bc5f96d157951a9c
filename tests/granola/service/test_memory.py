"""What a worker keeps is bounded in what was sent, and not only in how many questions."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest

from abstraction.rows import read_questions
from granola.service.work import snapshot_session as holdings
from granola.service.work import snapshot_work
from granola.service.work.snapshot_session import SnapshotSession
from kg import terms
from kg.store import open_store
from kg.walks import graph
from kg.walks.graph import Graph
from tests.granola.service.conftest import DEMO

pytestmark = pytest.mark.thorough("granola/service")


def test_normal_forms_of_long_names_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms, "_kept", kept := terms._Kept())
    monkeypatch.setattr(terms, "KEPT", 3)
    names = ["Honolulu", "H" * terms.LONGEST_KEPT, "H" * (terms.LONGEST_KEPT + 1), "Ünder  ‘x’", "a", "b"]
    assert [terms.normalise(name) for name in names] == [terms.normalise_anew(name) for name in names]
    assert list(kept) == ["a", "b"]  # what was kept before gave way; the longest never was


def test_a_graph_keeps_so_many_characters_of_names(demo_snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "FOUND", 10_000)
    with closing(open_store(demo_snapshot)) as store:
        reading = Graph(store)
        for number in range(100):
            assert reading.find(f"{'x' * 1_000}{number}") == ()
            assert len(reading._matches) <= 12
        assert reading.find("Honolulu")


def test_conclusions_are_dropped_when_much_was_sent(demo_snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = list(islice(read_questions([DEMO / "questions.jsonl"]), 12))
    with closing(SnapshotSession(str(demo_snapshot), language="en", seconds=10)) as usual:
        expected = [snapshot_work.ladder(usual, row, language="en", linker="question") for row in rows]
        assert usual.maker().linker is usual.maker().linker
    monkeypatch.setattr(holdings, "SENT_KEPT", 350)
    with closing(SnapshotSession(str(demo_snapshot), language="en", seconds=10)) as narrow:
        linkers, made = [], []
        for row in rows:
            made.append(snapshot_work.ladder(narrow, row, language="en", linker="question"))
            linkers.append(narrow.maker().linker)
        assert made == expected
        assert len({id(one) for one in linkers}) >= 3
        assert narrow.maker().graph.held  # what was read stays
        aggregator = narrow.aggregator("en", "question")
        narrow.count_sent(["x" * 400])
        assert narrow.aggregator("en", "question") is not aggregator


def test_all_languages_share_the_bound_on_entities(demo_snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = list(read_questions([DEMO / "questions.jsonl"]))
    with closing(SnapshotSession(str(demo_snapshot), language="en", seconds=10)) as holding:
        for language in ("en", "de", "fr"):
            for row in rows[:30]:
                holding.maker(language).make(row)
        held = [maker.graph.held for maker in holding._makers.values()]
        assert len(held) == 3
        monkeypatch.setattr(holdings, "ENTITIES_KEPT", sum(held) - 1)
        holding.maker("de")
        assert [maker.graph.held for maker in holding._makers.values()] == [0]
