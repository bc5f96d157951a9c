"""Reading from WikiData's API: a real HTTP server on loopback that behaves, and misbehaves, as WikiData's does."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
import wikidata_api as api
from dump_json import entity_json, lines
from store_contract import statement

from kg.errors import (
    BadAnswerError,
    KGError,
    MissingContactError,
    QueryError,
    RateLimitedError,
    SelectionError,
    ServiceError,
    SnapshotError,
    SourceError,
    TimeLimitError,
)
from kg.model import Entity, Rank
from kg.reading.api import WikiDataAPI
from kg.reading.cache import Cache
from kg.reading.courtesy import Patience, retry_after, user_agent
from kg.reading.sparql import profile_of
from kg.scope import Scope
from kg.snapshot import build
from kg.sources import _work, build_from_api
from kg.store import open_store

QUICK = Patience(base=0.01, cap=0.05, tries=4, timeout=5.0)


def _entity(number: int, *edges: tuple[str, str]) -> Entity:
    name = f"Q{number}"
    return Entity(
        id=name,
        labels={"en": f"thing {number}", "mul": f"Thing {number}", "fr": f"chose {number}"},
        aliases={"en": (f"b{number}", f"a{number}")},
        statements=tuple(statement(name, prop, target, n) for n, (prop, target) in enumerate(edges)),
        sitelinks=number % 3,
    )


WORLD = {f"Q{n}": _entity(n, ("P31", f"Q{n // 10 + 1}"), ("P131", f"Q{n + 1}")) for n in range(1, 131)}
WORLD["Q5"] = Entity(id="Q5", statements=(statement("Q5", "P131", "Q99", rank=Rank.DEPRECATED),))


@pytest.fixture(autouse=True)
def _contact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRANOLA_CONTACT", "tests@example.org")


@pytest.fixture
def server() -> Iterator[api.Server]:
    with api.serving({name: entity_json(one) for name, one in WORLD.items()}, {"Q900": "Q7", "Q901": "Q900"}) as found:
        yield found


def client(server: api.Server, tmp_path: Path, patience: Patience = QUICK, **more: Any) -> WikiDataAPI:
    return WikiDataAPI(Cache(tmp_path / "cache"), url=server.url, patience=patience, **more)


def test_fifty_a_call_three_at_a_time_in_order(server: api.Server, tmp_path: Path) -> None:
    server.slowness = 0.5  # long enough for three to be in flight on a busy machine
    ids = [f"Q{n}" for n in range(130, 0, -1)]
    found = list(client(server, tmp_path).entities([*ids, "Q1", "Q130"]))
    assert [asked for asked, _ in found] == ids
    assert all(data == entity_json(WORLD[asked]) for asked, data in found)
    assert sorted(map(len, server.asked)) == [30, 50, 50]
    assert server.most_running == 3
    assert server.agents == {user_agent("requests")}
    assert "(tests@example.org)" in user_agent("requests")
    assert {params["maxlag"] for params in server.params} == {"5"}


def test_never_more_than_three_in_flight_whoever_asks(server: api.Server, tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    server.slowness = 0.03
    clients = [client(server, tmp_path / str(n)) for n in range(3)]
    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(lambda one: len(list(one.entities(WORLD))), one) for one in clients]
        assert [run.result() for run in runs] == [130] * 3
    assert server.most_running == 3


@pytest.mark.parametrize(
    "faults",
    [
        [api.too_many],
        [api.too_many_by_date],
        [api.lagging],
        [api.rate_limited],
        [api.error_page],
        [api.unavailable],
        [api.half_sent],
        [api.cut_off],
        [api.silent],
        [api.too_many, api.lagging, api.half_sent],
    ],
    ids=lambda faults: "+".join(fault.__name__ for fault in faults),
)
def test_what_passes_is_waited_for(server: api.Server, tmp_path: Path, faults: list[api.Fault]) -> None:
    server.faults = list(faults)
    found = dict(client(server, tmp_path).entities(["Q1", "Q2"]))
    assert found == {name: entity_json(WORLD[name]) for name in ("Q1", "Q2")}
    assert len(server.asked) == len(faults) + 1


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        (api.too_many, RateLimitedError, "429.*4 tries"),
        (api.lagging, RateLimitedError, "maxlag: Waiting for"),
        (api.error_page, BadAnswerError, "no JSON .text/html.*Wikimedia Error"),
        (api.unavailable, ServiceError, "status 503"),
        (api.half_sent, ServiceError, "IncompleteRead"),
        (api.cut_off, BadAnswerError, "no JSON"),
    ],
)
def test_what_does_not_pass_is_told(
    server: api.Server, tmp_path: Path, fault: api.Fault, error: type[KGError], message: str
) -> None:
    server.faults = [fault] * 20
    with pytest.raises(error, match=message):
        list(client(server, tmp_path).entities(["Q1"]))
    assert len(server.asked) == 4


def test_a_wait_beyond_all_patience_is_not_waited_for(server: api.Server, tmp_path: Path) -> None:
    server.faults = [api.far_too_many]
    with pytest.raises(RateLimitedError, match="asks to wait 86400 s"):
        list(client(server, tmp_path).entities(["Q1"]))


def test_a_refusal_is_not_repeated(server: api.Server, tmp_path: Path) -> None:
    server.faults = [api.forbidden]
    with pytest.raises(QueryError, match=r"403.*robot policy.*GRANOLA_CONTACT"):
        list(client(server, tmp_path).entities(["Q1"]))
    assert len(server.asked) == 1


def test_answers_that_take_too_long(server: api.Server, tmp_path: Path) -> None:
    patience = Patience(base=0.01, tries=2, timeout=0.2)
    server.faults = [api.slow]
    assert len(list(client(server, tmp_path, patience).entities(["Q1"]))) == 1
    server.faults = [api.slow] * 9
    with pytest.raises(TimeLimitError):
        list(client(server, tmp_path, patience).entities(["Q2"]))


def test_merged_and_missing_ids(server: api.Server, tmp_path: Path) -> None:
    found = dict(client(server, tmp_path).entities(["Q900", "Q999", "Q901"]))
    assert found["Q900"]["id"] == "Q7"
    assert found["Q900"]["redirects"] == {"from": "Q900", "to": "Q7"}
    assert found["Q999"] == {"id": "Q999", "missing": ""}
    assert "missing" in found["Q901"]  # WikiData follows one step alone


def test_a_malformed_id_is_told_before_anything_is_asked(server: api.Server, tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match="'q42 '"):
        list(client(server, tmp_path).entities(["Q1", "q42 "]))
    assert server.asked == []


def test_an_id_that_the_service_cannot_read_does_not_fail_the_others(server: api.Server, tmp_path: Path) -> None:
    server.faults = [api.bad_id]
    found = dict(client(server, tmp_path).entities([f"Q{n}" for n in range(10, 18)]))
    assert len(found) == 8
    assert [name for name, data in found.items() if "missing" in data] == ["Q13"]


def test_answers_cut_for_their_size_are_completed(server: api.Server, tmp_path: Path) -> None:
    server.longest = 3000
    assert dict(client(server, tmp_path).entities(WORLD)) == {name: entity_json(one) for name, one in WORLD.items()}


def test_languages_ask_for_mul_as_well(server: api.Server, tmp_path: Path) -> None:
    list(client(server, tmp_path, languages=["de", "en"]).entities(["Q1"]))
    list(client(server, tmp_path).entities(["Q1"]))
    assert [params.get("languages") for params in server.params] == ["de|en|mul", None]


def test_a_second_run_asks_only_for_what_is_lacking(server: api.Server, tmp_path: Path) -> None:
    first = client(server, tmp_path)
    server.faults = [lambda *_: False, lambda *_: False, *[api.unavailable] * 20]
    with pytest.raises(ServiceError):
        list(first.entities(WORLD))
    server.faults = []
    done = {one for ids in server.asked[:2] for one in ids}
    server.asked.clear()
    assert len(list(client(server, tmp_path).entities(WORLD))) == 130
    assert set().union(*map(set, server.asked)) == set(WORLD) - done
    server.asked.clear()
    assert len(list(client(server, tmp_path).entities(WORLD))) == 130
    assert server.asked == []
    list(client(server, tmp_path, languages=["en"]).entities(["Q1"]))
    assert server.asked == [["Q1"]]  # other parameters are another question


def test_without_a_contact_nothing_is_asked(
    server: api.Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for given in (None, "", "  ", "me", "a@b\n"):
        monkeypatch.delenv("GRANOLA_CONTACT", raising=False)
        if given is not None:
            monkeypatch.setenv("GRANOLA_CONTACT", given)
        if given == "a@b\n":
            continue  # stripped, and well
        with pytest.raises(MissingContactError, match="GRANOLA_CONTACT"):
            build_from_api(tmp_path / "out", scope=Scope(ids=frozenset({"Q1"})), url=server.url)
    assert server.asked == []
    assert not (tmp_path / "out").exists()


def test_a_snapshot_by_the_api_is_that_of_the_dump(server: api.Server, tmp_path: Path) -> None:
    (tmp_path / "dump.json").write_bytes(lines(*WORLD.values()))
    build([tmp_path / "dump.json"], tmp_path / "by-dump", scope=Scope(ids=frozenset(WORLD)))
    server.faults = [api.too_many, api.half_sent]
    report = build_from_api(
        tmp_path / "by-api", scope=Scope(ids=frozenset(WORLD)), url=server.url, patience=QUICK, command="granola x"
    )
    with open_store(tmp_path / "by-dump") as one, open_store(tmp_path / "by-api") as other:
        assert one.manifest()["snapshot_id"] == other.manifest()["snapshot_id"]
        manifest = other.manifest()
    assert manifest == report.manifest
    assert manifest["source_kind"] == "api"
    assert manifest["time_aware"] is True
    assert manifest["sources"][0]["name"] == server.url
    assert manifest["selection"]["ids"]["count"] == 130
    assert sorted(path.name for path in tmp_path.iterdir()) == ["by-api", "by-api.cache", "by-dump", "dump.json"]


def test_steps_are_those_of_a_dump(server: api.Server, tmp_path: Path) -> None:
    scope = Scope(ids=frozenset({"Q3", "Q129"}), hops=3, along=frozenset({"P131", "P31"}))
    (tmp_path / "dump.json").write_bytes(lines(*WORLD.values()))
    build([tmp_path / "dump.json"], tmp_path / "by-dump", scope=scope)
    report = build_from_api(tmp_path / "by-api", scope=scope, url=server.url, patience=QUICK)
    with open_store(tmp_path / "by-dump") as one, open_store(tmp_path / "by-api") as other:
        ids = list(one.ids())
        assert list(other.ids()) == ids
        assert "Q99" not in ids  # a deprecated statement leads nowhere
        assert one.entities(ids) == other.entities(ids)
    assert report.rejects == {}  # Q131 is pointed to and is not there, as in a dump


def test_excluded_classes_hubs_and_properties_as_in_a_dump(tmp_path: Path) -> None:
    world = dict(WORLD)
    for n in range(200, 260):  # Q13's class is below Q201 by three steps, the last one a cycle
        world[f"Q{n}"] = _entity(n)
    world["Q2"] = _entity(2, ("P279", "Q200"), ("P31", "Q250"))
    world["Q200"] = _entity(200, ("P279", "Q201"), ("P279", "Q2"))
    world["Q12"] = _entity(12, *(("P131", f"Q{n}") for n in range(210, 220)))
    world["P131"] = Entity(id="P131", labels={"en": "located in"})
    (tmp_path / "dump.json").write_bytes(lines(*world.values()))
    scopes = [
        Scope(ids=frozenset({"Q7", "Q9", "Q11"}), hops=4, along=frozenset({"P131"}), excluded=frozenset({"Q201"})),
        Scope(ids=frozenset({"Q11", "Q15"}), hops=2, along=frozenset({"P131"}), excluded=frozenset({"Q2"})),
        Scope(ids=frozenset({"Q11"}), hops=2, along=frozenset({"P131"}), hub_limit=9),
        Scope(ids=frozenset({"Q11"}), hops=2, along=frozenset({"P131"}), hub_limit=10, properties=False),
    ]
    with api.serving({name: entity_json(one) for name, one in world.items()}) as server:
        for scope in scopes:
            build([tmp_path / "dump.json"], tmp_path / "by-dump", scope=scope, force=True)
            build_from_api(
                tmp_path / "by-api", scope=scope, url=server.url, patience=QUICK, force=True, cache=tmp_path / "cache"
            )
            with open_store(tmp_path / "by-dump") as one, open_store(tmp_path / "by-api") as other:
                ids = list(one.ids())
                assert ids == list(other.ids())
                assert one.entities(ids) == other.entities(ids)


def test_merged_seeds_become_redirects_and_missing_ones_rejects(server: api.Server, tmp_path: Path) -> None:
    scope = Scope(ids=frozenset({"Q7", "Q900", "Q999"}))
    report = build_from_api(tmp_path / "out", scope=scope, url=server.url, patience=QUICK)
    assert report.rejects == {"missing": 1}
    listed = orjson.loads((tmp_path / "out.rejects.jsonl").read_bytes())
    assert (listed["source"], listed["entity"]) == (server.url, "Q999")  # not the copy that was read
    assert "line" not in listed
    with open_store(tmp_path / "out") as store:
        assert list(store.ids()) == ["Q7"]
        assert store.entities(["Q900"])["Q900"].id == "Q7"
        assert store.manifest()["duplicates"] == 0


def test_a_killed_build_goes_on_with_what_it_has(server: api.Server, tmp_path: Path) -> None:
    def stuck(handler: api.Handler, _: list[str]) -> bool:
        reached.set()
        return blocked.wait(30)

    reached, blocked = threading.Event(), threading.Event()
    server.faults = [lambda *_: False, lambda *_: False, stuck]
    (tmp_path / "ids").write_text("\n".join(WORLD))
    command = [str(Path(sys.executable).parent / "granola"), "snapshot", "build", "--from", "api", server.url]
    command += ["--ids-from", "ids", "--out", "out"]
    environment = {**os.environ, "GRANOLA_CONTACT": "tests@example.org"}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE)
    assert reached.wait(30)
    kept = Cache(tmp_path / "out.cache")
    while kept.size() < 80:  # the first two answers
        assert process.poll() is None
        time.sleep(0.01)
    kept.close()
    process.kill()
    process.communicate()
    blocked.set()
    assert sorted(path.name for path in tmp_path.iterdir() if "cache" not in path.name) == [".out.gathered", "ids"]
    asked = {one for ids in server.asked[:2] for one in ids}
    server.asked.clear()
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    again = {one for ids in server.asked for one in ids} - {"P31", "P131"}
    assert again <= set(WORLD)
    assert len(again) <= 50
    assert again | asked == set(WORLD)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ids", "out", "out.cache"]


@pytest.mark.parametrize("url", ["ftp://example.org/api", "example.org", "http://", "http://[::1"])
def test_what_is_no_address_is_not_asked(tmp_path: Path, url: str) -> None:
    with pytest.raises(SourceError, match=re.escape(repr(url))):
        build_from_api(tmp_path / "out", scope=Scope(ids=frozenset({"Q1"})), url=url)
    with pytest.raises(SourceError, match=re.escape(repr(url))):
        profile_of(url)


def test_nobody_at_the_address(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match=r"refused \(\d+ tries\)|onnection") as raised:
        build_from_api(
            tmp_path / "out", scope=Scope(ids=frozenset({"Q1"})), url="http://127.0.0.1:1/api", patience=QUICK
        )
    assert "ids=" not in str(raised.value)


def test_two_builds_of_one_output_do_not_meet(server: api.Server, tmp_path: Path) -> None:
    with _work(tmp_path / "out"), pytest.raises(SnapshotError, match="another process is building"):
        build_from_api(tmp_path / "out", scope=Scope(ids=frozenset({"Q1"})), url=server.url, patience=QUICK)
    assert [path.name for path in tmp_path.iterdir()] == ["out.cache"]


@pytest.mark.parametrize(
    ("scope", "message"),
    [
        (Scope(), "cannot be asked for everything"),
        (Scope(names=frozenset({"Paris"})), "cannot select by names; name ids"),
        (Scope(ids=frozenset({"Q1"}), classes=frozenset({"Q5"})), "cannot select by classes"),
    ],
)
def test_what_the_api_cannot_select(server: api.Server, tmp_path: Path, scope: Scope, message: str) -> None:
    with pytest.raises(SelectionError, match=message):
        build_from_api(tmp_path / "out", scope=scope, url=server.url)
    assert list(tmp_path.iterdir()) == []


def test_nothing_selected_leaves_nothing(server: api.Server, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no item or property"):
        build_from_api(tmp_path / "out", scope=Scope(ids=frozenset({"Q998"})), url=server.url, patience=QUICK)
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("hello " * 1000)
    with pytest.raises(SourceError, match="cannot be used as a cache"):
        Cache(tmp_path / "cache")


def test_a_database_of_something_else_is_no_cache(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other")) as other:
        other.execute("CREATE TABLE mine (a)")
    before = (tmp_path / "other").read_bytes()
    with pytest.raises(SourceError, match="no cache of answers"):
        Cache(tmp_path / "other")
    assert (tmp_path / "other").read_bytes() == before
    Cache(tmp_path / "cache").put({"a": b"one"})
    assert Cache(tmp_path / "cache").get(["a"]) == {"a": b"one"}


def test_a_damaged_entry_counts_as_lacking(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    cache.put({"a": b"one", "b": b"two"})
    cache._connection.execute("UPDATE answer SET body = x'00' WHERE key = 'a'")
    assert cache.get(["a", "b", "c"]) == {"b": b"two"}


def test_retry_after_in_seconds_or_as_a_date() -> None:
    assert retry_after({}) is None
    assert retry_after({"Retry-After": " 7 "}) == 7.0
    assert retry_after({"Retry-After": "-1"}) == 0.0
    assert retry_after({"Retry-After": "soon"}) is None
    assert retry_after({"Retry-After": "nan"}) is None
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert 50 < (retry_after({"Retry-After": soon}) or 0) <= 60
    assert retry_after({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0


def test_waits_grow_up_to_a_cap_and_differ() -> None:
    patience = Patience(base=1.0, cap=60.0)
    for attempt in range(12):
        waits = {patience.delay(attempt, None) for _ in range(20)}
        whole = min(60.0, 2.0**attempt)
        assert all(whole / 2 <= wait <= whole for wait in waits)
        assert len(waits) > 10
    assert patience.delay(0, 30.0) == 30.0


def test_by_the_command(server: api.Server, tmp_path: Path) -> None:
    granola = str(Path(sys.executable).parent / "granola")
    command = [granola, "snapshot", "build", "--from", "api", server.url, "--ids", "Q3,Q4", "--hops", "1"]
    command += ["--along", "P131", "--out", "out", "--languages", "fr", "--cache", "kept"]
    environment = {**os.environ, "GRANOLA_CONTACT": "tests@example.org"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "out"]
    with open_store(tmp_path / "out") as store:
        assert list(store.ids()) == ["Q3", "Q4", "Q5"]
        assert "--from api" in store.manifest()["command"]
    told = subprocess.run([granola, "snapshot", "info", "out"], cwd=tmp_path, capture_output=True, text=True).stdout
    assert f"source       {server.url}, fetched 20" in told
    assert server.params[0]["languages"] == "en|fr|mul"
    del environment["GRANOLA_CONTACT"]
    done = subprocess.run([*command, "--force"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert "GRANOLA_CONTACT is not set" in done.stderr
