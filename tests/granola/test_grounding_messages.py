"""What the commands on grounded answers say of files that do not fit together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Run

BRIDGE = {
    "id": "1", "question": "When did the bridge open?", "reference_citations": ["a"],
    "passages": [{"id": "a", "text": "The bridge opened in 1999.", "relevant": True}],
}  # fmt: skip


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_citations_of_no_passage_are_told(here: Path, run: Run) -> None:
    questions = written(here / "q.jsonl", BRIDGE)
    answers = written(here / "mine.jsonl", {"id": "1", "answer": "It opened in 1999 [1]. It did [1][9]."})
    _, _, err = run("grounding", "judge", questions, "--answered", answers, "--out", "out.jsonl")
    assert "2 citations of no passage of the question, counted as wrong: [1], [9]" in err


def test_rejected_rows_are_told_of_the_file_that_they_stand_in(here: Path, run: Run) -> None:
    questions = written(here / "q.jsonl", BRIDGE, BRIDGE)
    answers = written(here / "mine.jsonl", {"id": "1", "answer": "It opened in 1999 [a]."})
    code, _, err = run("grounding", "judge", questions, "--answered", answers, "--out", "out.jsonl")
    assert code == 1
    assert "q.jsonl: 1 row rejected" in err
    assert "mine.jsonl: 1 row rejected" not in err


def test_questions_that_cannot_be_read_are_not_the_answers_fault(here: Path, run: Run) -> None:
    questions = written(here / "q.jsonl", {"id": "1", "question": "When?", "docs": []})
    answers = written(here / "mine.jsonl", {"id": "1", "answer": "In 1999."})
    code, _, err = run("grounding", "judge", questions, "--answered", answers, "--out", "out.jsonl")
    assert code == 2
    assert "q.jsonl has no question that can be read; " in err


def test_without_a_model_scores_that_ask_one_are_named(here: Path, run: Run) -> None:
    questions = written(here / "q.jsonl", BRIDGE)
    for system in ("x", "y"):
        answers = written(here / f"{system}.jsonl", {"id": "1", "answer": "It opened in 1999 [a]."})
        judged = ("--answered", answers, "--out", f"judged-{system}.jsonl")
        assert run("grounding", "judge", questions, *judged)[0] == 0
    _, out, _ = run("verdicts", "judged-x.jsonl", "judged-y.jsonl")
    assert "E, F and RAF ask a judge's --model, and a reference" in out
    assert "nan" not in out


def test_a_file_in_another_encoding_and_one_of_no_rows_say_so(here: Path, run: Run) -> None:
    (here / "latin.jsonl").write_bytes(b'{"question": "Where is the caf\xe9?", "answer": "Honolulu"}\n')
    (here / "head.csv").write_text("id,question,answer\n")
    run("demo", "--out", "demo")
    for name, why in (("latin.jsonl", "not UTF-8; save or re-encode the file as UTF-8"), ("head.csv", "no row stands")):
        code, _, err = run("tiers", name, "--snapshot", "demo/snapshot.sqlite", "--out", "out.jsonl")
        assert code > 0
        assert why in err
