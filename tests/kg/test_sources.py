"""The same entities by dump, API, RDF and SPARQL give the same snapshot, up to what a source cannot carry.

SPARQL is asked of a server that is not ours: Virtuoso. It keeps six digits of a floating-point number and sixteen of a
decimal one. What RDF does not carry (see test_rdf), SPARQL does not either; both give orders of their own, so that they
equal each other. Only dumps know counts beyond what was selected.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import virtuoso
import wikidata_api
from dump_json import entity_json
from every_kind import CAP, IDS, QUICK, WORLD, entities_of, snapshot_id, without_statement_nodes

from kg.base.model import Entity, QuantityValue, Rank, TimeValue
from kg.base.scope import Scope
from kg.building.other_sources import build_from_api, build_from_rdf, build_from_sparql
from kg.building.snapshot import build
from kg.errors import MissingContactError, QueryError, SelectionError, SourceError, TimeLimitError
from kg.reading.sparql import Endpoint, SPARQLEntities
from kg.store import open_store
from tests.thorough import thorough_only

pytestmark = pytest.mark.usefixtures("contact")


@pytest.fixture(scope="module")
def server(kinds: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[virtuoso.Virtuoso]:
    with virtuoso.serving(tmp_path_factory.mktemp("virtuoso"), rows=CAP) as found:
        found.load(kinds / "world.nt")
        yield found


def test_every_source_gives_the_same_snapshot(kinds: Path, server: virtuoso.Virtuoso, tmp_path: Path) -> None:
    build_from_rdf([kinds / "world.nt"], tmp_path / "rdf")
    report = build_from_sparql(server.url, tmp_path / "sparql", scope=IDS, patience=QUICK)
    with wikidata_api.serving({name: entity_json(one) for name, one in WORLD.items()}) as found:
        build_from_api(tmp_path / "api", scope=IDS, url=found.url, patience=QUICK)
    assert snapshot_id(tmp_path / "api") == snapshot_id(kinds / "dump")
    dump, rdf, sparql = (entities_of(path) for path in (kinds / "dump", tmp_path / "rdf", tmp_path / "sparql"))
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


def test_results_that_the_server_cuts_are_told(server: virtuoso.Virtuoso) -> None:
    endpoint = Endpoint(server.url, patience=QUICK)
    everything = "?s ?p ?o . FILTER(STRSTARTS(STR(?s), 'http://www.wikidata.org/'))"
    assert len(endpoint.select(f"SELECT ?s ?p ?o WHERE {{ {everything} }}")) == CAP  # with status 200 and not a word
    with pytest.raises(TimeLimitError, match="has to ask for fewer"):
        endpoint.select_all("?s ?p ?o", everything)


def test_merged_missing_and_select_by_class_name_and_steps(
    kinds: Path, server: virtuoso.Virtuoso, tmp_path: Path
) -> None:
    entities = SPARQLEntities(Endpoint(server.url, patience=QUICK))
    assert entities.transitive_instances(["Q2"]) == ["Q1", "Q4"]
    assert entities.transitive_instances(["Q515"]) == sorted(one.id for one in WORLD.values() if _is_a(one, "Q515"))
    assert entities.ids_by_name(["two", "Everything", "a 'name' \\ \"x\"\n"], ["en"]) == ["Q1", "Q2"]
    assert dict(entities.entities(["Q999"]))["Q999"] == {"id": "Q999", "missing": ""}
    scope = Scope(names=frozenset({"two"}), classes=frozenset({"Q2"}), hops=1, along=frozenset({"P31", "P131"}))
    build([kinds / "world.json"], tmp_path / "by-dump", scope=scope)
    report = build_from_sparql(server.url, tmp_path / "by-sparql", scope=scope, patience=QUICK, languages=["en"])
    with open_store(tmp_path / "by-dump") as one, open_store(tmp_path / "by-sparql") as other:
        assert list(one.ids()) == list(other.ids())
        for labels in (found.labels for found in other.entities(list(other.ids())).values()):
            assert set(labels) <= {"en", "mul"}
    assert report.rejects == {}
    scope = dataclasses.replace(scope, hops=2, hub_limit=1, properties=False)
    build([kinds / "world.json"], tmp_path / "by-dump", scope=scope, force=True)
    build_from_sparql(server.url, tmp_path / "by-sparql", scope=scope, patience=QUICK, languages=["en"], force=True)
    with open_store(tmp_path / "by-dump") as one, open_store(tmp_path / "by-sparql") as other:
        assert list(one.ids()) == list(other.ids())


def _is_a(entity: Entity, target: str) -> bool:
    return any(one.target == target and one.rank is not Rank.DEPRECATED for one in entity.values("P31"))


def test_errors_of_a_real_server_have_types(server: virtuoso.Virtuoso) -> None:
    endpoint = Endpoint(server.url, patience=QUICK)
    with pytest.raises(QueryError, match="syntax error at 'nonsense'"):
        endpoint.select("SELECT nonsense")
    with pytest.raises(QueryError, match="404"):
        Endpoint(server.url.replace("sparql", "none"), patience=QUICK).select("SELECT * WHERE { ?s ?p ?o }")
    heavy = "SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . FILTER(STR(?c) > STR(?i)) }"
    with pytest.raises(TimeLimitError):  # ours, which is shorter than the server's
        Endpoint(server.url, patience=dataclasses.replace(QUICK, timeout=0.3)).select(heavy)


def test_truthy_endpoint(kinds: Path, server: virtuoso.Virtuoso, tmp_path: Path) -> None:
    server.load(without_statement_nodes(kinds / "world.nt", tmp_path / "truthy.nt"))
    try:
        report = build_from_sparql(server.url, tmp_path / "sparql", scope=IDS, patience=QUICK)
        build_from_rdf([tmp_path / "truthy.nt"], tmp_path / "rdf", scope=IDS)
    finally:
        server.load(kinds / "world.nt")
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


@thorough_only
def test_what_an_endpoint_cannot_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SelectionError, match="everything"):
        build_from_sparql("http://127.0.0.1:9/", tmp_path / "out", scope=Scope())
    with pytest.raises(SourceError, match=r"no SPARQL endpoint: 'wdqs' is no address.*wdqs-main"):
        build_from_sparql("wdqs", tmp_path / "out", scope=IDS)
    monkeypatch.delenv("GRANOLA_CONTACT")
    with pytest.raises(MissingContactError):
        build_from_sparql("http://127.0.0.1:9/", tmp_path / "out", scope=IDS)
    assert list(tmp_path.iterdir()) == []
