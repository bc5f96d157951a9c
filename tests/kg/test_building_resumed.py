"""A build that was killed or interrupted goes on with the same command and ends the same."""

from __future__ import annotations

import os
import pkgutil
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from many_blocks import DUMP, NEARLY, PACKED, SCOPES, interrupted, outcome, start

from kg.base.files import work_folder_path
from kg.base.scope import Scope
from kg.building import ingestion
from kg.building.snapshot import REJECTS_SUFFIX, Report, build
from kg.errors import SnapshotError
from kg.reading import dump
from kg.store import open_store

pytestmark = [pytest.mark.usefixtures("small_blocks"), pytest.mark.thorough("kg")]


@pytest.mark.parametrize("after", [60, 75, 90])
def test_a_build_with_a_limit_goes_on_with_other_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    (tmp_path / "dump").write_bytes(DUMP)
    options: dict[str, Any] = {"scope": SCOPES["graph"], "limit": NEARLY}
    interrupted(tmp_path, monkeypatch, after, workers=1, **options)
    report = build([tmp_path / "dump"], tmp_path / "out", workers=3, **options)
    assert outcome(report) == outcome(build([tmp_path / "dump"], tmp_path / "b", workers=1, **options))


@pytest.mark.parametrize(
    ("packing", "scope", "workers"),
    [
        ("gz", "everything", 2),
        ("bz2", "graph", 2),
        ("bz2 single", "by name", 1),
        ("zst", "graph", 1),
        ("plain", "everything", 1),
    ],
)
def test_killed_at_any_moment_it_ends_the_same(tmp_path: Path, packing: str, scope: str, workers: int) -> None:
    (tmp_path / "dump").write_bytes(PACKED[packing](DUMP))
    whole = build([tmp_path / "dump"], tmp_path / "whole", scope=SCOPES[scope], workers=1)
    random = Random(f"{packing} {scope}")
    out = tmp_path / "killed"
    killed = 0
    while not out.exists():
        assert killed < 40
        with subprocess.Popen(start(tmp_path, scope, workers), stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            try:
                process.wait(random.random() * 0.05 * (1 + killed))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
        killed += process.returncode != 0
        assert process.returncode in (0, -signal.SIGKILL)
    assert killed
    assert not (work_folder_path(out) / "snapshot.sqlite").exists()
    with open_store(out) as store:
        manifest = store.manifest()
    rejects_path = out.with_name(out.name + REJECTS_SUFFIX)
    again = Report(path=out, manifest=manifest, rejects=manifest["rejects"], rejects_path=rejects_path)
    assert outcome(again) == outcome(whole)


@pytest.mark.parametrize("place", ["kg.building.snapshot.move_into_place", "kg.store.filling.finish_snapshot"])
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_when_all_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, workers: int) -> None:
    """What was committed behind the last checkpoint is neither read again nor counted twice."""
    (tmp_path / "dump").write_bytes(PACKED["gz"](DUMP))
    monkeypatch.setattr(dump, "BLOCK", 8000)
    for name, scope in SCOPES.items():
        whole = build([tmp_path / "dump"], tmp_path / f"whole {name}", scope=scope, workers=1)
        with monkeypatch.context() as patched:
            patched.setattr(place, lambda *_, **__: sys.exit("killed"))
            patched.setattr("kg.building.snapshot._keep_or_remove_work", lambda work, *_, **__: work.close())
            with pytest.raises(SystemExit):
                build([tmp_path / "dump"], tmp_path / f"killed {name}", scope=scope, workers=workers)
        again = build([tmp_path / "dump"], tmp_path / f"killed {name}", scope=scope, workers=workers)
        assert outcome(again) == outcome(whole)


def test_both_databases_of_a_build_are_committed_in_one(tmp_path: Path) -> None:
    """SQLite does so only where neither is set to wait for nothing: else a kill may come between the two."""
    one = ingestion.BuildFolder(tmp_path / "out", {})
    found = {name: one.connection.execute(f"PRAGMA {name}.synchronous").fetchone()[0] for name in ("main", "notes")}
    one.remove()
    assert min(found.values()) > 0, found


@pytest.mark.parametrize(
    "place",
    [
        "kg.store.filling.insert_flat",
        "kg.building.closure.EdgeTable.add",
    ],
)
@pytest.mark.parametrize("every", [0.0, 30.0])
def test_an_interrupt_in_the_middle_of_a_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, every: float
) -> None:
    """Half a block is not kept: it would be missing for ever, or come twice."""
    monkeypatch.setattr(ingestion, "EVERY", every)
    scope = SCOPES["graph"] if "closure" in place else SCOPES["everything"]
    (tmp_path / "dump").write_bytes(PACKED["gz"](DUMP))
    real = pkgutil.resolve_name(place)
    calls = 0

    def stop_at_the_fifth(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        found = real(*arguments)
        if calls == 5:
            raise KeyboardInterrupt
        return found

    with monkeypatch.context() as patched:
        patched.setattr(place, stop_at_the_fifth)
        with pytest.raises(KeyboardInterrupt):
            build([tmp_path / "dump"], tmp_path / "out", scope=scope, workers=1)
    again = build([tmp_path / "dump"], tmp_path / "out", scope=scope, workers=1)
    assert outcome(again) == outcome(build([tmp_path / "dump"], tmp_path / "whole", scope=scope, workers=1))


def test_only_the_same_request_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "dump"
    source.write_bytes(DUMP)
    interrupted(tmp_path, monkeypatch, 9)
    with pytest.raises(SnapshotError, match=r"unfinished work for something else \(it differs in limit\).*--restart"):
        build([source], tmp_path / "out", limit=300)
    with pytest.raises(SnapshotError, match="differs in scope"):
        build([source], tmp_path / "out", scope=Scope(ids=frozenset({"Q1"})))
    os.utime(source, (1, 1))
    with pytest.raises(SnapshotError, match="differs in sources"):
        build([source], tmp_path / "out")
    build([source], tmp_path / "out", restart=True)
    assert not work_folder_path(tmp_path / "out").exists()


def test_two_builds_of_one_output_do_not_mix(tmp_path: Path) -> None:
    (tmp_path / "dump").write_bytes(DUMP)
    tried: list[str] = []

    def meanwhile(_: object) -> None:
        if not tried:
            tried.append("")
            with pytest.raises(SnapshotError, match="another process is building"):
                build([tmp_path / "dump"], tmp_path / "out")

    build([tmp_path / "dump"], tmp_path / "out", progress=meanwhile)
    assert tried
