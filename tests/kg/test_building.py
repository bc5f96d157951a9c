"""Building in parallel: the same snapshot whatever the workers and the size of blocks."""

from __future__ import annotations

from pathlib import Path

import pytest
from many_blocks import DUMP, NEARLY, PACKED, SCOPES, interrupted, outcome

from kg.building.snapshot import build
from kg.reading import dump
from tests.thorough import thorough_only

pytestmark = pytest.mark.usefixtures("small_blocks")


@pytest.mark.parametrize("scope", sorted(SCOPES))
@pytest.mark.parametrize("packing", ["gz", pytest.param("bz2", marks=thorough_only)])
def test_the_number_of_workers_makes_no_difference(tmp_path: Path, packing: str, scope: str) -> None:
    (tmp_path / "dump").write_bytes(PACKED[packing](DUMP))
    reports = {
        workers: build([tmp_path / "dump"], tmp_path / "out", scope=SCOPES[scope], workers=workers, force=True)
        for workers in (1, 2, 3)
    }
    assert reports[1].rejects == {"lexeme": 1, "not-json": 1}
    assert outcome(reports[1]) == outcome(reports[2]) == outcome(reports[3])


def test_the_size_of_blocks_makes_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dump").write_bytes(DUMP)
    found = []
    for size in (500, 1 << 20):
        monkeypatch.setattr(dump, "BLOCK", size)
        found.append(outcome(build([tmp_path / "dump"], tmp_path / "out", force=True, limit=250, workers=1)))
    assert found[0][:7] == found[1][:7]  # the hash of a file shows only where it was read to its end
    assert found[0][2] == 250 - 1  # one of them is a lexeme


@pytest.mark.parametrize("scope", sorted(SCOPES))
def test_a_limit_hides_how_far_was_read_ahead(tmp_path: Path, scope: str) -> None:
    (tmp_path / "dump").write_bytes(PACKED["bz2"](DUMP))
    reports = [
        build([tmp_path / "dump"], tmp_path / "out", scope=SCOPES[scope], limit=NEARLY, workers=workers, force=True)
        for workers in (1, 2, 3)
    ]
    assert len({str(outcome(one)) for one in reports}) == 1
    assert reports[0].manifest["sources"][0]["sha256"] is None


def test_what_was_read_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dump").write_bytes(PACKED["bz2"](DUMP))
    interrupted(tmp_path, monkeypatch, 4)
    read: list[int] = []
    report = build([tmp_path / "dump"], tmp_path / "out", workers=1, progress=lambda one: read.append(one.entities))
    assert read[0] > 60
    assert report.manifest["snapshot_id"] == build([tmp_path / "dump"], tmp_path / "b").manifest["snapshot_id"]
