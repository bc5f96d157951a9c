"""What several test modules share."""

from __future__ import annotations

import fcntl
import gc
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from kg.building import snapshot
from tests.command_line import run_granola
from tests.thorough import THOROUGH, rooms_of

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the public data sets are not beside the checkout (../shared/data)"
)
WHOLE_ENTITIES = DATA / "wikidata" / "full_entities_sample.ndjson.gz"
needs_whole_entities = pytest.mark.skipif(
    not WHOLE_ENTITIES.is_file(), reason="the sample of whole entities is not beside the checkout (../shared/data)"
)


# No time limit an example: a busy machine is no failure. A run repeats the last one unless new examples are asked for.
settings.register_profile("repeated", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeated"))

Run = Callable[..., tuple[int, str, str]]


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out thorough tests, unless a run is thorough or names their files."""
    left_out = not THOROUGH and collection_path.match("test_*.py") and rooms_of(collection_path)
    return True if left_out else None


def pytest_collection_finish() -> None:
    """Leave out of garbage collection what lives as long as the run: thousands of tests, and the modules' tables."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def run() -> Run:
    """Run `granola` with these words, in this process: (exit status, stdout, stderr)."""

    def call(*words: object, **settings: Any) -> tuple[int, str, str]:
        done = run_granola(*words, **settings)
        return done.returncode, done.stdout, done.stderr

    return call


@pytest.fixture(scope="session")
def sample_snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot of the whole 76 K sample, built once a test run, also where several workers share it."""
    source = DATA / "wikidata" / "entities.json.gz"
    if not source.is_file():
        pytest.skip("the WikiData sample is not beside the checkout (../shared/data)")
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    path = folder / "sample.sqlite"
    with (folder / "sample.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            snapshot.build([source], path)
    return path
