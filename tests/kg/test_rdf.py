"""Snapshots from RDF files: as from the dump, up to what RDF does not carry.

RDF has no altitude of a place; order, and days that do not exist, are told in triples of our own. Truthy data has no
ranks, qualifiers, statement ids, units, bounds, calendars and precisions.
"""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
from pathlib import Path
from typing import Literal

import orjson
import pytest
from every_kind import AMOUNTS, LABEL, entities_of, snapshot_id, time, without_statement_nodes
from rdflib_literals import lexical_forms

from kg.base.model import Entity, OtherValue, Rank, Statement, TextValue
from kg.base.scope import Scope
from kg.building.other_sources import build_from_rdf
from kg.building.snapshot import build
from kg.errors import SourceError
from kg.export.rdf_writer import export_rdf
from kg.store import open_store
from kg.store.sqlite import SQLiteStore
from tests.conftest import WHOLE_ENTITIES, needs_whole_entities


@pytest.mark.parametrize("name", ["world.nt", "world.ttl"])
def test_rdf_gives_what_the_dump_gives(kinds: Path, tmp_path: Path, name: str) -> None:
    report = build_from_rdf([kinds / name], tmp_path / "out", command="granola y")
    assert report.rejects == {}
    assert entities_of(tmp_path / "out") == entities_of(kinds / "dump")
    manifest = report.manifest
    assert (manifest["source_kind"], manifest["time_aware"]) == ("rdf", True)
    assert manifest["sources"][0]["name"] == name
    assert manifest["sources"][0]["size"] == (kinds / name).stat().st_size
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_how_triples_are_written_and_ordered_makes_no_difference(kinds: Path, tmp_path: Path) -> None:
    import rdflib

    text = (kinds / "world.nt").read_text().splitlines()
    (tmp_path / "turned.nt").write_text("\r\n".join(["# a comment", "", *reversed(text)]))
    (tmp_path / "packed.nt.gz").write_bytes(gzip.compress("\n".join([*text, *text[::2]]).encode()))
    (tmp_path / "one.nt").write_text("\n".join(text[::2]))
    (tmp_path / "two.nq").write_text("\n".join(line[:-1] + "<http://example.org/g> ." for line in text[1::2]))
    (tmp_path / "escaped.nt").write_bytes(
        b"\n".join(line.encode("ascii", "backslashreplace").replace(b"\\x", b"\\u00") for line in text)
    )
    with lexical_forms():
        graph = rdflib.Dataset()
        graph.parse(kinds / "world.nt", format="nt")
        for name, kind in (("a.rdf", "xml"), ("a.jsonld", "json-ld")):
            graph.serialize(tmp_path / name, format=kind)
    groups = [
        ["turned.nt"],
        ["packed.nt.gz"],
        ["one.nt", "two.nq"],
        ["escaped.nt"],
        ["a.rdf"],
        ["a.jsonld"],
    ]
    build_from_rdf([kinds / "world.nt"], tmp_path / "plain")
    expected = snapshot_id(tmp_path / "plain")
    for group in groups:
        build_from_rdf([tmp_path / name for name in group], tmp_path / "out", force=True)
        assert snapshot_id(tmp_path / "out") == expected, group


def test_selection_and_languages_work_as_for_dumps(kinds: Path, tmp_path: Path) -> None:
    scope = Scope(ids=frozenset({"Q4"}), hops=1, along=frozenset({"P31", "P131"}), classes=frozenset({"Q2"}))
    build([kinds / "world.json"], tmp_path / "by-dump", scope=scope, languages=["en-gb"])
    build_from_rdf([kinds / "world.nt"], tmp_path / "by-rdf", scope=scope, languages=["en-gb"])
    assert entities_of(tmp_path / "by-rdf") == entities_of(tmp_path / "by-dump")
    with open_store(tmp_path / "by-dump") as one, open_store(tmp_path / "by-rdf") as other:
        for key in ("selection", "languages", "source_entities"):
            assert one.manifest()[key] == other.manifest()[key]


def test_truthy_data_is_read_as_far_as_it_goes_and_says_so(kinds: Path, tmp_path: Path) -> None:
    truthy = without_statement_nodes(kinds / "world.nt", tmp_path / "truthy.nt")
    report = build_from_rdf([truthy], tmp_path / "out")
    assert report.manifest["time_aware"] is False
    assert report.rejects == {}
    found = entities_of(tmp_path / "out")
    full = entities_of(kinds / "dump")
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
    done = subprocess.run([granola, "snapshot", "info", str(kinds / "dump")], capture_output=True, text=True)
    assert "time-aware" not in done.stdout


def test_what_is_no_rdf(kinds: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.nt").write_text("hello world\n" * 3000)
    (tmp_path / "bad.ttl").write_text("hello world\n")
    (tmp_path / "empty.nt").write_text("")
    (tmp_path / "other.nt").write_text("<http://a.example/b> <http://a.example/c> <http://a.example/d> .\n")
    packed = gzip.compress((kinds / "world.nt").read_bytes())
    (tmp_path / "cut.nt.gz").write_bytes(packed[:-2000])
    for name, message in (
        ("bad.nt", "no triple .* in it; the first rejected: bad.nt, line 1: The subject of a triple must be"),
        ("bad.ttl", "bad.ttl is not readable as ttl"),
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


def test_bad_lines_are_rejected_by_number_and_the_rest_is_kept(kinds: Path, tmp_path: Path) -> None:
    text = (kinds / "world.nt").read_bytes().splitlines(keepends=True)
    bad = [b"no triple\n", b'<http://a> <http://b> "unclosed .\n', b'<http://a> <%s> "\xff" .\n' % LABEL]
    text[3:3] = bad
    (tmp_path / "bad.nt").write_bytes(b"".join(text) + b'<http://a> <%s> "\\q" .' % LABEL)
    report = build_from_rdf([tmp_path / "bad.nt"], tmp_path / "out")
    listed = [orjson.loads(line) for line in (tmp_path / "out.rejects.jsonl").read_bytes().splitlines()]
    assert [one["line"] for one in listed] == [4, 5, 6, len(text) + 1]
    assert {one["source"] for one in listed} == {"bad.nt"}
    assert report.rejects == {"not-ntriples": 4}
    assert entities_of(tmp_path / "out") == entities_of(kinds / "dump")


def test_a_statement_without_its_node_is_rejected_not_lost(kinds: Path, tmp_path: Path) -> None:
    node = "<http://www.wikidata.org/entity/statement/Q1-P39-0>"
    text = [line for line in (kinds / "world.nt").read_text().splitlines() if not line.startswith(node)]
    (tmp_path / "cut.nt").write_text("\n".join(text))
    report = build_from_rdf([tmp_path / "cut.nt"], tmp_path / "out")
    assert report.rejects == {"bad-statement": 1}
    listed = orjson.loads((tmp_path / "out.rejects.jsonl").read_bytes())
    assert (listed["source"], listed["statement"]) == ("cut.nt", "Q1$P39-0")


def test_merged_ids_are_redirects(kinds: Path, tmp_path: Path) -> None:
    base = "http://www.wikidata.org/entity/"
    (tmp_path / "more.nt").write_text(f"<{base}Q77> <http://www.w3.org/2002/07/owl#sameAs> <{base}Q2> .")
    build_from_rdf([kinds / "world.nt", tmp_path / "more.nt"], tmp_path / "out")
    with open_store(tmp_path / "out") as store:
        assert store.entities(["Q77"])["Q77"].id == "Q2"


@needs_whole_entities
def test_whole_entities_of_wikidata_come_back_with_their_id(tmp_path: Path) -> None:
    """Also with all triples shuffled: what RDF has no order for is told, whatever stands first."""
    report = build([WHOLE_ENTITIES], tmp_path / "dump")
    export_rdf(tmp_path / "dump", tmp_path / "full.nt")
    triples = (tmp_path / "full.nt").read_bytes().splitlines(keepends=True)
    random.Random(0).shuffle(triples)
    (tmp_path / "shuffled.nt").write_bytes(b"".join(triples))
    for name in ("full.nt", "shuffled.nt"):
        again = build_from_rdf([tmp_path / name], tmp_path / "rdf", force=True)
        assert again.manifest["snapshot_id"] == report.manifest["snapshot_id"], name


@pytest.mark.parametrize("number", range(3))
def test_literal_qualifiers_of_wikidatas_own_rdf_are_all_kept(tmp_path: Path, number: int) -> None:
    """Without the order that our exports tell, and whichever stands first."""
    base = "http://www.wikidata.org"
    node = f"<{base}/entity/statement/Q1-a>"
    said = [f'{node} <{base}/prop/qualifier/P1> "{text}" .' for text in ("one", "two", "three")]
    triples = [
        *(said[number:] + said[:number]),
        f"<{base}/entity/Q1> <{base}/prop/P9> {node} .",
        f"{node} <{base}/prop/statement/P9> <{base}/entity/Q2> .",
    ]
    (tmp_path / "one.nt").write_text("\n".join(triples))
    build_from_rdf([tmp_path / "one.nt"], tmp_path / "out")
    with open_store(tmp_path / "out") as store:
        (statement,) = store.entities(["Q1"])["Q1"].statements
    assert [snak.value.text for snak in statement.qualifiers] == ["one", "three", "two"]  # type: ignore[union-attr]


@pytest.mark.parametrize(("ending", "form"), [("nt", "N_TRIPLES"), ("ttl", "TURTLE")])
def test_a_strict_parser_reads_exports(tmp_path: Path, ending: Literal["nt", "ttl"], form: str) -> None:
    """Codes that are no tags, coordinates on another body, addresses that are none."""
    import pyoxigraph

    place = '{"altitude":null,"globe":"http://www.wikidata.org/entity/Q405","latitude":-0.5,"longitude":13.25,"precision":0.1}'
    values = [
        TextValue(text="文言", language="zh-classical"),
        OtherValue(type="globecoordinate", json=place),
        OtherValue(type="globecoordinate", json=place.replace("http:", "no <IRI>")),
        *(TextValue(text=text) for text in ("http://a.example/%zz", "http://a.example/<b>", "x:y", "no address")),
    ]
    stated = tuple(
        Statement(id=f"Q1${n}", subject="Q1", property="P9", value=value, datatype="url" if n > 2 else None)
        for n, value in enumerate(values)
    )
    labels = {"zh-classical": "文言", "be-x-old": "x", "en": "y\x00\t"}
    SQLiteStore.create(tmp_path / "s", [Entity(id="Q1", labels=labels, statements=stated)]).close()
    export_rdf(tmp_path / "s", tmp_path / f"s.{ending}", format=ending)
    text = (tmp_path / f"s.{ending}").read_bytes()
    assert len(list(pyoxigraph.parse(text, getattr(pyoxigraph.RdfFormat, form)))) > 30
    build_from_rdf([tmp_path / f"s.{ending}"], tmp_path / "rdf")
    with open_store(tmp_path / "rdf") as store:
        found = store.entities(["Q1"])["Q1"]
    assert found.labels == labels
    assert {one.id: one.value for one in found.statements} == {one.id: one.value for one in stated}
