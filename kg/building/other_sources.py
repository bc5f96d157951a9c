"""Snapshots from what is no JSON dump: RDF files, the API, SPARQL endpoints, and Parquet tables.

Selection and counts work as for dumps; Parquet tables are taken whole, with the counts that they bring.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kg.building.build_request import check_output, check_request
from kg.errors import SelectionError, SnapshotError, SourceError
from kg.files import atomic_path, why_unwritten
from kg.ids import number_of
from kg.model import Entity
from kg.reading.crawl import Fetch, reached
from kg.scope import Scope
from kg.snapshot import Origin, Progress, Report, build
from kg.store.sqlite import SQLiteStore
from kg.terms import fallback_chain
from kg.work_folder import WorkFolder

if TYPE_CHECKING:
    from kg.reading.entity_json import Reject
    from kg.web.rate_limits import RetryDelays

CACHE_SUFFIX = ".cache"
GATHERED = ".gathered"  # the folder beside the output, while a build is at work
_STEPS = ("hops", "along", "hub_limit", "properties", "excluded")

_STEP = 200  # entities between two signs of progress


def build_from_rdf(
    paths: Sequence[Path | str],
    out: Path | str,
    *,
    scope: Scope | None = None,
    languages: Collection[str] | None = None,
    limit: int | None = None,
    keep_partial: bool = False,
    force: bool = False,
    command: str | None = None,
    software: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    frequent_of: Collection[str] = (),
) -> Report:
    """Write the snapshot `out` of the entities in RDF files; arguments and errors as of `kg.snapshot.build`.

    The manifest's `time_aware` is false where any statement came without rank and qualifiers (truthy data).
    """
    from kg.reading.rdf_files import RDFReading
    from kg.reading.spool import spooling

    out = Path(out)
    check_request(paths, out, limit=None, force=force)
    asked = _asked(languages)
    reading = RDFReading(
        paths=[str(path) for path in paths],
        languages=None if asked is None else frozenset(asked),
        keep_partial=keep_partial,
    )
    with _work(out) as work:
        with spooling(work / "entities.json.zst") as spool:
            for data in reading.entities(work):
                spool.add(data)
                _tell(progress, "gathering", spool.count)
        (work / "triples.sqlite").unlink(missing_ok=True)
        origin = Origin(
            sources=[
                {
                    "name": source.name,
                    "size": source.size,
                    "modified": source.modified,
                    "sha256": source.sha256,
                    "triples": source.triples,
                }
                for source in reading.sources
            ],
            scope=scope or Scope(),
            rejects=reading.rejects,
            facts={"source_kind": "rdf", "time_aware": not reading.truthy},
            redirects=reading.redirects,
        )
        return build(
            [work / "entities.json.zst"],
            out,
            scope=scope,
            languages=languages,
            limit=limit,
            force=force,
            command=command,
            software=software,
            progress=progress,
            origin=origin,
            frequent_of=frequent_of,
        )


def build_from_parquet(
    folder: Path | str,
    out: Path | str,
    *,
    force: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Write the snapshot `out` of the Parquet tables in `folder`, as `kg.export` writes them.

    The content, and so the snapshot id, is that of the snapshot which was exported. Raises SourceError for a
    folder that is none or damaged, SnapshotError where `out` exists and `force` is not set.
    """
    from kg.export.parquet import ParquetTables

    out = Path(out)
    check_output(out, force=force)
    source = ParquetTables(folder)

    def entities() -> Iterator[Entity]:
        for count, entity in enumerate(source.entities(), 1):
            yield entity
            _tell(progress, "reading", count)

    with atomic_path(out) as temporary, closing(SQLiteStore.create(temporary)) as store:
        store.write(entities())
        store.redirect(dict(source.redirects()))
        manifest = store.finish(
            manifest={
                key: value for key, value in source.manifest.items() if key not in ("snapshot_id", "counts", "format")
            },
            other_values=(
                (-_number(prop), _number(target), entities - here)
                for prop, target, entities, here in source.rows("value_counts")
                if entities > here
            ),
            other_properties=(
                (-_number(prop), entities - here)
                for prop, entities, here in source.rows("property_counts")
                if entities > here
            ),
        )
    return Report(path=out, manifest=manifest)


def _number(entity_id: str) -> int:
    number = number_of(entity_id)
    if number is None:
        raise SourceError(f"{entity_id!r} is no item or property id")
    return number


def build_from_api(
    out: Path | str,
    *,
    scope: Scope,
    url: str | None = None,
    cache: Path | str | None = None,
    languages: Collection[str] | None = None,
    limit: int | None = None,
    force: bool = False,
    command: str | None = None,
    software: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    patience: RetryDelays | None = None,
    frequent_of: Collection[str] = (),
) -> Report:
    """Write the snapshot `out` of entities from WikiData's API and what `scope.hops` steps reach from them.

    `scope` names ids, or names, which are searched for (`WikiDataAPI.named`) in `languages` (None: in English); the API
    finds none by class. Answers are kept in `cache` (`out` + ".cache"), so that a build that was cut short goes on.
    Counts of values are over what was fetched. An id that was
    merged is recorded as a redirect, one that is missing as a reject. `url`: another API than WikiData's.

    Raises MissingContactError without GRANOLA_CONTACT, SelectionError, SnapshotError as `kg.snapshot.build` does,
    ServiceError and its kinds where the service fails for good.
    """
    from kg.reading.api import WIKIDATA, WikiDataAPI
    from kg.web.answer_cache import Cache

    out = Path(out)
    check_output(out, force=force)
    _check_scope(
        scope, "the API", {"ids", "also", "names", *_STEPS}, "name ids or names, or take a dump or --from sparql"
    )
    with closing(Cache(cache or out.with_name(out.name + CACHE_SUFFIX))) as answer_cache:
        api = WikiDataAPI(answer_cache, url=url or WIKIDATA, languages=_asked(languages), patience=patience)

        asked = [] if languages is None else sorted(set(languages) - {"mul"})
        seeds = (scope.ids | scope.also).union(api.named(scope.names, asked or ["en"]) if scope.names else ())

        def facts() -> dict[str, Any]:
            return {
                "source_kind": "api",
                "time_aware": True,
                "fetched": [None if at is None else _moment(at) for at in (answer_cache.first, answer_cache.last)],
                **({"more_namesakes": sorted(set(api.unfinished))} if api.unfinished else {}),
            }

        return _build_online(
            api.entities,
            sorted(seeds),
            out,
            scope=scope,
            spared=seeds,
            source=api.url,
            facts=facts,
            languages=languages,
            limit=limit,
            command=command,
            software=software,
            progress=progress,
            frequent_of=frequent_of,
        )


def build_from_sparql(
    endpoint: str,
    out: Path | str,
    *,
    scope: Scope,
    languages: Collection[str] | None = None,
    limit: int | None = None,
    force: bool = False,
    command: str | None = None,
    software: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    patience: RetryDelays | None = None,
    frequent_of: Collection[str] = (),
) -> Report:
    """Write the snapshot `out` of entities at a SPARQL endpoint: a profile's name or a URL.

    The scope names ids, names or classes; names as `SPARQLEntities.named` compares them. Statements come in full where
    the endpoint has them, else truthy, which the manifest's `time_aware` tells. Counts of values are over what
    was fetched. Raises as `build_from_api` does.
    """
    from kg.reading.sparql import Endpoint, profile_of
    from kg.reading.sparql_entities import SPARQLEntities

    out = Path(out)
    check_output(out, force=force)
    _check_scope(scope, "an endpoint", {"ids", "also", "names", "classes", *_STEPS}, "select by ids, names or classes")
    asked = _asked(languages)
    endpoint_asked = Endpoint(profile_of(endpoint), patience=patience)
    source = SPARQLEntities(endpoint_asked, languages=asked)
    began = datetime.now(UTC).timestamp()
    named = source.named(scope.names, asked or ("en", "mul")) if scope.names else ()
    spared = (scope.ids | scope.also).union(named)
    seeds = spared.union(source.instances(scope.classes) if scope.classes else ())

    def facts() -> dict[str, Any]:
        ended = datetime.now(UTC).timestamp()
        return {
            "source_kind": "sparql",
            "time_aware": not source.truthy,
            "fetched": [_moment(began), _moment(ended)],
        }

    return _build_online(
        source.entities,
        sorted(seeds),
        out,
        scope=scope,
        spared=spared,
        source=endpoint_asked.url,
        rejects=source.rejects,
        facts=facts,
        languages=languages,
        limit=limit,
        command=command,
        software=software,
        progress=progress,
        frequent_of=frequent_of,
    )


def _build_online(
    fetch: Fetch,
    seeds: Sequence[str],
    out: Path,
    *,
    scope: Scope,
    spared: Collection[str],
    source: str,
    rejects: Sequence[Reject] = (),
    facts: Callable[[], Mapping[str, Any]],
    languages: Collection[str] | None,
    limit: int | None,
    command: str | None,
    software: str | None,
    progress: Callable[[Progress], None] | None,
    frequent_of: Collection[str],
) -> Report:
    """Fetch the seeds and what they lead to, and build a snapshot of all that. `spared`: never excluded."""
    from kg.reading.spool import spooling

    if not seeds:
        raise SelectionError(f"{source} has nothing of what is selected; widen the selection")
    redirects: dict[str, str] = {}
    idle = set(scope.excluded)
    with _work(out) as work:
        with spooling(work / "entities.json.zst") as spool:
            for data in reached(fetch, seeds, scope, redirects, spared, idle):
                if "missing" in data and data.get("id") in scope.also - scope.ids:
                    continue
                spool.add(data)
                _tell(progress, "fetching", spool.count)
                if spool.count == limit:
                    break
        return build(
            [work / "entities.json.zst"],
            out,
            languages=languages,
            force=True,  # checked before anything was fetched
            command=command,
            software=software,
            progress=progress,
            frequent_of=frequent_of,
            origin=Origin(
                sources=[{"name": source, "size": None, "modified": None, "sha256": None}],
                scope=scope,
                rejects=[(source, None, reject, None) for reject in rejects],
                facts={**facts(), "limit": limit},
                redirects=redirects,
                idle=sorted(idle),
            ),
        )


def _check_scope(scope: Scope, what: str, able: set[str], instead: str) -> None:
    """Raises SelectionError where a source cannot select by what is asked for, or by nothing."""
    if scope.everything:
        raise SelectionError(f"{what} cannot be asked for everything; {instead}")
    plain = Scope(ids=frozenset({"Q1"}))
    for field in fields(Scope):
        if field.name not in able and getattr(scope, field.name) != getattr(plain, field.name):
            raise SelectionError(f"{what} cannot select by {field.name.replace('_', ' ')}; {instead}")


def _asked(languages: Collection[str] | None) -> list[str] | None:
    return None if languages is None else sorted(frozenset().union(*map(fallback_chain, languages)))


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


@contextmanager
def _work(out: Path) -> Iterator[Path]:
    """A folder beside the output for what is gathered, removed at the end; what a killed build left is removed first.

    Raises SnapshotError where another process gathers for the same output, and for a full disk.
    """
    try:
        folder = WorkFolder(out, error=SnapshotError, suffix=GATHERED)
        try:
            folder.clear()
            yield folder.path
        finally:
            folder.remove()
    except ConnectionError:  # of the services: ServiceError is one
        raise
    except (OSError, sqlite3.Error) as error:  # a full disk, a folder that is not ours
        raise SnapshotError(f"cannot build {out}: {why_unwritten(out, error)}") from error


def _tell(progress: Callable[[Progress], None] | None, phase: str, entities: int) -> None:
    if progress is not None and entities % _STEP == 0:
        progress(Progress(phase=phase, bytes_read=0, bytes_total=None, entities=entities))
