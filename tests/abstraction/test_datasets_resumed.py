"""A building of a dataset that was killed or interrupted loses and repeats nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from abstraction.datasets.building import BuiltDataset, DatasetSettings, build_dataset
from abstraction.datasets.dataset_cleaning import STEPS, CleaningStep
from abstraction.datasets.saved_work import QuestionFiles
from abstraction.errors import DatasetError
from abstraction.files.rows import TieredRow
from abstraction.models.chat_model import Failure, FailureReason, Message, Request
from abstraction.phrasing.checking import with_note
from kg.store.sqlite import SQLiteStore
from tests.abstraction.tiny_dataset import ASKED, Worded, built, lines, put, world

ROOT = Path(__file__).resolve().parents[2]
MANY = [{**row, "id": f"{row['id']}{n}"} for n in range(6) for row in ASKED]


def run_once(folder: Path, kill_at: int) -> None:
    """Build with a phraser that kills the process once it was asked for `kill_at` rows."""
    questions = QuestionFiles(files=(folder / "q.jsonl",), relation="P19")
    store = SQLiteStore.open(folder / "w.sqlite")
    settings = DatasetSettings(
        name="Tiny", format="jsonl", batch=4, steps=frozenset(STEPS) - {CleaningStep.SEVERAL_ANSWERS}
    )

    def progress(done: int) -> None:
        if done == kill_at == len(MANY):
            os.kill(os.getpid(), signal.SIGKILL)

    phraser = Worded(folder / "log", kill_at=kill_at)
    build_dataset(questions, store, folder / "out", settings=settings, phraser=phraser, progress=progress)


def test_a_killed_building_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
        put(folder / "q.jsonl", MANY)
        world(folder / "w.sqlite").close()
    run_once(whole, -1)
    for kill_at in (0, 4, 12, len(MANY)):
        code = "import pathlib, sys; from tests.abstraction.test_datasets_resumed import run_once as run; "
        code += "run(pathlib.Path(sys.argv[1]), int(sys.argv[2]))"
        command = [sys.executable, "-c", code, str(killed), str(kill_at)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
        assert done.returncode == -signal.SIGKILL, done.stderr.decode()
        assert not (killed / "out").exists()
        assert (killed / ".out.work").is_dir()
    run_once(killed, -1)
    asked = (killed / "log").read_text().split()
    assert asked == [row["id"] for row in MANY]
    for name in ("data/test.jsonl", "dropped.jsonl", "README.md"):
        assert (killed / "out" / name).read_bytes() == (whole / "out" / name).read_bytes(), name
    assert not (killed / ".out.work").exists()


@dataclass
class Lacking:
    """A phraser and a scorer that have no answer for one row before `there`, and note whom they are asked about."""

    there: bool
    fingerprint: str = "lacking"
    asked: list[str] = field(default_factory=list)

    def phrase(self, rows: Sequence[TieredRow]) -> Sequence[TieredRow]:
        self.asked += [row.id for row in rows]
        failed = {row.id: "" if self.there or row.id != "b0" else str(FailureReason.SERVER_ERROR) for row in rows}
        return [with_note(row, mode="free", calls=["k"], fallback=failed[row.id]) for row in rows]

    def __call__(self, rows: Sequence[TieredRow], /) -> Sequence[float | Failure | None]:
        request = Request(id="b5", messages=(Message(role="user", content="?"),))
        failure = Failure(request=request, reason=FailureReason.OVERLOADED, message="busy")
        return [0.0 if self.there or row.id != "b5" else failure for row in rows]


@dataclass
class Phrasing:
    of: Lacking
    fingerprint: str = "lacking"

    def __call__(self, rows: Sequence[TieredRow], /) -> Sequence[TieredRow]:
        return self.of.phrase(rows)


def test_a_building_that_goes_on_asks_again_where_asking_failed(tmp_path: Path) -> None:
    put(tmp_path / "q.jsonl", MANY)
    world(tmp_path / "w.sqlite").close()
    questions = QuestionFiles(files=(tmp_path / "q.jsonl",), relation="P19")
    settings = DatasetSettings(
        name="Tiny", format="jsonl", batch=4, steps=frozenset(STEPS) - {CleaningStep.SEVERAL_ANSWERS}
    )

    def stop(done: int) -> None:
        if done == len(MANY):
            raise KeyboardInterrupt

    def build(model: Lacking, progress: Callable[[int], None], force: bool = False) -> BuiltDataset:
        return build_dataset(
            questions, SQLiteStore.open(tmp_path / "w.sqlite"), tmp_path / "out", settings=settings,
            phraser=Phrasing(model), scorer=model, progress=progress, force=force,
        )  # fmt: skip

    with pytest.raises(KeyboardInterrupt):
        build(Lacking(False), stop)
    with pytest.raises(KeyboardInterrupt):
        build(again := Lacking(False), stop)
    ids = [row["id"] for row in MANY]
    batches = [ids[at : at + 4] for at in range(0, len(ids), 4)]
    assert again.asked == [one for batch in batches if {"b0", "b5"} & set(batch) for one in batch]
    made = build(answering := Lacking(True), lambda done: None)
    assert answering.asked == again.asked
    assert (made.phrasing.rows_with_failed_call, made.unscored) == (0, 0)
    made = build(Lacking(False), lambda done: None, force=True)
    assert (made.phrasing.rows_with_failed_call, made.unscored) == (1, 1)


def test_work_for_something_else_is_not_taken_over(tmp_path: Path) -> None:
    class Fails(Worded):
        def __call__(self, rows: Sequence[TieredRow], /) -> Sequence[TieredRow]:
            if len(rows) < 2:
                raise ConnectionError("gone")
            return rows

    with pytest.raises(ConnectionError):
        built(tmp_path, phraser=Fails(tmp_path / "log"), settings={"batch": 3})
    (tmp_path / "w.sqlite").unlink()
    with pytest.raises(DatasetError, match=r"differs in batch, phraser.*--restart"):
        built(tmp_path)
    (tmp_path / "w.sqlite").unlink()
    made, _ = built(tmp_path, restart=True)
    assert made.statistics.rows == 3


def test_nothing_but_a_dataset_of_ours_is_replaced_and_only_by_force(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    built(tmp_path)  # an empty folder is nobody's loss
    (tmp_path / "w.sqlite").unlink()
    with pytest.raises(DatasetError, match="--force"):
        built(tmp_path)
    (tmp_path / "w.sqlite").unlink()
    built(tmp_path, ASKED[:1], force=True)
    assert len(lines(tmp_path / "out" / "data" / "test.jsonl")) == 1
    (tmp_path / "out" / "build.json").unlink()
    (tmp_path / "w.sqlite").unlink()
    with pytest.raises(DatasetError, match="no dataset built here"):
        built(tmp_path, force=True)
    assert (tmp_path / "out" / "README.md").exists()
