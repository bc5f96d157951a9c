"""The same entities by dump, API, RDF and SPARQL give the same snapshot, up to what a source cannot carry.

RDF and SPARQL carry no order of statements, qualifiers and aliases: both give one of their own, so that they equal
each other. They have no days that do not exist (31 June becomes the 30th) and no altitude of a place. Virtuoso
keeps six digits of a floating-point number and sixteen of a decimal one. Truthy data has no ranks, qualifiers,
statement ids, units, bounds, calendars and precisions. Only dumps know counts beyond what was selected.
"""

from __future__ import annotations

import dataclasses
import gzip
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest
import virtuoso
import wikidata_api
from dump_json import entity_json, lines
from store_contract import ALL, statement

from kg.errors import (
    MissingContactError,
    QueryError,
    SelectionError,
    SnapshotError,
    SourceError,
    TimeLimitError,
)
from kg.export.rdf import export_rdf
from kg.model import (
    Entity,
    EntityValue,
    OtherValue,
    QuantityValue,
    Rank,
    Snak,
    SnakKind,
    Statement,
    TextValue,
    TimeValue,
)
from kg.reading.courtesy import Patience
from kg.reading.rdf import lexical_forms
from kg.reading.sparql import Endpoint, Profile
from kg.reading.sparql_entities import SPARQLEntities
from kg.scope import Scope
from kg.snapshot import build
from kg.sources import build_from_api, build_from_rdf, build_from_sparql
from kg.store import open_store

QUICK = Patience(base=0.01, cap=0.05, tries=3, timeout=20.0)
FIXTURE = Path(__file__).resolve().parents[3] / "shared" / "data" / "wikidata" / "full_entities_sample.ndjson.gz"
LABEL = b"http://www.w3.org/2000/01/rdf-schema#label"
CAP = 200  # rows that our Virtuoso gives at most


def point(latitude: float, longitude: float, precision: float | None = 0.01) -> OtherValue:
    parts = {
        "altitude": None,
        "globe": "http://www.wikidata.org/entity/Q2",
        "latitude": latitude,
        "longitude": longitude,
        "precision": precision,
    }
    return OtherValue(type="globecoordinate", json=orjson.dumps(parts, option=orjson.OPT_SORT_KEYS).decode())


def qualified(value: Any, prop: str, n: int, *qualifiers: Snak, **more: Any) -> Statement:
    return statement("Q1", prop, value, n, qualifiers=qualifiers, **more)


def time(year: int, month: int | None = None, day: int | None = None, **more: Any) -> TimeValue:
    finest = 9 if month is None else 10 if day is None else 11
    return TimeValue(year=year, month=month, day=day, **{"precision": finest, **more})


TIMES = (
    time(1961, 8, 4),
    time(1961, 1, 1),
    time(1961, 8),
    time(1961),
    time(-44, 3, 15, calendar="julian"),
    time(-44),
    time(-1),
    time(-500, precision=7),
    time(-1, precision=8),
    time(1900, precision=7),
    time(1582, 10, 5, calendar="julian"),
    time(1917, 10, 25, calendar="julian"),
    time(1600, calendar="julian"),
    time(-4713, 1, 2, calendar="julian"),
    time(-13_798_000_000, precision=3),
    time(1500, 2, 29, calendar="julian"),
)
AMOUNTS = (
    QuantityValue(amount=Decimal("5")),
    QuantityValue(amount=Decimal("-0.25"), unit="Q11573"),
    QuantityValue(amount=Decimal("100.50"), unit="Q4916", lower=Decimal("99.5"), upper=Decimal("101.5")),
)
TEXTS = (
    TextValue(text='a "quoted" \\ line\nand another\ttab é 日本'),
    TextValue(text="Gesang", language="de"),
    TextValue(text="colour", language="en-gb"),
)
ALL_KINDS = Entity(
    id="Q1",
    labels={"en": "All", "zh-hant": "全", "mul": 'A"ll\\'},
    descriptions={"en": "every kind of value", "en-gb": "every kind of value"},
    aliases={"en": ("Everything", "All of it")},
    sitelinks=3,
    statements=(
        *(qualified(value, "P585", n) for n, value in enumerate(TIMES)),
        *(qualified(value, "P1082", n, datatype="quantity") for n, value in enumerate(AMOUNTS)),
        *(qualified(value, "P1476", n) for n, value in enumerate(TEXTS)),
        qualified(point(48.5, 2), "P625", 0),
        qualified(TextValue(text="Eiffel Tower, 2020 (é).jpg"), "P18", 0, datatype="commonsMedia"),
        qualified(TextValue(text="http://www.wikidata.org/entity/Q5"), "P856", 0, datatype="url"),
        qualified(TextValue(text="https://example.org/a?b=c&d=(e)"), "P856", 1, datatype="url"),
        qualified("P31", "P1", 0),
        qualified(EntityValue(id="L3-F1"), "P2", 0),
        qualified("Q2", "P31", 0, rank=Rank.PREFERRED),
        qualified("Q3", "P31", 1, rank=Rank.DEPRECATED),
        qualified(None, "P40", 0, kind=SnakKind.NOVALUE),
        qualified(None, "P40", 1, kind=SnakKind.SOMEVALUE),
        qualified(
            "Q4",
            "P39",
            0,
            Snak(property="P580", value=time(1990, 5, 1)),
            Snak(property="P580", value=time(1991)),
            Snak(property="P582", kind=SnakKind.SOMEVALUE),
            Snak(property="P1365", kind=SnakKind.NOVALUE),
            Snak(property="P642", value=EntityValue(id="Q2")),
            Snak(property="P1107", value=QuantityValue(amount=Decimal("0.5"))),
            Snak(property="P1810", value=TextValue(text="x", language="fr")),
            datatype="wikibase-item",
        ),
        qualified("Q4", "P39", 1, Snak(property="P580", value=time(1990, 5, 1)), datatype="wikibase-item"),
        statement("Q1", "P9", TextValue(text="own id")),
    ),
)
OTHERS = (
    *(one for one in ALL if one.id != "Q1"),
    Entity(id="Q2", labels={"en": "two"}, statements=(statement("Q2", "P279", "Q3"),)),
    Entity(id="Q3", labels={"en": "three"}, statements=(statement("Q3", "P279", "Q2"),)),
    Entity(id="Q4", statements=(statement("Q4", "P31", "Q3"), statement("Q4", "P131", "Q404"))),
    Entity(id="P31", labels={"en": "instance of"}, datatype="wikibase-item"),
    Entity(id="P585", datatype="time"),
)
WORLD = {one.id: one for one in (ALL_KINDS, *OTHERS)}
IDS = Scope(ids=frozenset(WORLD))


def unordered(entity: Entity) -> Entity:
    """An entity in the order that RDF is read in, without what it does not carry."""
    statements = sorted(
        (
            dataclasses.replace(one, qualifiers=tuple(sorted(one.qualifiers, key=repr)), datatype=None)
            for one in entity.statements
        ),
        key=lambda one: (int(one.property[1:]), one.id),
    )
    aliases = {code: tuple(sorted(set(texts))) for code, texts in sorted(entity.aliases.items())}
    return dataclasses.replace(entity, statements=tuple(statements), aliases=aliases, datatype=None)


def entities_of(path: Path) -> dict[str, Entity]:
    with open_store(path) as store:
        return {name: unordered(one) for name, one in store.entities(list(store.ids())).items()}


def snapshot_id(path: Path) -> Any:
    with open_store(path) as store:
        return store.manifest()["snapshot_id"]


@pytest.fixture(autouse=True)
def _contact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRANOLA_CONTACT", "tests@example.org")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The world as a dump, a snapshot of it, and its RDF."""
    found = tmp_path_factory.mktemp("sources")
    (found / "world.json").write_bytes(lines(*WORLD.values()))
    build([found / "world.json"], found / "dump")
    export_rdf(found / "dump", found / "world.nt")
    export_rdf(found / "dump", found / "world.ttl", format="ttl")
    return found


@pytest.fixture(scope="module")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[virtuoso.Virtuoso]:
    with virtuoso.serving(tmp_path_factory.mktemp("virtuoso"), rows=CAP) as found:
        found.load(folder / "world.nt")
        yield found


# RDF


@pytest.mark.parametrize("name", ["world.nt", "world.ttl"])
def test_rdf_gives_what_the_dump_gives(folder: Path, tmp_path: Path, name: str) -> None:
    report = build_from_rdf([folder / name], tmp_path / "out", command="granola y")
    assert report.rejects == {}
    assert entities_of(tmp_path / "out") == entities_of(folder / "dump")
    manifest = report.manifest
    assert (manifest["source_kind"], manifest["time_aware"]) == ("rdf", True)
    assert manifest["sources"][0]["name"] == name
    assert manifest["sources"][0]["size"] == (folder / name).stat().st_size
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_how_triples_are_written_and_ordered_makes_no_difference(folder: Path, tmp_path: Path) -> None:
    import rdflib

    text = (folder / "world.nt").read_text().splitlines()
    (tmp_path / "turned.nt").write_text("\r\n".join(["# a comment", "", *reversed(text)]))
    (tmp_path / "packed.nt.gz").write_bytes(gzip.compress("\n".join([*text, *text[::2]]).encode()))
    (tmp_path / "one.nt").write_text("\n".join(text[::2]))
    (tmp_path / "two.nq").write_text("\n".join(line[:-1] + "<http://example.org/g> ." for line in text[1::2]))
    (tmp_path / "escaped.nt").write_bytes(
        b"\n".join(line.encode("ascii", "backslashreplace").replace(b"\\x", b"\\u00") for line in text)
    )
    with lexical_forms():
        graph = rdflib.Dataset()
        graph.parse(folder / "world.nt", format="nt")
        for name, kind in (("a.rdf", "xml"), ("a.jsonld", "json-ld"), ("a.trix", "trix")):
            graph.serialize(tmp_path / name, format=kind)
    groups = [
        ["turned.nt"],
        ["packed.nt.gz"],
        ["one.nt", "two.nq"],
        ["escaped.nt"],
        ["a.rdf"],
        ["a.jsonld"],
        ["a.trix"],
    ]
    build_from_rdf([folder / "world.nt"], tmp_path / "plain")
    expected = snapshot_id(tmp_path / "plain")
    for group in groups:
        build_from_rdf([tmp_path / name for name in group], tmp_path / "out", force=True)
        assert snapshot_id(tmp_path / "out") == expected, group


def test_selection_and_languages_work_as_for_dumps(folder: Path, tmp_path: Path) -> None:
    scope = Scope(ids=frozenset({"Q4"}), hops=1, along=frozenset({"P31", "P131"}), classes=frozenset({"Q2"}))
    build([folder / "world.json"], tmp_path / "by-dump", scope=scope, languages=["en-gb"])
    build_from_rdf([folder / "world.nt"], tmp_path / "by-rdf", scope=scope, languages=["en-gb"])
    assert entities_of(tmp_path / "by-rdf") == entities_of(tmp_path / "by-dump")
    with open_store(tmp_path / "by-dump") as one, open_store(tmp_path / "by-rdf") as other:
        for key in ("selection", "languages", "source_entities"):
            assert one.manifest()[key] == other.manifest()[key]


def test_named_ids_that_are_in_no_file_are_told(folder: Path, tmp_path: Path) -> None:
    report = build_from_rdf([folder / "world.nt"], tmp_path / "s", scope=Scope(ids=frozenset({"Q4", "Q700000001"})))
    assert report.manifest["warnings"] == ["1 of the 2 ids named are not in what was read: Q700000001"]


def _without_statement_nodes(path: Path, out: Path) -> Path:
    kept = [
        line
        for line in path.read_text().splitlines(keepends=True)
        if not line.startswith(("<http://www.wikidata.org/entity/statement/", "<http://www.wikidata.org/value/"))
        and "<http://www.wikidata.org/prop/P" not in line
    ]
    out.write_text("".join(kept))
    return out


def test_a_source_is_never_written_over(folder: Path, tmp_path: Path) -> None:
    source = tmp_path / "world.nt"
    source.write_bytes((folder / "world.nt").read_bytes())
    with pytest.raises(SnapshotError, match="both source and output"):
        build_from_rdf([source], source, force=True)
    assert source.read_bytes() == (folder / "world.nt").read_bytes()


def test_truthy_data_is_read_as_far_as_it_goes_and_says_so(folder: Path, tmp_path: Path) -> None:
    truthy = _without_statement_nodes(folder / "world.nt", tmp_path / "truthy.nt")
    report = build_from_rdf([truthy], tmp_path / "out")
    assert report.manifest["time_aware"] is False
    assert report.rejects == {}
    found = entities_of(tmp_path / "out")
    full = entities_of(folder / "dump")
    assert {name: one.labels for name, one in found.items()} == {name: one.labels for name, one in full.items()}
    one = found["Q1"]
    assert {(s.rank, s.qualifiers) for s in one.statements} == {(Rank.NORMAL, ())}
    assert [s.target for s in one.values("P31")] == ["Q2"]  # the best rank alone
    assert sorted(s.kind for s in one.values("P40")) == ["novalue", "somevalue"]
    assert {s.value.amount for s in one.values("P1082")} == {a.amount for a in AMOUNTS}  # type: ignore[union-attr]
    times = {s.value for s in one.values("P585")}
    assert time(1961, 8, 4) in times
    assert time(1961) in times  # 1 January 1961 or the year: what both entail
    assert time(-44) in times
    assert time(-44, 3, 13) in times  # the Ides of March in the Gregorian calendar
    granola = str(Path(sys.executable).parent / "granola")
    done = subprocess.run([granola, "snapshot", "info", str(tmp_path / "out")], capture_output=True, text=True)
    assert "not time-aware" in done.stdout
    done = subprocess.run([granola, "snapshot", "info", str(folder / "dump")], capture_output=True, text=True)
    assert "time-aware" not in done.stdout


def test_what_is_no_rdf(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.nt").write_text("hello world\n" * 3000)
    (tmp_path / "bad.ttl").write_text("hello world\n")
    (tmp_path / "empty.nt").write_text("")
    (tmp_path / "other.nt").write_text("<http://a.example/b> <http://a.example/c> <http://a.example/d> .\n")
    packed = gzip.compress((folder / "world.nt").read_bytes())
    (tmp_path / "cut.nt.gz").write_bytes(packed[:-2000])
    for name, message in (
        ("bad.nt", "no line is N-Triples; the first rejected: bad.nt, line 1: expected: subject predicate"),
        ("bad.ttl", "bad.ttl is not readable as turtle"),
        ("empty.nt", "no triple about an entity"),
        ("other.nt", "no triple about an entity"),
        ("cut.nt.gz", "truncated.*--keep-partial"),
        ("none.nt", "No such file|no such file"),
    ):
        with pytest.raises((SourceError, FileNotFoundError), match=message):
            build_from_rdf([tmp_path / name], tmp_path / "out")
        assert not list(tmp_path.glob("*out*"))
    report = build_from_rdf([tmp_path / "cut.nt.gz"], tmp_path / "out", keep_partial=True)
    assert report.rejects["damaged-source"] == 1


def test_bad_lines_are_rejected_by_number_and_the_rest_is_kept(folder: Path, tmp_path: Path) -> None:
    text = (folder / "world.nt").read_bytes().splitlines(keepends=True)
    bad = [b"no triple\n", b'<http://a> <http://b> "unclosed .\n', b'<http://a> <%s> "\xff" .\n' % LABEL]
    text[3:3] = bad
    (tmp_path / "bad.nt").write_bytes(b"".join(text) + b'<http://a> <%s> "\\q" .' % LABEL)
    report = build_from_rdf([tmp_path / "bad.nt"], tmp_path / "out")
    listed = [orjson.loads(line) for line in (tmp_path / "out.rejects.jsonl").read_bytes().splitlines()]
    assert [one["line"] for one in listed] == [4, 5, 6, len(text) + 1]
    assert {one["source"] for one in listed} == {"bad.nt"}
    assert report.rejects == {"not-ntriples": 4}
    assert entities_of(tmp_path / "out") == entities_of(folder / "dump")


def test_a_statement_without_its_node_is_rejected_not_lost(folder: Path, tmp_path: Path) -> None:
    node = "<http://www.wikidata.org/entity/statement/Q1-P39-0>"
    text = [line for line in (folder / "world.nt").read_text().splitlines() if not line.startswith(node)]
    (tmp_path / "cut.nt").write_text("\n".join(text))
    report = build_from_rdf([tmp_path / "cut.nt"], tmp_path / "out")
    assert report.rejects == {"bad-statement": 1}
    listed = orjson.loads((tmp_path / "out.rejects.jsonl").read_bytes())
    assert (listed["source"], listed["statement"]) == ("cut.nt", "Q1$P39-0")


def test_merged_ids_are_redirects(folder: Path, tmp_path: Path) -> None:
    base = "http://www.wikidata.org/entity/"
    (tmp_path / "more.nt").write_text(f"<{base}Q77> <http://www.w3.org/2002/07/owl#sameAs> <{base}Q2> .")
    build_from_rdf([folder / "world.nt", tmp_path / "more.nt"], tmp_path / "out")
    with open_store(tmp_path / "out") as store:
        assert store.entities(["Q77"])["Q77"].id == "Q2"


def test_years_that_python_knows_no_date_for_are_read_quietly(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    build_from_rdf([folder / "world.ttl"], tmp_path / "out")
    assert caplog.records == []


@pytest.mark.skipif(not FIXTURE.is_file(), reason="the sample of whole entities is not beside the checkout")
def test_whole_entities_of_wikidata_survive_rdf(tmp_path: Path) -> None:
    build([FIXTURE], tmp_path / "dump")
    export_rdf(tmp_path / "dump", tmp_path / "full.nt")
    build_from_rdf([tmp_path / "full.nt"], tmp_path / "rdf")
    one, other = entities_of(tmp_path / "dump"), entities_of(tmp_path / "rdf")
    differing = [name for name in one if one[name] != other.get(name)]
    assert differing == ["Q279"]  # 31 June 2016 there is 30 June in RDF
    assert one.keys() == other.keys()


# SPARQL, at a server that is not ours


def test_every_source_gives_the_same_snapshot(folder: Path, server: virtuoso.Virtuoso, tmp_path: Path) -> None:
    build_from_rdf([folder / "world.nt"], tmp_path / "rdf")
    report = build_from_sparql(server.url, tmp_path / "sparql", scope=IDS, patience=QUICK)
    with wikidata_api.serving({name: entity_json(one) for name, one in WORLD.items()}) as found:
        build_from_api(tmp_path / "api", scope=IDS, url=found.url, patience=QUICK)
    assert snapshot_id(tmp_path / "api") == snapshot_id(folder / "dump")
    dump, rdf, sparql = (entities_of(path) for path in (folder / "dump", tmp_path / "rdf", tmp_path / "sparql"))
    assert rdf == dump
    assert _plain_amounts(sparql) == _plain_amounts(dump)
    assert report.rejects == {}
    assert report.manifest["time_aware"] is True
    assert report.manifest["sources"][0]["name"] == server.url


def _plain_amounts(entities: dict[str, Entity]) -> dict[str, Entity]:
    """Virtuoso writes 100.50 as 100.5."""

    def plain(value: Any) -> Any:
        if not isinstance(value, QuantityValue):
            return value
        numbers = {name: getattr(value, name) for name in ("amount", "lower", "upper")}
        return dataclasses.replace(
            value, **{name: number.normalize() for name, number in numbers.items() if number is not None}
        )

    return {
        name: dataclasses.replace(
            one, statements=tuple(dataclasses.replace(s, value=plain(s.value)) for s in one.statements)
        )
        for name, one in entities.items()
    }


def test_results_that_the_server_cuts_are_completed(server: virtuoso.Virtuoso) -> None:
    endpoint = Endpoint(Profile(url=server.url), patience=QUICK)
    everything = "?s ?p ?o . FILTER(STRSTARTS(STR(?s), 'http://www.wikidata.org/'))"
    cut = endpoint.ask(f"SELECT ?s ?p ?o WHERE {{ {everything} }}")
    assert len(cut) == CAP  # with status 200 and not a word
    rows = endpoint.rows("?s ?p ?o", everything)
    assert len(rows) > 2 * CAP
    assert endpoint.requests > 5
    found = {(row["s"].value, row["p"].value, row["o"].value, row["o"].language) for row in rows}
    assert len(found) == len(rows) - 1  # Virtuoso writes the years 0000 and -0001 alike


def test_merged_missing_and_select_by_class_name_and_steps(
    folder: Path, server: virtuoso.Virtuoso, tmp_path: Path
) -> None:
    entities = SPARQLEntities(Endpoint(Profile(url=server.url), patience=QUICK))
    assert entities.instances(["Q2"]) == ["Q1", "Q4"]
    assert entities.instances(["Q515"]) == sorted(one.id for one in WORLD.values() if _is_a(one, "Q515"))
    assert entities.named(["two", "Everything", "a 'name' \\ \"x\"\n"], ["en"]) == ["Q1", "Q2"]
    assert dict(entities.entities(["Q999"]))["Q999"] == {"id": "Q999", "missing": ""}
    scope = Scope(names=frozenset({"two"}), classes=frozenset({"Q2"}), hops=1, along=frozenset({"P31", "P131"}))
    build([folder / "world.json"], tmp_path / "by-dump", scope=scope)
    report = build_from_sparql(server.url, tmp_path / "by-sparql", scope=scope, patience=QUICK, languages=["en"])
    with open_store(tmp_path / "by-dump") as one, open_store(tmp_path / "by-sparql") as other:
        assert list(one.ids()) == list(other.ids())
        for labels in (found.labels for found in other.entities(list(other.ids())).values()):
            assert set(labels) <= {"en", "mul"}
    assert report.rejects == {}
    scope = dataclasses.replace(scope, hops=2, excluded=frozenset({"Q515"}), hub_limit=1, properties=False)
    build([folder / "world.json"], tmp_path / "by-dump", scope=scope, force=True)
    build_from_sparql(server.url, tmp_path / "by-sparql", scope=scope, patience=QUICK, languages=["en"], force=True)
    with open_store(tmp_path / "by-dump") as one, open_store(tmp_path / "by-sparql") as other:
        assert list(one.ids()) == list(other.ids())


def _is_a(entity: Entity, target: str) -> bool:
    return any(one.target == target and one.rank is not Rank.DEPRECATED for one in entity.values("P31"))


def test_errors_of_a_real_server_have_types(server: virtuoso.Virtuoso) -> None:
    endpoint = Endpoint(Profile(url=server.url), patience=QUICK)
    with pytest.raises(QueryError, match="syntax error at 'nonsense'"):
        endpoint.ask("SELECT nonsense")
    with pytest.raises(QueryError, match="404"):
        Endpoint(Profile(url=server.url.replace("sparql", "none")), patience=QUICK).ask("SELECT * WHERE { ?s ?p ?o }")
    heavy = "SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . FILTER(STR(?c) > STR(?i)) }"
    with pytest.raises(TimeLimitError):  # ours, which is shorter than the server's
        Endpoint(Profile(url=server.url), patience=dataclasses.replace(QUICK, timeout=0.3)).ask(heavy)


def test_truthy_endpoint(folder: Path, server: virtuoso.Virtuoso, tmp_path: Path) -> None:
    server.load(_without_statement_nodes(folder / "world.nt", tmp_path / "truthy.nt"))
    try:
        report = build_from_sparql(server.url, tmp_path / "sparql", scope=IDS, patience=QUICK)
        build_from_rdf([tmp_path / "truthy.nt"], tmp_path / "rdf", scope=IDS)
    finally:
        server.load(folder / "world.nt")
    assert report.manifest["time_aware"] is False
    sparql, rdf = (_plain_amounts(entities_of(tmp_path / name)) for name in ("sparql", "rdf"))
    assert sparql.keys() == rdf.keys()
    for name, one in sparql.items():
        assert one.labels == rdf[name].labels
        assert _values(one) == _values(rdf[name])


def _values(entity: Entity) -> set[tuple[str, str, Any]]:
    """Without the years before 1: Virtuoso writes -0001 as 0000."""
    return {
        (one.property, one.kind, one.value)
        for one in entity.statements
        if not isinstance(one.value, TimeValue) or one.value.year > 0
    }


def test_what_an_endpoint_cannot_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SelectionError, match="everything"):
        build_from_sparql("http://127.0.0.1:9/", tmp_path / "out", scope=Scope())
    with pytest.raises(SourceError, match=r"'wdqs' is no SPARQL endpoint.*wdqs-main"):
        build_from_sparql("wdqs", tmp_path / "out", scope=IDS)
    monkeypatch.delenv("GRANOLA_CONTACT")
    with pytest.raises(MissingContactError):
        build_from_sparql("http://127.0.0.1:9/", tmp_path / "out", scope=IDS)
    assert list(tmp_path.iterdir()) == []
