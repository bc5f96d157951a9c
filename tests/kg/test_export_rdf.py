"""RDF exports: what rdflib reads from them, in both syntaxes, is what the snapshot says."""

from __future__ import annotations

import gzip
import logging
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
import rdflib
from rdflib import BNode, Literal, Namespace, URIRef
from rdflib.namespace import OWL, RDF, RDFS, SKOS, XSD

from kg.base.model import (
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
    Value,
)
from kg.export.rdf_writer import export_rdf
from kg.reading.rdf_entities import NAMESPACES, parse_xsd_date_time, xsd_date_time
from kg.store.sqlite import SQLiteStore

logging.getLogger("rdflib.term").setLevel(logging.CRITICAL)  # dates that Python cannot hold

WD, WDS, WDT = (Namespace(NAMESPACES[prefix]) for prefix in ("wd", "wds", "wdt"))
P, PS, PSV, PQ, PQV = (Namespace(NAMESPACES[prefix]) for prefix in ("p", "ps", "psv", "pq", "pqv"))
WDNO, WB = Namespace(NAMESPACES["wdno"]), Namespace(NAMESPACES["wikibase"])


def statement(prop: str, value: Value | None, name: str, **more: object) -> Statement:
    return Statement(id=f"Q42${name}", subject="Q42", property=prop, value=value, **more)  # type: ignore[arg-type]


STATEMENTS = (
    statement("P31", EntityValue(id="Q5"), "AAAAAAAA-0000-0000-0000-00000000000A", datatype="wikibase-item"),
    statement("P19", EntityValue(id="Q1"), "old", rank=Rank.NORMAL),
    statement("P19", EntityValue(id="Q350"), "new", rank=Rank.PREFERRED),
    statement("P19", EntityValue(id="Q2"), "wrong", rank=Rank.DEPRECATED),
    statement("P569", TimeValue(year=-44, month=3, day=15, calendar="julian"), "born"),
    statement("P570", None, "died", kind=SnakKind.SOMEVALUE),
    statement("P40", None, "none", kind=SnakKind.NOVALUE),
    statement(
        "P2048",
        QuantityValue(amount=Decimal("0.0000001"), unit="Q11573", lower=Decimal("-1"), upper=Decimal("2.50")),
        "height",
        qualifiers=(
            Snak(property="P585", value=TimeValue(year=2001, precision=9)),
            Snak(property="P585", kind=SnakKind.SOMEVALUE),
            Snak(property="P1310", kind=SnakKind.NOVALUE),
            Snak(property="P18", value=TextValue(text="Größe & so.jpg")),
        ),
    ),
    statement("P856", TextValue(text="https://example.org/ä?q=1"), "url", datatype="url"),
    statement("P856", TextValue(text="not a <url>"), "no-url", datatype="url"),
    statement("P18", TextValue(text="A b.jpg"), "image", datatype="commonsMedia"),
    statement("P1559", TextValue(text='Zeile\n"zwei"\\', language="de-at"), "name"),
    statement(
        "P625",
        OtherValue(
            type="globecoordinate",
            json='{"globe":"http://www.wikidata.org/entity/Q405","latitude":-0.5,"longitude":13.25,"precision":0.1}',
        ),
        "place",
    ),
    statement("P9999", OtherValue(type="shape", json='{"a":[1,"x"]}'), "odd one"),
)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rdf") / "s.sqlite"
    store = SQLiteStore.create(
        path,
        [
            Entity(
                id="Q42",
                labels={"en": "Douglas \t\x07Adams", "mul": "Адамс 😀"},
                aliases={"en-gb": ("DNA", "D. “A”")},
                descriptions={"de": "Schriftsteller"},
                statements=STATEMENTS,
                sitelinks=7,
            ),
            Entity(id="Q5", labels={"en": "human", "not a tag": "x"}),
            Entity(id="P18", labels={"en": "image"}, datatype="commonsMedia"),
        ],
        redirects={"Q77": "Q42"},
    )
    store.close()
    return path


@pytest.fixture(scope="module")
def graph(snapshot: Path) -> rdflib.Graph:
    out = snapshot.with_name("s.nt")
    export_rdf(snapshot, out)
    return rdflib.Graph().parse(out)


def objects(graph: rdflib.Graph, subject: URIRef, predicate: URIRef) -> list[str]:
    return sorted(str(one) for one in graph.objects(subject, predicate))


def test_terms_and_redirects(graph: rdflib.Graph) -> None:
    assert set(graph.objects(WD.Q42, RDFS.label)) == {
        Literal("Douglas \t\x07Adams", lang="en"),
        Literal("Адамс 😀", lang="mul"),
    }
    assert set(graph.objects(WD.Q42, SKOS.altLabel)) == {Literal("DNA", lang="en-gb"), Literal("D. “A”", lang="en-gb")}
    assert (WD.Q42, URIRef("http://schema.org/description"), Literal("Schriftsteller", lang="de")) in graph
    assert (WD.Q42, WB.sitelinks, Literal(7)) in graph
    assert (WD.Q77, OWL.sameAs, WD.Q42) in graph
    assert (WD.P18, RDF.type, WB.Property) in graph
    assert (WD.P18, WB.propertyType, WB.CommonsMedia) in graph
    # Properties that are not in the snapshot are declared, but are no entities.
    assert (WD.P31, WB.propertyType, WB.WikibaseItem) in graph
    assert (WD.P31, RDF.type, WB.Property) not in graph


def test_only_the_best_rank_is_truthy(graph: rdflib.Graph) -> None:
    assert objects(graph, WD.Q42, WDT.P19) == [str(WD.Q350)]
    assert objects(graph, WD.Q42, P.P19) == [str(WDS["Q42-new"]), str(WDS["Q42-old"]), str(WDS["Q42-wrong"])]
    assert (WDS["Q42-new"], RDF.type, WB.BestRank) in graph
    assert (WDS["Q42-old"], RDF.type, WB.BestRank) not in graph
    assert (WDS["Q42-wrong"], WB.rank, WB.DeprecatedRank) in graph
    assert objects(graph, WD.Q42, P.P31) == [str(WDS["Q42-AAAAAAAA-0000-0000-0000-00000000000A"])]


def test_unknown_and_absent_values(graph: rdflib.Graph) -> None:
    (unknown,) = graph.objects(WDS["Q42-died"], PS.P570)
    assert isinstance(unknown, BNode)
    assert (WD.Q42, WDT.P570, unknown) in graph
    assert (WDS["Q42-none"], RDF.type, WDNO.P40) in graph
    assert (WD.Q42, RDF.type, WDNO.P40) in graph
    assert not list(graph.objects(WDS["Q42-none"], PS.P40))


def test_values(graph: rdflib.Graph) -> None:
    born = WDS["Q42-born"]
    # 15 March 44 BCE in the Julian calendar is 13 March -0043 in the Gregorian one, by day number 1705426.
    assert objects(graph, born, PS.P569) == ["-0043-03-13T00:00:00Z"]
    (time,) = graph.objects(born, PSV.P569)
    assert objects(graph, time, WB.timePrecision) == ["11"]  # type: ignore[arg-type]
    assert objects(graph, time, WB.timeCalendarModel) == [str(WD.Q1985786)]  # type: ignore[arg-type]
    height = WDS["Q42-height"]
    (quantity,) = graph.objects(height, PSV.P2048)
    found = {p: o.toPython() for p, o in graph.predicate_objects(quantity) if isinstance(o, Literal)}
    assert found == {
        WB.quantityAmount: Decimal("0.0000001"),
        WB.quantityLowerBound: Decimal(-1),
        WB.quantityUpperBound: Decimal("2.5"),
    }
    assert (quantity, WB.quantityUnit, WD.Q11573) in graph
    assert (height, RDF.type, WDNO.P1310) in graph
    assert Counter(type(one) for one in graph.objects(height, PQ.P585)) == {Literal: 1, BNode: 1}
    assert len(list(graph.objects(height, PQV.P585))) == 1
    assert objects(graph, height, PQ.P18) == [NAMESPACES_FILE + "Gr%C3%B6%C3%9Fe%20%26%20so.jpg"]
    assert list(graph.objects(WDS["Q42-url"], PS.P856)) == [URIRef("https://example.org/ä?q=1")]
    assert list(graph.objects(WDS["Q42-no-url"], PS.P856)) == [Literal("not a <url>", datatype=XSD.anyURI)]
    assert list(graph.objects(WDS["Q42-image"], PS.P18)) == [URIRef(NAMESPACES_FILE + "A%20b.jpg")]
    assert list(graph.objects(WDS["Q42-name"], PS.P1559)) == [Literal('Zeile\n"zwei"\\', lang="de-at")]
    place = WDS["Q42-place"]
    assert objects(graph, place, PS.P625) == ["<http://www.wikidata.org/entity/Q405> Point(13.25 -0.5)"]
    (point,) = graph.objects(place, PSV.P625)
    assert objects(graph, point, WB.geoPrecision) == ["0.1"]  # type: ignore[arg-type]
    assert objects(graph, WDS["Q42-odd%20one"], PS.P9999) == ['{"type":"shape","value":{"a":[1,"x"]}}']


NAMESPACES_FILE = "http://commons.wikimedia.org/wiki/Special:FilePath/"


def test_both_syntaxes_say_the_same_and_packing_changes_nothing(snapshot: Path, graph: rdflib.Graph) -> None:
    def grounded(one: rdflib.Graph) -> set[tuple[object, ...]]:
        return {tuple("_" if isinstance(part, BNode) else part for part in triple) for triple in one}

    report = export_rdf(snapshot, snapshot.with_name("s.ttl"), format="ttl")
    turtle = rdflib.Graph().parse(snapshot.with_name("s.ttl"))
    assert grounded(turtle) == grounded(graph)
    assert len(turtle) == len(graph) == report.triples
    assert (report.entities, report.statements) == (3, len(STATEMENTS))
    assert report.left_out == {"terms in 'not a tag', which is no language tag": 1}
    for name in ("a.nt.gz", "b.nt.gz"):
        export_rdf(snapshot, snapshot.with_name(name))
    packed = snapshot.with_name("a.nt.gz").read_bytes()
    assert packed == snapshot.with_name("b.nt.gz").read_bytes()
    assert gzip.decompress(packed) == snapshot.with_name("s.nt").read_bytes()


# Origin: Wikibase's DateTimeValueCleaner and WikiData's RDF dump format (no year 0 in JSON, 0000 is 1 BCE in RDF).
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (TimeValue(year=1961, month=8, day=4), "1961-08-04T00:00:00Z"),
        (TimeValue(year=1961, month=8, precision=10), "1961-08-01T00:00:00Z"),
        (TimeValue(year=-1, precision=9), "0000-01-01T00:00:00Z"),
        (TimeValue(year=-44, precision=9), "-0043-01-01T00:00:00Z"),
        (TimeValue(year=-500, precision=7), "-0500-01-01T00:00:00Z"),
        (TimeValue(year=-13798000000, precision=3), "-13798000000-01-01T00:00:00Z"),
        (TimeValue(year=1582, month=10, day=5, calendar="julian"), "1582-10-15T00:00:00Z"),
        (TimeValue(year=1582, month=10, precision=10, calendar="julian"), "1582-10-01T00:00:00Z"),
        (TimeValue(year=2021, month=2, day=30), "2021-02-28T00:00:00Z"),
    ],
)
def test_times(value: TimeValue, text: str) -> None:
    assert xsd_date_time(value) == text
    if value.day != 30:
        assert parse_xsd_date_time(text, precision=value.precision, calendar=value.calendar) == value
