"""A full disk and loops of symbolic links: told as such, without a traceback, and nothing half written is left."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from kg.store.sqlite import SQLiteStore
from tests.conftest import Run
from tests.worlds import CLASSES, entity, snapshot_at

pytestmark = pytest.mark.thorough("granola/commands")

FULL = "No space left on device: the disk is full; free some of it, or name a place on another"
needs_pyarrow = pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 kB."""
    place = tmp_path / "small"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot that takes more than the small disk in any format."""
    source = random.Random(0)
    texts = (source.randbytes(24).hex() for _ in iter(int, 1))
    entities = (entity(f"Q{n}", next(texts), next(texts), P31="Q5") for n in range(100_000, 120_000))
    return snapshot_at(tmp_path_factory.mktemp("large") / "large.sqlite", [*CLASSES, *entities])


def told(code: int, stderr: str, small: Path, name: str) -> None:
    assert code == 2
    assert FULL in stderr
    assert f"{small / name}" in stderr
    assert len(stderr.splitlines()) == 1
    assert list(small.iterdir()) == []


@pytest.mark.parametrize(
    "format", [pytest.param(one, marks=needs_pyarrow if "parquet" in one else ()) for one in
               ("parquet", "nt")]
)  # fmt: skip
def test_exports(run: Run, large: Path, small: Path, format: str) -> None:
    code, _, stderr = run("snapshot", "export", large, "--format", format, "--out", small / "out")
    told(code, stderr, small, "out")


def test_changes_between_snapshots(run: Run, large: Path, small: Path, tmp_path: Path) -> None:
    empty = snapshot_at(tmp_path / "empty.sqlite", CLASSES)
    for old, new in ((empty, large), (large, empty)):
        code, _, stderr = run("snapshot", "diff", old, new, "--changes", small / "changes.jsonl")
        told(code, stderr, small, "changes.jsonl")


@pytest.mark.parametrize("ending", ["jsonl", "csv", pytest.param("parquet", marks=needs_pyarrow)])
def test_rows(run: Run, small: Path, tmp_path: Path, ending: str) -> None:
    source = random.Random(0)
    rows = tmp_path / "rows.jsonl"
    with rows.open("w") as stream:
        for n in range(2000):
            row = {"id": str(n), "prediction": source.randbytes(200).hex(), "answers": ["x"]}
            stream.write(json.dumps(row) + "\n")
    code, _, stderr = run("match", rows, "--out", small / f"out.{ending}")
    told(code, stderr, small, f"out.{ending}")


COMMANDS = [
    "tiers {loop} --snapshot {world} --out {out}",
    "tiers {qa} --snapshot {world} --out {loop}/out.jsonl",
    "dataset {qa} --snapshot {world} --out {loop}",
    "match {qa} --out {loop}",
    "report {qa} {qa} --out {loop}",
    "snapshot info {loop}",
    "snapshot build {loop} --out {out}",
    "snapshot export {world} --format parquet --out {loop}/out",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_loops_of_links(run: Run, tmp_path: Path, command: str) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(tmp_path / "back")
    (tmp_path / "back").symlink_to(loop)
    world = snapshot_at(tmp_path / "world.sqlite", CLASSES)
    qa = tmp_path / "qa.jsonl"
    qa.write_text('{"id": "1", "question": "Who?", "answer": "Ada", "prediction": "x", "answers": ["x"]}\n')
    given = {"loop": loop, "world": world, "qa": qa, "out": tmp_path / "out.jsonl"}
    code, _, stderr = run(*(word.format(**given) for word in command.split()))
    assert code == 2
    assert "is a loop of symbolic links" in stderr
    assert len(stderr.splitlines()) == 1
    assert loop.is_symlink()
    assert not (tmp_path / "out.jsonl").exists()


def test_loops_of_links_in_python(tmp_path: Path) -> None:
    from abstraction.datasets.building import check_place
    from kg.errors import OutputError
    from kg.files import atomic_path

    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(OutputError, match="loop of symbolic links"), atomic_path(loop):
        pass
    with pytest.raises(OutputError, match="loop of symbolic links"):
        check_place(loop / "out", [], force=True)
    with pytest.raises(OSError, match=str(loop)):
        SQLiteStore.open(loop)
