"""Snapshots with hostile text in every place: nothing breaks out of its literal, its IRI or its cell."""

from __future__ import annotations

import tempfile
from collections import Counter
from decimal import Decimal
from pathlib import Path

import hostile
import orjson
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st
from neo4j_server import SERVER, mirror_of, the_server
from rdflib import Literal, URIRef
from rdflib.namespace import RDF, RDFS, SKOS, XSD
from rdflib_literals import lexical_forms

from kg.building.other_sources import build_from_parquet
from kg.export.parquet import export_parquet
from kg.export.rdf_writer import export_rdf
from kg.model import Entity, EntityValue, OtherValue, QuantityValue, Snak, Statement, TextValue, TimeValue
from kg.rdf_vocabulary import NAMESPACES
from kg.store import open_store
from kg.store.sqlite import SQLiteStore
from tests.thorough import examples

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
    with SQLiteStore.create(path) as store:
        store.write([*entities, *properties])
        store.finish()
    return path


def read_back(path: Path) -> rdflib.Graph:
    graph = rdflib.Graph()
    with lexical_forms():
        graph.parse(path)
    return graph


def check_rdf(folder: Path, texts: list[str]) -> None:
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


def test_rdf_of_hostile_texts_reads_back_as_the_same_triples(tmp_path: Path) -> None:
    check_rdf(tmp_path, list(SHORT))


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20), min_size=1, max_size=4, unique=True))
@settings(max_examples=examples(15))
def test_rdf_of_any_texts_reads_back_as_the_same_triples(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check_rdf(Path(folder), texts)


@pytest.mark.parametrize("kind", ["nt", "ttl"])
def test_an_amount_that_explodes_is_not_written_out(tmp_path: Path, kind: str) -> None:
    value = QuantityValue(amount=hostile.EXPLODING, lower=Decimal("-1E+999999999"), upper=Decimal("1E-999999999"))
    stated = Statement(id="Q1$a", subject="Q1", property="P1", value=value)
    with SQLiteStore.create(tmp_path / "s") as store:
        store.write([Entity(id="Q1", statements=(stated,))])
        store.finish()
    export_rdf(tmp_path / "s", tmp_path / f"x.{kind}", format=kind)  # type: ignore[arg-type]
    assert (tmp_path / f"x.{kind}").stat().st_size < 10_000
    assert read_back(tmp_path / f"x.{kind}")


def test_parquet_of_hostile_texts_comes_back_with_its_id(tmp_path: Path) -> None:
    snapshot = snapshot_of(tmp_path / "s", list(hostile.TEXTS))
    export_parquet(snapshot, tmp_path / "out")
    manifest = build_from_parquet(tmp_path / "out", tmp_path / "back").manifest
    with open_store(snapshot) as store, open_store(tmp_path / "back") as back:
        assert manifest["snapshot_id"] == store.manifest()["snapshot_id"]
        ids = list(store.ids())
        assert back.entities(ids) == store.entities(ids)


def writable(entity: Entity) -> Entity:
    """Without the terms whose language no header of an import can name."""
    return Entity(
        id=entity.id,
        labels=entity.labels,
        descriptions=entity.descriptions,
        aliases={"en": entity.aliases["en"]},
        statements=tuple(
            Statement(
                id=one.id, subject=one.subject, property=one.property, value=value, datatype=one.datatype,
                qualifiers=(Snak(property="P580", value=TimeValue(year=-9_999_999_999_999_999, precision=0)),),
            )
            for one in entity.statements
            for value in (one.value, EntityValue(id="Q1000"))[: 2 if one.property == "P1" else 1]
        ),
    )  # fmt: skip


def importable(path: Path) -> Path:
    # The tool refuses NUL; in a mirror no datatype and an empty one are the same.
    texts = [text for text in SHORT if text and "\x00" not in text]
    with SQLiteStore.create(path) as store:
        store.write([writable(hostile_entity(1000 + number, text)) for number, text in enumerate(texts)])
        store.finish()
    return path


@pytest.mark.skipif(SERVER[0].args[0], reason=SERVER[0].kwargs["reason"])
@pytest.mark.xdist_group("neo4j")
def test_a_mirror_of_hostile_texts_answers_as_the_file_does(tmp_path: Path) -> None:
    snapshot = importable(tmp_path / "s")
    with the_server() as address, open_store(snapshot) as store, mirror_of(snapshot, address) as mirror:
        ids = list(store.ids())
        assert mirror.entities(ids) == store.entities(ids)
