"""`granola tiers` and `granola ladder` as they are called: output, messages, exit status, files left."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.command_line import run_granola
from tests.conftest import Run
from tests.worlds import CLASSES, entity, snapshot_at

WORLD = (
    *CLASSES,
    entity("Q64", "Berlin", "capital of Germany", P31="Q515", P131="Q183", P17="Q183", aliases=["Berlin, Germany"]),
    entity("Q183", "Germany", "country in Central Europe", P31="Q3624078", P30="Q46"),
    entity("Q46", "Europe", "continent", P31="Q5107"),
    entity("Q937", "Albert Einstein", "physicist", P31="Q5", P569=1879),
)  # fmt: skip


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    return snapshot_at(tmp_path / "world.sqlite", WORLD)


QUESTIONS = [
    {"id": "1", "relation": "P19", "question": "Where was Ada born?", "answer": "Berlin", "answer_qid": "Q64"},
    {"id": "2", "relation": "P569", "question": "When was Albert Einstein born?", "answer": "1879"},
    {"id": "3", "relation": "P19", "question": "Where was Bob born?", "answer": "Nowhere"},
]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "qa.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS))
    return path


def test_sitelinks_of_the_entity_asked_about_where_the_snapshot_counts_them(run: Run, tmp_path: Path) -> None:
    counted = entity("Q7259", "Ada Lovelace", "mathematician", P31="Q5", sitelinks=150)
    uncounted = entity("Q937", "Albert Einstein", "physicist", P31="Q5")
    snapshot = snapshot_at(tmp_path / "counted.sqlite", (*WORLD[:-1], counted, uncounted))
    asked = [("1", "Q7259", {}), ("2", "Q937", {}), ("3", "Q7259", {"question_entity_sitelinks": 3}), ("4", "Q1", {})]
    rows = [{**QUESTIONS[0], "id": id_, "question_entity": {"qid": qid}, **own} for id_, qid, own in asked]
    (tmp_path / "qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("tiers", tmp_path / "qa.jsonl", "--snapshot", snapshot, "--out", tmp_path / "tiers.jsonl")[0] == 0
    made = [json.loads(line) for line in (tmp_path / "tiers.jsonl").read_text().splitlines()]
    assert [row.get("question_entity_sitelinks") for row in made] == [150, None, 3, None]  # the row's own stays


def test_tiers_and_coverage(run: Run, snapshot: Path, questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "tiers.jsonl"
    code, stdout, _ = run("tiers", questions, "--snapshot", snapshot, "--out", out)
    assert code == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["id"] for row in rows] == ["1", "2", "3"]
    assert rows[0]["schema_version"] == 1
    assert rows[0]["levels"][1]["tiers"][0]["text"] == "Germany"
    assert rows[1]["levels"][1]["tiers"][0]["text"] == "the 1870s"
    assert rows[1]["levels"][1]["tiers"][0]["evidence"][0]["property"] == "P569"
    assert rows[2]["abstained"] == "no-link"
    table = {cells[0]: cells for line in stdout.splitlines() if (cells := re.split(r"\s{2,}", line.strip()))}
    assert table["P19 place of birth"][1:3] == ["2", "1"]
    assert table["total"][1:3] == ["3", "2"]
    assert "abstained: no-link" in stdout
    record = json.loads((tmp_path / "tiers.jsonl.run.json").read_text())
    assert record["arguments"]["relation"] is None
    assert record["coverage"]["total"]["questions"] == 3
    assert record["snapshot"]
    assert not (tmp_path / "tiers.jsonl.rejects.jsonl").exists()


def test_rejected_rows_are_listed_and_the_status_is_1(
    run: Run, snapshot: Path, questions: Path, tmp_path: Path
) -> None:
    questions.write_text(questions.read_text() + '{"question": "A?"}\n{broken\n')
    out = tmp_path / "t.jsonl"
    code, _, err = run("tiers", questions, "--snapshot", snapshot, "--out", out)
    assert code == 1
    assert len(out.read_text().splitlines()) == 3
    rejects = [json.loads(line) for line in (tmp_path / "t.jsonl.rejects.jsonl").read_text().splitlines()]
    assert [r["source"] for r in rejects] == [f"{questions}:4", f"{questions}:5"]
    assert "2 rows rejected" in err
    questions.write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS))
    assert run("tiers", questions, "--snapshot", snapshot, "--out", out, "--force")[0] == 0
    assert not (tmp_path / "t.jsonl.rejects.jsonl").exists()


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet", "granola-eq"])
def test_formats(run: Run, snapshot: Path, questions: Path, tmp_path: Path, format: str) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow")
    out = tmp_path / "t.out"
    assert run("tiers", questions, "--snapshot", snapshot, "--out", out, "--format", format)[0] == 0
    from abstraction.files.rows import read_tiered

    out = out.rename(tmp_path / f"t.{'jsonl' if format == 'granola-eq' else format}")
    assert [level.tiers[0].text for level in next(read_tiered(out)).levels][:2] == ["Berlin", "Germany"]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("", [], "is empty"),
        (None, ["--relation", "birthplace"], "expected a WikiData property id"),
        (None, ["--snapshot", "{questions}"], "snapshot"),
        (None, ["--snapshot", "{absent}"], "absent"),
        (None, ["--out", "{questions}"], "also an input"),
        (None, ["--out", "{questions}", "--force"], "also an input"),
        (None, ["--limit", "0"], "limit"),
        (None, ["--format", "xml"], "format"),
        (None, ["--out", "-", "--format", "csv"], "standard output"),
    ],
)
def test_unusable_input_gets_status_2_and_leaves_nothing(
    run: Run, snapshot: Path, questions: Path, tmp_path: Path, content: str | None, options: list[str], message: str
) -> None:
    if content is not None:
        questions.write_text(content)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    places = {"questions": questions, "absent": tmp_path / "absent"}
    given = [option.format(**places) for option in options]
    base = ["--snapshot", str(snapshot), "--out", str(tmp_path / "t.jsonl")]
    code, out, err = run("tiers", questions, *base, *given)
    assert code == 2
    assert out == ""
    import re

    assert re.search(message, err)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_ladder_shows_tiers_and_evidence(run: Run, snapshot: Path) -> None:
    code, out, err = run("ladder", "Where was Ada born?", "Berlin", "--snapshot", snapshot)
    assert code == 0
    assert "Germany Q183" in out
    assert "Berlin (Q64) — P131 — Germany (Q183)" in out
    assert "P19" in err


def test_ladder_as_json_and_by_id(run: Run, snapshot: Path) -> None:
    options = ["--answer-qid", "Q64", "--relation", "p19", "--subject-qid", "Q937", "--json"]
    code, out, _ = run("ladder", "Where did it begin?", "the town", "--snapshot", snapshot, *options)
    assert code == 0
    row = json.loads(out)
    assert row["relation"] == "P19"
    assert row["levels"][0]["tiers"][0] == {
        "text": "the town", "qid": "Q64", "aliases": ["Berlin", "Berlin, Germany"], "evidence": []
    }  # fmt: skip
    assert row["levels"][1]["tiers"][0]["qid"] == "Q183"


def test_ladder_abstains_aloud(run: Run, snapshot: Path) -> None:
    code, out, _ = run("ladder", "Where was Ada born?", "Nowhere", "--snapshot", snapshot)
    assert code == 0
    assert "abstained: no-link" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Where was Ada born?", ""], "must not be empty"),
        (["Where was Ada born?", "Berlin", "--answer-qid", "Berlin"], "no item id"),
        (["Where was Ada born?", "Berlin", "--answer-qid", "Q99999999"], "the snapshot has no such entity"),
        (["Where was Ada born?", "Berlin", "--relation", "P99999"], "no entity of the snapshot has this property"),
        (["Where was Ada born?", "Berlin", "--relation", "place of birht"], "nearest: P19"),
    ],
)
def test_ladder_refuses(run: Run, snapshot: Path, arguments: list[str], message: str) -> None:
    code, _, err = run("ladder", *arguments, "--snapshot", snapshot)
    assert code == 2
    assert message in err


def test_an_address_is_no_file(tmp_path: Path) -> None:
    done = run_granola("score", "https://example.org/q.jsonl", tmp_path / "none.jsonl")
    assert done.returncode == 2
    assert "https://example.org/q.jsonl is an address" in done.stderr


def test_what_a_user_may_have_mixed_up_is_told(run: Run, tmp_path: Path, snapshot: Path) -> None:
    rows = tmp_path / "q.csv"
    rows.write_text("question,answer\nBerlin,Where was Ada born?\n", encoding="utf-8")
    words = ("tiers", rows, "--snapshot", snapshot)
    assert "are the columns exchanged?" in run(*words, "--out", tmp_path / "t.jsonl")[2]
    both = tmp_path / "both.csv"
    both.write_text("question,answer,answers\nWhere was Ada born?,Berlin,Paris\n", encoding="utf-8")
    _, out, err = run("tiers", both, "--snapshot", snapshot, "--out", "-")
    assert ("1 row with both 'answer' and 'answers'" in err, json.loads(out)["answers"]) == (True, "Paris")
    status, _, err = run(*words, "--out", tmp_path / "t2.jsonl", "--language", "English")
    assert (status, "--language 'English' is no code; expected en" in err) == (2, True)
    for out in ("--out=https://example.org/t.jsonl", "--out"):
        done = run_granola(*words, out, *(["https://example.org/t.jsonl"] if out == "--out" else []), cwd=tmp_path)
        assert (done.returncode, "is an address; outputs are files" in done.stderr) == (2, True)
    assert run_granola(cwd=tmp_path).stdout.lstrip().startswith("Usage: granola")


def test_the_coverage_as_json(run: Run, tmp_path: Path, snapshot: Path, questions: Path) -> None:
    words = ("tiers", questions, "--snapshot", snapshot, "--json", "--out")
    status, out, _ = run(*words, tmp_path / "tiers.jsonl")
    assert (status, json.loads(out)["coverage"]["total"]["questions"]) == (0, 3)
    status, out, err = run(*words, "-")  # the rows have standard output to themselves
    assert (status, len(out.splitlines()), json.loads(err)["coverage"]["total"]["questions"]) == (0, 3, 3)


def test_rejects_are_listed_also_where_no_row_can_be_used(run: Run, tmp_path: Path, snapshot: Path) -> None:
    rows = tmp_path / "q.csv"
    rows.write_text("question,answer\nWhere?,\n", encoding="utf-8")
    words = ("tiers", rows, "--snapshot", snapshot, "--out", tmp_path / "new" / "tiers.jsonl")
    for _ in range(2):  # what is left of a run that failed is in nobody's way
        status, _, err = run(*words)
        assert status == 2
        listed = tmp_path / "new" / "tiers.jsonl.rejects.jsonl"
        assert f"listed in {listed}" in err
        assert [json.loads(line)["source"] for line in listed.read_text().splitlines()] == [f"{rows}:2"]
        assert not (tmp_path / "new" / "tiers.jsonl").exists()
