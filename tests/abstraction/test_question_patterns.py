"""The wordings of EntityQuestions tell their relation and subject."""

from __future__ import annotations

import pytest

from abstraction.files.rows import read_questions
from abstraction.text.questions.question_wording import question_patterns, without_final_mark
from tests.conftest import DATA, needs_data


@pytest.mark.parametrize(
    ("question", "relation", "subject"),
    [
        ("Where was Ada Lovelace born?", "P19", "Ada Lovelace"),
        ("where was  ada lovelace born", "P19", "ada lovelace"),
        ("When was Ada Lovelace born?", "P569", "Ada Lovelace"),
        ("Who is Jane's child?", "P40", "Jane"),
        ("Who is O’Brien’s child?", "P40", "O’Brien"),
        ("Who founded Acme Inc.?", "P112", "Acme Inc."),
        ("Who founded Acme.", "P112", "Acme"),
        ("What is the capital of Marin County?", "P36", "Marin County"),
        ("Where is the headquarter of Munich Re?", "P159", "Munich Re"),
        ("Who wrote The Wrench?", "P50", "The Wrench"),
        ("How many people live in Oslo?", "P1082", "Oslo"),
    ],
)
def test_wording_tells_relation_and_subject(question: str, relation: str, subject: str) -> None:
    assert question_patterns().most_specific_matches(without_final_mark(question)) == [(relation, subject)]


@pytest.mark.parametrize("question", ["Where is Lens located?", "Where is Lens?", "Is Paris big?", ""])
def test_unclear_wording_tells_no_relation(question: str) -> None:
    assert len(question_patterns().most_specific_matches(without_final_mark(question))) != 1


@needs_data
def test_every_entity_question_has_its_subject_and_only_clear_wordings_tell_relations() -> None:
    files = sorted((DATA / "entityquestions" / "test").glob("*.json"))
    patterns = question_patterns()
    count = 0
    for row in read_questions(files):
        count += 1
        assert row.subject_text
        assert row.subject_text in " ".join(row.question.split())
        told = [relation for relation, _ in patterns.most_specific_matches(without_final_mark(row.question))]
        assert set(told) == ({"P131", "P276"} if row.relation in ("P131", "P276") else {row.relation})
    assert count == 22075
