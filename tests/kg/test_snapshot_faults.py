"""Snapshots that cannot be built, or not whole: what is told, and what is left behind."""

from __future__ import annotations

import gzip
import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest
from dump_json import entity_json, lines
from springfield import WORLD, ids_of
from store_contract import as_read

from kg.building.snapshot import REJECTS_SUFFIX, Progress, build
from kg.errors import SnapshotError, SourceError
from kg.store import open_store

pytestmark = pytest.mark.thorough("kg")


def test_rejects_are_listed_and_counted(tmp_path: Path) -> None:
    source, out = tmp_path / "dump.json", tmp_path / "out"
    bad_statement = entity_json(WORLD[0])
    bad_statement["claims"]["P31"].append({"mainsnak": {"snaktype": "value", "property": "P31"}, "id": "Q1$x"})
    good = orjson.dumps(entity_json(WORLD[1]))
    source.write_bytes(
        b"\n".join([orjson.dumps(bad_statement), b'{"id":"Q9"', b'{"type":"lexeme","id":"L3"}', b"[1]", good])
    )
    report = build([source], out)
    assert report.rejects == {"bad-statement": 1, "lexeme": 1, "not-an-object": 1, "not-json": 1}
    assert report.manifest["rejects"] == report.rejects
    assert report.rejects_path == tmp_path / f"out{REJECTS_SUFFIX}"
    listed = [orjson.loads(line) for line in report.rejects_path.read_bytes().splitlines()]
    assert [(one["line"], one["reason"], one.get("entity")) for one in listed] == [
        (1, "bad-statement", "Q1"),
        (2, "not-json", None),
        (3, "lexeme", "L3"),
        (4, "not-an-object", None),
    ]
    assert listed[0]["statement"] == "Q1$x"
    assert listed[1]["excerpt"] == '{"id":"Q9"'
    assert {one["source"] for one in listed} == {"dump.json"}
    with open_store(out) as store:
        assert store.entities(["Q1"]) == {"Q1": as_read(WORLD[0])}
    source.write_bytes(good)
    assert build([source], out, force=True).rejects_path is None
    assert not (tmp_path / f"out{REJECTS_SUFFIX}").exists()


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("before", [None, b"what stood there"])
@pytest.mark.parametrize(
    ("content", "what"),
    [
        (gzip.compress(lines(*WORLD), mtime=0)[:-9], r"dump: truncated: the file ends inside gzip member 1"),
        (lines(*WORLD)[:-40], "never closed"),
        (b"", "dump is empty"),
        (b"[\n]\n", "no item or property"),
        (b"name,age\nx,3\n", r"no item or property in it; 2 rejected, the first: dump, line 1: not-json"),
        (b'{"type":"lexeme","id":"L1"}', "1 rejected, the first: dump, line 1: lexeme"),
    ],
)
def test_unusable_sources_leave_everything_as_it_was(
    tmp_path: Path, content: bytes, what: str, before: bytes | None
) -> None:
    (tmp_path / "dump").write_bytes(content)
    if before is not None:
        (tmp_path / "out").write_bytes(before)
    found = files(tmp_path)
    with pytest.raises(SourceError, match=what):
        build([tmp_path / "dump"], tmp_path / "out", force=True)
    assert files(tmp_path) == found


def test_damage_can_be_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "dump").write_bytes(lines(*WORLD)[:-40])
    report = build([tmp_path / "dump"], tmp_path / "out", keep_partial=True)
    assert report.rejects == {"damaged-source": 1}
    assert ids_of(tmp_path / "out") == sorted((one.id for one in WORLD[:-1]), key=lambda entity_id: int(entity_id[1:]))


def test_an_existing_output_is_not_replaced_unasked(dump: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"precious")
    with pytest.raises(SnapshotError, match="--force"):
        build([dump], tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"precious"
    build([dump], tmp_path / "out", force=True)
    assert len(ids_of(tmp_path / "out")) == 13


def test_missing_sources_are_told_before_anything_is_read(dump: Path, tmp_path: Path) -> None:
    told: list[Progress] = []
    with pytest.raises(FileNotFoundError, match="gone"):
        build([dump, tmp_path / "gone.json"], tmp_path / "out", progress=told.append)
    assert told == []
    with pytest.raises(SourceError, match="no source"):
        build([], tmp_path / "out")


def test_requests_that_would_end_badly(dump: Path, tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="is a folder"):
        build([dump], tmp_path, force=True)
    link = tmp_path / "link"
    link.symlink_to(dump)
    with pytest.raises(SnapshotError, match="both source and output"):
        build([dump], link, force=True)
    assert dump.read_bytes()[:2] == b"\x1f\x8b"


def test_a_folder_that_cannot_be_written(dump: Path) -> None:
    with pytest.raises(SnapshotError, match="cannot build"):
        build([dump], dump / "out")


def test_a_full_disk(dump: Path, tmp_path: Path) -> None:
    """The limit on a file's size stands in for the disk's."""
    code = (
        "import resource, signal, sys; from kg.building.snapshot import build; from kg.errors import SnapshotError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))\n"
        "try: build(sys.argv[1:2], sys.argv[2])\n"
        "except SnapshotError as error: print(error)"
    )
    command = [sys.executable, "-c", code, str(dump), str(tmp_path / "out")]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "cannot write snapshot" in result.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["world.json.gz"]


def test_a_killed_build_leaves_nothing_under_the_final_name(tmp_path: Path) -> None:
    code = "import sys; from kg.building.snapshot import build; build(['-'], sys.argv[1])"
    out = tmp_path / "out"
    command = [sys.executable, "-c", code, str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        process.stdin.write(lines(*WORLD) * 2000)
        process.stdin.flush()
        deadline = time.monotonic() + 120
        while not (tmp_path / ".out.work").exists():  # until it is at work
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not out.exists()
    (tmp_path / "dump").write_bytes(lines(*WORLD))
    build([tmp_path / "dump"], out, restart=True)
    assert len(ids_of(out)) == 13
    assert not (tmp_path / ".out.work").exists()
