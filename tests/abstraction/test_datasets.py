"""Datasets: what is selected, cleaned, written and described; and that a killed building loses and repeats nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from abstraction.datasets.building import Built, Settings, build_dataset
from abstraction.datasets.cleaning import SCORE, STEPS, Cleaner, Dropped, Step, read_trivial
from abstraction.datasets.columns import Columns
from abstraction.datasets.questions import (
    GRANOLA_EQ,
    GRANOLA_EQ_RELATIONS,
    EntityQuestions,
    QuestionFiles,
)
from abstraction.datasets.statistics import Statistics
from abstraction.errors import DatasetError, RowError
from abstraction.models.request import Message, Request
from abstraction.models.result import Failure, FailureReason
from abstraction.phrasing.decisions import with_note
from abstraction.rows import TieredRow, read_tiered
from abstraction.tiers import Level, Tier
from kg.store.sqlite import SQLiteStore
from tests.conftest import DATA
from tests.worlds import CLASSES, entity

ROOT = Path(__file__).resolve().parents[2]
WORLD = (
    *CLASSES,
    entity(
        "Q101", "Ashby", "city in Marlow County, Norland", aliases=["Ashbyville"], P31="Q515", P131="Q102", sitelinks=7
    ),
    entity("Q102", "Marlow County", P31="Q47168", P131="Q103"),
    entity("Q103", "Norland", P31="Q35657", P131="Q104"),
    entity("Q104", "Vestria", "sovereign state in Europe", P31="Q3624078"),
    entity("Q9", "Ann Smith", "painter", P31="Q5"),
)
ASKED = [
    {"id": "a", "question": "Where was Ann Smith born?", "answer": "Ashby", "answer_qid": "Q101", "topic": "art"},
    {"id": "b", "question": "Where was Bob Smith born?", "answer": "Ashby", "topic": "none"},
    {"id": "c", "question": "Where was Carl Smith born?", "answer": "Nowhere Known"},
    {"id": "d", "question": "Where was Dora Smith born?", "answer": ["Ashby", "Norland"]},
    {"id": "e", "question": "Where was Emil Smith born?", "answer": "Marlow County", "votes": {"yes": [1]}},
]


def world(path: Path) -> SQLiteStore:
    store = SQLiteStore.create(path)
    store.write(WORLD)
    store.finish()
    return store


def put(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def built(folder: Path, rows: Sequence[dict[str, Any]] = ASKED, **more: Any) -> tuple[Built, list[TieredRow]]:
    settings = Settings(name="Tiny", format=more.pop("format", "jsonl"), **more.pop("settings", {}))
    questions = QuestionFiles(files=(put(folder / "q.jsonl", rows),), relation="P19")
    made = build_dataset(questions, world(folder / "w.sqlite"), folder / "out", settings=settings, **more)
    return made, list(read_tiered(made.data))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def tiered(*levels: str | tuple[str, ...], relation: str | None = "P19", **extra: Any) -> TieredRow:
    made = tuple(
        Level(tiers=tuple(Tier(text=t) for t in (level if isinstance(level, tuple) else (level,)))) for level in levels
    )
    return TieredRow(
        id="x", question="Q?", answers=(made[0].tiers[0].text,), levels=made, relation=relation, extra=extra
    )


@pytest.mark.parametrize(
    ("row", "step", "reason"),
    [
        (tiered("Town", "State"), None, ""),
        (tiered("Town"), Step.MISSING_ANSWERS, "no coarser answer"),
        (replace(tiered("Town"), abstained="no-link"), Step.MISSING_ANSWERS, "no-link"),
        (tiered("Town", " "), Step.MISSING_ANSWERS, "an answer is empty"),
        (tiered("Town", "city"), Step.MISSING_ANSWERS, "no coarser answer"),
        (tiered("a poet", "a thing", relation=None), Step.MISSING_ANSWERS, "no coarser answer"),
        (tiered("Town", "State", "state "), Step.DUPLICATE_ANSWERS, "an answer stands twice"),
        (tiered("Town", ("a State", "State")), Step.DUPLICATE_ANSWERS, "an answer stands twice"),
        (tiered("Town", "State", **{SCORE: 0.5}), None, ""),
        (tiered("Town", "State", **{SCORE: 0.625}), Step.INCONSISTENT_DESCRIPTIONS, "the score is above the threshold"),
        (tiered("Town", "State", **{SCORE: "0.9"}), Step.INCONSISTENT_DESCRIPTIONS, "the score is above the threshold"),
        (tiered("Town", "State", **{SCORE: "0.4"}), None, ""),
        (tiered("Town", "State", **{SCORE: "high"}), None, ""),
        (tiered("Town", "State", **{SCORE: True}), None, ""),
    ],
)
def test_each_step_takes_out_what_it_is_for_and_only_where_it_is_on(
    row: TieredRow, step: Step | None, reason: str
) -> None:
    cleaner = Cleaner()
    done = cleaner.clean(row)
    if step is None:
        assert done == row
        return
    assert done == Dropped(step=step, reason=reason)
    assert cleaner.counts[step].dropped == 1
    without = {step, Step.MISSING_ANSWERS, Step.TRIVIAL_ANSWERS} if step is Step.MISSING_ANSWERS else {step}
    assert Cleaner(steps=frozenset(STEPS) - without).clean(row) == row


def test_trivial_answers_go_and_the_row_stays() -> None:
    cleaner = Cleaner(trivial=["The Old World"])
    done = cleaner.clean(tiered("Town", ("State", "a city"), "Old World", "the world", "Land"))
    assert isinstance(done, TieredRow)
    assert [[tier.text for tier in level.tiers] for level in done.levels] == [["Town"], ["State"], ["Land"]]
    assert cleaner.counts[Step.TRIVIAL_ANSWERS].to_json()["answers_taken_out"] == 3
    assert isinstance(Cleaner().clean(tiered("city", "State")), TieredRow)  # the gold answer is nobody's to take out


def test_a_list_of_trivial_answers_has_comments(tmp_path: Path) -> None:
    file = tmp_path / "trivial.txt"
    file.write_text("\ufeffthing # any\n\n# none\n somewhere \n", encoding="utf-8")
    assert read_trivial(file) == ("thing", "somewhere")
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(DatasetError, match="not UTF-8"):
        read_trivial(file)


def test_a_dataset_has_every_row_somewhere_and_counts_that_add_up(tmp_path: Path) -> None:
    made, rows = built(tmp_path, settings={"command": "here"})
    assert [row.id for row in rows] == ["a", "b", "e"]
    dropped = {row["id"]: (row["step"], row["reason"]) for row in lines(tmp_path / "out" / "dropped.jsonl")}
    assert dropped == {"d": ("several-answers", "several answers"), "c": ("missing-answers", "no-link")}
    counts = made.cleaner.counts
    assert (counts[Step.SEVERAL_ANSWERS].rows, counts[Step.MISSING_ANSWERS].rows) == (5, 4)
    assert counts[Step.INCONSISTENT_DESCRIPTIONS].unjudged == 3
    assert made.statistics.rows == 3
    assert made.statistics.by_answers() == {4: 2, 3: 1}
    record = json.loads((tmp_path / "out" / "build.json").read_text())
    assert record["statistics"]["relations"] == {"P19": 3}
    assert record["request"]["inputs"][0]["name"] == "q.jsonl"
    assert record["cleaning"]["missing-answers"]["reasons"] == {"no-link": 1}
    assert not list(tmp_path.glob(".out*"))
    assert not (tmp_path / "out" / "rejected.jsonl").exists()


def test_rows_have_granola_eqs_columns_then_ours_then_the_questions_own(tmp_path: Path) -> None:
    made, rows = built(tmp_path)
    first, _, last = lines(made.data)
    assert (first["question_entity"], first["question_entity_qid"]) == ("Ann Smith", "Q9")
    assert first["question_entity_description"] == "painter"
    assert first["answer_entity_description"] == "city in Marlow County, Norland"
    assert (first["question_entity_sitelinks"], first["answer_entity_sitelinks"]) == (None, 7)
    assert [first[f"granola_answer_{k}"] for k in range(1, 7)] == [
        "Ashby",
        "Marlow County",
        "Norland",
        "Vestria",
        "",
        "",
    ]
    assert (first["num_granola_answers"], first["answer_entity_popularity"], first[SCORE]) == (4, None, None)
    assert (first["topic"], last["topic"]) == ("art", "")
    assert json.loads(last["votes"]) == {"yes": [1]}
    assert rows[0].levels[0].tiers[0].aliases == ("Ashbyville",)
    assert rows[0].levels[1].tiers[0].evidence


def test_parquet_and_jsonl_say_the_same(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "p").mkdir()
    (tmp_path / "j").mkdir()
    made, rows = built(tmp_path / "p", format="parquet", settings={"split": "train"})
    assert made.data.name == "train.parquet"
    table = parquet.read_table(made.data)
    other, again = built(tmp_path / "j")
    assert table.to_pylist() == lines(other.data)
    assert [row.levels for row in rows] == [row.levels for row in again]
    assert str(table.schema.field("num_granola_answers").type) == "int64"
    assert str(table.schema.field(SCORE).type) == "double"  # also where every value is missing
    features = (tmp_path / "p" / "out" / "README.md").read_text().partition("features:")[2].partition("---")[0]
    named = [line.split('"')[1] for line in features.splitlines() if "name:" in line]
    assert named == table.column_names


def test_columns_of_mixed_kinds_become_one_kind() -> None:
    columns = Columns()
    values = [{"n": 1, "m": 1, "t": True, "o": None}, {"n": 2.5, "m": "x", "t": None, "o": None}]
    rows = [tiered("Town", "State", **extra) for extra in values]
    for row in rows:
        columns.see(row)
    assert {k: columns.kinds[k] for k in "nmto"} == {"n": "float64", "m": "string", "t": "bool", "o": "string"}
    told = [columns.record(row) for row in rows]
    assert [(r["n"], r["m"], r["t"], r["o"]) for r in told] == [(1.0, "1", True, ""), (2.5, "x", None, "")]


def test_the_card_tells_what_was_and_what_was_not_done(tmp_path: Path) -> None:
    steps = frozenset(STEPS) - {Step.DUPLICATE_ANSWERS}
    built(tmp_path, settings={"steps": steps, "beside": GRANOLA_EQ})
    text = (tmp_path / "out" / "README.md").read_text()
    front = text.split("---\n")[1]
    assert "license:" in front
    assert not any(line.startswith("license:") for line in front.splitlines())  # whoever publishes it chooses
    assert 'path: "data/test.jsonl"' in front
    assert "| rows | 3 | 12,452 |" in text
    assert "| rows with 4 or more answers | 66.7 % | about 15 % |" in text
    assert "not applied" in text
    assert "no model was asked" in text


def test_a_rejected_row_is_listed_and_the_rest_is_built(tmp_path: Path) -> None:
    made, rows = built(tmp_path, [*ASKED[:2], {"id": "a", "question": "Again?", "answer": "X"}, {"answer": "Y"}])
    assert made.rejected == 2
    assert [row["source"].rpartition(":")[2] for row in lines(tmp_path / "out" / "rejected.jsonl")] == ["3", "4"]
    assert "2 input rows could not be read" in (tmp_path / "out" / "README.md").read_text()
    assert len(rows) == 2


@dataclass
class Worded:
    """A phraser that says so, counts what it is asked, and may kill its process."""

    log: Path
    kill_at: int = -1
    fingerprint: str = "worded"
    asked: list[str] = field(default_factory=list)

    def __call__(self, rows: Sequence[TieredRow], /) -> Sequence[TieredRow]:
        done = len(self.log.read_text().split()) if self.log.exists() else 0
        if done == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        with self.log.open("a") as stream:
            stream.write("".join(f"{row.id}\n" for row in rows))
        return [replace(row, extra={**row.extra, "worded": True}) for row in rows]


@dataclass(frozen=True)
class Scored:
    """A scorer with a score for every id."""

    scores: dict[str, float | None]
    fingerprint: str = "scored"

    def __call__(self, rows: Sequence[TieredRow], /) -> Sequence[float | None]:
        return [self.scores.get(row.id) for row in rows]


def test_a_phraser_and_a_scorer_take_their_places(tmp_path: Path) -> None:
    made, rows = built(
        tmp_path, phraser=Worded(tmp_path / "log"), scorer=Scored({"a": 0.75, "b": 0.5}), settings={"batch": 2}
    )
    assert [row.id for row in rows] == ["b", "e"]
    assert [row.extra.get(SCORE) for row in rows] == [0.5, None]
    assert all(row.extra["worded"] is True for row in rows)
    assert made.cleaner.counts[Step.INCONSISTENT_DESCRIPTIONS].dropped == 1
    card = (tmp_path / "out" / "README.md").read_text()
    assert "| Phraser | `worded` |" in card
    assert "phrased by a model" in card


def test_a_phraser_or_scorer_that_breaks_its_word_is_told(tmp_path: Path) -> None:
    class Short(Worded):
        def __call__(self, rows: Sequence[TieredRow], /) -> Sequence[TieredRow]:
            return rows[:-1]

    with pytest.raises(DatasetError, match="other rows back"):
        built(tmp_path, phraser=Short(tmp_path / "log"))
    (tmp_path / "s").mkdir()
    with pytest.raises(DatasetError, match="expected 0 to 1"):
        built(tmp_path / "s", scorer=Scored({"a": 1.5}))


MANY = [{**row, "id": f"{row['id']}{n}"} for n in range(6) for row in ASKED]


def run_once(folder: Path, kill_at: int) -> None:
    """Build with a phraser that kills the process once it was asked for `kill_at` rows."""
    questions = QuestionFiles(files=(folder / "q.jsonl",), relation="P19")
    store = SQLiteStore.open(folder / "w.sqlite")
    settings = Settings(name="Tiny", format="jsonl", batch=4, steps=frozenset(STEPS) - {Step.SEVERAL_ANSWERS})

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
        code = "import pathlib, sys; from tests.abstraction.test_datasets import run_once as run; "
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
    settings = Settings(name="Tiny", format="jsonl", batch=4, steps=frozenset(STEPS) - {Step.SEVERAL_ANSWERS})

    def stop(done: int) -> None:
        if done == len(MANY):
            raise KeyboardInterrupt

    def build(model: Lacking, progress: Callable[[int], None], force: bool = False) -> Built:
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
    assert (made.phrasing.unanswered, made.unscored) == (0, 0)
    made = build(Lacking(False), lambda done: None, force=True)
    assert (made.phrasing.unanswered, made.unscored) == (1, 1)


def test_a_score_that_a_row_brought_stays_where_there_is_no_other(tmp_path: Path) -> None:
    rows = [{**row, SCORE: 0.25} for row in ASKED]
    _, found = built(tmp_path, rows, scorer=Scored({"a": 0.5}))
    assert {row.id: row.extra[SCORE] for row in found}["a"] == 0.5
    assert {row.extra[SCORE] for row in found} == {0.5, 0.25}


def test_a_field_called_phrasing_is_the_questions_own_where_nothing_is_phrased(tmp_path: Path) -> None:
    theirs = {"tiers": [{"x": 1}], "fallback": "refused", "why": "so"}
    made, found = built(tmp_path, [{**row, "phrasing": theirs} for row in ASKED])
    assert made.phrasing.unanswered == 0
    assert all(json.loads(row.extra["phrasing"]) == theirs for row in found)
    assert not (tmp_path / "out" / "phrasing.jsonl").exists()


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


def test_what_cannot_be_a_dataset_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no row is left after cleaning \(1 by missing-answers\)"):
        built(tmp_path, [ASKED[2]])
    assert not (tmp_path / "out").exists()
    (tmp_path / "w.sqlite").unlink()
    with pytest.raises(RowError, match=r"q.jsonl can be used: 1 rejected, the first at .*q.jsonl:1: no question"):
        built(tmp_path, [{"question": "", "answer": "x"}], restart=True)
    assert not (tmp_path / ".out.work").exists()
    (tmp_path / "w.sqlite").unlink()
    with pytest.raises(RowError, match="none has one answer"):
        built(tmp_path, [ASKED[3]])
    for wrong in ({"split": "a b"}, {"name": " "}, {"batch": 0}, {"most": 1.5}):
        with pytest.raises(DatasetError):
            Settings(**{"name": "x", "format": "jsonl", **wrong})
    for files, limit, said in (
        (Path("-"), None, "not -"),
        (tmp_path, None, "is a folder"),
        (tmp_path / "q", 0, "limit 0"),
    ):
        with pytest.raises(DatasetError, match=said):
            QuestionFiles(files=(files,), limit=limit)


def questions_of(folder: Path, relations: Sequence[str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name in relations:
        rows = [{"question": f"{name} one?", "answers": ["A"]}, {"question": f"{name} two?", "answers": ["A", "B"]}]
        (folder / f"{name}.test.json").write_text(
            json.dumps([*rows, {"question": f"{name} same?", "answers": ["A", "A"]}])
        )
    return folder


def test_granola_eqs_numbers_go_through_its_relations_in_their_order(tmp_path: Path) -> None:
    folder = questions_of(tmp_path / "eq", ["P106", *GRANOLA_EQ_RELATIONS])
    rows = list(EntityQuestions(folder=folder, relations=("P106", "P20")).read(lambda row: None))
    assert [row.id for row in rows] == ["2", "P20-2", "3", "32", "P106-2", "33"]
    (folder / "P19.test.json").unlink()
    rows = list(EntityQuestions(folder=folder, relations=("P20",)).read(lambda row: None))
    assert [row.id for row in rows] == ["P20-1", "P20-2", "P20-3"]  # no number can be known
    with pytest.raises(DatasetError, match="no file for P19; relations there: P20"):
        EntityQuestions(folder=folder)
    (folder / "P20.dev.json").write_text("[]")
    with pytest.raises(DatasetError, match="two files for P20"):
        EntityQuestions(folder=folder, relations=("P20",))


@pytest.mark.skipif(not (DATA / "entityquestions").is_dir(), reason="EntityQuestions is not in ../shared/data")
def test_the_numbers_are_those_of_the_published_rows() -> None:
    ours = {
        row.id: row.question for row in EntityQuestions(folder=DATA / "entityquestions" / "test").read(lambda row: None)
    }
    published = [row for name in ("rows_dev", "places_dev") for row in lines(DATA / "granola_eq" / f"{name}.jsonl")]
    assert len(published) == 561
    assert all(ours[str(row["id"])] == row["question"] for row in published)


def test_statistics_count_levels_as_answers() -> None:
    statistics = Statistics()
    for row in (tiered("A", "b"), tiered("A", ("b", "c"), "d"), tiered("A", "b", "c", "d", "e", relation="P2")):
        statistics.add(row)
    assert statistics.shares() == {"1": 0, "2": 1 / 3, "3": 1 / 3, "4 or more": 1 / 3}
    assert statistics.relations == ["P2", "P19"]
    assert statistics.mean() == pytest.approx(10 / 3)
    assert statistics.to_json()["answers_with_siblings"] == {"2": 1, "4": 1, "5": 1}
    assert Statistics().shares() == {}
