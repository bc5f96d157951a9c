"""What a question asks for, by its wording alone."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstraction.base.relations import relations_by_id
from abstraction.text.questions.question_facts import follows_from_question, question_facts
from abstraction.text.questions.question_wording import read_relation_wording, subject_of
from tests.conftest import DATA, needs_data
from tests.tables import read_table
from tests.worlds import entity, maker, row, texts


@pytest.mark.parametrize(("question", "relation", "subject"), read_table("safe_wordings"))
def test_a_safe_wording_tells_the_relation(question: str, relation: str | None, subject: str | None) -> None:
    told = read_relation_wording(question)
    assert (told.relation, told.subject) == (relation, subject)
    if relation is not None:
        assert subject_of(question, relation) is not None


@pytest.mark.parametrize(("question", "asks"), read_table("unsafe_wordings"))
def test_an_unsafe_wording_tells_at_most_the_sort_of_answer(question: str, asks: str | None) -> None:
    told = read_relation_wording(question)
    assert told.relation is None
    assert (told.kind.asks if told.kind else None) == asks


@given(st.text(max_size=80))
def test_any_text_is_read_and_a_subject_stands_in_it(question: str) -> None:
    told = read_relation_wording(question)
    assert (told.relation is None) == (told.subject is None)


def test_a_long_question_is_read_at_once() -> None:
    assert read_relation_wording("what is the " * 500 + "?").relation is None
    assert read_relation_wording("Where was " + "a" * 5000 + " born?").relation is None


def test_every_relation_told_has_a_row_or_is_the_exact_wordings() -> None:
    data = json.loads((Path(__file__).parents[2] / "abstraction/data/wording.json").read_text("utf-8"))
    assert set(data["relations"]) - set(relations_by_id()) <= {"P38", "P119", "P1376"}


def test_rows_without_relation_get_it_from_their_wording() -> None:
    italy = entity("Q38", "Italy", P31="Q3624078")
    rome = entity("Q220", "Rome", P31="Q515", P17="Q38")
    club = entity("Q1", "Rome", P31="Q476028")
    make = maker(italy, rome, club)
    made = make.make(row("Rome", None, question="Where was Julius Caesar born?"))
    assert (made.relation, texts(made)) == ("P19", [["Italy"]])
    assert made.question_entity == {"text": "Julius Caesar"}
    made = make.make(row("Rome", None, question="Where did they meet?"))
    assert (made.relation, texts(made)) == (None, [["Italy"]])
    given = make.make(row("Rome", "P17", question="Where was Julius Caesar born?"))
    assert given.relation == "P17"


def test_where_the_first_words_mislead_the_class_decides() -> None:
    nokia = entity("Q9", "Nokia Networks", "Finnish company", P31="Q4830453")
    business = entity("Q4830453", "business")
    make = maker(nokia, business)
    alone = make.make(row("Nokia Networks", None, question="Guess a name."))
    assert len(alone.levels) > 1
    assert make.make(row("Nokia Networks", None, question="Where did she work?")).levels == alone.levels


@needs_data
def test_peoples_wordings_are_read_rightly_or_not_at_all() -> None:
    """SimpleQuestions' first third: what is told is what was asked for, and enough is told."""
    told = right = 0
    with gzip.open(DATA / "simplequestions" / "test_answerable.tsv.gz", "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            _, relation, _, question = line.rstrip("\n").split("\t")
            if number % 3 or relation == "R40":  # the parent of a child
                continue
            if found := read_relation_wording(question).relation:
                told += 1
                right += found == relation or {found, relation} == {"P364", "P407"}
    assert told > 500
    assert right / told > 0.95


def test_what_the_verb_implies_says_nothing_of_who_did_it() -> None:
    assert {"actor", "performing artist"} <= question_facts("who played the old man in the film").kinds
    assert follows_from_question("a singer", "who sang the song at the end")
    assert not follows_from_question("an actor", "who sang the song at the end")
    assert follows_from_question("a professional basketball team", "which NBA team won in 2010")
    assert follows_from_question("the 2010s", "In 2014, when did the NBA season end?")
    assert not follows_from_question("2014", "In the 2010s, when did it end?")
    assert follows_from_question("an Indian actor", "Which Indian actor was in it?")
    assert not follows_from_question("an Indian actor", "Which actor was in it?")
