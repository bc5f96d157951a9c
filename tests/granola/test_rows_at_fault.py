"""An unforeseen error in one row, in the commands that read rows: the row is told, and all others are as ever.

The error is put into the data: a snapshot with one statement that no program wrote, a text that no file can hold, a
matcher or a model of one's own that breaks.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from abstraction.base.faults import FAULT, RejectedRow, attempt
from abstraction.files.rows import TieredRow
from abstraction.maker.pipeline import LadderMaker
from granola.matching.matchers import Levels, MatchCase, Verdict, match_many
from granola.scoring.predictions import Prediction
from granola.scoring.scores import USUAL, score_items
from kg.errors import MirrorUnreachableError
from tests.conftest import Run
from tests.granola.rows_fed import WORLD, read, rejects, write
from tests.worlds import entity, row, snapshot_at, store_of

BAD = "2"
QUESTIONS = [
    {"id": "1", "relation": "P19", "question": "Where was Ada born?", "answer": "Berlin"},
    {"id": BAD, "relation": "P19", "question": "Where was Bob born?", "answer": "Babel"},
    {"id": "3", "relation": "P19", "question": "Where was Cid born?", "answer": "Berlin"},
    {"id": "4", "relation": "P19", "question": "Where was Dee born?", "answer": "Nowhere"},
    {"id": "5", "relation": "P569", "question": "When was Eve born?", "answer": "2 May 1961"},
]


class BrokenError(Exception):
    """What nobody foresaw."""


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return write(tmp_path / "qa.jsonl", QUESTIONS)


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A snapshot that knows all answers."""
    babel = entity("Q65", "Babel", "city in Germany", P31="Q515", P131="Q183", P17="Q183")
    return snapshot_at(tmp_path / "whole.sqlite", [*WORLD, babel])


@pytest.fixture
def damaged(whole: Path, tmp_path: Path) -> Path:
    """The same, but that nobody can read one statement of Babel."""
    path = tmp_path / "damaged.sqlite"
    path.write_bytes(whole.read_bytes())
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE statement SET type = 4, value = x'ff' WHERE subject = 65 AND property = 131")
    return path


def check_told(told: list[dict[str, Any]], source: Path) -> None:
    """One row is rejected, by a fault of the program, with its place."""
    (only,) = told
    assert (only["source"], only["id"]) == (f"{source}:2", BAD)
    assert only["reason"].startswith(FAULT)
    assert "please report it" in only["reason"]


def others(path: Path) -> list[dict[str, Any]]:
    return [one for one in read(path) if one["id"] != BAD]


def test_tiers(run: Run, whole: Path, damaged: Path, questions: Path, tmp_path: Path) -> None:
    expected, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    assert run("tiers", questions, "--snapshot", whole, "--out", expected)[0] == 0
    code, _, stderr = run("tiers", questions, "--snapshot", damaged, "--out", out)
    assert (code, "1 row rejected" in stderr, "Traceback" in stderr) == (1, True, False)
    check_told(rejects(out), questions)
    assert out.read_text().splitlines() == [line for line in expected.read_text().splitlines() if "Bob" not in line]
    assert sum(json.loads(Path(f"{out}.run.json").read_text())["rejected"].values()) == 1


def test_dataset(run: Run, damaged: Path, questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["--without", "missing-answers", "--out", out]
    code, _, stderr = run("dataset", questions, "--snapshot", damaged, *words)
    assert (code, "Traceback" in stderr) == (1, False)
    check_told(read(out / "rejected.jsonl"), questions)
    built = json.loads((out / "build.json").read_text())
    assert (built["statistics"]["rows"], built["rejected"]) == (4, 1)


# In Python: what is at fault is raised, unless a caller takes it.


def test_a_row_that_no_file_can_hold() -> None:
    rows = [row("Berlin"), row("\ud800"), row("Berlin", question="\ud800"), row("Berlin")]
    with store_of(*WORLD[-7:]) as store:
        made = list(LadderMaker(store).make_each(rows))
    assert isinstance(made[1], RejectedRow)
    assert made[0] == made[3]
    assert made[1].reason.startswith(f"{FAULT} in making a ladder, kg/store/")
    assert ": TypeError: str is not valid UTF-8: surrogates not allowed; please report it" in made[1].reason
    json.dumps(made[1].to_json(), ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt(), MemoryError(), OSError(28, "No space left on device"), MirrorUnreachableError("gone")],
    ids=lambda e: type(e).__name__,
)
def test_what_is_no_rows_fault_ends_the_run(error: BaseException) -> None:
    def work() -> None:
        raise error

    with pytest.raises(type(error)):
        attempt("a test", work)


class BreakingMatcher:
    """Breaks at one prediction; what several processes can load."""

    name = "breaking"

    def signature(self) -> str:
        return "breaking"

    def match(self, prediction: str, levels: Levels, question: str | None = None) -> Verdict:
        if prediction == "bad":
            raise BrokenError("half way")
        return Verdict(level=1, rule="any", abstained=False)


@pytest.mark.parametrize("workers", [1, 2])
def test_matching_by_processes(workers: int) -> None:
    cases = [MatchCase(prediction=text, levels=(("a",),)) for text in ("a", "bad", "b")]
    found = list(match_many(BreakingMatcher(), cases, workers=workers, keep_faults=True))
    assert [isinstance(one, Verdict) for one in found] == [True, False, True]
    with pytest.raises(BrokenError):
        list(match_many(BreakingMatcher(), cases, workers=workers))


def test_scoring_in_python() -> None:
    with store_of(*WORLD[-7:]) as store:
        (ladder,) = LadderMaker(store).make_all([row("Berlin")])
    rows = [TieredRow(id=str(n), question="?", answers=("Berlin",), levels=ladder.levels) for n in range(3)]
    said = {one.id: Prediction(id=one.id, text="bad" if one.id == "1" else "Berlin", source="p:2") for one in rows}
    told: list[RejectedRow] = []
    items = [item for _, item in score_items(rows, said, BreakingMatcher(), USUAL, on_reject=told.append)]
    assert [one.status for one in items] == ["matched", "unscored", "matched"]
    assert [(one.source, one.id) for one in told] == [("p:2", "1")]
    with pytest.raises(BrokenError):
        list(score_items(rows, said, BreakingMatcher(), USUAL))
