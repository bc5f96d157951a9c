"""What a question asks for, by its wording alone."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstraction.questions.question_facts import question_facts, tells
from abstraction.questions.relation_wording import read_wording, subject_of
from abstraction.relations import table
from tests.conftest import DATA, needs_data
from tests.worlds import entity, maker, row, texts


@pytest.mark.parametrize(
    ("question", "relation", "subject"),
    [
        ("Where was Ada Lovelace born?", "P19", "Ada Lovelace"),
        ("in what city was ada lovelace born", "P19", "ada lovelace"),
        ("What is Ada Lovelace’s place of birth ?", "P19", "Ada Lovelace"),
        ("What was the birthplace of Ada Lovelace?", "P19", "Ada Lovelace"),
        ("Which town did Pushkin die in?", "P20", "Pushkin"),
        ("In which year was Pushkin born?", "P569", "Pushkin"),
        ("Who directed the film Jaws?", "P57", "film Jaws"),
        ("Who wrote the screenplay for Jaws?", "P58", "Jaws"),
        ("Jaws was directed by whom?", "P57", "Jaws"),
        ("The novel Emma was written by whom?", "P50", "Emma"),
        ("what does Gary Smith do for a living", "P106", "Gary Smith"),
        ("What kind of music does Queen play?", "P136", "Queen"),
        ("What label is Queen signed to?", "P264", "Queen"),
        ("Where is the head office of Nokia located?", "P159", "Nokia"),
        ("Who was the man who knew too much directed by?", None, None),
        ("How many people live in Rome?", "P1082", "Rome"),
        ("How many employees does Nokia have?", "P1128", "Nokia"),
        ("Who is the father of Isaac?", "P22", "Isaac"),
        ("Which company developed the game Half-Life?", "P178", "Half-Life"),
        ("Who developed the theory of relativity?", None, None),
        ("Who discovered penicillin?", "P61", "penicillin"),
        ("Who is the inventor of the telephone?", "P61", "telephone"),
        ("Who was the architect of the Sagrada Família?", "P84", "Sagrada Família"),
        ("Which company published the game Half-Life?", "P123", "Half-Life"),
        ("What art movement is Claude Monet associated with?", "P135", "Claude Monet"),
        ("Which award did Ada Lovelace receive?", "P166", "Ada Lovelace"),
        ("Which award did Ada Lovelace receive in 1840?", None, None),
        ("What is the parent taxon of Panthera?", "P171", "Panthera"),
        ("When did the October Revolution begin?", "P580", "October Revolution"),
        ("In what year did World War I end?", "P582", "World War I"),
        ("When was the Ottoman Empire dissolved?", "P576", "Ottoman Empire"),
        ("Who wrote the lyrics for Imagine?", "P676", "Imagine"),
        ("What is the parent company of YouTube?", "P749", "YouTube"),
        ("How tall is the Eiffel Tower?", "P2048", "Eiffel Tower"),
        ("How high is Everest?", "P2048", "Everest"),
        ("How high is Quito above sea level?", "P2044", "Quito"),
        ("How long is the Nile?", "P2043", "Nile"),
        ("Who is the sister of Ada Lovelace?", "P3373", "Ada Lovelace"),
        ("Who is Ada Lovelace's older brother?", "P3373", "Ada Lovelace"),
        ("What is Rome's sister city?", None, None),
        ("Who is the brother of the man who shot him?", None, None),
    ],
)  # fmt: skip
def test_a_safe_wording_tells_the_relation(question: str, relation: str | None, subject: str | None) -> None:
    told = read_wording(question)
    assert (told.relation, told.subject) == (relation, subject)
    if relation is not None:
        assert subject_of(question, relation) is not None


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Who wrote Dune?", "agent"),  # an author, a screenwriter, a composer
        ("Who was born in Crete?", "agent"),
        ("Where is Ridgeland located?", "place"),
        ("Which country won the cup in 1998?", "country"),
        ("what country is fantomas filmed in", "country"),
        ("When did they meet?", "date"),
        ("How old was Bach when he died?", "quantity"),
        ("Which high school has the oldest building?", "school"),
        ("Which film won the award that year?", "work"),
        ("Did he win?", None),
        ("Which country singer was that?", "agent"),
        ("Wo wurde Bach geboren?", "place"),
        ("", None),
    ],
)
def test_an_unsafe_wording_tells_at_most_the_sort_of_answer(question: str, asks: str | None) -> None:
    told = read_wording(question)
    assert told.relation is None
    assert (told.kind.asks if told.kind else None) == asks


@given(st.text(max_size=80))
def test_any_text_is_read_and_a_subject_stands_in_it(question: str) -> None:
    told = read_wording(question)
    assert (told.relation is None) == (told.subject is None)


def test_a_long_question_is_read_at_once() -> None:
    assert read_wording("what is the " * 500 + "?").relation is None
    assert read_wording("Where was " + "a" * 5000 + " born?").relation is None


def test_every_relation_told_has_a_row_or_is_the_exact_wordings() -> None:
    data = json.loads((Path(__file__).parents[2] / "abstraction/data/wording.json").read_text("utf-8"))
    assert set(data["relations"]) - set(table()) <= {"P38", "P119", "P1376"}


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
            if found := read_wording(question).relation:
                told += 1
                right += found == relation or {found, relation} == {"P364", "P407"}
    assert told > 500
    assert right / told > 0.95


def test_what_the_verb_implies_says_nothing_of_who_did_it() -> None:
    assert {"actor", "performing artist"} <= question_facts("who played the old man in the film").kinds
    assert tells("a singer", "who sang the song at the end")
    assert not tells("an actor", "who sang the song at the end")
    assert tells("a professional basketball team", "which NBA team won in 2010")
    assert tells("the 2010s", "In 2014, when did the NBA season end?")
    assert not tells("2014", "In the 2010s, when did it end?")
    assert tells("an Indian actor", "Which Indian actor was in it?")
    assert not tells("an Indian actor", "Which actor was in it?")
