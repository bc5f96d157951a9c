"""An unforeseen error in one row, in every stage of every command: the row is told, and all others are as ever."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from abstraction.faults import FAULT, attempt, is_unforeseen
from abstraction.files.records import RejectedRow
from abstraction.pipeline import LadderMaker
from abstraction.rows import QARow, TieredRow
from granola.matching.batch_matching import MatchCase, match_each, match_many
from granola.matching.verdict import Levels, Verdict
from granola.scoring.predictions import Prediction
from granola.scoring.scores import score_items
from kg.errors import MirrorUnreachableError
from tests.conftest import Run
from tests.granola.rows_fed import WORLD, read, rejects, write
from tests.worlds import row, snapshot_at, store_of

BAD = "2"
QUESTIONS = [
    {"id": "1", "relation": "P19", "question": "Where was Ada born?", "answer": "Berlin"},
    {"id": BAD, "relation": "P19", "question": "Where was Bob born?", "answer": "Berlin"},
    {"id": "3", "relation": "P19", "question": "Where was Cid born?", "answer": "Berlin"},
    {"id": "4", "relation": "P19", "question": "Where was Dee born?", "answer": "Nowhere"},
    {"id": "5", "relation": "P569", "question": "When was Eve born?", "answer": "2 May 1961"},
]
OTHERS = [one["id"] for one in QUESTIONS if one["id"] != BAD]


class BrokenError(Exception):
    """What nobody foresaw."""


@dataclass
class Injection:
    """Breaks functions while the row BAD is at work."""

    monkeypatch: pytest.MonkeyPatch
    now: str = ""

    def watch(self, where: str, of: Callable[..., str]) -> None:
        """Note from a call's arguments which row is at work."""

        def watched(real: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            self.now = of(*args, **kwargs)
            return real(*args, **kwargs)

        self._wrap(where, watched)

    def into(self, where: str, of: Callable[..., str] | None = None) -> None:
        """Let the function raise for BAD, which `of` tells from its arguments, or what is at work."""

        def broken(real: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            if (of(*args, **kwargs) if of else self.now) == BAD:
                raise BrokenError("half way")
            return real(*args, **kwargs)

        self._wrap(where, broken)

    def _wrap(self, where: str, around: Callable[..., Any]) -> None:
        import importlib

        module, _, name = where.partition(":")
        owner: Any = importlib.import_module(module)
        *path, last = name.split(".")
        for part in path:
            owner = getattr(owner, part)
        real = getattr(owner, last)
        self.monkeypatch.setattr(owner, last, lambda *args, **kwargs: around(real, *args, **kwargs))


@pytest.fixture
def inject(monkeypatch: pytest.MonkeyPatch) -> Injection:
    return Injection(monkeypatch)


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    return snapshot_at(tmp_path / "world.sqlite", WORLD)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return write(tmp_path / "qa.jsonl", QUESTIONS)


def check_told(told: list[dict[str, Any]], source: Path, *, line: int = 2) -> None:
    """One row is rejected, by a fault of the program, with its place."""
    (only,) = told
    assert only["source"] == f"{source}:{line}"
    assert only["id"] == BAD
    assert only["reason"].startswith(FAULT)
    assert "BrokenError: half way; please report it" in only["reason"]


STAGES = {
    "reading": ("abstraction.files.fields:answers_of", lambda data, **_: data["id"]),
    "linking": ("abstraction.linking.linker:Linker.link", None),
    "builders": ("abstraction.row_maker:builder_for", None),
    "filters": ("abstraction.assembly.filters:remove", None),
    "levels": ("abstraction.row_maker:levels", None),
    "information": ("abstraction.information.weighing:population_of", None),
    "golds": ("abstraction.row_maker:arranged", None),
    "writing": ("abstraction.rows:TieredRow.to_json", lambda row: row.id),
}


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
@pytest.mark.parametrize("stage", STAGES)
def test_tiers(
    run: Run, snapshot: Path, questions: Path, tmp_path: Path, inject: Injection, stage: str, ending: str
) -> None:
    whole, out = tmp_path / f"whole.{ending}", tmp_path / f"out.{ending}"
    words = ["tiers", questions, "--snapshot", snapshot, "--language", "de", "--out"]
    assert run(*words, whole)[0] == 0
    inject.watch("abstraction.pipeline:LadderMaker.made", lambda _, row: row.id)
    inject.into(*STAGES[stage])
    code, _, stderr = run(*words, out)
    assert code == 1
    assert "1 row rejected" in stderr
    assert "Traceback" not in stderr
    check_told(rejects(out), questions)
    expected = [line for line in whole.read_text().splitlines() if "Bob" not in line]
    assert out.read_text().splitlines() == expected
    record = json.loads(Path(f"{out}.run.json").read_text())
    assert sum(record["rejected"].values()) == 1


def test_tiers_in_python_raise_without_on_reject(snapshot: Path, inject: Injection) -> None:
    inject.into("abstraction.row_maker:builder_for", lambda *_: BAD)
    maker = LadderMaker(store_of(*WORLD[-7:]))
    with pytest.raises(BrokenError):
        list(maker.make_all([row("Berlin")]))
    told: list[RejectedRow] = []
    assert list(maker.make_all([row("Berlin")], on_reject=told.append)) == []
    assert [one.id for one in told] == ["t-1"]


def test_what_a_failed_row_was_about_to_conclude_is_dropped(inject: Injection) -> None:
    rows = [row("Berlin"), row("Berlin")]
    (expected, _) = LadderMaker(store_of(*WORLD[-7:])).make_all(rows)
    turns: Iterator[str] = iter([BAD, *[""] * 1000])
    inject.into("abstraction.linking.gazetteer:Gazetteer.resolve", lambda *_, **__: next(turns))
    first, second = LadderMaker(store_of(*WORLD[-7:])).make_each(rows)
    assert isinstance(first, RejectedRow)
    assert second == expected


def test_a_row_that_no_file_can_hold(snapshot: Path) -> None:
    rows = [row("Berlin"), row("\ud800"), row("Berlin", question="\ud800"), row("Berlin")]
    with store_of(*WORLD[-7:]) as store:
        made = list(LadderMaker(store).make_each(rows))
    assert isinstance(made[1], RejectedRow)
    assert made[0] == made[3]


def test_a_fault_names_the_line_of_the_program_and_what_was_wrong() -> None:
    with store_of(*WORLD[-7:]) as store:
        (made,) = LadderMaker(store).make_each([row("\ud800")])
    assert isinstance(made, RejectedRow)
    assert made.reason.startswith(f"{FAULT} in making a ladder, kg/store/sqlite.py line ")
    assert ": TypeError: str is not valid UTF-8: surrogates not allowed; please report it" in made.reason
    json.dumps(made.to_json(), ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt(), MemoryError(), OSError(28, "No space left on device"), MirrorUnreachableError("gone")],
    ids=lambda e: type(e).__name__,
)
def test_what_is_no_rows_fault_ends_the_run(error: BaseException) -> None:
    def work() -> None:
        raise error

    assert not is_unforeseen(error)
    with pytest.raises(type(error)):
        attempt("a test", work)


def test_a_mirror_that_went_away_ends_the_run(
    run: Run, snapshot: Path, questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise MirrorUnreachableError("no server answers")

    monkeypatch.setattr("abstraction.row_maker.builder_for", gone)
    code, _, stderr = run("tiers", questions, "--snapshot", snapshot, "--out", tmp_path / "out.jsonl")
    assert (code, stderr.strip()) == (2, "granola: no server answers")
    assert not (tmp_path / "out.jsonl").exists()


# Matching and scoring.

MATCHED = [
    {"id": one["id"], "prediction": f"Berlin {n}" if n == 1 else "Germany", "levels": [["Berlin"], ["Germany"]]}
    for n, one in enumerate(QUESTIONS)
]


@pytest.mark.parametrize(
    ("where", "of"),
    [
        ("granola.runs.scores.match_run:read_row", lambda record: record.data["id"]),
        ("granola.matching.batch_matching:_match", lambda _, case: BAD if case.prediction == "Berlin 1" else ""),
        ("abstraction.files.writing:json_line", lambda record: "" if "reason" in record else record["id"]),
    ],
)
def test_match(run: Run, tmp_path: Path, inject: Injection, where: str, of: Callable[..., str]) -> None:
    rows = write(tmp_path / "rows.jsonl", MATCHED)
    assert run("match", rows, "--out", tmp_path / "whole.jsonl")[0] == 0
    inject.into(where, of)
    out = tmp_path / "out.jsonl"
    assert run("match", rows, "--out", out)[0] == 1
    check_told(rejects(out), rows)
    assert read(out) == [one for one in read(tmp_path / "whole.jsonl") if one["id"] != BAD]


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
    found = list(match_each(BreakingMatcher(), cases, workers=workers))
    assert [isinstance(one, Verdict) for one in found] == [True, False, True]
    with pytest.raises(BrokenError):
        list(match_many(BreakingMatcher(), cases, workers=workers))


@pytest.mark.parametrize("workers", [1, 2])
def test_scoring_in_python(workers: int) -> None:
    with store_of(*WORLD[-7:]) as store:
        (ladder,) = LadderMaker(store).make_all([row("Berlin")])
    rows = [TieredRow(id=str(n), question="?", answers=("Berlin",), levels=ladder.levels) for n in range(3)]
    said = {one.id: Prediction(id=one.id, text="bad" if one.id == "1" else "Berlin", source="p:2") for one in rows}
    told: list[RejectedRow] = []
    items = list(score_items(rows, said, BreakingMatcher(), 0.5, workers=workers, on_reject=told.append))
    assert [one.status for one in items] == ["matched", "unscored", "matched"]
    assert [(one.source, one.id) for one in told] == [("p:2", "1")]
    with pytest.raises(BrokenError):
        list(score_items(rows, said, BreakingMatcher(), 0.5, workers=workers))


@pytest.fixture
def scored(run: Run, snapshot: Path, questions: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Tiered rows and predictions for them."""
    tiered = tmp_path / "tiers.jsonl"
    assert run("tiers", questions, "--snapshot", snapshot, "--out", tiered)[0] == 0
    said = [{"id": one["id"], "prediction": f"Berlin {n}" if n == 1 else "Berlin"} for n, one in enumerate(QUESTIONS)]
    return tiered, write(tmp_path / "said.jsonl", said)


def _is_bad(_: object, case: MatchCase) -> str:
    return BAD if case.prediction == "Berlin 1" else ""


def test_score(run: Run, scored: tuple[Path, Path], tmp_path: Path, inject: Injection) -> None:
    assert run("score", *scored, "--out", tmp_path / "whole.jsonl")[0] == 0
    inject.into("granola.matching.batch_matching:_match", _is_bad)
    out = tmp_path / "out.jsonl"
    code, stdout, _ = run("score", *scored, "--out", out, "--json")
    assert code == 1
    report = json.loads(stdout)
    assert (report["n"], report["unscored"], report["counts"]["faults"]) == (4, 1, 1)
    check_told(rejects(out), scored[1])
    items, whole = read(out), read(tmp_path / "whole.jsonl")
    assert [one for one in items if one["id"] != BAD] == [one for one in whole if one["id"] != BAD]
    assert [one["status"] for one in items if one["id"] == BAD] == ["unscored"]


@pytest.mark.parametrize("where", ["granola.scoring.packed_rows:_plain", "granola.scoring.predictions:_prediction"])
def test_reading_what_is_scored(run: Run, scored: tuple[Path, Path], inject: Injection, where: str) -> None:
    if where.endswith("_prediction"):
        inject.into(where, lambda record, *_: record.data["id"])
    else:
        inject.watch("abstraction.rows:_tiered", lambda data, **_: data["id"])
        inject.into(where)
    code, stdout, stderr = run("score", *scored, "--json", "--allow-missing", "--ignore-unknown")
    assert (code, json.loads(stdout)["n"]) == (1, 4)
    assert FAULT in stderr


def test_compare_and_report(run: Run, scored: tuple[Path, Path], tmp_path: Path, inject: Injection) -> None:
    tiered, said = scored
    other = write(tmp_path / "other.jsonl", [{**one, "prediction": "Germany"} for one in read(said)])
    inject.into("granola.matching.batch_matching:_match", _is_bad)
    code, stdout, stderr = run("compare", tiered, said, other, "--json", "--resamples", 10)
    assert code == 1
    assert [one["n"] for one in json.loads(stdout)["systems"]] == [4, 5]
    assert stderr.count(FAULT) == 1
    pytest.importorskip("matplotlib")
    assert run("report", tiered, said, other, "--out", tmp_path / "report", "--resamples", 10)[0] == 1
    assert (tmp_path / "report" / "report.html").is_file()


# Aggregation and audits.


@pytest.mark.parametrize(
    ("where", "of"),
    [
        ("granola.decoding.samples:sample_row", lambda record: record.data["id"]),
        ("granola.decoding.responses:ResponseReader._reading", lambda _, one, row, context: row.id),
        ("granola.decoding:prediction_row", lambda row, *_, **__: row.id),
        ("abstraction.files.writing:json_line", lambda record: "" if "reason" in record else record["id"]),
        ("granola.decoding.response_aggregation:tally", None),
    ],
)
def test_aggregate(
    run: Run, snapshot: Path, tmp_path: Path, inject: Injection, where: str, of: Callable[..., str] | None
) -> None:
    rows = [
        {"id": one["id"], "question": one["question"], "samples": ["Berlin", f"Berlin {one['id']}", "Germany"]}
        for one in QUESTIONS
    ]
    samples = write(tmp_path / "samples.jsonl", rows)
    words = ["aggregate", samples, "--snapshot", snapshot, "--support", 0.5, "--out"]
    assert run(*words, tmp_path / "whole.jsonl")[0] == 0
    if of is None:
        of = _of_readings
    inject.into(where, of)
    out = tmp_path / "out.jsonl"
    assert run(*words, out)[0] == 1
    check_told(rejects(out), samples)
    assert read(out) == [one for one in read(tmp_path / "whole.jsonl") if one["id"] != BAD]


def _of_readings(readings: Any, **_: object) -> str:
    return BAD if any(one.cleaned.whole == "Berlin 2" for one in readings) else ""


@pytest.mark.parametrize("entailment", [False, True])
def test_audit(run: Run, scored: tuple[Path, Path], snapshot: Path, inject: Injection, entailment: bool) -> None:
    where = "entailment:EntailmentChecker.check" if entailment else "tier_verdicts:Judge.judge"
    words = ["audit", scored[0], "--snapshot", snapshot, "--json", *(["--entailment"] if entailment else [])]
    code, stdout, _ = run(*words)
    assert (code, json.loads(stdout)["total"]["rows"]) == (0, 5)
    inject.into(f"abstraction.verifying.{where}", lambda _, row: row.id)
    code, stdout, stderr = run(*words)
    assert (code, json.loads(stdout)["total"]["rows"]) == (1, 4)
    assert f"rejected {scored[0]}:2: {FAULT}" in stderr


# Datasets.


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    ("where", "of"),
    [
        ("abstraction.row_maker:levels", None),
        ("abstraction.datasets.building:described", lambda row, graph: row.id),
        ("abstraction.datasets.saved_work:line_of", lambda row: row.id),
        ("abstraction.datasets.dataset_cleaning:Cleaner.clean", lambda _, row: row.id),
        ("abstraction.datasets.dataset_columns:Columns.see", lambda _, row: row.id),
        ("abstraction.datasets.dataset_columns:Columns.record", lambda _, row: row.id),
    ],
)
def test_dataset(
    run: Run,
    snapshot: Path,
    questions: Path,
    tmp_path: Path,
    inject: Injection,
    where: str,
    of: Callable[..., str] | None,
    format: str,
) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow")
    words = ["dataset", questions, "--snapshot", snapshot, "--without", "missing-answers", "--format", format]
    assert run(*words, "--out", tmp_path / "whole")[0] == 0
    inject.watch("abstraction.pipeline:LadderMaker.made", lambda _, row: row.id)
    inject.into(where, of)
    out = tmp_path / "out"
    code, _, stderr = run(*words, "--out", out)
    assert (code, "Traceback" in stderr) == (1, False)
    check_told(read(out / "rejected.jsonl"), questions)
    assert json.loads((out / "build.json").read_text())["statistics"]["rows"] == 4
    assert json.loads((out / "build.json").read_text())["rejected"] == 1
    expected = [one for one in _rows(tmp_path / "whole", format) if one["id"] != BAD]
    assert [one["id"] for one in expected] == OTHERS
    assert _rows(out, format) == expected


def _rows(folder: Path, format: str) -> list[dict[str, Any]]:
    path = folder / "data" / f"test.{format}"
    if format == "jsonl":
        return read(path)
    from pyarrow import parquet  # type: ignore[import-untyped]  # ships no stubs

    return list(parquet.read_table(path).to_pylist())


def test_a_dataset_whose_phraser_breaks_at_one_row(snapshot: Path, questions: Path, tmp_path: Path) -> None:
    from abstraction.datasets.building import DatasetSettings, build_dataset
    from abstraction.datasets.questions import QuestionFiles
    from kg.store import open_store

    class Phraser:
        fingerprint = "breaking"

        def __call__(self, rows: Any, /) -> Any:
            if any(row.id == BAD for row in rows):
                raise BrokenError("half way")
            return rows

    class Scorer:
        fingerprint = "breaking"

        def __call__(self, rows: Any, /) -> Any:
            if any(row.id == "3" for row in rows):
                raise BrokenError("half way")
            return [0.0] * len(rows)

    asked = QuestionFiles(files=(questions,), relation=None, limit=None)
    settings = DatasetSettings(name="x", format="jsonl", steps=frozenset())
    with open_store(str(snapshot)) as store:
        built = build_dataset(asked, store, tmp_path / "out", settings=settings, phraser=Phraser(), scorer=Scorer())
    assert built.rejected == 2
    told = read(tmp_path / "out" / "rejected.jsonl")
    assert [(one["id"], one["source"]) for one in told] == [(BAD, f"{questions}:2"), ("3", f"{questions}:3")]
    assert [one["id"] for one in _rows(tmp_path / "out", "jsonl")] == ["1", "4", "5"]


def test_a_batch_of_the_service() -> None:
    from granola.service.work.snapshot_work import Batch

    class Holding:
        """What a batch asks of a held snapshot."""

        def __init__(self) -> None:
            self.made = LadderMaker(store_of(*WORLD[-7:]))

        def maker(self, language: str, linker: str) -> LadderMaker:
            return self.made

        def count_sent(self, texts: Iterable[str]) -> None:
            """Nothing is kept here."""

    rows: list[QARow | RejectedRow] = [row("Berlin"), row("\ud800"), row("Berlin")]
    batch, lines = Batch(rows, language="en", linker="question"), b""
    holding: Any = Holding()
    while not batch.is_done:
        lines += batch.slice(holding).lines
    first, second, third = map(json.loads, lines.splitlines())
    assert first["levels"] == third["levels"]
    assert second["rejected"]["reason"].startswith(FAULT)


# Guesses, and evidence held against a snapshot.


@pytest.mark.parametrize(
    ("where", "of"),
    [
        ("granola.decoding.guessing:signs_of", lambda row: row.id),
        ("granola.decoding.guessing:_Known.add", lambda _, row, *__, **___: row.id),
        ("abstraction.files.writing:json_line", lambda record: "" if "reason" in record else record["id"]),
    ],
)
def test_guess(
    run: Run, scored: tuple[Path, Path], tmp_path: Path, inject: Injection, where: str, of: Callable[..., str]
) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    assert run("guess", scored[0], "--out", whole)[0] == 0
    inject.into(where, of)
    code, _, stderr = run("guess", scored[0], "--out", out)
    assert code == 1
    assert "1 row rejected" in stderr
    check_told(rejects(out), scored[0])
    assert [one["id"] for one in read(out)] == OTHERS


def test_a_guess_that_fails_rejects_its_row(
    run: Run, scored: tuple[Path, Path], tmp_path: Path, inject: Injection
) -> None:
    turns = iter(one["id"] for one in QUESTIONS)
    inject.into("granola.decoding.guessing:_guess", lambda *_: next(turns))
    out = tmp_path / "out.jsonl"
    assert run("guess", scored[0], "--out", out)[0] == 1
    assert (len(rejects(out)), len(read(out))) == (1, len(OTHERS))
    assert rejects(out)[0]["reason"].startswith(f"{FAULT} in guessing")
