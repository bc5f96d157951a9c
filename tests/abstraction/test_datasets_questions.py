"""Questions of EntityQuestions, numbered as GRANOLA-EQ numbers them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from abstraction.datasets.questions import GRANOLA_EQ_RELATIONS, EntityQuestions
from abstraction.errors import DatasetError
from tests.abstraction.tiny_dataset import lines
from tests.conftest import DATA


def questions_of(folder: Path, relations: Sequence[str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name in relations:
        rows = [{"question": f"{name} one?", "answers": ["A"]}, {"question": f"{name} two?", "answers": ["A", "B"]}]
        (folder / f"{name}.test.json").write_text(
            json.dumps([*rows, {"question": f"{name} same?", "answers": ["A", "A"]}])
        )
    return folder


def test_granola_eqs_numbers_go_through_its_relations_in_their_order(tmp_path: Path) -> None:
    folder = questions_of(tmp_path / "eq", ["P106", *GRANOLA_EQ_RELATIONS])
    rows = list(EntityQuestions(folder=folder, relations=("P106", "P20")).read(lambda row: None))
    assert [row.id for row in rows] == ["2", "P20-2", "3", "34", "P106-2", "35"]  # 17 relations, two numbers each
    (folder / "P19.test.json").unlink()
    rows = list(EntityQuestions(folder=folder, relations=("P20",)).read(lambda row: None))
    assert [row.id for row in rows] == ["P20-1", "P20-2", "P20-3"]  # no number can be known
    with pytest.raises(DatasetError, match="no file for P19; relations there: P20"):
        EntityQuestions(folder=folder)
    (folder / "P20.dev.json").write_text("[]")
    with pytest.raises(DatasetError, match="two files for P20"):
        EntityQuestions(folder=folder, relations=("P20",))


@pytest.mark.skipif(not (DATA / "entityquestions").is_dir(), reason="EntityQuestions is not in ../shared/data")
def test_the_numbers_are_those_of_the_published_rows() -> None:
    ours = {
        row.id: row.question for row in EntityQuestions(folder=DATA / "entityquestions" / "test").read(lambda row: None)
    }
    published = [row for name in ("rows_dev", "places_dev") for row in lines(DATA / "granola_eq" / f"{name}.jsonl")]
    assert len(published) == 561
    assert all(ours[str(row["id"])] == row["question"] for row in published)
