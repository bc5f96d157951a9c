"""What tests of this folder share. Property tests have no time limit an example: a busy machine is no failure."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from dump_json import lines
from hypothesis import settings
from springfield import WORLD

from kg.reading import dump as reading
from kg.reading import streams

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A world of towns as a dump."""
    path = tmp_path / "world.json.gz"
    path.write_bytes(gzip.compress(lines(*WORLD)))
    return path


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dumps are read in blocks so small that a small one has many."""
    monkeypatch.setattr(reading, "BLOCK", 8000)
    monkeypatch.setattr(streams, "BLOCK", 4000)
