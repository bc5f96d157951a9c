"""`granola snapshot export`, `build --from parquet` and `diff`, through the program's own entry point."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from dump_json import lines
from store_contract import ALL, PARIS

from tests.conftest import Run


@pytest.fixture(name="run")
def run_in_folder(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return run


@pytest.fixture(autouse=True)
def snapshot(run: Run, tmp_path: Path) -> Path:
    (tmp_path / "world.json").write_bytes(lines(*ALL))
    assert run("snapshot", "build", "world.json", "--out", "s.sqlite")[0] == 0
    return tmp_path / "s.sqlite"


def test_rdf_to_a_file_and_to_standard_output(run: Run, tmp_path: Path) -> None:
    code, out, err = run("snapshot", "export", "s.sqlite", "--format", "nt", "--out", "s.nt.gz")
    assert (code, out) == (0, "")
    assert f"triples of {len(ALL)} entities" in err
    code, out, _ = run("snapshot", "export", "s.sqlite", "--format", "nt", "--out", "-")
    assert code == 0
    assert out.encode() == gzip.decompress((tmp_path / "s.nt.gz").read_bytes())
    assert '<http://www.wikidata.org/entity/Q90> <http://www.w3.org/2000/01/rdf-schema#label> "Paris"@en .' in out


@pytest.mark.parametrize(
    ("format", "name", "message"),
    [
        ("ttl", "x.nt", "name the file .ttl or .ttl.gz"),
        ("nt", "x.TTL", "name the file .nt or .nt.gz"),
        ("ttl", "x.nt.gz", "name the file .ttl or .ttl.gz"),
        ("nt", "x.parquet", "name the file .nt or .nt.gz"),
        ("parquet", "x.nt", "name the file .parquet"),
        ("nt", "x.nt.bz2", "name the file .nt or .nt.gz"),
        ("ttl", "x.ttl.zst", "name the file .ttl or .ttl.gz"),
    ],
)
def test_a_name_that_says_another_format_is_refused(
    run: Run, tmp_path: Path, format: str, name: str, message: str
) -> None:
    code, out, err = run("snapshot", "export", "s.sqlite", "--format", format, "--out", name)
    assert (code, out) == (2, "")
    assert name in err
    assert message in err
    assert not (tmp_path / name).exists()


def test_what_does_not_fit_on_the_disk_is_told_by_its_own_name(run: Run) -> None:
    code, _, err = run("snapshot", "export", "s.sqlite", "--format", "nt", "--out", "/dev/full/x.nt")
    assert code == 2
    assert "-> None" not in err
    assert ".tmp" not in err


def test_outputs_that_would_destroy_something_are_refused(run: Run, snapshot: Path) -> None:
    before = snapshot.read_bytes()
    for words in (
        ["--format", "nt", "--out", "s.sqlite", "--force"],
        ["--format", "nt", "--out", "world.json"],
        ["--format", "parquet", "--out", "-"],
        ["--format", "parquet", "--out", "s.sqlite", "--force"],
        ["--format", "parquet", "--out", ".", "--force"],
    ):
        code, out, err = run("snapshot", "export", "s.sqlite", *words)
        assert (code, out) == (2, ""), words
        assert err.startswith("granola: ")
    assert snapshot.read_bytes() == before


def test_parquet_and_back(run: Run) -> None:
    assert run("snapshot", "export", "s.sqlite", "--format", "parquet", "--out", "tables")[0] == 0
    code, out, err = run("snapshot", "build", "--from", "parquet", "tables", "--out", "t.sqlite")
    assert (code, out) == (0, "")
    assert err.startswith(f"t.sqlite: {len(ALL)} entities, ")
    assert run("snapshot", "build", "--from", "parquet", "tables", "--out", "t.sqlite")[0] == 2
    code, out, _ = run("snapshot", "diff", "s.sqlite", "t.sqlite", "--json")
    assert code == 0
    assert json.loads(out)["same"]
    assert run("snapshot", "verify", "t.sqlite")[0] == 0
    assert run("snapshot", "info", "t.sqlite")[0] == 0


def test_diff_is_told_in_a_table_and_line_by_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "less.json").write_bytes(lines(*(one for one in ALL if one is not PARIS)))
    assert run("snapshot", "build", "less.json", "--out", "less.sqlite")[0] == 0
    code, out, _ = run("snapshot", "diff", "s.sqlite", "less.sqlite", "--changes", "changes.jsonl")
    assert code == 0
    table = {line.split()[0]: line.split()[1:] for line in out.partition("statements by")[0].splitlines()}
    assert table["entities"] == ["0", "1", "0"]
    assert table["statements"][1] == str(len(PARIS.statements))
    changes = [json.loads(line) for line in (tmp_path / "changes.jsonl").read_text().splitlines()]
    assert changes[0] == {"what": "entity", "kind": "removed", "entity": "Q90"}
    assert sum(one["what"] == "statement" for one in changes) == len(PARIS.statements)
    code, _, err = run("snapshot", "diff", "s.sqlite", "less.sqlite", "--changes", "less.sqlite", "--force")
    assert code == 2
    assert "would be lost" in err
