"""Prediction files: what is read, what is rejected with its line, and what makes a file unusable."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from granola.errors import PredictionError
from granola.scoring.predictions import read_predictions


def written(tmp_path: Path, text: str | bytes, name: str = "said.jsonl") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def line(**fields: object) -> str:
    return json.dumps(fields, ensure_ascii=False) + "\n"


def test_jsonl_with_samples_numbers_and_a_byte_order_mark(tmp_path: Path) -> None:
    text = "\ufeff" + line(id="a", prediction="Łódź", samples=["x", "y"], model="m") + line(id=7, prediction=1961)
    found = read_predictions(written(tmp_path, text))
    assert list(found.predictions) == ["a", "7"]
    assert found.predictions["a"].samples == ("x", "y")
    assert found.predictions["7"].text == "1961"
    assert found.predictions["a"].source.endswith("said.jsonl:1")
    assert found.rejected == ()


def test_csv_and_jsonl_say_the_same(tmp_path: Path) -> None:
    texts = {"a": 'He said "Paris", twice', "b": "", "c": "two\nlines"}
    path = tmp_path / "said.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "prediction", "note"])
        writer.writerows([id_, text, ""] for id_, text in texts.items())
    jsonl = written(tmp_path, "".join(line(id=id_, prediction=text) for id_, text in texts.items()))
    from_csv, from_jsonl = (read_predictions(p).predictions for p in (path, jsonl))
    assert {p.id: p.text for p in from_csv.values()} == texts
    assert {p.id: p.text for p in from_jsonl.values()} == texts


def test_an_empty_text_is_a_prediction_and_null_is_none(tmp_path: Path) -> None:
    path = written(tmp_path, line(id="a", prediction="") + line(id="b", prediction=None))
    found = read_predictions(path)
    assert found.predictions["a"].text == ""
    assert found.rejected[0].reason == "prediction None is no prediction; expected a text"
    assert found.rejected_ids == {"b"}


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("{oops\n", "not JSON"),
        ("[1]\n", "not an object"),
        (line(prediction="x"), "no id"),
        (line(id="", prediction="x"), "no id"),
        (line(id=1.5, prediction="x"), "no id"),
        (line(id=True, prediction="x"), "no id"),
        (line(id="b"), "no prediction: expected a text under 'prediction'; the row has id"),
        (line(id="b", prediction=["x"]), r"prediction \['x'\] is no prediction"),
        (line(id="b", prediction="x", samples="y"), "samples"),
        (line(id="a", prediction="again"), r"was used already at .*said.jsonl:1"),
    ],
)
def test_a_bad_line_is_rejected_with_its_place_and_reading_goes_on(tmp_path: Path, bad: str, reason: str) -> None:
    path = written(tmp_path, line(id="a", prediction="first") + bad + line(id="z", prediction="last"))
    found = read_predictions(path)
    assert {p.id: p.text for p in found.predictions.values()} == {"a": "first", "z": "last"}
    assert len(found.rejected) == 1
    assert found.rejected[0].source.endswith("said.jsonl:2")
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(found.rejected[0].reason)


def test_bytes_that_are_no_utf8_are_rejected(tmp_path: Path) -> None:
    good = line(id="a", prediction="x").encode()
    found = read_predictions(written(tmp_path, good + b'{"id": "b", "prediction": "\xff\xfe"}\n'))
    assert len(found.rejected) == 1


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("empty.jsonl", "", "is empty"),
        ("blank.jsonl", "\n \n", "is empty"),
        ("bad.jsonl", "{oops\n{again\n", r"no prediction in 2 lines .*bad.jsonl:1: not JSON"),
        ("none.csv", "id,answer\n1,Paris\n", "no prediction in 1 line "),
        ("notes.txt", "Paris\n", "of no known kind"),
    ],
)
def test_a_file_without_predictions_cannot_be_used(tmp_path: Path, name: str, text: str, told: str) -> None:
    with pytest.raises(PredictionError, match=told) as caught:
        read_predictions(written(tmp_path, text, name))
    assert '{"id": ..., "prediction": "..."}' in str(caught.value)


def test_a_file_tells_the_prompts_that_were_asked_with(tmp_path: Path) -> None:
    path, record = tmp_path / "p.jsonl", tmp_path / "p.jsonl.run.json"
    path.write_text('{"id": "1", "prediction": "x"}\n')
    assert read_predictions(path).asked == ""
    for said, expected in (("guided-0a1b2c3d", "guided-0a1b2c3d"), ("x|seed:9", ""), (None, ""), ({}, "")):
        record.write_text(json.dumps({"prompts": said}))
        assert read_predictions(path).asked == expected


def test_what_each_system_said_comes_along(tmp_path: Path) -> None:
    said = [{"system": "a", "response": "Rome", "agrees": True}, {"system": "b", "response": "Oslo", "agrees": False}]
    lines = line(id="1", prediction="Rome", systems=said) + line(id="2", prediction="Oslo", systems=["a", {"b": 1}])
    first, second = read_predictions(written(tmp_path, lines)).predictions.values()
    told = [(one.system, one.response, one.agrees) for one in first.made_of]
    assert told == [("a", "Rome", True), ("b", "Oslo", False)]
    assert second.made_of == ()
