"""Snapshots from WikiData's API are those of the dump, and a killed build goes on with what it has."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import orjson
import pytest
import wikidata_api as api
from api_world import QUICK, WORLD
from dump_json import lines

from kg.base.files import WorkFolder
from kg.base.scope import Scope
from kg.building.other_sources import GATHERED, build_from_api
from kg.building.snapshot import build
from kg.errors import SelectionError, SnapshotError, SourceError
from kg.store import open_store
from kg.web.client import AnswerCache

pytestmark = pytest.mark.usefixtures("contact")


def test_a_snapshot_by_the_api_is_that_of_the_dump(api_server: api.Server, tmp_path: Path) -> None:
    (tmp_path / "dump.json").write_bytes(lines(*WORLD.values()))
    build([tmp_path / "dump.json"], tmp_path / "by-dump", scope=Scope(ids=frozenset(WORLD)))
    api_server.faults = [api.too_many, api.half_sent]
    report = build_from_api(
        tmp_path / "by-api", scope=Scope(ids=frozenset(WORLD)), url=api_server.url, patience=QUICK, command="granola x"
    )
    with open_store(tmp_path / "by-dump") as one, open_store(tmp_path / "by-api") as other:
        assert one.manifest()["snapshot_id"] == other.manifest()["snapshot_id"]
        manifest = other.manifest()
    assert manifest == report.manifest
    assert manifest["source_kind"] == "api"
    assert manifest["time_aware"] is True
    assert manifest["sources"][0]["name"] == api_server.url
    assert manifest["selection"]["ids"]["count"] == 130
    assert sorted(path.name for path in tmp_path.iterdir()) == ["by-api", "by-api.cache", "by-dump", "dump.json"]


def test_steps_are_those_of_a_dump(api_server: api.Server, tmp_path: Path) -> None:
    scope = Scope(ids=frozenset({"Q3", "Q129"}), hops=3, along=frozenset({"P131", "P31"}))
    (tmp_path / "dump.json").write_bytes(lines(*WORLD.values()))
    build([tmp_path / "dump.json"], tmp_path / "by-dump", scope=scope)
    report = build_from_api(tmp_path / "by-api", scope=scope, url=api_server.url, patience=QUICK)
    with open_store(tmp_path / "by-dump") as one, open_store(tmp_path / "by-api") as other:
        ids = list(one.ids())
        assert list(other.ids()) == ids
        assert "Q99" not in ids  # a deprecated statement leads nowhere
        assert one.entities(ids) == other.entities(ids)
    assert report.rejects == {}  # Q131 is pointed to and is not there, as in a dump


def test_merged_seeds_become_redirects_and_missing_ones_rejects(api_server: api.Server, tmp_path: Path) -> None:
    scope = Scope(ids=frozenset({"Q7", "Q900", "Q999"}))
    report = build_from_api(tmp_path / "out", scope=scope, url=api_server.url, patience=QUICK)
    assert report.rejects == {"missing": 1}
    listed = orjson.loads((tmp_path / "out.rejects.jsonl").read_bytes())
    assert (listed["source"], listed["entity"]) == (api_server.url, "Q999")  # not the copy that was read
    assert "line" not in listed
    with open_store(tmp_path / "out") as store:
        assert list(store.ids()) == ["Q7"]
        assert store.entities(["Q900"])["Q900"].id == "Q7"
        assert store.manifest()["duplicates"] == 0


def test_a_killed_build_goes_on_with_what_it_has(api_server: api.Server, tmp_path: Path) -> None:
    def stuck(handler: api.Handler, _: list[str]) -> bool:
        reached.set()
        return blocked.wait(120)

    reached, blocked = threading.Event(), threading.Event()
    api_server.faults = [lambda *_: False, lambda *_: False, stuck]
    (tmp_path / "ids").write_text("\n".join(WORLD))
    command = [str(Path(sys.executable).parent / "granola"), "snapshot", "build", "--from", "api", api_server.url]
    command += ["--ids-from", "ids", "--out", "out"]
    environment = {**os.environ, "GRANOLA_CONTACT": "tests@example.org"}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE)
    assert reached.wait(120)
    kept = AnswerCache(tmp_path / "out.cache")
    while kept._connection.execute("SELECT count(*) FROM answer").fetchone()[0] < 80:  # the first two answers
        assert process.poll() is None
        time.sleep(0.01)
    kept.close()
    process.kill()
    process.communicate()
    blocked.set()
    names = (path.name for path in tmp_path.iterdir() if path.suffix != ".lock")  # a lock's file stays, unlocked
    assert sorted(name for name in names if "cache" not in name) == [".out.gathered", "ids"]
    asked = {one for ids in api_server.asked[:2] for one in ids}
    api_server.asked.clear()
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    again = {one for ids in api_server.asked for one in ids} - {"P31", "P131"}
    assert again <= set(WORLD)
    assert len(again) <= 50
    assert again | asked == set(WORLD)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ids", "out", "out.cache"]


def test_two_builds_of_one_output_do_not_meet(api_server: api.Server, tmp_path: Path) -> None:
    other = WorkFolder(tmp_path / "out", error=SnapshotError, suffix=GATHERED)
    with pytest.raises(SnapshotError, match="another process is building"):
        build_from_api(tmp_path / "out", scope=Scope(ids=frozenset({"Q1"})), url=api_server.url, patience=QUICK)
    other.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("scope", "message"),
    [
        (Scope(), "cannot be asked for everything"),
        (Scope(ids=frozenset({"Q1"}), classes=frozenset({"Q5"})), "cannot select by classes"),
    ],
)
def test_what_the_api_cannot_select(api_server: api.Server, tmp_path: Path, scope: Scope, message: str) -> None:
    with pytest.raises(SelectionError, match=message):
        build_from_api(tmp_path / "out", scope=scope, url=api_server.url)
    assert list(tmp_path.iterdir()) == []


def test_names_select_as_in_a_dump(api_server: api.Server, tmp_path: Path) -> None:
    scope = Scope(names=frozenset({"thing 3", "a129", "nobody"}), hops=1, along=frozenset({"P131"}))
    (tmp_path / "dump.json").write_bytes(lines(*WORLD.values()))
    build([tmp_path / "dump.json"], tmp_path / "by-dump", scope=scope)
    report = build_from_api(tmp_path / "by-api", scope=scope, url=api_server.url, patience=QUICK)
    with open_store(tmp_path / "by-dump") as one, open_store(tmp_path / "by-api") as other:
        assert list(other.ids()) == list(one.ids()) == ["Q3", "Q4", "Q129", "Q130"]
    assert report.rejects == {}


def test_ids_that_need_not_be_there_are_missed_by_nobody(api_server: api.Server, tmp_path: Path) -> None:
    scope = Scope(ids=frozenset({"Q3"}), also=frozenset({"Q4", "Q999"}))
    (tmp_path / "dump.json").write_bytes(lines(*WORLD.values()))
    by_dump = build([tmp_path / "dump.json"], tmp_path / "by-dump", scope=scope)
    by_api = build_from_api(tmp_path / "by-api", scope=scope, url=api_server.url, patience=QUICK)
    assert (by_api.rejects, by_dump.manifest["warnings"]) == ({}, [])
    with open_store(tmp_path / "by-dump") as one, open_store(tmp_path / "by-api") as other:
        assert list(other.ids()) == list(one.ids()) == ["Q3", "Q4"]


def test_nothing_selected_leaves_nothing(api_server: api.Server, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no item or property"):
        build_from_api(tmp_path / "out", scope=Scope(ids=frozenset({"Q998"})), url=api_server.url, patience=QUICK)
    assert not (tmp_path / "out").exists()


def test_by_the_command(api_server: api.Server, tmp_path: Path) -> None:
    granola = str(Path(sys.executable).parent / "granola")
    command = [granola, "snapshot", "build", "--from", "api", api_server.url, "--ids", "Q3,Q4", "--hops", "1"]
    command += ["--along", "P131", "--out", "out", "--languages", "fr"]
    environment = {**os.environ, "GRANOLA_CONTACT": "tests@example.org"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.cache"]
    with open_store(tmp_path / "out") as store:
        assert list(store.ids()) == ["Q3", "Q4", "Q5"]
        assert "--from api" in store.manifest()["command"]
    told = subprocess.run([granola, "snapshot", "info", "out"], cwd=tmp_path, capture_output=True, text=True).stdout
    assert f"source       {api_server.url}, fetched 20" in told
    assert api_server.params[0]["languages"] == "en|fr|mul"
    del environment["GRANOLA_CONTACT"]
    done = subprocess.run([*command, "--force"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert "GRANOLA_CONTACT is not set" in done.stderr
