"""Counts of GRANOLA-EQ as its paper prints them, held against each other and against EntityQuestions itself."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

import pytest

from abstraction.datasets.questions import GRANOLA_EQ, GRANOLA_EQ_RELATIONS, EntityQuestions, has_one_answer
from abstraction.rows import QARow
from tests.conftest import DATA

FOLDER = DATA / "entityquestions"
NEEDED = pytest.mark.skipif(not FOLDER.is_dir(), reason="EntityQuestions is not in ../shared/data")
BEFORE_P800 = 14_641  # single-answer questions of the other sixteen relations: what P800's rows are numbered from


# The paper prints 12,452 rows, 2,378 rows cleaned out (16 %), 1,409 of them by the score for potential error (9.5 %).
def test_the_papers_counts_agree_with_each_other() -> None:
    assert GRANOLA_EQ.questions == GRANOLA_EQ.rows + GRANOLA_EQ.cleaned == 12_452 + 2_378 == 14_830
    assert round(100 * GRANOLA_EQ.inconsistent / GRANOLA_EQ.questions, 2) == 9.50  # 1409 / 14830 = 0.09501
    assert round(100 * GRANOLA_EQ.cleaned / GRANOLA_EQ.questions, 2) == 16.04  # 2378 / 14830 = 0.16035
    assert GRANOLA_EQ.mean == round(358 / 124, 1)  # the answers and questions that the paper's audit drew
    assert GRANOLA_EQ.relations.startswith("16 ")  # the paper, of question templates
    assert len(GRANOLA_EQ_RELATIONS) == len(set(GRANOLA_EQ_RELATIONS)) == 17


@pytest.fixture(scope="module")
def single() -> list[QARow]:
    """Test questions with one answer, in GRANOLA-EQ's numbering."""
    rows = EntityQuestions(folder=FOLDER / "test").read(lambda row: pytest.fail(f"rejected: {row}"))
    return [row for row in rows if has_one_answer(row)]


@NEEDED
def test_the_single_answer_questions_are_as_many_as_the_paper_began_with(single: list[QARow]) -> None:
    assert len(single) == GRANOLA_EQ.questions
    assert [row.id for row in single] == [str(number) for number in range(14_830)]
    order = [name for name, _ in groupby(single, key=lambda row: row.relation)]
    assert order == list(GRANOLA_EQ_RELATIONS)
    assert [int(row.id) for row in single if row.relation == "P800"] == list(range(BEFORE_P800, 14_830))  # 189 rows


# What the ids of the published rows are: a number for each question with one answer, file after file. Counted here
# from the files themselves, without P800.
@NEEDED
def test_p800_changes_no_id_of_the_others(single: list[QARow]) -> None:
    numbered: list[str] = []
    for name in GRANOLA_EQ_RELATIONS:
        if name != "P800":
            rows = json.loads((FOLDER / "test" / f"{name}.test.json").read_text(encoding="utf-8"))
            numbered += [row["question"] for row in rows if len(set(row["answers"])) == 1]
    assert len(numbered) == BEFORE_P800
    assert [row.question for row in single[:BEFORE_P800]] == numbered


@NEEDED
def test_the_relations_have_sixteen_templates() -> None:
    templates = json.loads((FOLDER / "templates.json").read_text(encoding="utf-8"))
    assert len({templates[name] for name in GRANOLA_EQ_RELATIONS}) == 16
    assert templates["P131"] == templates["P276"]


def test_without_p800_the_others_keep_their_numbers_where_its_file_is_there(tmp_path: Path) -> None:
    for name in GRANOLA_EQ_RELATIONS:
        rows = [{"question": f"{name} {number}?", "answers": ["A"]} for number in range(2)]
        (tmp_path / f"{name}.test.json").write_text(json.dumps(rows))
    sixteen = tuple(name for name in GRANOLA_EQ_RELATIONS if name != "P800")
    every, most = (
        {row.question: row.id for row in EntityQuestions(folder=tmp_path, relations=names).read(lambda row: None)}
        for names in (GRANOLA_EQ_RELATIONS, sixteen)
    )
    assert every == most | {"P800 0?": "32", "P800 1?": "33"}
