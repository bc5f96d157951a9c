"""Questions with answers, read from every format; and what is rejected of them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstraction.base.faults import RejectedRow
from abstraction.errors import RowError
from abstraction.files.records import join_cell, optional_field_misspelt_as, split_cell
from abstraction.files.rows import read_questions, read_tiered
from tests.abstraction.row_files import put, read
from tests.conftest import DATA, needs_data

ROW = {"id": "a", "question": "Where was Ada Lovelace born?", "answer": ["London"], "relation": "P19"}


def test_entity_questions_take_relation_and_subject_from_file_and_wording(tmp_path: Path) -> None:
    file = put(
        tmp_path / "P19.test.json",
        json.dumps([{"question": "Where was Ada Lovelace born?", "answers": ["London", "Marylebone"]}] * 2, indent=1),
    )
    rows, rejected = read(file)
    assert [row.id for row in rows] == ["P19-1", "P19-2"]
    assert rows[0].relation == "P19"
    assert rows[0].subject_text == "Ada Lovelace"
    assert rows[0].answers == ("London", "Marylebone")
    assert rows[0].answer_qids == (None, None)
    assert [row.source for row in rows] == [f"{file}[1]", f"{file}[2]"]
    assert not rejected


def test_generated_ids_run_on_over_files_and_stay_when_a_line_is_damaged(tmp_path: Path) -> None:
    good = '{"question": "Where was A born?", "answer": "B"}\n'
    one = put(tmp_path / "P19.a.jsonl", good + "{damaged\n" + good)
    two = put(tmp_path / "P19.b.jsonl", good)
    rejected: list[RejectedRow] = []
    rows = list(read_questions([one, two], on_reject=rejected.append))
    assert [row.id for row in rows] == ["P19-1", "P19-3", "P19-4"]
    assert [r.source for r in rejected] == [f"{one}:2"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"answer": "London"}, {"answers": ("London",)}),
        ({"answer": ["London", "LDN"], "answer_qid": "Q84"}, {"answer_qids": ("Q84", "Q84")}),
        ({"answer": ["A", "B"], "answer_qid": ["Q1", None]}, {"answer_qids": ("Q1", None)}),
        ({"answer_qid": "http://www.wikidata.org/entity/Q84"}, {"answer_qids": ("Q84",)}),
        ({"answer_entity": {"qid": "q84", "text": "London"}}, {"answer_qids": ("Q84",)}),
        ({"answer": 12}, {"answers": ("12",)}),
        ({"id": 7}, {"id": "7"}),
        ({"question_entity": "Ada"}, {"subject_text": "Ada", "subject_qid": None}),
        (
            {"question_entity": {"qid": "Q7259", "text": "Ada"}},
            {"subject_text": "Ada", "subject_qid": "Q7259"},
        ),
        ({"question_entity": {"qid": "Q7259"}}, {"subject_text": "Ada Lovelace", "subject_qid": "Q7259"}),
        ({"relation": "http://www.wikidata.org/prop/direct/P20"}, {"relation": "P20", "subject_text": None}),
        ({"relation": None}, {"relation": "P19"}),
        ({"split": "test", "n": [1]}, {"extra": {"split": "test", "n": [1]}}),
        ({"levels": ["London", "England"]}, {"extra": {"reference_levels": [["London"], ["England"]]}}),
        (
            {"levels": ["London"], "reference_levels": [["London"], ["UK"]]},
            {"extra": {"reference_levels": [["London"], ["UK"]]}},
        ),
        (
            {"levels": [{"tiers": [{"text": "London"}]}, {"tiers": [{"text": "UK"}, {"text": "England"}]}]},
            {"extra": {"reference_levels": [["London"], ["UK", "England"]]}},
        ),
    ],
)
def test_native_fields(tmp_path: Path, fields: dict[str, Any], expected: dict[str, Any]) -> None:
    rows, rejected = read(put(tmp_path / "q.jsonl", json.dumps({**ROW, **fields})))
    assert not rejected
    assert {key: getattr(rows[0], key) for key in expected} == expected


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[1]", "not an object"),
        ('{"answer": "B"}', "no question"),
        ('{"question": " ", "answer": "B"}', "no question"),
        ('{"question": "A?"}', "no answer"),
        ('{"question": "A?", "answer": []}', "empty"),
        ('{"question": "A?", "answer": [""]}', "empty"),
        ('{"question": "A?", "answer": [{"x": 1}]}', "no text"),
        ('{"question": "A?", "answer": true}', "no answer"),
        ('{"question": "A?", "answer": "B", "relation": "birth"}', "no property id"),
        ('{"question": "A?", "answer": "B", "answer_qid": "Paris"}', "no item id"),
        ('{"question": "A?", "answer": "B", "answer_qid": "P31"}', "no item id"),
        ('{"question": "A?", "answer": ["B", "C"], "answer_qid": ["Q1"]}', "1 ids for 2 answers"),
        ('{"question": "A?", "answer": "B", "question_entity": 3}', "neither a text nor an object"),
        ('{"question": "A?", "answer": "B", "id": {}}', "id {} is no id; expected a text or a whole number"),
        ('{"question": "A?", "answer": "\\ud800"}', "not JSON"),
        ('{"id": "first", "question": "A?", "answer": "B"}', "was used already at"),
    ],
)
def test_bad_rows_are_rejected_with_line_and_reason(tmp_path: Path, line: str, reason: str) -> None:
    first = '{"id": "first", "question": "Q?", "answer": "A"}'
    file = put(tmp_path / "q.jsonl", f"{first}\n{line}\n" + '{"id": "last", "question": "Q?", "answer": "A"}')
    rows, rejected = read(file)
    assert [row.id for row in rows] == ["first", "last"]
    assert len(rejected) == 1
    assert rejected[0].source == f"{file}:2"
    assert reason in rejected[0].reason
    with pytest.raises(RowError, match=f"{file}:2"):
        list(read_questions([file]))


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("csv", b"question,answer\nA?,B\n\xff?,B\nC?,D\n"),
        ("jsonl", b'\n{"question":"A?","answer":"B"}\n{"question":"\xff","answer":"B"}\n'),
    ],
)
def test_invalid_utf8_is_rejected_and_the_rest_read(tmp_path: Path, kind: str, content: bytes) -> None:
    file = put(tmp_path / f"q.{kind}", content)
    rows, rejected = read(file)
    assert rows[0].question == "A?"
    assert [r.source for r in rejected] == [f"{file}:3"]
    rejected[0].excerpt.encode()


def test_bom_crlf_and_blank_lines(tmp_path: Path) -> None:
    line = json.dumps(ROW)
    rows, rejected = read(put(tmp_path / "q.jsonl", f"\ufeff{line}\r\n\r\n"))
    assert (rows[0].question, rejected) == (ROW["question"], [])
    rows, rejected = read(put(tmp_path / "q.csv", '\ufeffid,question,answer\r\n1,"A\r\nB?",C\r\n'))
    assert (rows[0].question, rejected) == ("A\r\nB?", [])
    rows, _ = read(put(tmp_path / "P1.json", f"\ufeff[{line}]\r\n"))
    assert rows[0].id == "a"


def test_gzip(tmp_path: Path) -> None:
    rows, _ = read(put(tmp_path / "q.jsonl.gz", gzip.compress(json.dumps(ROW).encode())))
    assert rows[0].id == "a"
    cut = put(tmp_path / "cut.jsonl.gz", gzip.compress(json.dumps(ROW).encode() * 50)[:-20])
    with pytest.raises(RowError, match="cut off or damaged"):
        list(read_questions([cut]))


@pytest.mark.parametrize("damaged", ['{"question": "A, "answer": "B"}]', '{"question": "A?", "answer": "B"}'])
def test_a_damaged_array_is_an_error_in_its_line(tmp_path: Path, damaged: str) -> None:
    file = put(tmp_path / "q.json", f'[{{"question": "A?", "answer": "B"}},\n{damaged}')
    with pytest.raises(RowError, match=f"{file}:2: not JSON"):
        list(read_questions([file]))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("q.jsonl", "", "is empty"),
        ("q.csv", "\ufeff \n", "is empty"),
        ("q.txt", "Where was A born?", "no known kind"),
        ("q.jsonl", b"\x00\x01\x02", "no text file"),
        ("q.csv", "question,answer".encode("utf-16"), "UTF-16"),
        ("q.xlsx", b"PK\x03\x04\x14\x00\x06\x00", "CSV UTF-8"),
        ("q.csv", "question,answer,answer\n", "appears twice"),
        ("q.jsonl", '{"schema_version": 99, "question": "A?", "answer": "B"}', "is not 1"),
        ("q.jsonl", '{"schema_version": "x", "question": "A?", "answer": "B"}', "is not 1"),
    ],
)
def test_unusable_files(tmp_path: Path, name: str, content: str | bytes, reason: str) -> None:
    file = put(tmp_path / name, content)
    with pytest.raises(RowError, match=reason) as error:
        list(read_questions([file]))
    assert name in str(error.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.csv", "schema_version,question,answer\n1.0,A?,B\n"),
        ("q.jsonl", '{"schema_version": 1.0, "question": "A?", "answer": "B"}'),
        ("q.jsonl", '{"schema_version": null, "question": "A?", "answer": "B"}'),
    ],
)
def test_the_schema_version_as_pandas_writes_it(tmp_path: Path, name: str, content: str) -> None:
    assert [row.question for row in read_questions([put(tmp_path / name, content)])] == ["A?"]


def test_a_folder_and_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(RowError, match="is a folder"):
        list(read_questions([tmp_path]))
    with pytest.raises(FileNotFoundError):
        list(read_questions([tmp_path / "absent.jsonl"]))


def test_csv(tmp_path: Path) -> None:
    file = put(
        tmp_path / "q.csv",
        "id,relation,question,answer,answer_qid,question_entity,question_entity_qid,note\n"
        "1,P19,Where was A born?,London|LDN,Q84,A,Q7259,x\n"
        '2,P19,Where was B born?,"[""A|B"", ""C""]",Q1|Q2,,,\n'
        "3,P19,Where was C born?,D,,,,\n"
        "4,P19,too,many,fields,are,in,this,line\n"
        "5,P19,no answer\n",
    )
    rows, rejected = read(file)
    assert [row.answers for row in rows] == [("London", "LDN"), ("A|B", "C"), ("D",)]
    assert [row.answer_qids for row in rows] == [("Q84", "Q84"), ("Q1", "Q2"), (None,)]
    assert rows[0].subject_qid == "Q7259"
    assert rows[0].extra == {"note": "x"}
    assert [r.source for r in rejected] == [f"{file}:5", f"{file}:6"]


def test_semicolons_and_tabs(tmp_path: Path) -> None:
    for name, mark in (("q.csv", ";"), ("q.tsv", "\t")):
        rows, _ = read(put(tmp_path / name, f"question{mark}answer\nWhere was A, B born?{mark}C\n"))
        assert (rows[0].question, rows[0].answers) == ("Where was A, B born?", ("C",))


def test_limit_and_given_relation(tmp_path: Path) -> None:
    file = put(tmp_path / "P20.json", json.dumps([{"question": f"Q{n}?", "answers": ["A"]} for n in range(5)]))
    rows, _ = read(file, limit=2, relation="P19")
    assert [row.relation for row in rows] == ["P19", "P19"]
    assert [row.id for row in rows] == ["P19-1", "P19-2"]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(str.strip).filter(bool)


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_cells_read_back(texts: list[str]) -> None:
    assert split_cell(join_cell(texts)) == texts


@needs_data
@pytest.mark.parametrize(("name", "count"), [("rows_dev", 77), ("places_dev", 484)])
def test_granola_eq_data(name: str, count: int) -> None:
    file = DATA / "granola_eq" / f"{name}.jsonl"
    rows, rejected = read(file)
    assert (len(rows), rejected) == (count, [])
    assert all(row.subject_text and len(row.extra["reference_levels"]) > 1 for row in rows)
    assert len(list(read_tiered(file))) == count


def test_names_that_are_nearly_right_are_told(tmp_path: Path) -> None:
    _, (rejected,) = read(put(tmp_path / "q.jsonl", '{"qestion": "A?", "answer": "B"}'))
    expected = "no question: expected a text under 'question'; the row has qestion, answer (is 'qestion' meant?)"
    assert rejected.reason == expected
    assert [optional_field_misspelt_as(name) for name in ("realtion", "answer_quid", "relation", "split")] == [
        "relation", "answer_qid", None, None,
    ]  # fmt: skip


def test_a_wrong_value_is_told_with_its_field_and_what_is_expected(tmp_path: Path) -> None:
    line = '{"question": "A?", "answers": ["B"], "answer_qids": ["Q1", "Q2"]}'
    _, (rejected,) = read(put(tmp_path / "q.jsonl", line))
    assert rejected.reason == "answer_qids has 2 ids for 1 answers"
    _, (rejected,) = read(put(tmp_path / "r.jsonl", '{"question": 3, "answers": ["B"]}'))
    assert rejected.reason == "question 3 is no question; expected a text"
