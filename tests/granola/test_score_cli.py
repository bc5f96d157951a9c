"""`granola score` from outside: output, exit status, and what wrong input is told."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import orjson
import pytest

from granola import __version__
from granola.base.run_record import commit, hash_of_program
from granola.commands.cli.main import main
from granola.matching import RulesMatcher

FILES = Path(__file__).parent / "files"
TIERS, CAUTIOUS, SPECIFIC = (str(FILES / f"{name}.jsonl") for name in ("tiers", "cautious", "specific"))


class Ran:
    """What a run of the command line left."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def granola(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["granola", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return Ran(int(ended.value.code or 0), captured.out, captured.err)

    return granola


def test_tables_and_signature(run) -> None:  # type: ignore[no-untyped-def]
    ran = run("score", TIERS, CAUTIOUS)
    assert (ran.status, ran.err) == (0, "")
    for words in ("GRANOLA accuracy", "0.833", "knowledge evaluation gap", "macro", "6 others of fewer than 5"):
        assert words in ran.out
    assert f"signature: matcher:{RulesMatcher().signature()}|lambda:0.5|tiers:" in ran.out


def test_json_is_all_of_stdout_and_agrees_with_the_items(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    out = tmp_path / "items.jsonl"
    ran = run("score", TIERS, CAUTIOUS, "--json", "--out", out)
    assert (ran.status, ran.err) == (0, "")
    data = json.loads(ran.out)
    items = [orjson.loads(line) for line in out.read_bytes().splitlines()]
    assert data["n"] == len(items) == 6
    matched = [item for item in items if item["level"]]
    assert data["metrics"]["granola_accuracy"]["value"] == pytest.approx(len(matched) / 6)
    weights = [item["weight"] for item in matched]
    assert data["metrics"]["informativeness"]["value"] == pytest.approx(sum(weights) / 6)
    assert data["metrics"]["informativeness_matched"]["value"] == pytest.approx(sum(weights) / len(weights))
    assert data["signature"].endswith(f"|n:6|one-level:1|boot:1000|seed:0|version:{__version__}")
    record = json.loads(Path(f"{out}.run.json").read_text())
    assert record["signature"] == data["signature"]
    assert record["versions"]["files"] == hash_of_program()
    assert record["versions"]["commit"] == commit()
    assert [len(entry["sha256"]) for entry in record["inputs"]] == [64, 64]


def test_matcher_tau_and_lambda(run) -> None:  # type: ignore[no-untyped-def]
    ran = run("score", TIERS, CAUTIOUS, "--matcher", "f1:0.7", "--lambda", 0, "--resamples", 20, "--json")
    data = json.loads(ran.out)
    assert re.match(r"matcher:f1\|tau:>0.7\|replies:cut\|v:[0-9a-f]{8}\|lambda:0\|", data["signature"])
    told = {name: metric["value"] for name, metric in data["metrics"].items()}
    assert told["informativeness_matched"] == 1.0  # lambda 0: every level weighs the same
    assert told["informativeness"] == told["granola_accuracy"]


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows))
    return path


def predictions(**changed: object) -> list[object]:
    rows = [json.loads(line) for line in Path(CAUTIOUS).read_text().splitlines()]
    return [{**row, "prediction": changed.get(row["id"], row["prediction"])} for row in rows]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--matcher", "rule"], "did you mean 'rules'"),
        (["--matcher", "f1:2"], "below 1"),
        (["--matcher", "em:0.5"], "only f1 or f1-published takes a threshold"),
        (["--lambda", "-1"], "lambda is -1"),
        (["--resamples", "9"], "allowed: 10 to 100000"),
        (["--resamples", "100001"], "allowed: 10 to 100000"),
        (["--lambda", "nan"], "lambda is nan"),
        (["--matcher", "f1:1"], "tau is 1; allowed: 0 and more, below 1"),
        (["--matcher", "f1:nan"], "tau is nan; allowed"),
        (["--matcher", "f1:much"], "is no number; expected one as in f1:0.5"),
        (["--out", "-"], "--out takes a file"),
        (["--out", TIERS], "is also an input"),
    ],
)
def test_wrong_settings_are_status_2(run, arguments: list[str], told: str) -> None:  # type: ignore[no-untyped-def]
    ran = run("score", TIERS, CAUTIOUS, *arguments)
    assert ran.status == 2
    assert told in ran.err
    assert ran.out == ""


def test_unusable_files_are_status_2_and_leave_no_output(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    out = tmp_path / "items.jsonl"
    empty = write(tmp_path / "empty.jsonl")
    for tiers, said, told in (
        (TIERS, empty, "is empty"),
        (empty, CAUTIOUS, "is empty"),
        (TIERS, tmp_path / "absent.jsonl", "no such file"),
        (CAUTIOUS, CAUTIOUS, "has no tiered row"),  # the two files swapped, or the same twice
        (TIERS, TIERS, "no prediction"),
    ):
        ran = run("score", tiers, said, "--out", out)
        assert ran.status == 2
        assert told in ran.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.jsonl"]


def test_ids_that_do_not_fit_are_status_2_unless_told_otherwise(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    fewer = write(tmp_path / "fewer.jsonl", *predictions()[:4])
    ran = run("score", TIERS, fewer)
    assert ran.status == 2
    assert "2 of 6 questions have no prediction" in ran.err
    ran = run("score", TIERS, fewer, "--allow-missing")
    assert ran.status == 0
    assert "2 of 6 questions are unscored" in ran.err
    assert "missing:2-unscored" in ran.out
    more = write(tmp_path / "more.jsonl", *predictions(), {"id": "nobody", "prediction": "x"})
    ran = run("score", TIERS, more)
    assert ran.status == 2
    assert '"nobody"' in ran.err
    assert run("score", TIERS, more, "--allow-missing").status == 0


def test_rejected_lines_are_told_counted_and_status_1(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    rows = predictions()
    damaged = write(tmp_path / "damaged.jsonl", rows[0], "{oops\n", *rows[2:], rows[0])
    out = tmp_path / "items.jsonl"
    ran = run("score", TIERS, damaged, "--out", out, "--json")
    assert ran.status == 1
    assert "damaged.jsonl:2: not JSON" in ran.err
    assert "was used already at" in ran.err
    assert "2 rows rejected" in ran.err
    data = json.loads(ran.out)
    assert (data["n"], data["unscored"], data["counts"]["predictions_rejected"]) == (5, 1, 2)
    assert "missing:1-unscored" in data["signature"]
    assert len(out.read_bytes().splitlines()) == 6  # the item of the damaged line is there, unscored


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"id": "x", "prediction": "y", "confidence": NaN}\n', "not JSON"),
        ('[{"id": "x", "prediction": "y", "confidence": NaN}]', "p.json:1: not JSON"),
        ('[{"id": "x", "prediction": Infinity}]', "p.json:1: not JSON"),
        ('{"predictions": []}\n', "no id"),
        ('{"qid": "x", "prediction": "y"}\n', "no id"),
        ('{"id": "x", "answer": "y"}\n', "no prediction: expected a text under 'prediction'; the row has id, answer"),
        ('{"id": "x", "prediction": true}\n', "prediction True is no prediction; expected a text"),
    ],
)
def test_predictions_that_none_can_be_made_of(run, tmp_path: Path, text: str, told: str) -> None:  # type: ignore[no-untyped-def]
    ran = run("score", TIERS, write(tmp_path / "p.json", text))
    assert (ran.status, ran.out) == (2, "")
    assert told in ran.err


def test_ids_that_do_not_meet(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    other = write(tmp_path / "p.jsonl", *({**row, "id": f"x{row['id']}"} for row in predictions()))  # type: ignore[dict-item]
    ran = run("score", TIERS, other)
    assert (ran.status, ran.out) == (2, "")
    assert "6 of 6 questions have no prediction" in ran.err
    assert "6 of 6 predictions are for unknown ids" in ran.err
    assert "--join question" in ran.err
    ran = run("score", TIERS, other, "--allow-missing")
    assert ran.status == 1
    assert "nothing is scored" in ran.err
