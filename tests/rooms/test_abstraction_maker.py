"""A question and its answer become a ladder."""

from __future__ import annotations

from abstraction.files.rows import QARow
from abstraction.maker.pipeline import LadderMaker
from kg.store.sqlite import SQLiteStore


def test_a_question_becomes_a_ladder(store: SQLiteStore) -> None:
    question = QARow(id="1", question="Where was Barack Obama born?", answers=("Honolulu",), answer_qids=(None,))
    row = LadderMaker(store).make(question)
    assert [level.names()[0] for level in row.levels][:1] == ["Honolulu"]
    assert "Hawaii" in [name for level in row.levels for name in level.names()]
