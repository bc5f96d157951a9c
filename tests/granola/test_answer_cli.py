"""`granola answer`: every method on recorded answers, on a server, interrupted, with prompts of one's own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from granola.commands.cli import main
from granola.decoding.methods import KINDS, read_prompts
from granola.decoding.response_cleaning import clean_response
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
ADA, BOB, CYD = "Where was Ada Lang born?", "Where was Bob Lang born?", "Where was Cyd Lang born?"
DRAWN = {
    ADA: ["Berlin", "Answer: Hamburg", "Berlin, Germany", "Hamburg", "Hamburg"],
    BOB: ["Hamburg", "hamburg", "Hamburg.", "Hamburg", "IDK"],
    CYD: ["I don't know", "IDK", "Berlin", "I'm not sure.", "IDK"],
}
ANSWERED = {
    "idk": ["Berlin", "IDK", "IDK"],
    "idk_if_uncertain": ["IDK", "IDK", "IDK"],
    "agg": ["Germany", "Hamburg", "IDK"],
}
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    path = tmp_path / "world.sqlite"
    SQLiteStore.create(path, WORLD).close()
    return path


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "asked.jsonl"
    rows = [{"id": str(n), "question": q, "answer": "gold", "levels": "gold"} for n, q in enumerate(DRAWN)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["granola", "answer", *(str(a) for a in arguments)])
        with pytest.raises(SystemExit) as exit_:
            main.main()
        captured = capsys.readouterr()
        return int(exit_.value.code or 0), captured.out, captured.err

    return call


def recorded(path: Path) -> Path:
    """All that the methods ask, answered by hand."""
    prompts = read_prompts()
    lines = [line("answer", {"question": question}, answers) for question, answers in DRAWN.items()]
    for name, answers in ANSWERED.items():
        lines += [line(name, {"question": q}, [one]) for q, one in zip(DRAWN, answers, strict=True)]
    for question, answer in ((ADA, "Germany."), (BOB, "Hamburg"), (CYD, "IDK")):
        read = [clean_response(one) for one in DRAWN[question]]
        responses = ["IDK" if one.abstains else one.whole for one in read]  # shown to the model, as in the paper
        lines.append(line("drag", {"question": question, "responses": responses}, [answer]))
    assert set(prompts) == {kind.name for kind in KINDS}
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return path


def line(name: str, slots: Mapping[str, str | Sequence[str]], answers: list[str]) -> dict[str, object]:
    messages = read_prompts()[name].fill(slots)
    return {"messages": [{"role": m.role, "content": m.content} for m in messages], "answers": answers}


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    ("method", "more", "predictions"),
    [
        ("greedy", [], ["Berlin", "Hamburg", "I don't know"]),
        ("sample", [], ["Berlin", "Hamburg", "I don't know"]),
        ("idk", [], ["Berlin", "IDK", "IDK"]),
        ("idk-if-uncertain", [], ["IDK", "IDK", "IDK"]),
        ("agg", [], ["Germany", "Hamburg", "IDK"]),
        ("self-consistency", [], ["Hamburg", "Hamburg", "Berlin"]),
        ("self-consistency", ["--counting", "ladder"], ["Hamburg", "Hamburg", "Berlin"]),
        ("drag", [], ["Germany.", "Hamburg", "IDK"]),
        ("drag-graph", ["--abstaining", "vote", "--support", "0.75"], ["Germany", "Hamburg", "IDK"]),
        ("drag-graph", ["--support", "0.6"], ["Hamburg", "Hamburg", "Berlin"]),
    ],
)
def test_methods(
    run: Run, snapshot: Path, questions: Path, tmp_path: Path, method: str, more: list[str], predictions: list[str]
) -> None:
    model, out = f"replay:{recorded(tmp_path / 'recorded.jsonl')}", tmp_path / "p.jsonl"
    arguments = [questions, "--model", model, "--method", method, "--samples", 5, "--snapshot", snapshot, *more]
    status, told, _ = run(*arguments, "--out", out)
    found = lines(out)
    assert [row["prediction"] for row in found] == predictions
    idk = sum("IDK" in (row["prediction"], row.get("short")) for row in found)
    assert (status, told) == (0, f"3 questions: {3 - idk} answered, {idk} IDK\n")
    assert all(row["explanation"] and row["method"] == method and "levels" not in row for row in found)
    often = method in ("self-consistency", "drag", "drag-graph")
    assert [len(row["samples"]) for row in found] == [5 if often else 1] * 3  # type: ignore[arg-type]
    record = json.loads((tmp_path / "p.jsonl.run.json").read_text())
    assert re.fullmatch(r"paper-[0-9a-f]{8}", record["prompts"])
    assert record["model"]["kind"] == "replay"
    assert ("n" in record["sampling"]) == (often or method == "sample")


def test_with_one_sample_every_method_is_its_plain_form(
    run: Run, snapshot: Path, questions: Path, tmp_path: Path
) -> None:
    model = f"replay:{recorded(tmp_path / 'recorded.jsonl')}"
    found = {}
    for method in ("sample", "self-consistency", "drag", "drag-graph"):
        out = tmp_path / f"{method}.jsonl"
        arguments = [questions, "--model", model, "--method", method, "--samples", 1, "--snapshot", snapshot]
        assert run(*arguments, "--out", out)[0] == 0
        found[method] = [(row.get("short", row["prediction"]), row["samples"]) for row in lines(out)]
    assert len({str(rows) for rows in found.values()}) == 1


def test_one_sampling_run_serves_all_methods(run: Run, snapshot: Path, questions: Path, tmp_path: Path) -> None:
    log, kept = tmp_path / "asked.txt", tmp_path / "kept.sqlite"
    with serving(log=str(log)) as (address, _):
        common = [questions, "--model", f"openai:{address}?answers={kept}#m", "--snapshot", snapshot]
        drawn = tmp_path / "1.jsonl"
        assert run(*common, "--method", "drag-graph", "--samples", 4, "--out", drawn)[0] == 0
        first = len(log.read_text().splitlines())
        assert run(*common, "--method", "self-consistency", "--samples", 3, "--out", tmp_path / "2.jsonl")[0] == 0
        assert run(*common, "--method", "sample", "--out", tmp_path / "3.jsonl")[0] == 0
        assert len(log.read_text().splitlines()) == first
    samples, fewer, single = (lines(tmp_path / f"{n}.jsonl") for n in (1, 2, 3))
    for many, some, one in zip(samples, fewer, single, strict=True):
        assert many["samples"][:3] == some["samples"]  # type: ignore[index]
        assert many["samples"][:1] == one["samples"]  # type: ignore[index]


def test_what_was_not_answered_is_told_and_asked_again(run: Run, questions: Path, tmp_path: Path) -> None:
    log, out = tmp_path / "asked.txt", tmp_path / "p.jsonl"
    with serving(log=str(log), refuse="Bob Lang") as (address, settings):
        common = [questions, "--model", f"openai:{address}#m", "--out", out]
        status, _, told = run(*common)
        assert status == 1
        assert "1 row rejected" in told
        assert [row["id"] for row in lines(out)] == ["0", "2"]
        (rejected,) = lines(tmp_path / "p.jsonl.rejects.jsonl")
        assert str(rejected["reason"]).startswith("refused: ")
        settings.refuse = ""
        assert run(*common, "--force")[0] == 0
    assert [row["id"] for row in lines(out)] == ["0", "1", "2"]
    assert not (tmp_path / "p.jsonl.rejects.jsonl").exists()
    assert len(log.read_text().splitlines()) == 3


def test_prompts_of_ones_own(run: Run, questions: Path, tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "answer.txt").write_text("[user]\nTell me: {{question}}\n")
    replay = tmp_path / "r.jsonl"
    replay.write_text("".join(json.dumps({"prompt": f"Tell me: {q}", "answers": ["Ulm"]}) + "\n" for q in DRAWN))
    out = tmp_path / "p.jsonl"
    assert run(questions, "--model", f"replay:{replay}", "--prompts", folder, "--out", out)[0] == 0
    assert {row["prediction"] for row in lines(out)} == {"Ulm"}
    (folder / "answer.txt").write_text("[user]\nTell me.\n")
    status, _, told = run(questions, "--model", f"replay:{replay}", "--prompts", folder, "--out", tmp_path / "q.jsonl")
    assert (status, "{{question}}" in told) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "drag-graph"], "give --snapshot"),
        (["--method", "drag", "--support", "0.5"], "drag-graph's"),
        (["--method", "self-consistency", "--model", "replay:x?temperature=0"], "cannot sample so"),
        (["--method", "guess"], "guess"),
        (["--model", "replay:x?temperature=3", "--method", "sample"], "less than or equal to 2"),
    ],
)
def test_wrong_usage(run: Run, questions: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    out = tmp_path / "p.jsonl"
    model = f"replay:{recorded(tmp_path / 'recorded.jsonl')}"
    status, _, told = run(questions, "--model", model, "--out", out, *arguments)
    assert status == 2
    assert message in told
    assert not out.exists()
