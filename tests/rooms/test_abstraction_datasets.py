"""Questions and a snapshot in, a folder to publish out."""

from __future__ import annotations

import json
from pathlib import Path

from abstraction.datasets.building import DatasetSettings, build_dataset
from abstraction.datasets.saved_work import QuestionFiles
from kg.store.sqlite import SQLiteStore


def test_a_dataset_says_what_it_left_out(store: SQLiteStore, tmp_path: Path) -> None:
    questions = tmp_path / "mine.jsonl"
    questions.write_text('{"id": "1", "question": "Where was Barack Obama born?", "answer": "Honolulu"}\nno json\n')
    built = build_dataset(
        QuestionFiles(files=(questions,)),
        store,
        tmp_path / "out",
        settings=DatasetSettings(name="mine", format="jsonl"),
    )
    rows = [json.loads(line) for line in built.data.read_text().splitlines()]
    assert [row["id"] for row in rows] == ["1"]
    assert built.rejected == 1
    assert "mine" in (tmp_path / "out" / "README.md").read_text()
