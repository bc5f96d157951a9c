"""Rows of datasets in the form in which they are published, and fields that are named one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from abstraction.base.faults import RejectedRow
from abstraction.errors import RowError
from abstraction.files.row_shapes import PRESETS, origin_sentence, shape_of
from abstraction.files.rows import QARow, read_questions

# One made-up row each, with the fields of the published files.
ROWS: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {
    "nq-open": [
        ({"question": "where is lyon", "answer": ["France", "in France"]}, {"answers": ("France", "in France")}),
    ],
    "entityquestions": [({"question": "Where was Ada born?", "answers": ["Lyon"]}, {"answers": ("Lyon",)})],
    "simpleqa": [
        (
            {"metadata": "{'topic': 'Art', 'answer_type': 'Place'}", "problem": "Where is it?", "answer": "Lyon"},
            {"question": "Where is it?", "answers": ("Lyon",)},
        ),
    ],
    "triviaqa": [
        (
            {"question": "Where?", "question_id": "tc_1", "answer": {"value": "Lyon", "aliases": ["Lyon", "Lyons"]}},
            {"id": "tc_1", "answers": ("Lyon", "Lyons")},
        ),
        (
            {"Question": "Which city?", "QuestionId": "tc_2", "Answer": {"Value": "Lyon", "Aliases": ["Lugdunum"]}},
            {"id": "tc_2", "question": "Which city?", "answers": ("Lyon", "Lugdunum")},
        ),
    ],
    "webquestions": [
        ({"url": "x", "question": "where is it?", "answers": ["Lyon", "France"]}, {"answers": ("Lyon", "France")}),
        (
            {"url": "u", "utterance": "where is it?",
             "targetValue": '(list (description Lyon) (description "New Lyon"))'},
            {"question": "where is it?", "answers": ("Lyon", "New Lyon"), "extra": {"url": "u"}},
        ),
    ],
    "popqa": [
        (
            {
                "id": 4222362, "subj": "Ada Lang", "prop": "place of birth", "obj": "Lyon", "prop_id": 218,
                "s_uri": "http://www.wikidata.org/entity/Q76", "o_uri": "http://www.wikidata.org/entity/Q456",
                "question": "In what city was Ada Lang born?", "possible_answers": '["Lyon", "Lyons"]',
            },
            {
                "id": "4222362", "answers": ("Lyon", "Lyons"), "answer_qids": ("Q456", "Q456"), "relation": "P19",
                "subject_text": "Ada Lang", "subject_qid": "Q76",
            },
        ),
    ],
    "mintaka": [
        (
            {
                "id": "a9011ddf", "question": "Which city?", "translations": {"de": "Welche Stadt?"},
                "answer": {
                    "answerType": "entity", "mention": "Lyon",
                    "answer": [{"name": "Q456", "label": {"en": "Lyon", "de": "Lyon (de)"}}],
                },
            },
            {"id": "a9011ddf", "question": "Which city?", "answers": ("Lyon",), "answer_qids": ("Q456",)},
        ),
        (
            {"id": "b", "question": "Is it?", "answer": {"answerType": "boolean", "answer": [True], "mention": "Yes"}},
            {"answers": ("Yes",)},
        ),
        (
            {
                "id": "c", "lang": "de", "question": "Welche Stadt?", "answerText": "Lyon",
                "answerEntity": [{"name": "Q456", "label": "Lyon"}],
            },
            {"answers": ("Lyon",), "answer_qids": ("Q456",), "extra": {"language": "de"}},
        ),
    ],
    "mkqa": [
        (
            {
                "example_id": -42, "query": "which city", "queries": {"de": "welche stadt", "en": "which city?"},
                "answers": {
                    "en": [{"type": "entity", "entity": "Q456", "text": "Lyon", "aliases": ["Lyons"]}],
                    "de": [{"type": "entity", "entity": "Q456", "text": "Lyon (de)", "aliases": []}],
                },
            },
            {"id": "-42", "question": "which city?", "answers": ("Lyon", "Lyons"), "answer_qids": ("Q456", "Q456")},
        ),
    ],
    "crag": [
        (
            {"interaction_id": "7bb", "query": "which city?", "answer": "lyon", "alt_ans": ["lyons"], "domain": "open"},
            {"id": "7bb", "answers": ("lyon", "lyons"), "extra": {"domain": "open"}},
        ),
    ],
}  # fmt: skip


def read(path: Path, **how: Any) -> tuple[list[QARow], list[RejectedRow]]:
    rejected: list[RejectedRow] = []
    return list(read_questions([path], on_reject=rejected.append, **how)), rejected


@pytest.mark.parametrize(("preset", "given", "wanted"), [(n, *one) for n, rows in ROWS.items() for one in rows])
def test_a_row_as_it_is_published(tmp_path: Path, preset: str, given: dict[str, Any], wanted: dict[str, Any]) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(given) + "\n")
    (row,), rejected = read(path, shape=shape_of(preset))
    assert rejected == []
    extra = wanted.pop("extra", {})
    assert {name: getattr(row, name) for name in wanted} == wanted
    assert extra.items() <= row.extra.items()


def test_every_preset_has_a_row() -> None:
    assert set(ROWS) == set(PRESETS)


def test_another_language_of_the_same_row(tmp_path: Path) -> None:
    for preset in ("mkqa", "mintaka"):
        path = tmp_path / f"{preset}.jsonl"
        path.write_text(json.dumps(ROWS[preset][-1 if preset == "mkqa" else 0][0]) + "\n")
        (row,), _ = read(path, shape=shape_of(preset), language="de")
        assert row.question.casefold() == "welche stadt?" or row.question == "welche stadt"
        assert row.answers[0] == "Lyon (de)"


def test_fields_that_are_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text('nr,prompt,gold\n7,Where is it?,"[""Lyon"", ""Lyons""]"\n8,,Lyon\n')
    shape = shape_of(question="prompt", answer="gold", id="nr")
    (row,), (bad,) = read(path, shape=shape)
    assert (row.id, row.question, row.answers) == ("7", "Where is it?", ("Lyon", "Lyons"))
    assert bad.reason == "no question: no value under 'prompt'"
    nested = tmp_path / "nested.jsonl"
    nested.write_text(json.dumps({"a": {"q": "Where?"}, "gold": [{"t": "Lyon"}, {"t": "Paris"}, {}]}) + "\n")
    (row,), _ = read(nested, shape=shape_of(question="a.q", answer="gold.*.t"))
    assert (row.question, row.answers, row.id) == ("Where?", ("Lyon", "Paris"), "row-1")


def test_a_row_that_has_other_names_tells_them(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"prompt": "Where was Ada born?", "gold": "Lyon"}\n')
    rows, (bad,) = read(path)
    assert rows == []
    assert bad.reason == "no question: expected a text under 'question'; the row has prompt, gold"
    with pytest.raises(RowError, match="preset 'squad' is not known; there are nq-open, "):
        shape_of("squad")


def test_ids_come_from_places_and_not_from_what_wordings_are_read_for(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"question": "Where was Ada born?", "answer": "Lyon"}\n' * 2)
    rows, _ = read(path)
    assert [(row.id, row.relation) for row in rows] == [("row-1", "P19"), ("row-2", "P19")]
    rows, _ = read(path, relation="P19")
    assert [row.id for row in rows] == ["P19-1", "P19-2"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("(list (description Padmé))", ["Padmé"]),
        ('(list (description "St. Mary\'s (school)") (description a-b))', ["St. Mary's (school)", "a-b"]),
        (r'(list (description "the \"Bard\""))', ['the "Bard"']),
        ("(list (description 1912) (description 3.5))", ["1912", "3.5"]),
        ("(list (description Lyon) (name Paris))", None),
        ("(list (description two words))", None),
        ("(list )", None),
        ("(list (description Lyon)", None),
        ("Lyon", None),
        ("(list " + "(description " * 5_000, None),
    ],
)
def test_answers_as_webquestions_writes_them(tmp_path: Path, text: str, wanted: list[str] | None) -> None:
    path = tmp_path / "webquestions.json"
    path.write_text(json.dumps([{"url": "u", "utterance": "where?", "targetValue": text}]))
    rows, rejected = read(path, shape=shape_of("webquestions"))
    assert [[*row.answers] for row in rows] == ([wanted] if wanted else [])
    assert len(rejected) == (not wanted)


CSV = "id,question,answer,answer_gold\n1,Where?,Lyon,Paris\n"
BARE = "prompt,gold\nWhere?,Lyon\n"
EMPTY = '{"question": "Where?", "answer": "Lyon", "gold": []}'
TRIVIA = json.dumps({"question": "Where?", "answer": "Lyon"})


@pytest.mark.parametrize(
    ("content", "fields", "reason"),
    [
        (CSV, {"answer": "gold_answer"}, "no field 'gold_answer'; the row has id, question, answer, answer_gold"),
        (CSV, {"question": "prompt"}, "no field 'prompt'; the row has id, question, answer, answer_gold"),
        (CSV, {"id": "nr", "answer": "answer_gold"}, "no field 'nr'; the row has id, question, answer, answer_gold"),
        (BARE, {"question": "prompt"}, "no field 'answer' or 'answers'; the row has prompt, gold"),
        (TRIVIA, {"preset": "mkqa"}, "no field 'queries.en' or 'query'; the row has question, answer"),
        (TRIVIA, {"preset": "triviaqa"}, "no field 'answer.value' or 'Answer.Value'; the row has question, answer"),
        (TRIVIA, {"answer": "answer.text"}, "no field 'answer.text'; the row has question, answer"),
        ("question,answer,gold\nWhere?,Lyon,\n", {"answer": "gold"}, "no answer: no value under 'gold'"),
        (EMPTY, {"answer": "gold.*"}, "no answer: no value under 'gold.*'"),
        (EMPTY.replace("[]", "null"), {"answer": "gold.a"}, "no answer: no value under 'gold.a'"),
    ],
)  # fmt: skip
def test_a_field_that_is_named_has_to_be_there(
    tmp_path: Path, content: str, fields: dict[str, str], reason: str
) -> None:
    path = tmp_path / f"mine.{'jsonl' if content.startswith('{') else 'csv'}"
    path.write_text(content)
    rows, (bad,) = read(path, shape=shape_of(**fields))
    assert rows == []
    assert bad.reason == reason


def test_what_dataset_questions_are_from() -> None:
    assert origin_sentence(None) == origin_sentence(shape_of(question="prompt")) == ""
    sentence = "The questions and their gold answers are from SimpleQA, published under MIT."
    assert origin_sentence(shape_of("simpleqa")) == sentence
    for name, shape in PRESETS.items():
        assert shape.source, name
        assert shape.source in (Path(__file__).parents[2] / "README.md").read_text(), name
        if shape.licence:
            assert shape.licence in (Path(__file__).parents[2] / "README.md").read_text(), name


@pytest.mark.parametrize(
    ("cell", "answers"),
    [
        ("Honolulu|Hawaii", ("Honolulu", "Hawaii")),
        ("\"['Honolulu', 'Hawaii']\"", ("Honolulu", "Hawaii")),  # as pandas writes a list
        ("\"['Honolulu' \"\"Hawai'i\"\"]\"", ("Honolulu", "Hawai'i")),  # and an array of NumPy
        ("\"('Honolulu', 'Hawaii')\"", ("Honolulu", "Hawaii")),
        ("\"{'Honolulu'}\"", ("Honolulu",)),
        ("\"array(['Honolulu', 'Hawaii'], dtype=object)\"", ("Honolulu", "Hawaii")),
        ("(500) Days of Summer", ("(500) Days of Summer",)),
        ("{{citation needed}}", ("{{citation needed}}",)),
        ('"[sic]"', ("[sic]",)),
    ],
)
@pytest.mark.parametrize("name", ["answer", "gold.text", "a|b"])
def test_a_cell_of_answers_is_read_alike_under_every_name(
    tmp_path: Path, name: str, cell: str, answers: tuple[str, ...]
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"sep=;\nquestion;{name}\nWhere was he born?;{cell}\n", encoding="utf-8")
    (row,) = read_questions([path], shape=None if name == "answer" else shape_of(answer=name))
    assert (row.answers, row.source) == (answers, f"{path}:3")
