"""`granola aggregate` as it is called: rows, rejects, messages, exit status, files left."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from granola.commands.cli import main
from granola.scoring.predictions import read_predictions
from kg.store.sqlite import SQLiteStore
from tests.worlds import CLASSES, entity

WORLD = (
    *CLASSES,
    entity("Q64", "Berlin", "capital of Germany", P31="Q515", P131="Q183", P17="Q183"),
    entity("Q1055", "Hamburg", "city in Germany", P31="Q515", P131="Q183", P17="Q183"),
    entity("Q183", "Germany", "country in Central Europe", P31="Q3624078", P30="Q46"),
    entity("Q46", "Europe", "continent", P31="Q5107"),
)
ASKED = "Where was Ada born?"
ROWS: list[object] = [
    {"id": "1", "question": ASKED, "samples": ["Berlin", "Hamburg."], "relation": "P19", "mine": {"kept": [1]}},
    {"id": 2, "question": "Where was Bob born?", "samples": ["I don't know"]},
]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    path = tmp_path / "world.sqlite"
    SQLiteStore.create(path, WORLD).close()
    return path


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["granola", "aggregate", *(str(a) for a in arguments)])
        with pytest.raises(SystemExit) as exit_:
            main.main()
        captured = capsys.readouterr()
        return int(exit_.value.code or 0), captured.out, captured.err

    return call


def written(path: Path, rows: list[object]) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_rows_keep_their_fields_and_score_reads_them(run: Run, snapshot: Path, tmp_path: Path) -> None:
    samples, out = written(tmp_path / "s.jsonl", ROWS), tmp_path / "p.jsonl"
    status, told, _ = run(samples, "--snapshot", snapshot, "--out", out)
    assert (status, told) == (0, "2 questions: 1 answered, 1 IDK\n")
    first, second = lines(out)
    assert first["prediction"] == "Germany"
    assert first["mine"] == {"kept": [1]}
    assert first["samples"] == ["Berlin", "Hamburg."]
    assert (
        first["explanation"]
        == "Germany: 2 of 2 responses; Berlin: 1 of 2; Hamburg: 1 of 2; a tie of Berlin and Hamburg"
    )
    assert (first["support"], first["qid"], first["method"]) == (1.0, "Q183", "drag-graph")
    assert float(str(first["confidence"])) == pytest.approx((2 + 0 + 1) / 9, abs=1e-4)
    assert (second["id"], second["prediction"]) == ("2", "IDK")
    assert "confidence" not in second
    assert [p.text for p in read_predictions(out).predictions.values()] == ["Germany", "IDK"]
    record = json.loads((tmp_path / "p.jsonl.run.json").read_text())
    assert record["arguments"]["support"] == 0.6
    assert len(record["snapshot"]) == 64


def test_predictions_can_be_aggregated_again(run: Run, snapshot: Path, tmp_path: Path) -> None:
    samples, once, twice = written(tmp_path / "s.jsonl", ROWS), tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    assert run(samples, "--snapshot", snapshot, "--out", once)[0] == 0
    assert run(once, "--snapshot", snapshot, "--out", twice)[0] == 0
    assert lines(once) == lines(twice)


def test_bad_rows_are_rejected_with_their_reasons(run: Run, snapshot: Path, tmp_path: Path) -> None:
    bad = [
        {"question": ASKED, "samples": ["Berlin"]},
        {"id": "3", "samples": ["Berlin"]},
        {"id": "4", "question": ASKED},
        {"id": "5", "question": ASKED, "samples": []},
        {"id": "6", "question": ASKED, "samples": "Berlin"},
        {"id": "7", "question": ASKED, "samples": ["Berlin", None]},
        {"id": "1", "question": ASKED, "samples": ["Berlin"]},
        {"id": "8", "question": ASKED, "samples": ["Berlin"], "relation": "birthplace"},
        "{not JSON",
    ]
    samples, out = written(tmp_path / "s.jsonl", [*ROWS, *bad]), tmp_path / "p.jsonl"
    status, _, told = run(samples, "--snapshot", snapshot, "--out", out)
    assert status == 1
    assert "9 rows rejected" in told
    assert [row["id"] for row in lines(out)] == ["1", "2"]
    reasons = [str(row["reason"]) for row in lines(tmp_path / "p.jsonl.rejects.jsonl")]
    expected = ["no id", "no question", "no samples", "samples [] is", "samples 'Berlin' is", "has None in it"]
    assert all(part in reason for part, reason in zip(expected, reasons, strict=False))
    assert "was used already at" in reasons[6]
    assert "no property id" in reasons[7]


def test_csv_in_and_out(run: Run, snapshot: Path, tmp_path: Path) -> None:
    samples, out = tmp_path / "s.csv", tmp_path / "p.csv"
    with samples.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerows(
            [["id", "question", "samples"], ["1", ASKED, "Berlin|Hamburg"], ["2", ASKED, '["IDK", "Berlin", "Berlin"]']]
        )
    assert run(samples, "--snapshot", snapshot, "--out", out)[0] == 0
    with out.open(newline="") as stream:
        assert [row["prediction"] for row in csv.DictReader(stream)] == ["Germany", "Berlin"]


def test_words_are_counted_without_a_snapshot(run: Run, tmp_path: Path) -> None:
    rows = [{"id": "1", "question": ASKED, "samples": ["Berlin", "berlin.", "Hamburg"]}]
    status, told, _ = run(written(tmp_path / "s.jsonl", rows), "--method", "self-consistency", "--out", "-")
    assert status == 0
    assert json.loads(told)["prediction"] == "Berlin"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--support", "0"], "above 0 and up to 1"),
        (["--support", "0.5", "--method", "self-consistency"], "drag-graph's"),
        (["--counting", "alias"], "self-consistency's"),
        ([], "give --snapshot"),
        (["--method", "self-consistency", "--counting", "ladder"], "give --snapshot"),
    ],
)
def test_wrong_usage(run: Run, tmp_path: Path, arguments: list[str], message: str) -> None:
    out = tmp_path / "p.jsonl"
    status, _, told = run(written(tmp_path / "s.jsonl", ROWS), "--out", out, *arguments)
    assert status == 2
    assert message in told
    assert not out.exists()


def test_inputs_and_existing_files_are_safe(run: Run, snapshot: Path, tmp_path: Path) -> None:
    samples, out = written(tmp_path / "s.jsonl", ROWS), tmp_path / "p.jsonl"
    out.write_text("mine")
    assert run(samples, "--snapshot", snapshot, "--out", out)[0] == 2
    assert out.read_text() == "mine"
    assert run(samples, "--snapshot", snapshot, "--out", samples, "--force")[0] == 2
    assert run(samples, "--snapshot", snapshot, "--out", out, "--force")[0] == 0
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"id": "1"}\n')
    status, _, told = run(empty, "--snapshot", snapshot, "--out", tmp_path / "q.jsonl")
    assert (status, (tmp_path / "q.jsonl").exists()) == (2, False)
    assert "no row with samples" in told
