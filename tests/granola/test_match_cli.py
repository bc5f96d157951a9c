"""`granola match`: rows with their own answers, from file to file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from granola.matching import RulesMatcher
from tests.command_line import run_granola
from tests.granola.test_judge import ITEM, LEVELS, recorded


def match(*words: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return run_granola("match", *words, stdin=stdin)


def written(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_rows_get_level_rule_and_abstained_and_keep_their_fields(tmp_path: Path) -> None:
    rows = [
        {"id": 7, "prediction": "Hawaii", "levels": [["Honolulu"], ["Hawaii", "HI"]], "mine": {"deep": [1]}},
        {"prediction": "I don't know.", "answers": ["Paris"], "question": "Where?"},
        {"prediction": "Dave Gahan", "answers": "David Gahan", "question": "who is the singer"},
        {"prediction": "Berlin", "answers": ["Paris"]},
        {"prediction": "Ich weiß es nicht.", "answers": ["Paris"], "language": "de"},
    ]
    out = tmp_path / "out.jsonl"
    done = match(written(tmp_path / "in.jsonl", rows), "--out", out)
    assert done.returncode == 0, done.stderr
    found = read(out)
    assert [(row["level"], row["rule"], row["abstained"]) for row in found] == [
        (2, "exact", False),
        (None, "abstain:idk", True),
        (1, "person", False),
        (None, "no-match", False),
        (None, "abstain:idk", True),
    ]
    assert (found[0]["mine"], found[0]["id"]) == ({"deep": [1]}, 7)
    assert json.loads((tmp_path / "out.jsonl.run.json").read_text())["signature"] == RulesMatcher().signature()


def test_a_threshold_and_standard_streams() -> None:
    row = json.dumps({"prediction": "August 1961", "levels": [["August 4, 1961"], ["1961"]]})
    levels = [
        json.loads(match("-", "--matcher", f"f1:{tau}", stdin=row).stdout)["level"]
        for tau in ("0.5", "0.79", "0.8")
    ]
    assert levels == [1, 1, None]  # token-F1 0.8 with level 1, which does not exceed 0.8; 2/3 with level 2


def test_bad_rows_are_rejected_with_a_reason_and_the_rest_goes_on(tmp_path: Path) -> None:
    rows: list[Any] = [
        {"prediction": True, "answers": ["3"]},
        {"answers": ["3"]},
        {"prediction": "x"},
        {"prediction": "x", "answers": ["x"], "levels": [["x"]]},
        {"prediction": "x", "levels": ["x"]},
        {"prediction": "x", "levels": [["x"], []]},
        {"prediction": "x", "answers": []},
        {"prediction": "x", "answers": ["x"], "question": 1},
        {"prediction": "x", "answers": [True]},
        {"prediction": "x", "answers": ["x"], "language": 5},
        {"prediction": "x", "answers": ["x"]},
    ]
    out = tmp_path / "out.jsonl"
    done = match(written(tmp_path / "in.jsonl", rows), "--out", out)
    assert done.returncode == 1
    assert [row["level"] for row in read(out)] == [1]
    reasons = [row["reason"] for row in read(tmp_path / "out.jsonl.rejects.jsonl")]
    assert len(reasons) == 10
    assert [reason.split(":")[0] for reason in reasons[:3]] == [
        "prediction True is no prediction; expected a text",
        "no prediction",
        "neither 'answers' (a list of texts) nor 'levels' (lists of texts, finest first)",
    ]
    assert read(tmp_path / "out.jsonl.rejects.jsonl")[0]["source"].endswith("in.jsonl:1")


def test_csv_has_lists_as_json(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text('question,prediction,levels,answers\nWhere?,Hawaii,"[[""Honolulu""],[""Hawaii""]]",\nWhere?,b,,b\n')
    done = match(path)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["level"] for line in done.stdout.splitlines()] == [2, 1]


def test_a_judge_from_recorded_answers(tmp_path: Path) -> None:
    answers = recorded(tmp_path, {ITEM: ["2"]})
    rows = [
        {"prediction": ITEM.prediction, "levels": [list(names) for names in LEVELS], "question": ITEM.question},
        {"prediction": "never asked", "levels": [["x"]]},
    ]
    out = tmp_path / "out.jsonl"
    judge = ["--matcher", f"judge:replay:{answers}"]
    done = match(written(tmp_path / "in.jsonl", rows), *judge, "--out", out)
    assert done.returncode == 1
    assert [(row["level"], row["rule"]) for row in read(out)] == [(2, "judge")]
    assert "not-recorded" in read(tmp_path / "out.jsonl.rejects.jsonl")[0]["reason"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--matcher", "rule"], "did you mean 'rules'"),
        (["--matcher", "rules:0.5"], "only f1 or f1-published takes a threshold"),
        (["--matcher", "judge"], "asks a model; name it: judge:openai:URL#NAME"),
        (["--matcher", "judge:gpt"], "names no kind of model"),
        (["--language", " "], "read in de, en, es, fr, it and those of Unicode CLDR, or a kind as de-at"),
        (["--language", "de_AT"], "--language is 'de_AT'"),
        (["--language", "polish"], "--language is 'polish'"),
        (["--matcher", "judge:replay:x", "--language", "de"], "a judge reads any language"),
    ],
)
def test_wrong_settings_are_told(options: list[str], told: str) -> None:
    done = match("-", *options, stdin="{}")
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_numbers_are_their_digits_here_as_in_scores(tmp_path: Path) -> None:
    rows = [
        {"prediction": 1961, "levels": [["August 4, 1961"], [1961]]},
        {"prediction": 2.5, "answers": [2.5]},
        {"prediction": "3", "answers": 3},
    ]
    path = written(tmp_path / "in.jsonl", rows)
    found = [json.loads(line) for line in match(path).stdout.splitlines()]
    assert [row["level"] for row in found] == [2, 1, 1]
    assert [row["prediction"] for row in found] == [1961, 2.5, "3"]  # the fields stay as they were


def test_fields_that_are_replaced_are_told(tmp_path: Path) -> None:
    rows = [{"prediction": "x", "answers": ["x"], "level": "hard", "rule": "mine"}, {"prediction": "x", "answers": "x"}]
    done = match(written(tmp_path / "in.jsonl", rows))
    assert done.returncode == 0
    assert "1 row had level, rule or abstained already: replaced" in done.stderr
    assert [json.loads(line)["level"] for line in done.stdout.splitlines()] == [1, 1]


@pytest.mark.parametrize("name", ["rules", "em", "f1"])
def test_every_matcher_recognises_abstentions_in_the_language_of_the_row(tmp_path: Path, name: str) -> None:
    rows = [
        {"prediction": "Ich weiß es nicht.", "answers": ["Paris"], "language": "de-AT"},
        {"prediction": "Je ne sais pas.", "answers": ["Paris"]},
        {"prediction": "Je ne sais pas.", "answers": ["Paris"], "language": "en"},
    ]
    done = match(written(tmp_path / "in.jsonl", rows), "--matcher", name, "--language", "fr")
    assert [json.loads(line)["abstained"] for line in done.stdout.splitlines()] == [True, True, False]
