"""Doubtful links: the sheet, the decisions read back, and the least confidence that is demanded."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from abstraction.base.tiers import REASONS, Abstention
from tests.conftest import Run
from tests.worlds import entity, snapshot_at

WORLD = (
    entity("Q30", "United States of America", P31="Q3624078"),
    entity("Q812", "Florida", P31="Q35657", P17="Q30"),
    entity("Q986329", "Jupiter", "town in Florida", P31="Q515", P131="Q812"),
    entity("Q634", "planet", P279="Q6999"),
    entity("Q313013", "Ada King", "English pianist", P31="Q5", P106="Q486748"),
)


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    return snapshot_at(tmp_path / "w.sqlite", WORLD)


def asked(path: Path, *rows: tuple[str, str]) -> Path:
    lines = [json.dumps({"id": str(n), "question": q, "answer": a}) for n, (q, a) in enumerate(rows, 1)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def made(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_sheet_is_written_and_read_back(run: Run, tmp_path: Path, snapshot: Path) -> None:
    rows = asked(
        tmp_path / "qa.jsonl",
        ("Where did they meet?", "Jupiter"),
        ("What is the largest planet?", "Jupiter"),
        ("Where is it?", "the pianist Ada King, Jupiter"),
    )
    out, sheet = tmp_path / "out.jsonl", tmp_path / "review.csv"
    assert run("tiers", rows, "--snapshot", snapshot, "--out", out, "--review", sheet)[0] == 0
    with sheet.open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert [(line["id"], line["confidence"], line["reason"]) for line in lines] == [
        ("1", "medium", "only"), ("2", "", "ambiguous-link"), ("3", "", "no-link")
    ]  # fmt: skip
    assert lines[0]["meant"] == "Q986329 Jupiter: town in Florida"
    assert "Q986329 Jupiter" in lines[1]["rivals"]
    assert "Florida" in lines[1]["holds"]
    assert "Q313013 Ada King: English pianist" in lines[2]["rivals"]
    lines[0]["decision"], lines[1]["decision"] = "none", "q986329"
    with sheet.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, lines[0])
        writer.writeheader()
        writer.writerows(lines)
    assert run("tiers", rows, "--snapshot", snapshot, "--out", out, "--decisions", sheet, "--force")[0] == 0
    first, second, _ = made(out)
    assert (first["abstained"], len(first["levels"])) == ("no-link", 1)
    assert second["links"][0]["confidence"] == "given"


@pytest.mark.parametrize(("least", "code"), [("low", None), ("medium", None), ("high", "uncertain-link")])
def test_the_least_confidence(run: Run, tmp_path: Path, snapshot: Path, least: str, code: str | None) -> None:
    rows = asked(tmp_path / "qa.jsonl", ("Where did they meet?", "Jupiter"))
    out = tmp_path / "out.jsonl"
    assert run("tiers", rows, "--snapshot", snapshot, "--out", out, "--min-confidence", least)[0] == 0
    assert made(out)[0].get("abstained") == code


@pytest.mark.parametrize(
    ("text", "told"),
    [("id,answer\n1,x\n", "no column decision"), ("id,answer,decision\n1,x,Paris\n", "expected an item's id")],
)
def test_bad_sheets(run: Run, tmp_path: Path, snapshot: Path, text: str, told: str) -> None:
    rows = asked(tmp_path / "qa.jsonl", ("Where did they meet?", "Jupiter"))
    sheet = tmp_path / "review.csv"
    sheet.write_text(text, encoding="utf-8")
    code, _, error = run("tiers", rows, "--snapshot", snapshot, "--out", tmp_path / "o.jsonl", "--decisions", sheet)
    assert code != 0
    assert told in error


def test_every_reason_is_told() -> None:
    assert set(REASONS) == set(Abstention)


def test_one_ladder_tells_its_doubts(run: Run, snapshot: Path) -> None:
    _, out, _ = run("ladder", "What is the largest planet?", "Jupiter", "--snapshot", snapshot)
    assert "ambiguous-link: the answer’s name may mean another entity" in " ".join(out.split())
    assert "may be Q986329 Jupiter: town in Florida" in out


def test_decisions_reach_a_dataset(run: Run, tmp_path: Path, snapshot: Path) -> None:
    rows = asked(tmp_path / "qa.jsonl", ("Where did they meet?", "Jupiter"), ("Where is he now?", "Jupiter"))
    sheet, decided, out = tmp_path / "review.csv", tmp_path / "decided.csv", tmp_path / "out"
    building = ("dataset", rows, "--snapshot", snapshot, "--out", out)
    assert run(*building, "--review", sheet)[0] == 0
    assert [line["id"] for line in csv.DictReader(sheet.open(encoding="utf-8"))] == ["1", "2"]
    decided.write_text("id,answer,decision\n1,Jupiter,none\n2,Jupiter,Q986329\n", encoding="utf-8")
    again = ("--decisions", decided, "--min-confidence", "given", "--review", sheet)
    assert run(*building, *again, "--force")[0] == 0
    assert not list(csv.DictReader(sheet.open(encoding="utf-8")))  # what is decided is asked once
    assert [row["reason"] for row in made(out / "dropped.jsonl")] == ["no-link"]
    (row,) = made(out / "data" / "test.jsonl")
    assert (row["id"], json.loads(str(row["links"]))[0]["confidence"]) == ("2", "given")
    assert "--decisions decided.csv" in json.loads((out / "build.json").read_text())["command"]


def test_tiered_rows_keep_their_links(run: Run, tmp_path: Path, snapshot: Path) -> None:
    rows = asked(tmp_path / "qa.jsonl", ("Where did they meet?", "Jupiter"))
    first, again = tmp_path / "first.jsonl", tmp_path / "again.jsonl"
    run("tiers", rows, "--snapshot", snapshot, "--out", first)
    (row,) = made(first)
    (link,) = row["links"]  # type: ignore[misc]  # a list
    link["rule"] = "kept"
    first.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert run("tiers", first, "--snapshot", snapshot, "--out", again)[0] == 0
    (same,) = made(again)
    assert (same["levels"], same["links"]) == (row["levels"], row["links"])


@pytest.mark.parametrize(
    "links",
    [
        "none", 7, [7], [{}], [{"qid": 7}], [{"qid": "Berlin"}], [{"answer": ["Jupiter"], "qid": "Q986329"}],
        [{"qid": "Q986329", "confidence": ["high"], "rule": {}, "rivals": 7, "share": float("1e9")}],
    ],
)  # fmt: skip
def test_links_that_are_none_of_ours_harm_nothing(run: Run, tmp_path: Path, snapshot: Path, links: object) -> None:
    row = {"id": "1", "question": "Where did they meet?", "answer": "Jupiter", "levels": [["Jupiter"]], "links": links}
    rows, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    rows.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert run("tiers", rows, "--snapshot", snapshot, "--out", out)[0] == 0
    (made_row,) = made(out)
    assert [link["qid"] for link in made_row["links"]] == ["Q986329"]  # type: ignore[attr-defined]  # a list
    assert made_row["links"][0]["confidence"] in ("low", "medium")  # type: ignore[index]
