"""Snapshots with hostile text in every place: nothing breaks out of its literal, its IRI or its cell."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path

import hostile
import orjson
import pytest
import rdflib
from rdflib import Literal, URIRef
from rdflib.namespace import RDF, RDFS, SKOS, XSD
from rdflib_literals import lexical_forms

from kg.base.model import Entity, EntityValue, OtherValue, QuantityValue, Snak, Statement, TextValue
from kg.export.rdf_writer import export_rdf
from kg.reading.rdf_entities import NAMESPACES
from kg.store.sqlite import SQLiteStore

pytestmark = pytest.mark.thorough("kg")

SHORT = tuple(text for text in hostile.TEXTS if len(text) < 20_000)
OURS = tuple(NAMESPACES.values())


def hostile_entity(number: int, text: str) -> Entity:
    """The text in every place that holds one."""
    name = f"Q{number}"
    values = (
        TextValue(text=text),
        TextValue(text=text, language="en"),
        TextValue(text="x", language=text or "en"),
        EntityValue(id=f"L{text}"),
        OtherValue(type=text, json=orjson.dumps({"a": text}).decode()),
        OtherValue(type="globecoordinate", json=orjson.dumps({"latitude": 1, "longitude": 2, "globe": text}).decode()),
        QuantityValue(amount=Decimal(5), unit=text or None),
    )
    datatypes = (text, "url", "commonsMedia", "geo-shape", "tabular-data", "external-id", None)
    statements = [
        Statement(
            id=f"{name}${text}-{n}-{m}",
            subject=name,
            property=f"P{n + 1}",
            value=value,
            datatype=datatype,
            qualifiers=(Snak(property="P9", value=value),),
        )
        for n, value in enumerate(values)
        for m, datatype in enumerate(datatypes if isinstance(value, TextValue) else (text,))
    ]
    return Entity(
        id=name,
        labels={"en": text},
        descriptions={"en": text},
        aliases={"en": (text, text + "."), text or "de": (text,)},
        statements=tuple(statements),
    )


def snapshot_of(path: Path, texts: list[str]) -> Path:
    entities = [hostile_entity(1000 + number, text) for number, text in enumerate(texts)]
    properties = [Entity(id=f"P{n + 1}", datatype=text) for n, text in enumerate(texts)]
    SQLiteStore.create(path, [*entities, *properties]).close()
    return path


def read_back(path: Path) -> rdflib.Graph:
    graph = rdflib.Graph()
    with lexical_forms():
        graph.parse(path)
    return graph


def test_rdf_of_hostile_texts_reads_back_as_the_same_triples(tmp_path: Path) -> None:
    folder, texts = tmp_path, list(SHORT)
    snapshot = snapshot_of(folder / "s", texts)
    graphs = []
    for kind in ("nt", "ttl"):
        export_rdf(snapshot, folder / f"x.{kind}", format=kind)  # type: ignore[arg-type]
        graphs.append(read_back(folder / f"x.{kind}"))
    one, two = (set(graph) for graph in graphs)
    assert one == two
    predicates = {str(predicate) for predicate in graphs[0].predicates()}
    assert all(predicate.startswith(OURS) for predicate in predicates), predicates
    wd, p = NAMESPACES["wd"], NAMESPACES["p"]
    for number, text in enumerate(texts):
        subject = URIRef(f"{wd}Q{1000 + number}")
        assert set(graphs[0].objects(subject, RDFS.label)) == {Literal(text, lang="en")}
        english = {Literal(text, lang="en"), Literal(text + ".", lang="en")}
        assert {one for one in graphs[0].objects(subject, SKOS.altLabel) if one.language == "en"} == english  # type: ignore[attr-defined]
        assert len(list(graphs[0].objects(subject, URIRef(f"{p}P1")))) == 7
        said = Counter(
            value
            for node in graphs[0].objects(subject, URIRef(f"{p}P1"))
            for value in graphs[0].objects(node, URIRef(f"{NAMESPACES['ps']}P1"))
        )
        assert said[Literal(text)] >= 1  # as an external id, and wherever the datatype says nothing
        if any(sign in text for sign in ' <>"{}|^`\\\n') or ":" not in text:
            assert said[Literal(text, datatype=XSD.anyURI)] == 1
        assert set(graphs[0].objects(subject, RDF.type)) == {URIRef(NAMESPACES["wikibase"] + "Item")}


@pytest.mark.parametrize("kind", ["nt", "ttl"])
def test_an_amount_that_explodes_is_not_written_out(tmp_path: Path, kind: str) -> None:
    value = QuantityValue(amount=hostile.EXPLODING, lower=Decimal("-1E+999999999"), upper=Decimal("1E-999999999"))
    stated = Statement(id="Q1$a", subject="Q1", property="P1", value=value)
    SQLiteStore.create(tmp_path / "s", [Entity(id="Q1", statements=(stated,))]).close()
    export_rdf(tmp_path / "s", tmp_path / f"x.{kind}", format=kind)  # type: ignore[arg-type]
    assert (tmp_path / f"x.{kind}").stat().st_size < 10_000
    assert read_back(tmp_path / f"x.{kind}")
