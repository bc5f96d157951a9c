"""Damaged dumps, full disks and workers that die: what can be kept is kept."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from many_blocks import DUMP, PACKED, outcome, start

from kg.base.files import work_folder_path
from kg.building import ingestion
from kg.building.snapshot import build
from kg.errors import SourceError, WorkerError
from kg.store import filling, open_store

pytestmark = [pytest.mark.usefixtures("small_blocks"), pytest.mark.thorough("kg")]


@pytest.mark.parametrize("packing", ["gz", "bz2", "zst"])
def test_a_truncated_dump_keeps_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packing: str) -> None:
    monkeypatch.setattr(ingestion, "EVERY", 0.0)
    packed = PACKED[packing](DUMP)
    source = tmp_path / "dump"
    source.write_bytes(packed[: len(packed) * 2 // 3])
    with pytest.raises(SourceError, match=r"truncated.*--keep-partial"):
        build([source], tmp_path / "out", workers=1)
    assert work_folder_path(tmp_path / "out").is_dir()
    read: list[int] = []
    report = build([source], tmp_path / "out", keep_partial=True, progress=lambda one: read.append(one.entities))
    assert report.rejects["damaged-source"] == 1
    straight = build([source], tmp_path / "straight", keep_partial=True)
    assert outcome(report) == outcome(straight)
    assert read == [] or read[0] > 60


def test_a_damaged_bzip2_block_costs_what_follows_it_alone(tmp_path: Path) -> None:
    packed = bytearray(PACKED["bz2 single"](DUMP))
    packed[-5000] ^= 0x40
    source = tmp_path / "dump"
    source.write_bytes(packed)
    with pytest.raises(SourceError, match=r"damaged.*--keep-partial"):
        build([source], tmp_path / "out")
    report = build([source], tmp_path / "out", keep_partial=True)
    assert report.manifest["source_entities"] > 100
    assert outcome(report) == outcome(build([source], tmp_path / "b", keep_partial=True, workers=3))


def test_a_disk_that_fills_up_while_reading(tmp_path: Path) -> None:
    """The limit on a file's size stands in for the disk's. With room again, the same command ends the build."""
    (tmp_path / "dump").write_bytes(DUMP)
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (260_000, resource.RLIM_INFINITY))\n"
    command = start(tmp_path, "everything", 1)
    failed = subprocess.run([*command[:2], limit + command[2], *command[3:]], capture_output=True, text=True)
    assert failed.returncode == 1
    assert "what was read is kept, the same command goes on" in failed.stderr
    out = tmp_path / "killed"
    assert work_folder_path(out).is_dir()
    assert not out.exists()
    subprocess.run(command, check=True)
    with open_store(out) as store:
        whole = build([tmp_path / "dump"], tmp_path / "whole").manifest
        assert store.manifest()["snapshot_id"] == whole["snapshot_id"]


def test_a_full_disk_before_the_first_checkpoint_leaves_nothing(tmp_path: Path) -> None:
    one = ingestion.BuildFolder(tmp_path / "out", {})
    one.connection.execute("PRAGMA main.max_page_count = 1")
    one.connection.execute("PRAGMA notes.max_page_count = 1")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        one.checkpoint({"phase": "reading", "filler": "x" * 100_000}, {})
    assert not one.can_continue
    one.remove()


@pytest.mark.skipif(sys.platform != "linux", reason="open files are looked up in /proc")
def test_sorting_is_done_beside_the_output(tmp_path: Path) -> None:
    """Not in /var/tmp, which fills up at the end of a day's work."""
    folder = tmp_path / "the user's disk"
    folder.mkdir()
    connection = sqlite3.connect(folder / "snapshot", isolation_level=None)
    filling.create_tables(connection)
    connection.execute("PRAGMA cache_size = -100")  # what sorting may hold in memory
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i FROM n"
    rows = connection.execute(f"{numbers} ORDER BY random()")
    rows.fetchone()
    places = [os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    assert [place for place in places if "etilqs" in place and place.startswith(str(folder))]
    connection.close()


def test_a_worker_that_is_killed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dump").write_bytes(DUMP)
    monkeypatch.setattr(ingestion, "EVERY", 0.0)

    def kill(_: object) -> None:
        for worker in multiprocessing.active_children()[:1]:
            worker.kill()

    with pytest.raises(WorkerError, match="fewer --workers"):
        build([tmp_path / "dump"], tmp_path / "out", workers=2, progress=kill)
    assert not multiprocessing.active_children()
    report = build([tmp_path / "dump"], tmp_path / "out", workers=2)
    assert outcome(report) == outcome(build([tmp_path / "dump"], tmp_path / "b", workers=1))
