"""What the command line must never do: destroy an input, take nothing for everything, end in a traceback."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from abstraction.files.rows import read_tiered
from tests.conftest import Run
from tests.worlds import CLASSES, entity, snapshot_at

FILES = Path(__file__).parent / "files"
WORLD = (
    *CLASSES,
    entity("Q64", "Berlin", "capital of Germany", P31="Q515", P131="Q183", P17="Q183"),
    entity("Q183", "Germany", "country in Central Europe", P31="Q3624078", P30="Q46"),
    entity("Q46", "Europe", "continent", P31="Q5107"),
)
QA = {"id": "1", "relation": "P19", "question": "Where was Ada born?", "answer": "Berlin"}
CODE = "import sys; from granola.commands.cli.main import main; sys.argv[0] = 'granola'; main()"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    snapshot_at("s.sqlite", WORLD)
    Path("qa.jsonl").write_text(json.dumps(QA) + "\n")
    Path("bad.csv").write_text("question,answer\n,\n")
    Path("ids.bin").write_bytes(b"\xff\xfe\x00")
    Path("dump.json").write_text('{"id": "Q1", "type": "item", "labels": {}, "claims": {}}\n')
    for name in ("tiers", "cautious"):
        Path(f"{name}.jsonl").write_bytes((FILES / f"{name}.jsonl").read_bytes())
    Path("folder").mkdir()
    Path("link.sqlite").symlink_to("s.sqlite")
    os.mkfifo("pipe")
    return tmp_path


@pytest.fixture(name="run")
def run_in_folder(folder: Path, run: Run) -> Run:
    return run


def contents(folder: Path) -> dict[str, bytes | None]:
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


TIERS = "tiers qa.jsonl --snapshot s.sqlite --out"
SCORE = "score tiers.jsonl cautious.jsonl --out"
BUILD = "snapshot build dump.json --out"
LONG = "x" * 250  # a name that is allowed, but not with .run.json behind it


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (f"{TIERS} s.sqlite --force", "also an input"),
        (f"{TIERS} link.sqlite --force", "also an input"),
        (f"{TIERS} ./folder/../s.sqlite --force", "also an input"),
        ("tiers t.jsonl.rejects.jsonl --snapshot s.sqlite --out t.jsonl --force", "also an input"),
        (f"{SCORE} tiers.jsonl --force", "also an input"),
        (f"{BUILD} qa.jsonl --qa qa.jsonl --force", "also an input"),
        ("snapshot export s.sqlite --format nt --out link.sqlite --force", "also an input"),
        (f"{SCORE} qa.jsonl", "exists; give --force"),
        (f"{SCORE} -", "--out takes a file"),
        (f"{BUILD} -", "--out takes a file"),
        (f"{TIERS} folder", "is a folder"),
        (f"{TIERS} pipe", "no regular file"),
        (f"{SCORE} pipe --force", "no regular file"),
        (f"{BUILD} pipe --force", "no regular file"),
        (f"{TIERS} qa.jsonl/t.jsonl", "is a file, not a folder"),
        (f"{SCORE} {LONG}", "File name too long"),
        (f"{TIERS} {LONG}.jsonl", "File name too long"),
        (f"{TIERS} t.xlsx", ".xlsx is not known; expected .jsonl"),
        (f"{TIERS} t.parquet.gz", "leave the .gz out"),
        (f"{TIERS} t.jsonl --language=", "--language is empty"),
        ("tiers - - --snapshot s.sqlite --out t.jsonl", "given twice"),
        ("score - -", "given twice"),
        (f"{BUILD} o.sqlite --ids=", "nothing selected"),
        (f"{BUILD} o.sqlite --ids ,", "nothing selected"),
        (f"{BUILD} o.sqlite --qa bad.csv", "nothing selected"),
        (f"{BUILD} o.sqlite --ids-from folder", "folder: Is a directory"),
        (f"{BUILD} o.sqlite --ids-from ids.bin", "no text in UTF-8"),
        ("demo --out=", "--out is empty"),
        (f"{TIERS} caf\udce9.jsonl", "is not UTF-8"),
    ],
)
def test_refused_with_status_2_and_nothing_changed(run: Run, folder: Path, command: str, message: str) -> None:
    (folder / "t.jsonl.rejects.jsonl").write_text(json.dumps(QA) + "\n")
    if "rejects" not in command:
        (folder / "t.jsonl.rejects.jsonl").unlink()
    before = contents(folder)
    code, out, err = run(*command.split())
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert contents(folder) == before


def test_files_beside_the_output_need_force_too(run: Run, folder: Path) -> None:
    rejects = folder / "t.jsonl.rejects.jsonl"
    rejects.write_text("mine\n")
    code, _, err = run(*TIERS.split(), "t.jsonl")
    assert (code, rejects.read_text()) == (2, "mine\n")
    assert "t.jsonl.rejects.jsonl exists" in err
    assert run(*TIERS.split(), "t.jsonl", "--force")[0] == 0
    assert not rejects.exists()


def test_a_symlink_stays_and_its_target_is_written(run: Run, folder: Path) -> None:
    (folder / "link.jsonl").symlink_to("folder/real.jsonl")
    assert run(*TIERS.split(), "link.jsonl")[0] == 0
    assert (folder / "link.jsonl").is_symlink()
    assert len(list(read_tiered(folder / "folder" / "real.jsonl"))) == 1


def test_no_output_without_its_record(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import granola.base.run_record as records

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "t.jsonl.run.json")

    monkeypatch.setattr(records, "atomic_path", full)
    for command in (f"{TIERS} t.jsonl", f"{SCORE} t.jsonl"):
        code, _, err = run(*command.split())
        assert code == 2
        assert "t.jsonl.run.json: No space left on device" in err
        assert not (folder / "t.jsonl").exists()


@pytest.mark.parametrize("name", ["t.jsonl.gz", "t.csv.gz"])
def test_gz_is_gzip_and_reads_back(run: Run, folder: Path, name: str) -> None:
    assert run(*TIERS.split(), name)[0] == 0
    first = (folder / name).read_bytes()
    assert gzip.decompress(first)
    assert [row.id for row in read_tiered(folder / name)] == ["1"]
    assert run(*TIERS.split(), name, "--force")[0] == 0
    assert (folder / name).read_bytes() == first


def test_score_lists_rejects_and_scores_from_standard_input(run: Run, folder: Path) -> None:
    lines = (folder / "cautious.jsonl").read_text().splitlines(keepends=True)
    (folder / "c.jsonl").write_text("".join([lines[0], "null\n", *lines[2:]]))
    code, _, err = run("score", "tiers.jsonl", "c.jsonl", "--allow-missing", "--out", "items.jsonl")
    assert code == 1
    assert "1 rejected row listed in items.jsonl.rejects.jsonl" in err
    listed = [json.loads(line) for line in (folder / "items.jsonl.rejects.jsonl").read_text().splitlines()]
    assert [row["reason"] for row in listed] == ["JSON, but not an object"]
    command = [sys.executable, "-c", CODE, "score", "-", "cautious.jsonl", "--json"]
    ran = subprocess.run(command, input=(folder / "tiers.jsonl").read_bytes(), capture_output=True, check=True)
    assert json.loads(ran.stdout)["n"] == 6


def test_demo_replaces_only_its_own(run: Run, folder: Path) -> None:
    (folder / "d").mkdir()
    (folder / "d" / "tiers.jsonl").write_text("mine\n")
    code, _, err = run("demo", "--out", "d")
    assert code == 2
    assert "not an earlier demo's" in err
    assert contents(folder / "d") == {"tiers.jsonl": b"mine\n"}
    (folder / "d" / "tiers.jsonl").unlink()
    (folder / "d" / "tiers.jsonl").mkdir()
    assert run("demo", "--out", "d", "--force")[0] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--language", "xx"), "no label in 'xx'"),
        (("--language", "de"), "phrase tiers exist for English only"),
        (("--relation", "P31"), "no row in the relation table"),
        (("--format", "granola-eq"), "aliases, siblings and evidence are not kept"),
    ],
)
def test_warnings_on_stderr(run: Run, options: tuple[str, str], message: str) -> None:
    code, _, err = run(*TIERS.split(), "t.jsonl", *options)
    assert code == 0
    assert message in err
    if options[0] != "--format":
        assert message in run("ladder", "Where was Ada born?", "Berlin", "--snapshot", "s.sqlite", *options)[2]


def shell(folder: Path, line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    (folder / "granola.py.txt").write_text(CODE)
    script = f'granola() {{ "{sys.executable}" -c "$(cat granola.py.txt)" "$@"; }}\n{line}'
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, env={**os.environ, **environment}, check=False
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_behind_standard_output(folder: Path) -> None:
    ran = shell(folder, "granola score tiers.jsonl cautious.jsonl --json > /dev/full")
    assert ran.returncode == 2
    told = ran.stderr.decode().strip()
    assert told.startswith("granola: cannot write to standard output: No space left on device: the disk is full; ")
    assert "\n" not in told


def test_a_reader_that_leaves_is_no_failure_of_ours(folder: Path) -> None:
    ran = shell(folder, "granola score tiers.jsonl cautious.jsonl | true; echo ${PIPESTATUS[0]}")
    assert ran.stdout.decode().strip() in ("0", "141")
    assert b"Traceback" not in ran.stderr
    assert b"Exception" not in ran.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_what_may_not_be_read_or_written(run: Run, folder: Path) -> None:
    (folder / "folder").chmod(0o500)
    assert run(*TIERS.split(), "folder/t.jsonl")[0] == 2
    (folder / "qa.jsonl").chmod(0)
    code, _, err = run(*TIERS.split(), "t.jsonl")
    assert code == 2
    assert "qa.jsonl: Permission denied" in err
