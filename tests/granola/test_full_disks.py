"""A full disk: named as such, without a traceback, and nothing half written is left."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

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
