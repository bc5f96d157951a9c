"""The adapter for SPARQL endpoints against a server that misbehaves as real ones do; see test_sources for Virtuoso."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import loopback
import pytest
import sparql_server as srv
from dump_json import lines
from store_contract import statement

from kg.base.model import Entity, Rank, Snak, TimeValue
from kg.base.scope import Scope
from kg.building.other_sources import build_from_rdf, build_from_sparql
from kg.building.snapshot import build
from kg.errors import BadAnswerError, KGError, QueryError, RateLimitedError, ServiceError, TimeLimitError
from kg.export.rdf_writer import export_rdf
from kg.reading.sparql import Endpoint, SPARQLEntities
from kg.store import open_store
from kg.web.client import RetryDelays, user_agent

QUICK = RetryDelays(base=0.01, cap=0.05, tries=4, timeout=30.0)
WORLD = (
    *(
        Entity(
            id=f"Q{n}",
            labels={"en": f"thing {n}", "de": f"Ding {n}", "mul": f"T{n}", "zh-hant": "物"},
            statements=(
                statement(f"Q{n}", "P31", f"Q{n // 3 + 1}", rank=Rank.DEPRECATED if n == 7 else Rank.NORMAL),
                statement(
                    f"Q{n}",
                    "P131",
                    f"Q{n + 1}",
                    qualifiers=(Snak(property="P580", value=TimeValue(year=1900 + n, precision=9)),),
                ),
            ),
            sitelinks=n,
        )
        for n in range(1, 21)
    ),
    Entity(id="Q30", labels={"en": "class"}, statements=(statement("Q30", "P279", "Q1"),)),
    Entity(id="Q31", labels={"en": "instance"}, statements=(statement("Q31", "P31", "Q30"),)),
)
IDS = Scope(ids=frozenset(one.id for one in WORLD))


pytestmark = pytest.mark.usefixtures("contact")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("world")
    (found / "world.json").write_bytes(lines(*WORLD))
    build([found / "world.json"], found / "dump")
    export_rdf(found / "dump", found / "world.nt")
    build_from_rdf([found / "world.nt"], found / "rdf")
    return found


@pytest.fixture(scope="module")
def shared(folder: Path) -> Iterator[srv.Server]:
    with srv.serving(folder / "world.nt") as server:
        yield server


@pytest.fixture
def server(shared: srv.Server) -> srv.Server:
    shared.faults, shared.always, shared.rows = [], None, 10**9
    shared.queries.clear()
    shared.headers.clear()
    return shared


def endpoint(server: srv.Server, patience: RetryDelays = QUICK) -> Endpoint:
    return Endpoint(server.url, patience=patience)


LABELS = "?s rdfs:label ?o"


def test_how_is_asked(server: srv.Server) -> None:
    rows = endpoint(server).select_all("?s ?o", LABELS)
    assert len(rows) == 4 * 20 + 2
    assert server.headers[0]["User-Agent"] == user_agent()
    assert "(tests@example.org)" in server.headers[0]["User-Agent"]
    assert "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>" in server.queries[0]
    assert "wikibase:label" not in "".join(server.queries)
    assert {row["o"].language for row in rows} == {"en", "de", "mul", "zh-hant"}


@pytest.mark.parametrize(
    "faults",
    [
        [srv.too_many],
        [srv.blocked],
        [srv.error_page],
        [loopback.silent],
        [loopback.silent, srv.too_many, srv.error_page],
    ],
    ids=lambda faults: "+".join(fault.__name__ for fault in faults),
)
def test_what_passes_is_waited_for(server: srv.Server, faults: list[srv.Fault]) -> None:
    server.faults = list(faults)
    assert len(endpoint(server).select(f"SELECT * WHERE {{ {LABELS} }}")) == 82
    assert len(server.queries) == len(faults) + 1


@pytest.mark.parametrize(
    ("fault", "error", "message", "tries"),
    [
        (srv.too_many, RateLimitedError, "429", 4),
        (srv.blocked, ServiceError, "answered text/plain, not JSON: Please set a user agent", 4),
        (srv.error_page, ServiceError, "status 502.*Bad Gateway", 4),
        (srv.forbidden, QueryError, "403", 1),
        (srv.timed_out, TimeLimitError, "TimeoutException", 1),
        (srv.timed_out_as_qlever, TimeLimitError, "timed out", 1),
        (srv.partial, TimeLimitError, "part of the answer.*incomplete results", 1),
        (srv.half_sent, BadAnswerError, "cut off", 1),
    ],
)
def test_what_does_not_pass_is_told(
    server: srv.Server, fault: srv.Fault, error: type[KGError], message: str, tries: int
) -> None:
    server.always = fault
    with pytest.raises(error, match=message):
        endpoint(server).select(f"SELECT * WHERE {{ {LABELS} }}")
    assert len(server.queries) == tries


@pytest.mark.parametrize("fault", [loopback.slow, srv.dripping])
def test_the_time_limit_is_ours(server: srv.Server, fault: srv.Fault) -> None:
    server.always = fault
    with pytest.raises(TimeLimitError, match="within"):
        endpoint(server, RetryDelays(base=0.01, tries=2, timeout=0.25)).select(f"SELECT * WHERE {{ {LABELS} }}")


def test_an_answer_cut_in_the_middle_is_asked_for_in_smaller_pieces(
    folder: Path, server: srv.Server, tmp_path: Path
) -> None:
    server.always = srv.cut_when_long
    with pytest.raises(TimeLimitError, match="cut off"):
        endpoint(server).select_all("?s ?p ?o", "?s ?p ?o")
    build_from_sparql(server.url, tmp_path / "out", scope=IDS, patience=QUICK)
    with open_store(tmp_path / "out") as one, open_store(folder / "rdf") as other:
        assert one.manifest()["snapshot_id"] == other.manifest()["snapshot_id"]


@pytest.mark.parametrize("rows", [1, 41, 81, 82, 83])
def test_results_that_the_server_cuts_are_told(server: srv.Server, rows: int) -> None:
    server.rows = rows
    if rows < 82:
        with pytest.raises(TimeLimitError, match=f"gives {rows} of 82 rows"):
            endpoint(server).select_all("?s ?o", LABELS)
    else:
        assert len(endpoint(server).select_all("?s ?o", LABELS)) == 82


def test_a_snapshot_by_sparql_is_that_of_rdf(folder: Path, server: srv.Server, tmp_path: Path) -> None:
    server.faults = [srv.too_many, loopback.silent]
    server.rows = 100
    report = build_from_sparql(server.url, tmp_path / "out", scope=IDS, patience=QUICK)
    with open_store(tmp_path / "out") as one, open_store(folder / "rdf") as other:
        assert one.manifest()["snapshot_id"] == other.manifest()["snapshot_id"]
    assert report.manifest["time_aware"] is True
    assert report.manifest["source_kind"] == "sparql"


def test_a_batch_that_takes_too_long_is_halved(folder: Path, server: srv.Server, tmp_path: Path) -> None:
    def too_much(handler: srv.Handler, _: bytes) -> bool:
        query = handler.server.queries[-1]
        return query.count("wd:Q") > 6 and srv.timed_out(handler, b"")

    server.always = too_much
    build_from_sparql(server.url, tmp_path / "out", scope=IDS, patience=QUICK)
    with open_store(tmp_path / "out") as one, open_store(folder / "rdf") as other:
        assert one.manifest()["snapshot_id"] == other.manifest()["snapshot_id"]


def test_languages_are_filtered_by_the_endpoint(server: srv.Server) -> None:
    entities = SPARQLEntities(endpoint(server), languages=["zh-hant"])
    ((_, data),) = entities.entities(["Q5"])
    assert set(data["labels"]) == {"mul", "zh-hant"}


def test_classes_follow_all_statements_that_are_not_deprecated(server: srv.Server) -> None:
    entities = SPARQLEntities(endpoint(server))
    assert entities.transitive_instances(["Q1"]) == ["Q1", "Q2", "Q31"]
    assert entities.transitive_instances(["Q3"]) == ["Q6", "Q8"]  # Q7 by a deprecated statement
