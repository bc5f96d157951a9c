"""`granola dataset` and docs/how-to/publish-a-dataset.md, as users run them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import granola
from abstraction.files.rows import read_questions, read_tiered
from kg.building import snapshot
from tests.command_line import run_granola

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
HOME = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "demo.sqlite"
    snapshot.build([ROOT / "granola" / "demo" / "wikidata.json"], path)
    return path


def run(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *map(str, words)]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )


def dataset(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_granola("dataset", *words, cwd=cwd)


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_the_datasets_library_loads_the_folder_offline(demo: Path, tmp_path: Path, format: str) -> None:
    if find_spec("datasets") is None:
        pytest.skip("the datasets library is not installed (pip install -e '.[datasets]')")
    qa = tmp_path / "q.jsonl"
    qa.write_text(
        '{"id": "1", "question": "Where was Albert Einstein born?", "answer": "Ulm", "n": 1, "tags": ["a"]}\n'
        '{"id": "2", "question": "What is the capital of France?", "answer": ["Paris", "Paname"], "odd": {"x": 1}}\n'
    )
    done = dataset(qa, "--snapshot", demo, "--out", "out", "--format", format, "--split", "train", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    code = """
import json, sys
from datasets import load_dataset
rows = load_dataset("out", split="train", cache_dir="cache")
print(json.dumps([dict(rows[k]) for k in range(len(rows))]))
print(json.dumps({name: str(kind) for name, kind in rows.features.items()}))
"""
    environment = {**os.environ, **HOME, "HF_HOME": str(tmp_path / "home")}
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, env=environment
    )
    assert loaded.returncode == 0, loaded.stderr
    rows, features = map(json.loads, loaded.stdout.splitlines())
    assert [row["answers"] for row in rows] == [["Ulm"], ["Paris", "Paname"]]
    assert [row["n"] for row in rows] == [1, None]
    assert json.loads(rows[1]["odd"]) == {"x": 1}
    assert features["score_for_potential_error"] == "Value('float64')"
    assert rows[0]["levels"][0]["tiers"][0]["text"] == "Ulm"
    assert granola.match("in Germany", rows[0]["levels"]).level is not None


def test_a_published_row_keeps_all_its_answers_and_their_links(demo: Path, tmp_path: Path) -> None:
    qa = tmp_path / "q.csv"
    qa.write_text("question,answer\nWhere was Barack Obama born?,Honolulu|Kapiolani\n")
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("id,answer,decision\nnobody,Rome,Q220\n")
    done = dataset(qa, "--snapshot", demo, "--out", "out", "--decisions", sheet, cwd=tmp_path)
    assert "1 decision on no row that was read, as 'nobody'" in done.stderr
    rows = tmp_path / "out" / "data" / "test.jsonl"
    assert [row.answers for row in read_tiered(rows)] == [("Honolulu", "Kapiolani")]
    assert [(row.answers, row.answer_qids, "answers" in row.extra) for row in read_questions([rows])] == [
        (("Honolulu", "Kapiolani"), ("Q18094", None), False)
    ]


def test_rejected_rows_are_told_and_the_rest_is_built(demo: Path, tmp_path: Path) -> None:
    qa = tmp_path / "q.csv"
    qa.write_text("question,answer\nWhere was X born?,\nWhere was Albert Einstein born?,Ulm\n", encoding="utf-8")
    done = dataset(qa, "--snapshot", demo, "--out", "out", cwd=tmp_path)
    assert done.returncode == 1
    assert "1 row rejected; listed in out/rejected.jsonl" in done.stderr
    assert (tmp_path / "out" / "data" / "test.jsonl").read_text().count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("none.csv",), "no such file: none.csv"),
        (("-",), "not -"),
        (("wrong.csv",), "no question in wrong.csv can be used: 1 rejected"),
        (("folder",), "folder is a folder"),
        (("q.csv", "--threshold", "2"), "threshold 2.0 is out of range"),
        (("q.csv", "--split", "a b"), "split 'a b'"),
        (("q.csv", "--name", " "), "name ' '"),
        (("q.csv", "--out", "."), "contains the questions"),
        (("q.csv", "--out", "folder", "--force"), "no dataset built here"),
        (("q.csv", "--out", "q.csv"), "would be lost"),
        (("q.csv", "--snapshot", "q.csv"), "q.csv"),
        (("q.csv", "--trivial", "none.txt"), "none.txt"),
        (("q.csv", "--relation", "birthplace"), "unknown relation"),
        (("q.csv", "--without", "washing"), "washing"),
        (("q.csv", "--consistency", "replay:x", "--samples", "0"), "allowed: 1 or more"),
        (("q.csv", "--phrase", "replay:x?max_tokens=0"), "max_tokens: Input should be greater than or equal to 1"),
        (("q.csv", "--phrase-mode", "strict"), "--phrase-mode goes with --phrase MODEL"),
    ],
)
def test_wrong_use_is_told_and_leaves_nothing(demo: Path, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine.txt").write_text("mine")
    (tmp_path / "q.csv").write_text("question,answer\nWhere was Albert Einstein born?,Ulm\n")
    (tmp_path / "wrong.csv").write_text("Frage,Antwort\nWo?,Hier\n")
    defaults = [x for k, v in (("--snapshot", demo), ("--out", "out")) if k not in words for x in (k, v)]
    before = sorted(path.name for path in tmp_path.rglob("*"))
    done = dataset(*words, *defaults, cwd=tmp_path)
    assert (done.returncode, said in done.stderr, "Traceback" in done.stderr) == (2, True, False), done.stderr
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_the_command_on_the_card_makes_the_same_rows(demo: Path, tmp_path: Path) -> None:
    questions = ROOT / "granola" / "demo" / "questions.jsonl"
    made = dataset(
        questions, "--snapshot", demo, "--out", tmp_path / "first", "--name", "It's $HOME", "--without",
        "missing-answers", "--limit", 40, cwd=tmp_path,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    card = (tmp_path / "first" / "README.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"```sh\n(granola dataset .*)\n```", card)
    assert str(tmp_path) not in card
    again = tmp_path / "again"
    again.mkdir()
    for file in (questions, demo):
        (again / file.name).symlink_to(file)
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-euc", command], cwd=again, capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert (again / "first/data/test.jsonl").read_bytes() == (tmp_path / "first/data/test.jsonl").read_bytes()
    assert (again / "first/README.md").read_text(encoding="utf-8") == card


def test_rows_in_and_out_of_the_card_add_up(demo: Path, tmp_path: Path) -> None:
    given = [
        {"id": "a", "question": "Where was Barack Obama born?", "answer": "Honolulu"},
        {"id": "b", "question": "Where was he born?", "answer": "Xyzzyville"},
        {"id": "c", "question": "Is it in Hawaii?", "answer": "yes"},
        {"id": "d", "question": ""},
    ]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))
    made = dataset("q.jsonl", "--snapshot", demo, "--out", "out", cwd=tmp_path)
    assert made.returncode == 1, made.stderr  # a row was rejected
    card = (tmp_path / "out/README.md").read_text(encoding="utf-8")
    counts = [int(n.replace(",", "")) for n in re.findall(r"\| (-?[\d,]+) \|$", _part(card, "Rows in and out"), re.M)]
    assert counts[:5] == [4, -1, -2, 1, 1]
    assert "| place | 1 | 1 of 1 (100.0 %) |" in _part(card, "Classes of answers")
    assert "| high | 1 of 1 (100.0 %) |" in _part(card, "How sure the links are")
    assert "\n1. [Honolulu](https://www.wikidata.org/wiki/Q18094)\n2. " in _part(card, "Ladders")


def _part(card: str, title: str) -> str:
    return card.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
