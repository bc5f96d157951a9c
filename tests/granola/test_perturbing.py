"""Questions that ask for a unit of time, with their ladders cut to match."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from abstraction.ladders.date_ladders import date_ladder, parse_date
from abstraction.rows import TieredRow, read_tiered, write_tiered
from granola.cli import main
from granola.decoding.perturbing import AskedUnit, Kept, perturbed
from granola.matching import matcher
from granola.scoring.items import names_of


def asked(question: str, answer: str) -> TieredRow:
    parsed = parse_date(answer)
    assert parsed
    levels = tuple(date_ladder(parsed))
    return TieredRow(id="1", question=question, answers=(answer,), levels=levels, relation="P569", extra={"mine": 1})


OBAMA = asked("When was Barack Obama born?", "August 4, 1961")


@pytest.mark.parametrize(
    ("unit", "question", "levels"),
    [
        (
            AskedUnit.MONTH,
            "In which month and year was Barack Obama born?",
            ["August 1961", "1961", "the 1960s", "the 20th century"],
        ),
        (AskedUnit.YEAR, "In what year was Barack Obama born?", ["1961", "the 1960s", "the 20th century"]),
        (AskedUnit.DECADE, "In which decade was Barack Obama born?", ["the 1960s", "the 20th century"]),
        (AskedUnit.CENTURY, "In which century was Barack Obama born?", ["the 20th century"]),
    ],
)
def test_questions_and_ladders(unit: AskedUnit, question: str, levels: list[str]) -> None:
    found = perturbed(OBAMA, unit)
    assert isinstance(found, TieredRow)
    assert (found.id, found.question, found.answers) == (f"1-{unit}", question, (levels[0],))
    assert [level.tiers[0].text for level in found.levels] == levels
    assert (found.extra["mine"], found.extra["perturbed_from"]) == (1, "1")
    assert (found.abstained is None) == (len(levels) > 1)


def test_what_is_finer_answers_the_easier_question_and_what_is_coarser_is_coarser() -> None:
    found = perturbed(OBAMA, AskedUnit.YEAR)
    assert isinstance(found, TieredRow)
    rules, levels = matcher("rules"), names_of(found)
    said = {"August 4, 1961": 1, "He was born in August 1961.": 1, "1961": 1, "the 1960s": 2, "1962": None}
    for prediction, level in said.items():
        assert rules.match(prediction, levels, question=found.question).level == level, prediction


@pytest.mark.parametrize(
    ("question", "answer", "unit", "reason"),
    [
        ("Where was Barack Obama born?", "August 4, 1961", AskedUnit.YEAR, "no question with when"),
        ("Since when has it stood?", "1961", AskedUnit.YEAR, "no question with when"),
        ("When was it built?", "1961", AskedUnit.YEAR, "its answer is a year already"),
        ("When was it built?", "the 1960s", AskedUnit.YEAR, "no level is a year"),
        ("When was it built?", "1961", AskedUnit.MONTH, "no level is a month"),
    ],
)
def test_what_cannot_be_asked(question: str, answer: str, unit: AskedUnit, reason: str) -> None:
    found = perturbed(asked(question, answer), unit)
    assert isinstance(found, Kept)
    assert found.reason == reason


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    tiered, out = tmp_path / "t.jsonl", tmp_path / "y.jsonl"
    write_tiered([OBAMA, replace(asked("When did it end?", "1961"), id="2")], tiered)

    def run(unit: str) -> int:
        monkeypatch.setattr(
            "sys.argv", ["granola", "derive", "perturb", str(tiered), "--unit", unit, "--out", str(out), "--force"]
        )
        with pytest.raises(SystemExit) as ended:
            main.main()
        return int(ended.value.code or 0)

    assert run("month") == 0
    assert [row.id for row in read_tiered(out)] == ["1-month"]
    assert "1 question for a month; left out: 1 question" in capsys.readouterr().out
    assert run("century") == 0
    assert [row.id for row in read_tiered(out)] == ["1-century", "2-century"]
    assert json.loads((tmp_path / "y.jsonl.run.json").read_text())["command"] == "derive perturb"
    listed = tmp_path / "y.jsonl.rejects.jsonl"
    with tiered.open("a") as stream:
        stream.write('{"id":\n')
    assert run("year") == 1
    assert "t.jsonl:3" in json.loads(listed.read_text())["source"]
    assert str(listed) in capsys.readouterr().err
    write_tiered([OBAMA], tiered)
    assert run("year") == 0
    assert not listed.exists()
    write_tiered([asked("Where?", "1961")], tiered)
    assert run("year") == 2
