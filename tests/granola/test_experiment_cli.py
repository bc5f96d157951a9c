"""`granola experiment`: its systems, going on where it was cut off, and what its file may say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from granola.commands import Experiment
from granola.commands.experiment import read_plan
from kg.store.sqlite import SQLiteStore
from tests.chat_server import serving
from tests.conftest import Run
from tests.worlds import CLASSES, entity

pytest.importorskip("matplotlib")

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
method = ["greedy", "self-consistency", "drag", "drag-graph"]
temperature = 0.5
samples = [2, 3]
support = [0.5, 1]

[models]
m = "MODEL"

[scoring]
resamples = 50
"""
SYSTEMS = [
    "greedy", "self-consistency-n2", "self-consistency-n3", "drag-n2", "drag-n3", "drag-graph-n2-s0_5",
    "drag-graph-n2-s1", "drag-graph-n3-s0_5", "drag-graph-n3-s1", "guess",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    SQLiteStore.create(tmp_path / "world.sqlite", WORLD).close()
    rows = [
        {"id": str(n), "relation": "P19", "question": f"Where was {name} Lang born?", "answer": "Berlin"}
        for n, name in enumerate(["Ada", "Bob", "Cyd", "Dan"])
    ]
    Path("qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("tiers", "qa.jsonl", "--snapshot", "world.sqlite", "--out", "tiers.jsonl")[0] == 0
    return tmp_path


def planned(address: str, text: str = PLAN) -> Path:
    path = Path("plan.toml")
    path.write_text(text.replace("MODEL", f"openai:{address}#m"))
    return path


def made(out: Path) -> dict[str, bytes]:
    """What an experiment wrote, without the records, which tell the time."""
    files = [out / "comparison.json", *(out / "predictions").glob("*.jsonl")]
    return {path.name: path.read_bytes() for path in files}


def asked(log: Path) -> list[str]:
    return [json.loads(line)[0] for line in log.read_text().splitlines()]


def test_an_experiment_and_going_on_with_it(run: Run, folder: Path) -> None:
    log, whole, cut = folder / "asked.txt", folder / "whole", folder / "cut"
    with serving(log=str(log)) as (address, settings):
        plan = planned(address)
        status, told, _ = run("experiment", plan, "--out", whole)
        assert (status, "signature of drag-graph-n3-s1: " in told) == (0, True)
        assert (whole / "report" / "report.html").is_file()
        scored = json.loads((whole / "comparison.json").read_text())["systems"]
        assert [system["system"] for system in scored] == SYSTEMS
        assert all(system["n"] == 4 for system in scored)
        drawn = [json.loads(line) for line in log.read_text().splitlines()]
        samples = sum(n for text, _, n, _ in drawn if "Responses:\n- " not in text.rpartition("Question: ")[2])
        assert samples == 4 * (1 + 3)  # greedy, and three samples shared by all methods

        # Another one is cut off in its midst, and goes on to the same files without asking again.
        settings.refuse = "Bob Lang"
        status, _, told = run("experiment", plan, "--no-report", "--out", cut)
        assert (status, "answers are missing" in told) == (1, True)
        settings.refuse = ""
        before = len(asked(log))
        (cut / "predictions" / "greedy.jsonl").unlink()
        assert run("experiment", plan, "--no-report", "--out", cut)[0] == 0
        assert all("Bob Lang" in text for text in asked(log)[before:])
        assert made(cut) == made(whole)

        # Done, it makes and asks nothing.
        before = len(asked(log))
        written = {path: path.stat().st_mtime_ns for path in (cut / "predictions").iterdir()}
        done = Experiment(file=plan, out=cut, no_report=True).run()
        assert list(done.systems) == SYSTEMS
        assert written == {path: path.stat().st_mtime_ns for path in (cut / "predictions").iterdir()}
        assert len(asked(log)) == before

        # What other settings or inputs concern is made again, and nothing else.
        planned(address, PLAN.replace("samples = [2, 3]", "samples = [2, 3]\nlanguage = 'de'"))
        assert run("experiment", plan, "--no-report", "--out", cut)[0] == 0
        again = {path.name for path, at in written.items() if path.stat().st_mtime_ns != at}
        assert {name.split(".")[0] for name in again} == set(SYSTEMS) - {"guess"}
        assert len(asked(log)) == before


def test_the_model_that_aggregates_may_be_another(run: Run, folder: Path) -> None:
    logs = [folder / "sampled.txt", folder / "aggregating.txt"]
    with serving(log=str(logs[0])) as (sampled, _), serving(log=str(logs[1])) as (aggregating, _):
        plan = planned(sampled, PLAN.replace("method = ", f'aggregator = "openai:{aggregating}#other"\nmethod = ', 1))
        status, _, told = run("experiment", plan, "--no-report", "--out", folder / "out")
    assert status == 0, told
    assert all(text.startswith("Question: ") and text.endswith("\nAnswer:") for text in asked(logs[0]))
    assert all(text.endswith("\nCorrect answer:") for text in asked(logs[1]))


def test_of_several_models_each_has_a_name(folder: Path) -> None:
    text = PLAN.replace('m = "MODEL"', 'a = "MODEL"\nb = "MODEL"').replace('"self-consistency", "drag", ', "")
    _, systems, _ = read_plan(planned("http://127.0.0.1:9/v1", text), folder / "x")
    assert list(systems)[0::5] == ["a-greedy", "b-greedy", "guess"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"drag-graph"]', '"drag-grap"]', "allowed: greedy, sample"),
        ("samples =", "sample =", "did you mean samples"),
        ("[2, 3]", '["2"]', "expected int"),
        ('tiered = "tiers.jsonl"', "", "tiered is missing"),
        ('snapshot = "world.sqlite"', "", "give --snapshot"),
        ('m = "MODEL"', "", "under [models]"),
        ("resamples = 50", 'standard = "golden"', "allowed: aliases, gold"),
        ("[models]", "[models", "is no TOML"),
    ],
)
def test_nothing_is_asked_for_what_a_file_may_not_say(run: Run, folder: Path, old: str, new: str, message: str) -> None:
    log = folder / "asked.txt"
    with serving(log=str(log)) as (address, _):
        plan = planned(address, PLAN.replace(old, new))
        status, _, told = run("experiment", plan, "--no-report", "--out", folder / "none")
    assert (status, message in told) == (2, True), told
    assert not log.exists() or not log.read_text()
    assert not (folder / "none").exists()


def test_other_folders_are_safe(run: Run, folder: Path) -> None:
    mine = folder / "mine"
    mine.mkdir()
    (mine / "letter.txt").write_text("kept")
    status, _, told = run("experiment", planned("http://127.0.0.1:9/v1"), "--out", mine)
    assert (status, "holds no experiment" in told) == (2, True)
    assert [path.name for path in mine.iterdir()] == ["letter.txt"]
