"""`granola experiment`: cells, results, going on where it was cut off, and what its file may say."""

from __future__ import annotations

import csv
import fcntl
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from granola.cli import main
from granola.decoding.experiment_plan import read_plan
from granola.decoding.response_aggregation import answer_row
from granola.errors import UsageError
from granola.runs import ExperimentRun
from kg.store.sqlite import SQLiteStore
from tests.chat_server import serving
from tests.worlds import CLASSES, entity

WORLD = (
    *CLASSES,
    entity("Q64", "Berlin", "capital of Germany", P31="Q515", P131="Q183", P17="Q183"),
    entity("Q1055", "Hamburg", "city in Germany", P31="Q515", P131="Q183", P17="Q183"),
    entity("Q183", "Germany", "country in Central Europe", P31="Q3624078", P30="Q46"),
    entity("Q46", "Europe", "continent", P31="Q5107"),
)
PLAN = """
tiered = "tiers.jsonl"
snapshot = "world.sqlite"
methods = ["greedy", "self-consistency", "drag", "drag-graph"]
temperatures = 0.5
samples = [2, 3]
supports = [0.5, 1]

[models]
m = "MODEL"

[scoring]
resamples = 50
"""
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["granola", *(str(a) for a in arguments)])
        with pytest.raises(SystemExit) as exit_:
            main.main()
        captured = capsys.readouterr()
        return int(exit_.value.code or 0), captured.out, captured.err

    return call


@pytest.fixture
def folder(tmp_path: Path, run: Run) -> Path:
    with SQLiteStore.create(tmp_path / "world.sqlite") as store:
        store.write(WORLD)
        store.finish()
    rows = [
        {"id": str(n), "relation": "P19", "question": f"Where was {name} Lang born?", "answer": "Berlin"}
        for n, name in enumerate(["Ada", "Bob", "Cyd", "Dan"])
    ]
    (tmp_path / "qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    tiers = ["tiers", tmp_path / "qa.jsonl", "--snapshot", tmp_path / "world.sqlite", "--out", tmp_path / "tiers.jsonl"]
    assert run(*tiers)[0] == 0
    return tmp_path


def planned(folder: Path, address: str, text: str = PLAN) -> Path:
    path = folder / "plan.toml"
    path.write_text(text.replace("MODEL", f"openai:{address}#m"))
    return path


def made(out: Path) -> dict[str, bytes]:
    files = [out / "results.csv", *(out / "predictions").iterdir()]
    return {
        path.name: path.read_bytes() for path in files if not path.name.endswith(".run.json")
    }  # these tell the time


def test_an_experiment_from_python(folder: Path, run: Run) -> None:
    with serving() as (address, _):
        plan = planned(folder, address)
        done = ExperimentRun(file=plan, out=folder / "python").run()
        assert run("experiment", plan, "--out", folder / "told")[0] == 0
    assert not done.failed
    assert done.systems is not None
    assert [report.system for report in done.systems.reports] == [*(cell.name for cell in done.plan.cells), "guess"]
    assert made(folder / "python") == made(folder / "told")


def test_an_experiment_and_going_on_with_it(run: Run, folder: Path) -> None:
    log = folder / "asked.txt"
    with serving(log=str(log)) as (address, settings):
        plan = planned(folder, address)
        whole, cut = folder / "whole", folder / "cut"
        status, told, _ = run("experiment", plan, "--out", whole)
        assert status == 0
        assert "signature: " in told
        assert (whole / "report" / "report.html").is_file() == (find_spec("matplotlib") is not None)
        with (whole / "results.csv").open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        assert len(rows) == 1 + 2 + 2 + 4 + 1
        assert rows[0]["system"] == "greedy"
        assert [row["system"] for row in rows[-2:]] == ["drag-graph-t0_5-n3-s1", "guess"]
        assert all(row["n"] == "4" and 0 <= float(row["granola_accuracy"]) <= 1 for row in rows)
        # The set of the prompts and their hash, in a column and in the signature; the guess asked nothing.
        assert all(re.fullmatch("paper-[0-9a-f]{8}", row["prompts"]) for row in rows[:-1])
        assert all(f"|asked:{row['prompts']}|" in row["signature"] for row in rows[:-1])
        assert (rows[-1]["prompts"], "asked:" in rows[-1]["signature"]) == ("", False)
        assert {row["method"] for row in rows} == {"greedy", "self-consistency", "drag", "drag-graph", "guess"}
        asked = [json.loads(line) for line in log.read_text().splitlines()]
        samples = sum(n for text, _, n, _ in asked if "Responses:\n- " not in text.rpartition("Question: ")[2])
        assert samples == 4 * (1 + 3)  # greedy, and three samples shared by all methods

        # Another one is cut off in its midst, and goes on to the same files without asking again.
        settings.refuse = "Bob Lang"
        status, _, told = run("experiment", plan, "--no-report", "--out", cut)
        assert status == 1
        assert "answers are missing" in told
        settings.refuse = ""
        before = len(log.read_text().splitlines())
        (cut / "predictions" / "greedy.jsonl").unlink()
        assert run("experiment", plan, "--no-report", "--out", cut)[0] == 0
        again = [json.loads(line)[0] for line in log.read_text().splitlines()[before:]]
        assert all("Bob Lang" in text for text in again)
        assert made(cut) == made(whole)

        # Done, it asks nothing and changes nothing.
        before = len(log.read_text().splitlines())
        assert run("experiment", plan, "--no-report", "--out", cut)[0] == 0
        assert len(log.read_text().splitlines()) == before
        assert made(cut) == made(whole)

        # Another configuration is not mixed with it.
        planned(folder, address, PLAN.replace("[2, 3]", "[2]"))
        status, _, told = run("experiment", plan, "--no-report", "--out", cut)
        assert (status, "other settings" in told) == (2, True)
        assert run("experiment", plan, "--no-report", "--out", cut, "--force")[0] == 0
        assert len(made(cut)) == 1 + 1 + 1 + 1 + 2 + 1


def test_the_model_that_aggregates_may_be_another(run: Run, folder: Path) -> None:
    logs = [folder / "sampled.txt", folder / "aggregating.txt"]
    with serving(log=str(logs[0])) as (sampled, _), serving(log=str(logs[1])) as (aggregating, _):
        text = PLAN.replace("methods = [", f'aggregator = "openai:{aggregating}#other"\nmethods = [', 1)
        plan = planned(folder, sampled, text)
        status, _, told = run("experiment", plan, "--no-report", "--out", folder / "out")
    assert status == 0, told
    asked, aggregated = ([json.loads(line)[0] for line in log.read_text().splitlines()] for log in logs)
    assert asked
    assert all(text.startswith("Question: ") and text.endswith("\nAnswer:") for text in asked)
    assert aggregated
    assert all(text.endswith("\nCorrect answer:") for text in aggregated)


def test_results_of_other_definitions_are_not_gone_on_with(run: Run, folder: Path) -> None:
    out, plan = folder / "out", planned(folder, "http://127.0.0.1:9/v1")
    out.mkdir()
    old = {"kind": "experiment", "version": "0.1.0", "fingerprint": "0"}
    (out / "experiment.json").write_text(json.dumps(old))
    status, _, told = run("experiment", plan, "--no-report", "--out", out)
    assert status == 2
    assert "results of version 0.1.0, whose informativeness was the mean over matched answers alone" in told
    assert json.loads((out / "experiment.json").read_text()) == old


def test_killed_at_any_point_it_goes_on_to_the_same_files(run: Run, folder: Path) -> None:
    log = folder / "asked.txt"
    with serving(log=str(log), delay=0.01) as (address, _):
        plan = planned(folder, f"{address}?concurrency=1")
        assert run("experiment", plan, "--no-report", "--out", folder / "whole")[0] == 0
        asked = len(log.read_text().splitlines())
        start = "from granola.cli.main import main; main()"
        command = [sys.executable, "-c", start, "experiment", str(plan), "--no-report", "--out", str(folder / "cut")]
        for _ in range(3):
            begun = len(log.read_text().splitlines())
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while process.poll() is None and len(log.read_text().splitlines()) < begun + 3:
                pass
            process.kill()
            process.wait()
        assert run("experiment", plan, "--no-report", "--out", folder / "cut")[0] == 0
        # Only what was under way at each kill is asked again.
        assert len(log.read_text().splitlines()) <= 2 * asked + 3
    assert made(folder / "cut") == made(folder / "whole")


def test_two_runs_do_not_share_a_folder_and_what_a_killed_one_left_goes(run: Run, folder: Path) -> None:
    out = folder / "out"
    with serving() as (address, _):
        plan = planned(folder, address)
        assert run("experiment", plan, "--no-report", "--out", out)[0] == 0
        before = made(out)
        left = out / "predictions" / ".greedy.jsonl.abcd.part"
        left.write_text("{")
        (out / "predictions" / "greedy.jsonl").unlink()
        handle = os.open(out, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX)
        status, _, told = run("experiment", plan, "--no-report", "--out", out)
        assert (status, "another experiment runs in" in told) == (2, True)
        assert left.exists()
        os.close(handle)
        assert run("experiment", plan, "--no-report", "--out", out)[0] == 0
    assert made(out) == before


def test_a_dry_run_names_the_systems(run: Run, folder: Path) -> None:
    status, told, _ = run("experiment", planned(folder, "http://127.0.0.1:9/v1"), "--out", folder / "x", "--dry-run")
    assert status == 0
    assert told.splitlines()[:2] == ["greedy: 1 a question", "self-consistency-t0_5-n2-text: 2 a question"]
    assert not (folder / "x").exists()


def test_threshold_and_names_of_level_1_are_settings_of_scoring(run: Run, folder: Path) -> None:
    with serving() as (address, _):
        for scoring, matcher, standard, other in (
            ('matcher = "f1"\ntau = 0.25', "f1|tau:>0.25", "|standard:gold|", "aliases"),
            ('matcher = "f1"\nstandard = "aliases"', "f1|tau:>0.3", "|tiers:", "gold"),
            ('standard = "gold"', "rules|", "|standard:gold|", "aliases"),
        ):
            text = PLAN.replace('"self-consistency", "drag", "drag-graph"', "").replace("resamples = 50", scoring)
            plan = planned(folder, address, text)
            assert run("experiment", plan, "--no-report", "--out", folder / "out", "--force")[0] == 0
            with (folder / "out" / "results.csv").open(newline="") as stream:
                row = next(csv.DictReader(stream))
            assert row["signature"].startswith(f"matcher:{matcher}")
            assert standard in row["signature"]
            names = ("granola_accuracy", "standard_accuracy", "knowledge_evaluation_gap")
            assert all(row[f"{name}_{other}"] and row[name] for name in names)
    status, _, told = run("experiment", planned(folder, address, PLAN + "tau = 0.2\n"), "--out", folder / "x")
    assert (status, "matcher 'rules' has no threshold" in told) == (2, True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("supports =", "weighs = 1\nsupports =", "no key weighs"),
        ('"drag-graph"]', '"drag-grap"]', "did you mean drag-graph"),
        ("samples =", "sample =", "did you mean samples"),
        ("[2, 3]", '["2"]', "expected a whole number"),
        ("[2, 3]", "[2, 2]", "repeats a value"),
        ("[2, 3]", "[]", "at least one value"),
        ("0.5\nsamples", "[0.0]\nsamples", "cannot sample so"),
        ("supports = [0.5, 1]", "supports = [0.0]", "above 0 and up to 1"),
        ('tiered = "tiers.jsonl"', "", "tiered is missing"),
        ('snapshot = "world.sqlite"', "", "give snapshot"),
        ('m = "MODEL"', "", "a name of letters"),
        ("resamples = 50", "lamda = 1", "did you mean lambda"),
        ("resamples = 50", 'standard = "golden"', "allowed: aliases, gold"),
        ("resamples = 50", 'tau = "low"', "expected a number"),
        ("[models]", "[models", "is no TOML"),
        ("[models]", 'linker = "best"\n[models]', "allowed: question, smallest"),
    ],
)
def test_what_a_file_may_not_say(folder: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_plan(planned(folder, "http://127.0.0.1:9/v1", PLAN.replace(old, new)))


def test_other_folders_are_safe(run: Run, folder: Path) -> None:
    mine = folder / "mine"
    mine.mkdir()
    (mine / "letter.txt").write_text("kept")
    status, _, told = run("experiment", planned(folder, "http://127.0.0.1:9/v1"), "--out", mine, "--force")
    assert (status, "holds no experiment" in told) == (2, True)
    assert [path.name for path in mine.iterdir()] == ["letter.txt"]


def test_fewer_questions_than_were_tiered_are_enough(run: Run, folder: Path) -> None:
    rows = (folder / "tiers.jsonl").read_text().splitlines()[:2]
    (folder / "asked.jsonl").write_text("\n".join(rows) + "\n")
    text = PLAN.replace("snapshot =", 'questions = "asked.jsonl"\nsnapshot =')
    with serving() as (address, _):
        assert run("experiment", planned(folder, address, text), "--no-report", "--out", folder / "some")[0] == 0
    with (folder / "some" / "results.csv").open(newline="") as stream:
        assert {row["n"] for row in csv.DictReader(stream)} == {"2"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("resamples = 50", 'matcher = "rule"', "no matcher 'rule'"),
        ("resamples = 50", "resamples = 9", "resamples is 9"),
        ("resamples = 50", "lambda = -1", "lambda is -1"),
        ('m = "MODEL"', 'm = "MODEL"\nother = "gpt"', "gpt names no kind of model"),
        ('m = "MODEL"', 'm = "replay:none.jsonl"', "no such file"),
        ("snapshot =", 'questions = "others.jsonl"\nsnapshot =', "others.jsonl:2: no row of"),
        ("snapshot =", "limit = 0\nsnapshot =", "limit is 0; allowed: 1 and more"),
    ],
)
def test_nothing_is_asked_for_what_cannot_be_scored(run: Run, folder: Path, old: str, new: str, message: str) -> None:
    known = (folder / "tiers.jsonl").read_text().splitlines()[0]
    stranger = {"id": "99", "question": "Where was Eve Lang born?"}
    (folder / "others.jsonl").write_text(f"{known}\n{json.dumps(stranger)}\n")
    log = folder / "asked.txt"
    with serving(log=str(log)) as (address, _):
        plan = planned(folder, address, PLAN.replace(old, new))
        status, _, told = run("experiment", plan, "--no-report", "--out", folder / "none")
    assert (status, message in told) == (2, True), told
    assert not log.exists() or not log.read_text()
    assert not (folder / "none").exists()


@pytest.mark.parametrize(
    "where",
    ["granola.decoding.guessing:signs_of", "granola.decoding.guessing:_guess", "abstraction.files.writing:json_line"],
)
def test_a_question_that_cannot_be_guessed_ends_no_experiment(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    module, _, name = where.partition(":")
    guess = folder / "out" / "predictions" / "guess.jsonl"
    rejects = guess.with_name(guess.name + ".rejects.jsonl")
    with serving() as (address, _):
        words = ["experiment", planned(folder, address), "--no-report", "--out", folder / "out"]
        with monkeypatch.context() as patch:
            real, calls = getattr(import_module(module), name), iter(range(1000))

            def broken(*arguments: Any) -> Any:
                record = arguments[0]
                turn = record["id"] if isinstance(record, dict) and record.get("method") == "guess" else None
                if turn == "1" or (name != "json_line" and next(calls) == 1):
                    raise RuntimeError("half way")
                return real(*arguments)

            patch.setattr(where.replace(":", "."), broken)
            status, told, err = run(*words)
        assert (status, "signature: " in told) == (1, True)
        assert "fault of the program" in err
        assert "Traceback" not in err
        assert [json.loads(line)["id"] for line in guess.read_text().splitlines()] == ["0", "2", "3"]
        assert [json.loads(line)["id"] for line in rejects.read_text().splitlines()] == ["1"]
        assert run(*words)[0] == 0  # it is guessed again
        assert len(guess.read_text().splitlines()) == 4
        assert not rejects.exists()


def test_an_answer_that_cannot_be_told_ends_no_experiment(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(row: Any, *arguments: Any, **more: Any) -> Any:
        if row.id == "1":
            raise RuntimeError("half way")
        return answer_row(row, *arguments, **more)

    monkeypatch.setattr("granola.decoding.response_aggregation.answer_row", broken)
    with serving() as (address, _):
        status, told, err = run("experiment", planned(folder, address), "--no-report", "--out", folder / "out")
    assert (status, "signature: " in told) == (1, True)
    assert "9 answers are missing" in err
    greedy = folder / "out" / "predictions" / "greedy.jsonl"
    assert [json.loads(line)["id"] for line in greedy.read_text().splitlines()] == ["0", "2", "3"]
