"""What kind of answer a question asks for, whether gold answers go with it, and how several of them stand together."""

from __future__ import annotations

from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstraction.base.tiers import Abstention, Tier
from abstraction.files.records import Record
from abstraction.files.rows import QARow, question_rows
from abstraction.ladders.assembly.golds import is_bare_number, text_conflict
from abstraction.maker.pipeline import make_ladders
from abstraction.text.questions.question_wording import AskedKind, asked_kind
from tests.tables import read_table
from tests.worlds import entity, maker, row, store_of, texts

STATE = "Q3624078"
BRAZIL = entity("Q155", "Brazil", P31=STATE)
PARA = entity("Q39517", "Pará", P31="Q10864048", P131="Q155")
BELEM = entity("Q81216", "Belém", P31="Q515", P131="Q39517")
ITALY = entity("Q38", "Italy", P31=STATE)
TURIN = entity("Q495", "Turin", P31="Q515", P131="Q38")
MILAN = entity("Q490", "Milan", P31="Q515", P131="Q38")
CURIE = entity("Q7186", "Marie Curie", "Polish-French physicist", P31="Q5", P106="Q169470")


@pytest.mark.parametrize(("question", "kind"), read_table("kinds_asked_for"))
def test_kinds(question: str, kind: str) -> None:
    assert asked_kind(question).kind == kind


@pytest.mark.parametrize(("language", "question", "kind"), read_table("kinds_asked_for_in_languages"))
def test_kinds_in_the_language_of_the_question(language: str, question: str, kind: str) -> None:
    assert asked_kind(question, language).kind == kind


def test_no_row_is_read_by_the_words_of_another_language() -> None:
    asked = {"question": "Was ist der Sitz der Bank?", "answer": "Belém", "answer_qid": "Q81216"}
    records = [Record(source="1", data=asked), Record(source="2", data={**asked, "language": "de"})]
    english, german = (one for one in question_rows(records) if isinstance(one, QARow))
    with closing(store_of(BRAZIL, PARA, BELEM)) as world:
        made = [*make_ladders([english, german], world), *make_ladders([english], world, language="de")]
    assert [(row.abstained, len(row.levels)) for row in made] == [("yes-no", 1), (None, 3), (None, 3)]


@pytest.mark.parametrize("question", ["who are the judges", "list all rivers in Italy", "5 cities in Brazil"])
def test_several_answers_are_asked_for(question: str) -> None:
    assert asked_kind(question).many


@given(st.text(max_size=500))
def test_any_question_is_read(question: str) -> None:
    assert isinstance(asked_kind(question), AskedKind)


@pytest.mark.parametrize(
    ("question", "answer", "code"),
    [
        ("Has the treaty been signed?", "Yes", "yes-no"),
        ("which episode has the wedding", "165", "bare-number"),
        ("what is the last season of the show", "the sixth", "bare-number"),
        ("what is the area code of Turin", "011", "code"),
        ("how deep is the lake", "Turin", "kind-conflict"),
        ("how deep is the lake", "30 kg", "kind-conflict"),
        ("how deep is the lake", "30 m", None),
        ("how many moons does Mars have", "2", None),
        ("how long has the king reigned", "2018", "kind-conflict"),
        ("what year was the bridge built", "1905", None),
        ("what year is it in that calendar", "5778", "bare-number"),
        ("who wrote the hymn", "563", "bare-number"),
        ("who wrote the hymn", "No", None),  # a person may be called so
    ],
)
def test_text_conflicts(question: str, answer: str, code: str | None) -> None:
    found = text_conflict(asked_kind(question), answer)
    assert (found and str(found)) == code


@pytest.mark.parametrize(("text", "number"), [("563", True), ("twelve", True), ("the sixth", True), ("12 km", False)])
def test_bare_numbers(text: str, number: bool) -> None:
    assert is_bare_number(text) is number


def made(answers: list[str], question: str = "Where did it happen?", relation: str | None = None) -> object:
    return maker(BRAZIL, PARA, BELEM, ITALY, TURIN, MILAN, CURIE).make(row(answers, relation, question=question))


@pytest.mark.parametrize(
    ("question", "answer", "code"),
    [
        ("Who won the cup?", "Turin", Abstention.TYPE_CONFLICT),
        ("Where does the word come from?", "Marie Curie", None),
        ("How deep is the lake?", "Turin", Abstention.KIND_CONFLICT),
        ("Which episode is it?", "563", Abstention.BARE_NUMBER),
    ],
)
def test_no_ladder_of_something_else(question: str, answer: str, code: str | None) -> None:
    found = made([answer], question)
    assert texts(found) == []
    assert found.abstained
    if code is not None and code is not Abstention.TYPE_CONFLICT:
        assert found.abstained == code


def test_a_relation_that_is_given_is_not_doubted() -> None:
    assert texts(made(["Turin"], "How deep is the lake?", "P131")) == [["Italy"]]


def test_dates_that_entail_each_other_stand_on_levels() -> None:
    found = made(["1996", "18 March 1996", "March 1996"], "When was it?")
    assert [tier.text for tier in found.levels[0].tiers] == ["18 March 1996"]
    assert texts(found)[:2] == [["March 1996"], ["1996"]]


def test_a_place_that_holds_another_answer_is_above_it() -> None:
    found = made(["Pará", "Belém"])
    assert [tier.text for tier in found.levels[0].tiers] == ["Belém"]
    assert texts(found)[0] == ["Pará"]


def test_names_of_one_thing_are_aliases() -> None:
    found = made(["Marie Curie", "Curie", "physicist Marie Curie"], "Who found it?")
    assert [tier.text for tier in found.levels[0].tiers] == ["Marie Curie"]
    assert {"Curie", "physicist Marie Curie"} <= set(found.levels[0].names())
    assert found.answers == ("Marie Curie", "Curie", "physicist Marie Curie")


def test_a_tier_says_of_which_alternative_it_is() -> None:
    found = made(["Belém", "Turin"])
    of = {tier.text: tier.of for level in found.levels[1:] for tier in level.tiers}
    assert of["Pará"] == ("Belém",)
    assert of["Italy"] == ("Turin",)
    again = {tier.text: tier.of for level in found.levels[1:] for tier in level.tiers}
    assert again == {t.text: Tier.from_json(t.to_json()).of for level in found.levels[1:] for t in level.tiers}


def test_what_fewer_than_half_of_the_alternatives_share_is_left_out() -> None:
    found = made(["Belém", "Turin", "Milan"])
    assert texts(found) == [["Italy"]]
    assert found.levels[1].tiers[0].of == ("Turin", "Milan")


def test_what_all_alternatives_share_says_nothing_of_them() -> None:
    (level,) = made(["Turin", "Milan"]).levels[1:]
    assert [(tier.text, tier.of) for tier in level.tiers] == [("Italy", ())]


@pytest.mark.parametrize(
    ("age", "above"), [("34", ["in their thirties"]), ("15 years", ["a teenager"]), ("7", []), ("104", [])]
)
def test_ages(age: str, above: list[str]) -> None:
    found = texts(made([age], "How old was she when she left?"))
    assert found == ([above] if above else [])


def test_an_age_that_a_rule_fixes_is_nobodys() -> None:
    assert texts(made(["18"], "How old do you have to be to buy it?")) == []


def test_an_accepted_range_is_a_name_of_the_amount() -> None:
    found = made(["151 (acceptable range: anything between 148 and 153)"], "How many houses are there?")
    assert {"151", "between 148 and 153"} <= set(found.levels[0].names())
    assert texts(found) == [["about 150"]]
