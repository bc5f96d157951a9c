"""Building in parallel and in spite of everything: the same snapshot whatever the workers, kills and full disks."""

from __future__ import annotations

import bz2
import gzip
import os
import pkgutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import orjson
import pytest
import zstandard
from dump_json import entity_json, lines
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import entities as any_entities

from kg.building import crew, work
from kg.building.crew import Crew
from kg.building.harvest import Batch, Harvester, Recipe
from kg.building.work import folder_of
from kg.errors import SelectionError, SnapshotError, SourceError, WorkerError
from kg.idset import IdSet
from kg.model import Entity, EntityValue, Statement
from kg.reading import dump, streams
from kg.reading.lines import Block
from kg.reading.typed import Unusual
from kg.scope import Scope
from kg.snapshot import REJECTS_SUFFIX, Report, build
from kg.store import filling, open_store
from kg.verification import verify

# Typed and tolerant


def harvested(recipe: Recipe, data: bytes, *, typed: bool, monkeypatch: pytest.MonkeyPatch | None = None) -> Batch:
    harvester = Harvester(recipe)
    if not typed:

        def refuse(*_: object) -> int:
            raise Unusual

        harvester._typed = refuse  # type: ignore[method-assign]
    batch = harvester.read(Block(line=1, data=data))
    found = msgspec.msgpack.decode(msgspec.msgpack.encode(batch), type=Batch)
    found.names = [sorted(map(tuple, names)) for names in found.names]
    found.tallies = [sorted(keys, key=str) for keys in found.tallies]
    return found


RECIPES = {
    "everything": Recipe(everything=True),
    "some languages": Recipe(everything=True, languages=frozenset({"en", "zh-hant"})),
    "by number": Recipe(chosen=IdSet([1, 2, -31]), properties=True),
    "by name": Recipe(keys=frozenset({"a", "0"}), languages=frozenset({"en", "de"})),
    "excluded": Recipe(everything=True, excluded=IdSet([1, 3])),
}
JUNK: list[Any] = [None, [], {}, "", "x", 0, 7, -1.5, True, [[]], {"a": 1}, {"value": "v"}, "Q1", "p31", ["P31"]]


@st.composite
def bent(draw: st.DrawFn) -> bytes:
    """An entity's line with something in it exchanged or taken out, perhaps."""
    data = entity_json(draw(any_entities()))
    for _ in range(draw(st.integers(0, 2))):
        at: Any = data
        for _ in range(draw(st.integers(0, 7))):
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            inner = at[key]
            if isinstance(inner, dict | list) and inner and draw(st.integers(0, 3)):
                at = inner
                continue
            if isinstance(at, dict) and draw(st.booleans()):
                del at[key]
            else:
                at[key] = deepcopy(draw(st.sampled_from(JUNK)))
            break
    return orjson.dumps(data)


@settings(deadline=None, max_examples=1500)
@given(given_lines=st.lists(bent(), min_size=1, max_size=3), recipe=st.sampled_from(sorted(RECIPES)))
def test_the_typed_reader_reads_as_the_tolerant_one(given_lines: list[bytes], recipe: str) -> None:
    data = b"[\n" + b",\n".join(given_lines) + b"\n]\n"
    assert harvested(RECIPES[recipe], data, typed=True) == harvested(RECIPES[recipe], data, typed=False)


SAMPLE = Path(__file__).parents[2].parent / "shared" / "data" / "wikidata" / "full_entities_sample.ndjson.gz"


@pytest.mark.skipif(not SAMPLE.is_file(), reason="the shared sample data is not beside the project")
@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_real_entities_are_read_typed_and_alike(recipe: str) -> None:
    data = gzip.decompress(SAMPLE.read_bytes())
    one = harvested(RECIPES[recipe], data, typed=True)
    assert one == harvested(RECIPES[recipe], data, typed=False)
    assert one.entities == len(one.numbers) == 49


@pytest.mark.skipif(not SAMPLE.is_file(), reason="the shared sample data is not beside the project")
def test_real_entities_need_no_second_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """What WikiData writes today is all accepted by the typed reader, or its speed would be lost unnoticed."""
    monkeypatch.setattr(Harvester, "_tolerant", lambda *_: pytest.fail("the tolerant reader was needed"))
    for recipe in RECIPES.values():
        Harvester(recipe).read(Block(line=1, data=gzip.decompress(SAMPLE.read_bytes())))


# A dump of many small blocks

PADDING = Random(5).randbytes(60_000).hex()


def padded(n: int) -> Entity:
    """An entity of some hundred bytes that do not pack."""
    at = n * 97 % (len(PADDING) - 700)
    statements = tuple(
        Statement(id=f"Q{n}$x{m}", subject=f"Q{n}", property=prop, value=EntityValue(id=target))
        for m, (prop, target) in enumerate(
            (("P31", f"Q{n % 7 + 1}"), ("P279", f"Q{n // 2 + 1}"), ("P131", f"Q{n + 1}"))
        )
    )
    return Entity(id=f"Q{n}", labels={"en": f"entity {n % 90}", "de": PADDING[at : at + 400]}, statements=statements)


MANY = [padded(n) for n in range(1, 400)] + [
    Entity(id="P31", labels={"en": "is"}),
    Entity(id="P9", labels={"en": "no"}),
]
BAD = b'{"id":"Q1","labels":\n{"type":"lexeme","id":"L1"}\n'
AGAIN = [padded(7), padded(8), padded(8), Entity(id="Q9", labels={"en": "changed"})]  # repeats, the last differs
DUMP = lines(*MANY[:200])[:-2] + b",\n" + BAD + b"\n".join(lines(*MANY[200:], *AGAIN).splitlines()[1:]) + b"\n"

PACKED: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": lambda data: gzip.compress(data[:2]) + gzip.compress(data[2:90_000]) + gzip.compress(data[90_000:]),
    "bz2": lambda data: b"".join(bz2.compress(data[at : at + 40_000], 1) for at in range(0, len(data), 40_000)),
    "bz2 single": lambda data: bz2.compress(data, 1),
    "zst": lambda data: zstandard.ZstdCompressor().compress(data),
}
SCOPES = {
    "everything": Scope(),
    "by name": Scope(names=frozenset({"entity 5", "is"})),
    "graph": Scope(
        ids=frozenset({"Q300"}),
        classes=frozenset({"Q3"}),
        hops=2,
        along=frozenset({"P131"}),
        excluded=frozenset({"Q2"}),
    ),
}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump, "BLOCK", 8000)
    monkeypatch.setattr(streams, "BLOCK", 4000)


def outcome(report: Report) -> tuple[Any, ...]:
    """What must be the same: the content, the counts, the rejects as they are listed."""
    listed = report.rejects_path.read_bytes() if report.rejects_path else b""
    keys = ("snapshot_id", "counts", "source_entities", "duplicates", "rejects", "warnings", "limit")
    sources = [one["sha256"] for one in report.manifest["sources"]]
    return *(report.manifest[key] for key in keys), sources, listed


@pytest.mark.parametrize("scope", sorted(SCOPES))
@pytest.mark.parametrize("packing", ["gz", "bz2"])
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


NEARLY = 380  # entities: a few blocks before the end, which may be read ahead


@pytest.mark.parametrize("scope", sorted(SCOPES))
def test_a_limit_hides_how_far_was_read_ahead(tmp_path: Path, scope: str) -> None:
    (tmp_path / "dump").write_bytes(PACKED["bz2"](DUMP))
    reports = [
        build([tmp_path / "dump"], tmp_path / "out", scope=SCOPES[scope], limit=NEARLY, workers=workers, force=True)
        for workers in (1, 2, 3)
    ]
    assert len({str(outcome(one)) for one in reports}) == 1
    assert reports[0].manifest["sources"][0]["sha256"] is None


@pytest.mark.parametrize("after", [60, 75, 90])
def test_a_build_with_a_limit_goes_on_with_other_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    (tmp_path / "dump").write_bytes(DUMP)
    options: dict[str, Any] = {"scope": SCOPES["graph"], "limit": NEARLY}
    interrupted(tmp_path, monkeypatch, after, workers=1, **options)
    report = build([tmp_path / "dump"], tmp_path / "out", workers=3, **options)
    assert outcome(report) == outcome(build([tmp_path / "dump"], tmp_path / "b", workers=1, **options))


@pytest.mark.parametrize("changed", [False, True])
def test_whoever_bears_a_wanted_name_only_later_is_counted_once(tmp_path: Path, changed: bool) -> None:
    paris = Statement(id="Q1$a", subject="Q1", property="P31", value=EntityValue(id="Q5"))
    other = Statement(id="Q1$b", subject="Q1", property="P17", value=EntityValue(id="Q5"))
    nameless = Entity(id="Q1", labels={"en": "x"}, statements=(paris,))
    named = Entity(id="Q1", labels={"en": "wanted"}, statements=(paris, other) if changed else (paris,))
    others = [Entity(id="Q5", labels={"en": "wanted"}), padded(9)]
    (tmp_path / "dump").write_bytes(lines(nameless, *others, nameless, named))
    report = build([tmp_path / "dump"], tmp_path / "out", scope=Scope(names=frozenset({"wanted"})))
    assert report.manifest["duplicates"] == 2
    with open_store(tmp_path / "out") as store:
        assert sorted(store.ids()) == ["Q1", "Q5"]
        assert store.value_counts([("P31", "Q5"), ("P17", "Q5")]) == {("P31", "Q5"): 1} | (
            {("P17", "Q5"): 1} if changed else {}
        )
        assert store.property_counts(["P31", "P279", "P17"]) == {"P31": 2, "P279": 1} | ({"P17": 1} if changed else {})
    assert not verify(tmp_path / "out").problems


def test_what_a_build_left_that_was_killed_at_the_very_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The snapshot was in place, its folder not yet away: the next build takes it away, whatever comes of it."""
    (tmp_path / "dump").write_bytes(DUMP)
    with monkeypatch.context() as patched:
        patched.setattr("kg.snapshot._leave", lambda work, *_, **__: work.close())
        build([tmp_path / "dump"], tmp_path / "out")
    assert folder_of(tmp_path / "out").is_dir()
    with pytest.raises(SnapshotError, match="exists already"):
        build([tmp_path / "dump"], tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dump", "out", "out.rejects.jsonl"]


def test_blocks_larger_than_the_shared_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They go through the workers' pipes, as do results that are too large."""
    monkeypatch.setattr(crew, "AREA", 9000)
    start = "import sys; from kg.building import crew; crew.AREA = 9000; "
    real = subprocess.Popen

    def with_area(command: list[str], **options: Any) -> Any:
        return real([*command[:2], start + command[2]], **options)

    (tmp_path / "dump").write_bytes(PACKED["bz2"](DUMP))
    monkeypatch.setattr(crew.subprocess, "Popen", with_area)
    report = build([tmp_path / "dump"], tmp_path / "a", workers=2)
    assert outcome(report)[:4] == outcome(build([tmp_path / "dump"], tmp_path / "b", workers=1))[:4]


# Killed, and going on

CODE = """
import sys
from kg.building import work
from kg.reading import dump, streams
from kg.scope import Scope
from kg.snapshot import build
work.EVERY = 0.0
dump.BLOCK, streams.BLOCK = 8000, 4000
path, out, workers = sys.argv[1:4]
print("ready", flush=True)
build([path], out, scope={scope!r}, workers=int(workers), limit={limit!r})
"""


def start(folder: Path, scope: str, workers: int, *, source: str = "dump", limit: int | None = None) -> list[str]:
    code = CODE.format(scope=SCOPES[scope], limit=limit)
    return [sys.executable, "-c", code, str(folder / source), str(folder / "killed"), str(workers)]


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
    assert not (folder_of(out) / "snapshot.sqlite").exists()
    with open_store(out) as store:
        manifest = store.manifest()
    rejects_path = out.with_name(out.name + REJECTS_SUFFIX)
    again = Report(path=out, manifest=manifest, rejects=manifest["rejects"], rejects_path=rejects_path)
    assert outcome(again) == outcome(whole)


@pytest.mark.parametrize("place", ["kg.snapshot.put_in_place", "kg.store.filling.seal"])
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_when_all_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, workers: int) -> None:
    """What was committed behind the last checkpoint is neither read again nor counted twice."""
    (tmp_path / "dump").write_bytes(PACKED["gz"](DUMP))
    monkeypatch.setattr(dump, "BLOCK", 8000)
    for name, scope in SCOPES.items():
        whole = build([tmp_path / "dump"], tmp_path / f"whole {name}", scope=scope, workers=1)
        with monkeypatch.context() as patched:
            patched.setattr(place, lambda *_, **__: sys.exit("killed"))
            patched.setattr("kg.snapshot._leave", lambda work, *_, **__: work.close())
            with pytest.raises(SystemExit):
                build([tmp_path / "dump"], tmp_path / f"killed {name}", scope=scope, workers=workers)
        again = build([tmp_path / "dump"], tmp_path / f"killed {name}", scope=scope, workers=workers)
        assert outcome(again) == outcome(whole)


def test_both_databases_of_a_build_are_committed_in_one(tmp_path: Path) -> None:
    """SQLite does so only where neither is set to wait for nothing: else a kill may come between the two."""
    one = work.Work(tmp_path / "out", {})
    found = {name: one.connection.execute(f"PRAGMA {name}.synchronous").fetchone()[0] for name in ("main", "notes")}
    one.discard()
    assert min(found.values()) > 0, found


def interrupted(folder: Path, monkeypatch: pytest.MonkeyPatch, after: int, **options: Any) -> None:
    """A build that stops after some blocks and keeps what it has."""
    monkeypatch.setattr(work, "EVERY", 0.0)
    told = 0

    def stop(_: object) -> None:
        nonlocal told
        told += 1
        if told == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build([folder / "dump"], folder / "out", progress=stop, **options)
    assert folder_of(folder / "out").is_dir()


@pytest.mark.parametrize(
    "place", ["kg.store.filling.insert_flat", "kg.building.work.Work.stage_names", "kg.picking.EdgeTable.add"]
)
@pytest.mark.parametrize("every", [0.0, 30.0])
def test_an_interrupt_in_the_middle_of_a_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, every: float
) -> None:
    """Half a block is not kept: it would be missing for ever, or come twice."""
    monkeypatch.setattr(work, "EVERY", every)
    monkeypatch.setattr(work, "WORTH", 0.0)
    scope = SCOPES["graph"] if "picking" in place else SCOPES["everything"]
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


def test_what_was_read_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dump").write_bytes(PACKED["bz2"](DUMP))
    interrupted(tmp_path, monkeypatch, 4)
    read: list[int] = []
    report = build([tmp_path / "dump"], tmp_path / "out", workers=1, progress=lambda one: read.append(one.entities))
    assert read[0] > 60
    assert report.manifest["snapshot_id"] == build([tmp_path / "dump"], tmp_path / "b").manifest["snapshot_id"]


def test_only_the_same_request_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "dump"
    source.write_bytes(DUMP)
    interrupted(tmp_path, monkeypatch, 9)
    with pytest.raises(SnapshotError, match=r"unfinished build of something else \(it differs in limit\).*--restart"):
        build([source], tmp_path / "out", limit=300)
    with pytest.raises(SnapshotError, match="differs in scope"):
        build([source], tmp_path / "out", scope=Scope(ids=frozenset({"Q1"})))
    os.utime(source, (1, 1))
    with pytest.raises(SnapshotError, match="differs in sources"):
        build([source], tmp_path / "out")
    build([source], tmp_path / "out", restart=True)
    assert not folder_of(tmp_path / "out").exists()


def test_a_source_that_changed_in_secret_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "dump"
    source.write_bytes(DUMP)
    before = source.stat()
    interrupted(tmp_path, monkeypatch, 9)
    source.write_bytes(DUMP.replace(b"entity 5", b"entity 6"))
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(SourceError, match=r"not what it was when the build began.*--restart"):
        build([source], tmp_path / "out")


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


# Faults that keep what can be kept


@pytest.mark.parametrize("packing", ["gz", "bz2", "zst"])
def test_a_truncated_dump_keeps_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packing: str) -> None:
    monkeypatch.setattr(work, "WORTH", 0.0)
    packed = PACKED[packing](DUMP)
    source = tmp_path / "dump"
    source.write_bytes(packed[: len(packed) * 2 // 3])
    with pytest.raises(SourceError, match=r"truncated.*--keep-partial"):
        build([source], tmp_path / "out")
    assert folder_of(tmp_path / "out").is_dir()
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
    assert folder_of(out).is_dir()
    assert not out.exists()
    subprocess.run(command, check=True)
    with open_store(out) as store:
        whole = build([tmp_path / "dump"], tmp_path / "whole").manifest
        assert store.manifest()["snapshot_id"] == whole["snapshot_id"]


def test_a_full_disk_before_the_first_checkpoint_leaves_nothing(tmp_path: Path) -> None:
    one = work.Work(tmp_path / "out", {})
    one.connection.execute("PRAGMA main.max_page_count = 1")
    one.connection.execute("PRAGMA notes.max_page_count = 1")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        one.checkpoint({"phase": "reading", "filler": "x" * 100_000}, {})
    assert one.resumed
    assert not one.left
    one.discard()


@pytest.mark.skipif(sys.platform != "linux", reason="open files are looked up in /proc")
def test_sorting_is_done_beside_the_output(tmp_path: Path) -> None:
    """Not in /var/tmp, which fills up at the end of a day's work."""
    folder = tmp_path / "the user's disk"
    folder.mkdir()
    connection = sqlite3.connect(folder / "snapshot", isolation_level=None)
    filling.prepare(connection)
    connection.execute("PRAGMA cache_size = -100")  # what sorting may hold in memory
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i FROM n"
    rows = connection.execute(f"{numbers} ORDER BY random()")
    rows.fetchone()
    places = [os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    assert [place for place in places if "etilqs" in place and place.startswith(str(folder))]
    connection.close()


def test_a_worker_that_is_killed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dump").write_bytes(DUMP)
    monkeypatch.setattr(work, "EVERY", 0.0)
    workers: list[Any] = []
    real = crew._Worker
    monkeypatch.setattr(crew, "_Worker", lambda: workers.append(real()) or workers[-1])

    def kill(_: object) -> None:
        workers[0].process.kill()

    with pytest.raises(WorkerError, match=r"by signal 9 \(SIGKILL\).*fewer --workers"):
        build([tmp_path / "dump"], tmp_path / "out", workers=2, progress=kill)
    assert all(worker.process.poll() is not None for worker in workers)
    report = build([tmp_path / "dump"], tmp_path / "out", workers=2)
    assert outcome(report) == outcome(build([tmp_path / "dump"], tmp_path / "b", workers=1))


def test_errors_of_workers_are_raised_here() -> None:
    with Crew(2) as two:
        two.setup(_broken, "what is wrong")
        tasks = [two.submit(1, bytes([n])) for n in range(6)]
        assert [task.result() for task in tasks[:5]] == [bytes([n]) for n in range(5)]
        with pytest.raises(SelectionError, match="what is wrong"):
            tasks[5].result()


def _broken(message: str) -> dict[int, Callable[[bytes], bytes]]:
    def handler(data: bytes) -> bytes:
        if data == b"\x05":
            raise SelectionError(message)
        return data

    return {1: handler}


# Selection by the graph


def edge(subject: str, prop: str, target: str) -> Statement:
    return Statement(id=f"{subject}$-{prop}{target}", subject=subject, property=prop, value=EntityValue(id=target))


def node(name: str, *edges: tuple[str, str]) -> Entity:
    return Entity(id=name, labels={"en": name}, statements=tuple(edge(name, prop, target) for prop, target in edges))


GRAPH = (
    node("Q1", ("P50", "Q2"), ("P31", "Q100"), ("P1433", "Q9")),
    node("Q2", ("P31", "Q5"), ("P27", "Q30")),
    node("Q3", ("P31", "Q101"), ("P50", "Q2")),
    node("Q9", *(("P150", f"Q{n}") for n in (1, 2, 3, 30))),
    node("Q30", ("P31", "Q6"), ("P150", "Q40")),
    node("Q40", ("P31", "Q41")),
    node("Q41"),
    node("Q100"),
    node("Q101", ("P279", "Q102")),
    node("Q102", ("P279", "Q100")),
    *(node(prop) for prop in ("P27", "P31", "P50", "P150", "P279", "P1433")),
)


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ({"excluded": {"Q100"}}, "Q2 Q9 Q30 Q40 Q41 Q100 Q101 Q102 P27 P31 P50 P150 P279 P1433"),
        ({"excluded": {"Q102"}, "classes": {"Q100"}}, "Q1 P31 P50 P1433"),
        ({"excluded": {"Q100"}, "ids": {"Q1", "Q2"}}, "Q1 Q2 P27 P31 P50 P1433"),  # asked for by id
        ({"excluded": {"Q100"}, "names": {"q3"}, "ids": {"Q41"}}, "Q3 Q41 P31 P50"),
        ({"ids": {"Q9"}, "hops": 1, "along": {"P150"}, "excluded": {"Q100"}}, "Q2 Q9 Q30 P27 P31 P150"),
        ({"ids": {"Q9"}, "hops": 2, "along": {"P150"}, "hub_limit": 3}, "Q9 P150"),
        ({"ids": {"Q9"}, "hops": 2, "along": {"P150"}, "hub_limit": 4}, "Q1 Q2 Q3 Q9 Q30 Q40 P27 P31 P50 P150 P1433"),
        ({"ids": {"Q2"}, "hops": 3, "along": {"P27", "P150"}}, "Q2 Q30 Q40 P27 P31 P150"),
        ({"ids": {"Q2"}, "properties": False}, "Q2"),
        ({"ids": {"P50"}}, "P50"),
        ({"names": {"p50", "q41"}}, "Q41 P50"),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_selection_by_the_graph(tmp_path: Path, scope: dict[str, Any], expected: str, order: int) -> None:
    (tmp_path / "dump").write_bytes(lines(*GRAPH[::order]))
    fields = {key: frozenset(value) if isinstance(value, set) else value for key, value in scope.items()}
    build([tmp_path / "dump"], tmp_path / "out", scope=Scope(**fields))
    with open_store(tmp_path / "out") as store:
        assert " ".join(store.ids()) == expected
        counts = store.value_counts([("P50", "Q2"), ("P31", "Q41")])
        here = expected.split()
        whole = {("P50", "Q2"): 2, ("P31", "Q41"): 1}
        assert counts == {pair: n for pair, n in whole.items() if pair[1] in here}
        assert store.property_counts(["P31", "P50"]) == {"P31": 5, "P50": 2}


@pytest.mark.parametrize(
    "fields",
    [
        {"excluded": {"P31"}},
        {"ids": {"Q1"}, "hub_limit": 3},
        {"ids": {"Q1"}, "hops": 1, "along": {"P1"}, "hub_limit": 0},
    ],
)
def test_impossible_selections(fields: dict[str, Any]) -> None:
    with pytest.raises(SelectionError):
        Scope(**{key: frozenset(value) if isinstance(value, set) else value for key, value in fields.items()})
