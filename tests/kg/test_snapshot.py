"""Building snapshots: selections, counts, damage, and what is left behind."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from dump_json import entity_json, lines
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_contract import ALL, as_read, statement
from strategies import entities as any_entities

from kg import tally
from kg.errors import SelectionError, SnapshotError, SourceError
from kg.idset import IdSet
from kg.model import Entity, Rank, SnakKind
from kg.scope import Scope
from kg.snapshot import REJECTS_SUFFIX, Progress, build
from kg.store import open_store


def edge(subject: str, prop: str, target: str, n: int = 0, **more: Any) -> Any:
    return statement(subject, prop, target, n, **more)


def entity(entity_id: str, name: str, *edges: tuple[str, str], **more: Any) -> Entity:
    found = tuple(edge(entity_id, prop, target, n) for n, (prop, target) in enumerate(edges))
    return Entity(id=entity_id, labels={"en": name}, statements=found, **more)


WORLD = (
    entity("Q1", "Springfield", ("P31", "Q20"), ("P131", "Q2")),
    entity("Q2", "Illinois", ("P31", "Q21"), ("P17", "Q3")),
    entity("Q3", "United States", ("P31", "Q22"), ("P36", "Q4")),
    entity("Q4", "Washington", ("P31", "Q23"), ("P17", "Q3")),
    entity("Q5", "Springfield", ("P31", "Q23"), ("P131", "Q6")),
    entity("Q6", "Ohio", ("P17", "Q3"), ("P131", "Q6"), ("P131", "Q404")),  # a loop and a dangling id
    entity("Q20", "town", ("P279", "Q23")),
    entity("Q21", "state"),
    entity("Q22", "country"),
    entity("Q23", "city", ("P279", "Q24")),
    entity("Q24", "settlement", ("P279", "Q23")),  # a cycle
    Entity(id="Q7", labels={"en": "Shelbyville"}, statements=(edge("Q7", "P31", "Q20", rank=Rank.DEPRECATED),)),
    Entity(id="P131", labels={"en": "located in"}, datatype="wikibase-item"),
)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "world.json.gz"
    path.write_bytes(gzip.compress(lines(*WORLD)))
    return path


def ids_of(path: Path) -> list[str]:
    with open_store(path) as store:
        return list(store.ids())


def test_everything(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.snapshot"
    report = build([dump], out, command="granola snapshot build x", software="granola 0")
    with open_store(out) as store:
        assert store.entities([one.id for one in WORLD]) == {one.id: as_read(one) for one in WORLD}
        manifest = dict(store.manifest())
    assert manifest == report.manifest
    assert report.rejects == {}
    assert report.rejects_path is None
    del manifest["created"], manifest["snapshot_id"]
    assert manifest == {
        "software": "granola 0",
        "command": "granola snapshot build x",
        "sources": [
            {
                "name": "world.json.gz",
                "size": dump.stat().st_size,
                "modified": manifest["sources"][0]["modified"],
                "sha256": hashlib.sha256(dump.read_bytes()).hexdigest(),
            }
        ],
        "selection": {"everything": True},
        "languages": None,
        "limit": None,
        "source_entities": 13,
        "duplicates": 0,
        "warnings": [],
        "rejects": {},
        "schema_version": 1,
        "counts": {
            "entities": 13,
            "items": 12,
            "properties": 1,
            "statements": 17,
            "preferred": 0,
            "normal": 16,
            "deprecated": 1,
            "qualified_statements": 0,
            "qualifiers": 0,
            "labels": 13,
            "aliases": 0,
            "descriptions": 0,
            "redirects": 0,
        },
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.snapshot", "world.json.gz"]


def ladder(*properties: str) -> frozenset[str]:
    return frozenset(properties)


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (Scope(ids=frozenset({"Q2", "P131", "Q999"})), "Q2 P131"),
        (Scope(names=frozenset({" SPRINGFIELD"})), "Q1 Q5 P131"),
        (Scope(names=frozenset({"Ohio"}), ids=frozenset({"Q22"})), "Q6 Q22 P131"),
        (Scope(classes=frozenset({"Q24"})), "Q1 Q4 Q5 P131"),  # Q7 is a town by a deprecated statement alone
        (Scope(classes=frozenset({"Q20"})), "Q1 P131"),
        (Scope(classes=frozenset({"Q21", "Q22"})), "Q2 Q3"),
        (Scope(ids=frozenset({"Q1"}), hops=1, along=ladder("P131")), "Q1 Q2 P131"),
        (Scope(ids=frozenset({"Q1"}), hops=2, along=ladder("P131", "P17")), "Q1 Q2 Q3 P131"),
        (Scope(ids=frozenset({"Q1"}), hops=9, along=ladder("P131", "P17", "P36")), "Q1 Q2 Q3 Q4 P131"),
        (Scope(ids=frozenset({"Q5"}), hops=9, along=ladder("P131")), "Q5 Q6 P131"),
        (Scope(names=frozenset({"springfield"}), hops=1, along=ladder("P131")), "Q1 Q2 Q5 Q6 P131"),
        (Scope(classes=frozenset({"Q20"}), hops=1, along=ladder("P31", "P131")), "Q1 Q2 Q20 P131"),
        (Scope(ids=frozenset({"Q7"}), hops=1, along=ladder("P31")), "Q7"),
        (Scope(ids=frozenset({"Q999", "Q6"}), hops=1, along=ladder("P17")), "Q3 Q6 P131"),
        (
            Scope(
                ids=frozenset({"Q4"}),
                names=frozenset({"Ohio"}),
                classes=frozenset({"Q22"}),
                hops=1,
                along=ladder("P31"),
            ),
            "Q3 Q4 Q6 Q22 Q23 P131",
        ),
    ],
)
def test_selections(dump: Path, tmp_path: Path, scope: Scope, expected: str) -> None:
    out = tmp_path / "out"
    build([dump], out, scope=scope)
    assert " ".join(ids_of(out)) == expected
    with open_store(out) as store:
        # Whatever is selected, counts are those of the whole source.
        counts = store.value_counts([("P31", "Q23"), ("P17", "Q3"), ("P279", "Q23")])
        whole = {("P31", "Q23"): 2, ("P17", "Q3"): 3, ("P279", "Q23"): 2}
        here = set(ids_of(out))
        assert counts == {pair: n for pair, n in whole.items() if pair[1] in here}
        assert store.property_counts(["P31", "P279", "P36"]) == {"P31": 5, "P279": 3, "P36": 1}
        assert store.manifest()["source_entities"] == len(WORLD)


@pytest.mark.parametrize(
    "fields",
    [
        {"ids": {"q1"}},
        {"ids": {"Q1", "L3"}},
        {"classes": {"P31"}},
        {"ids": {"Q1"}, "hops": 1},
        {"ids": {"Q1"}, "hops": 1, "along": {"Q5"}},
        {"ids": {"Q1"}, "hops": -1, "along": {"P31"}},
        {"hops": 1, "along": {"P31"}},
    ],
)
def test_impossible_selections(fields: dict[str, Any]) -> None:
    with pytest.raises(SelectionError):
        Scope(**{key: frozenset(value) if isinstance(value, set) else value for key, value in fields.items()})


def test_a_selection_of_nothing(dump: Path, tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match="none of the 13 entities"):
        build([dump], tmp_path / "out", scope=Scope(ids=frozenset({"Q999"})))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["world.json.gz"]


def by_hand(given: list[Entity], kept: set[str]) -> tuple[dict[tuple[str, str], int], dict[str, int]]:
    """The counts of the whole source by the definition, over entities in memory."""
    values: Counter[tuple[str, str]] = Counter()
    properties: Counter[str] = Counter()
    for one in given:
        counted = [s for s in one.statements if s.rank is not Rank.DEPRECATED]
        values.update({(s.property, s.target) for s in counted if s.target in kept})
        properties.update({s.property for s in counted if s.kind is not SnakKind.NOVALUE})
    return dict(values), dict(properties)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(
    given_entities=st.lists(any_entities(), min_size=1, max_size=8, unique_by=lambda one: one.id),
    share=st.integers(1, 8),
)
def test_counts_equal_a_count_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given_entities: list[Entity], share: int
) -> None:
    """The two ways of counting, in SQL over the selected and in a spilling tally over the rest, add up."""
    monkeypatch.setattr(tally, "_HELD", 2)
    source, out = tmp_path / "dump.json", tmp_path / "out"
    source.write_bytes(lines(*given_entities))
    kept = {one.id for one in given_entities[:share]}
    build([source], out, scope=Scope(ids=frozenset(kept)), force=True)
    with open_store(out) as store:
        assert kept <= set(store.ids())
        assert all(one[0] == "P" for one in set(store.ids()) - kept)
        kept = set(store.ids())
        values, properties = by_hand(given_entities, kept)
        every = [(prop, target) for prop in ("P1", "P31", "P279", "P999999") for target in [*kept, "Q1", "P31"]]
        assert store.value_counts(every) == values
        assert store.property_counts([prop for prop, _ in every]) == properties


def test_duplicates_the_last_wins(tmp_path: Path) -> None:
    source, out = tmp_path / "dump.json", tmp_path / "out"
    first, last = entity("Q1", "old", ("P31", "Q2")), entity("Q1", "new", ("P31", "Q3"), ("P17", "Q2"))
    others = [entity("Q2", "x"), entity("Q3", "y"), entity("Q4", "z", ("P31", "Q2"))]
    source.write_bytes(lines(first, *others, others[2], last))
    report = build([source], out)
    assert (report.manifest["duplicates"], report.manifest["source_entities"]) == (2, 4)
    with open_store(out) as store:
        assert store.entities(["Q1"])["Q1"].labels == {"en": "new"}
        assert store.value_counts([("P31", "Q2"), ("P31", "Q3")]) == {("P31", "Q2"): 1, ("P31", "Q3"): 1}
    build([source], out, scope=Scope(names=frozenset({"old", "x"})), force=True)
    with open_store(out) as store:  # selected by its earlier name, kept as it is now; Q4 counts once
        assert store.entities(["Q1"])["Q1"].labels == {"en": "new"}
        assert store.value_counts([("P31", "Q2")]) == {("P31", "Q2"): 1}


def test_several_sources_and_the_order_of_lines_make_no_difference(tmp_path: Path) -> None:
    whole, one, two = tmp_path / "whole.json", tmp_path / "one.ndjson", tmp_path / "two.json.gz"
    whole.write_bytes(lines(*ALL))
    one.write_bytes(b"\n".join(orjson.dumps(entity_json(item)) for item in ALL[4:]))
    two.write_bytes(gzip.compress(lines(*ALL[:4])))
    reports = [build([whole], tmp_path / "a"), build([one, two], tmp_path / "b"), build([whole], tmp_path / "c")]
    assert len({report.manifest["snapshot_id"] for report in reports}) == 1


def test_languages_bring_their_fallbacks(tmp_path: Path) -> None:
    source = tmp_path / "dump.json"
    labels = {code: code for code in ("de-at", "de", "mul", "en", "fr")}
    source.write_bytes(lines(Entity(id="Q1", labels=labels, aliases={"fr": ("x",), "de": ("y",)})))
    report = build([source], tmp_path / "out", languages=["de-at"])
    assert report.manifest["languages"] == ["de", "de-at", "en", "mul"]
    with open_store(tmp_path / "out") as store:
        found = store.entities(["Q1"])["Q1"]
    assert set(found.labels) == {"de-at", "de", "mul", "en"}
    assert found.aliases == {"de": ("y",)}


def test_a_limit(dump: Path, tmp_path: Path) -> None:
    report = build([dump], tmp_path / "out", limit=3)
    assert ids_of(tmp_path / "out") == ["Q1", "Q2", "Q3"]
    assert (report.manifest["limit"], report.manifest["source_entities"]) == (3, 3)
    with pytest.raises(SelectionError, match="limit"):
        build([dump], tmp_path / "none", limit=0)


def test_rejects_are_listed_and_counted(tmp_path: Path) -> None:
    source, out = tmp_path / "dump.json", tmp_path / "out"
    bad_statement = entity_json(WORLD[0])
    bad_statement["claims"]["P31"].append({"mainsnak": {"snaktype": "value", "property": "P31"}, "id": "Q1$x"})
    good = orjson.dumps(entity_json(WORLD[1]))
    source.write_bytes(
        b"\n".join([orjson.dumps(bad_statement), b'{"id":"Q9"', b'{"type":"lexeme","id":"L3"}', b"[1]", good])
    )
    report = build([source], out)
    assert report.rejects == {"lexeme": 1, "no-datavalue": 1, "not-an-object": 1, "not-json": 1}
    assert report.manifest["rejects"] == report.rejects
    assert report.rejects_path == tmp_path / f"out{REJECTS_SUFFIX}"
    listed = [orjson.loads(line) for line in report.rejects_path.read_bytes().splitlines()]
    assert [(one["line"], one["reason"], one.get("entity")) for one in listed] == [
        (1, "no-datavalue", "Q1"),
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
        "import resource, signal, sys; from kg.snapshot import build; from kg.errors import SnapshotError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))\n"
        "try: build(sys.argv[1:2], sys.argv[2])\n"
        "except SnapshotError as error: print(error)"
    )
    command = [sys.executable, "-c", code, str(dump), str(tmp_path / "out")]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "cannot write snapshot" in result.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["world.json.gz"]


def test_a_named_pipe_even_where_it_is_read_twice(dump: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cp", str(dump), str(pipe)]):
        report = build([pipe], tmp_path / "out", scope=Scope(classes=frozenset({"Q24"})))
    assert report.manifest["sources"][0]["name"] == "pipe"
    assert ids_of(tmp_path / "out") == ["Q1", "Q4", "Q5", "P131"]


def test_a_language_that_nothing_is_in(dump: Path, tmp_path: Path) -> None:
    (warning,) = build([dump], tmp_path / "out", languages=["english", "en"]).manifest["warnings"]
    assert "'english'" in warning


@pytest.mark.parametrize("scope", [Scope(), Scope(classes=frozenset({"Q24"}))])
def test_standard_input_even_where_it_is_read_twice(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: Scope
) -> None:
    build([dump], tmp_path / "a", scope=scope)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(dump.read_bytes())))
    report = build(["-"], tmp_path / "b", scope=scope)
    assert ids_of(tmp_path / "a") == ids_of(tmp_path / "b")
    (source,) = report.manifest["sources"]
    assert source["name"] == "stdin"
    assert source["sha256"] == hashlib.sha256(dump.read_bytes()).hexdigest()
    with pytest.raises(SourceError, match="once only"):
        build(["-", "-"], tmp_path / "c", scope=scope)


def test_redirects_of_api_answers(tmp_path: Path) -> None:
    source = tmp_path / "answer.json"
    target = {**entity_json(WORLD[0]), "redirects": {"from": "Q77", "to": "Q1"}}
    missing = {"id": "Q78", "missing": ""}
    source.write_bytes(orjson.dumps({"entities": {"Q77": target, "Q78": missing}, "success": 1}))
    assert build([source], tmp_path / "out").rejects == {"missing": 1}
    with open_store(tmp_path / "out") as store:
        assert store.entities(["Q77"]) == {"Q77": as_read(WORLD[0])}


def test_progress_goes_up_to_the_whole(dump: Path, tmp_path: Path) -> None:
    told: list[Progress] = []
    build([dump], tmp_path / "out", scope=Scope(classes=frozenset({"Q24"})), progress=told.append)
    assert [one.phase for one in told] == ["surveying", "reading"]
    assert all(one.bytes_read == one.bytes_total == dump.stat().st_size for one in told)
    assert [one.entities for one in told] == [13, 13]


def test_a_killed_build_leaves_nothing_under_the_final_name(tmp_path: Path) -> None:
    code = "import sys; from kg.snapshot import build; build(['-'], sys.argv[1])"
    out = tmp_path / "out"
    command = [sys.executable, "-c", code, str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        process.stdin.write(lines(*WORLD) * 2000)
        process.stdin.flush()
        deadline = time.monotonic() + 20
        while not (tmp_path / ".out.work").exists():  # until it is at work
            assert time.monotonic() < deadline
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not out.exists()
    (tmp_path / "dump").write_bytes(lines(*WORLD))
    build([tmp_path / "dump"], out, restart=True)
    assert len(ids_of(out)) == 13
    assert not (tmp_path / ".out.work").exists()


@given(numbers=st.lists(st.integers(-(10**18), 10**18) | st.integers(-70, 70_000)))
def test_id_sets_are_sets(numbers: list[int]) -> None:
    ids, expected = IdSet(), set()
    for number in numbers:
        assert ids.add(number) == (number not in expected)
        expected.add(number)
    assert list(ids) == sorted(expected)
    assert len(ids) == len(expected)
    assert all(number in ids for number in expected)
    assert not any(number + 1 in ids for number in expected if number + 1 not in expected)


# Real data, where it is.

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "wikidata"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the shared sample data is not beside the project")


def objects(path: Path) -> Iterator[dict[str, Any]]:
    """The fixture, read in the plainest way there is."""
    for line in gzip.decompress(path.read_bytes()).splitlines():
        if line.strip().rstrip(b","):
            text = line.strip().rstrip(b",")
            if text not in (b"[", b"]"):
                yield orjson.loads(text)


@needs_data
def test_whole_entities_lose_nothing(tmp_path: Path) -> None:
    path = DATA / "full_entities_sample.ndjson.gz"
    sources = [path, DATA / "lexeme_L3354.json", DATA / "property_P279.json.gz"]
    report = build(sources, tmp_path / "out")
    assert report.rejects == {"lexeme": 1}
    given = [*objects(path), orjson.loads(gzip.decompress(sources[2].read_bytes()))]
    claims = [one for item in given for group in item["claims"].values() for one in group]
    counts = report.manifest["counts"]
    assert (counts["items"], counts["properties"], counts["statements"]) == (49, 1, len(claims))
    for rank in Rank:
        assert counts[rank] == sum(one["rank"] == rank for one in claims)
    assert counts["qualifiers"] == sum(len(g) for c in claims for g in (c.get("qualifiers") or {}).values())
    for kind in ("labels", "descriptions"):
        assert counts[kind] == sum(len(item[kind]) for item in given)
    assert counts["aliases"] == sum(len(texts) for item in given for texts in (item["aliases"] or {}).values())
    with open_store(tmp_path / "out") as store:
        found = store.entities([item["id"] for item in given])
    assert {s.id for one in found.values() for s in one.statements} == {one["id"] for one in claims}
    assert {i: one.sitelinks for i, one in found.items()} == {
        item["id"]: len(item.get("sitelinks") or ()) for item in given
    }
