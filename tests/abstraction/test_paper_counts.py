"""GRANOLA-EQ's questions as its paper counts them and its published rows number them."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

import pytest

from scripts.granola_eq_questions import RELATIONS, numbered_questions
from tests.abstraction.tiny_dataset import lines
from tests.conftest import DATA

FOLDER = DATA / "entityquestions"


def test_numbers_go_through_the_questions_with_one_answer(tmp_path: Path) -> None:
    for name in RELATIONS:
        answers = (["A"], ["A", "B"], ["A", "A"])
        rows = [{"question": f"{name}?", "answers": one} for one in answers]
        (tmp_path / f"{name}.test.json").write_text(json.dumps(rows))
    ids = [row["id"] for row in numbered_questions(tmp_path)]
    assert ids[:6] == ["0", "P19-2", "1", "2", "P20-2", "3"]
    assert ids[-1] == "33"


# The paper prints 12,452 rows and 2,378 that were cleaned out.
@pytest.mark.skipif(not FOLDER.is_dir(), reason="EntityQuestions is not in ../shared/data")
def test_the_numbers_are_those_of_the_published_rows() -> None:
    single = [row for row in numbered_questions(FOLDER / "test") if row["id"].isdigit()]
    assert [row["id"] for row in single] == [str(number) for number in range(12_452 + 2_378)]
    assert [name for name, _ in groupby(single, key=lambda row: row["relation"])] == list(RELATIONS)
    ours = {row["id"]: row["question"] for row in single}
    published = [row for name in ("rows_dev", "places_dev") for row in lines(DATA / "granola_eq" / f"{name}.jsonl")]
    assert len(published) == 561
    assert all(ours[str(row["id"])] == row["question"] for row in published)
    templates = json.loads((FOLDER / "templates.json").read_text(encoding="utf-8"))
    assert len({templates[name] for name in RELATIONS}) == 16
