"""Snapshots from sources other than JSON dumps: RDF files, the API, SPARQL endpoints, and Parquet tables.

Selection and counts work as for dumps; Parquet tables are taken whole, with the counts they contain.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import orjson

from kg.base.files import WorkFolder, atomic_path
from kg.base.model import Entity, required_signed_number, with_fallback_languages
from kg.base.scope import Scope
from kg.building.closure import Fetch, crawl
from kg.building.snapshot import (
    BuildSettings,
    Origin,
    Progress,
    Report,
    build,
    check_output_and_settings,
    check_request,
    raising_snapshot_error,
)
from kg.errors import SelectionError, SnapshotError
from kg.store.sqlite import SQLiteStore

if TYPE_CHECKING:
    from kg.web.client import RetryDelays

CACHE_SUFFIX = ".cache"
GATHERED = ".gathered"  # the folder next to the output, while a build is at work
_STEP = 200  # entities between two signs of progress
_SHOWN = 5  # names in a warning


def build_from_rdf(paths: Sequence[Path | str], out: Path | str, **settings: Unpack[BuildSettings]) -> Report:
    """Write the snapshot `out` of the entities in RDF files; settings and errors as of `kg.building.snapshot.build`.

    The manifest's `time_aware` is false where any statement came without rank and qualifiers (truthy data).
    """
    from kg.reading.rdf_files import RDFReading

    out = Path(out)
    check_request(paths, out, settings)
    reading = RDFReading(
        paths=[str(path) for path in paths],
        languages=with_fallback_languages(settings.get("languages")),
        keep_partial=settings.get("keep_partial", False),
    )

    def origin_after_reading() -> Origin:
        return Origin(
            sources=reading.sources,
            scope=settings.get("scope") or Scope(),
            rejects=reading.rejects,
            facts={"source_kind": "rdf", "time_aware": not reading.truthy},
            redirects=reading.redirects,
        )

    return _build_from_copy(out, reading.entities, origin_after_reading, "gathering", settings)


def build_from_parquet(
    folder: Path | str, out: Path | str, *, force: bool = False, progress: Callable[[Progress], None] | None = None
) -> Report:
    """Write the snapshot `out` of the Parquet tables in `folder`, as `kg.export` writes them.

    The content, and so the snapshot id, is that of the snapshot which was exported. Raises SourceError for a
    folder that is none or damaged, SnapshotError where `out` exists and `force` is not set.
    """
    from kg.reading.parquet_tables import ParquetTables

    out = Path(out)
    check_output_and_settings(out, {"force": force})
    source = ParquetTables(folder)  # opened before the output is touched: the folder may have no tables

    def entities() -> Iterator[Entity]:
        for count, entity in enumerate(source.entities(), 1):
            yield entity
            _report_progress_at_steps(progress, "reading", count)

    with atomic_path(out) as temporary:
        store = SQLiteStore.create(
            temporary,
            entities(),
            redirects=dict(source.redirects()),
            manifest={
                key: value for key, value in source.manifest.items() if key not in ("snapshot_id", "counts", "format")
            },
            other_values=(
                (-required_signed_number(prop), required_signed_number(target), entities - here)
                for prop, target, entities, here in source.rows("value_counts")
                if entities > here
            ),
            other_properties=(
                (-required_signed_number(prop), entities - here)
                for prop, entities, here in source.rows("property_counts")
                if entities > here
            ),
        )
        store.close()
    return Report(path=out, manifest=store.manifest())


def build_from_api(
    out: Path | str,
    *,
    url: str | None = None,
    cache: Path | str | None = None,
    patience: RetryDelays | None = None,
    **settings: Unpack[BuildSettings],
) -> Report:
    """Write the snapshot `out` of entities from WikiData's API and the entities within `scope.hops` steps of them.

    The scope names ids, or names, which are searched for (`WikiDataAPI.ids_by_name`) in `languages` (None: in English);
    the API cannot search by class. Answers are stored in `cache` (`out` + ".cache"), so that an interrupted build
    continues. Values are counted over the entities fetched. A merged id is recorded as a redirect, a missing one as a
    reject. `url`: another API than WikiData's. Raises MissingContactError without GRANOLA_CONTACT, SelectionError and
    SnapshotError as `kg.building.snapshot.build`, and ServiceError and its subclasses where the service fails for
    good.
    """
    from kg.reading.api import WIKIDATA, WikiDataAPI
    from kg.web.client import AnswerCache

    out = Path(out)
    check_output_and_settings(out, settings)
    scope = _checked_scope(settings, "the API")
    if scope.classes:
        raise SelectionError("the API cannot select by classes; name ids or names, or take a dump or --from sparql")
    languages = settings.get("languages")
    with closing(AnswerCache(cache or out.with_name(out.name + CACHE_SUFFIX))) as answer_cache:
        api = WikiDataAPI(
            answer_cache, url=url or WIKIDATA, languages=with_fallback_languages(languages), patience=patience
        )
        searched = sorted({*(languages or ())} - {"mul"}) or ["en"]  # the search takes no `mul`
        named = api.ids_by_name(scope.names, searched) if scope.names else ()

        def manifest_facts() -> dict[str, Any]:
            return {
                "source_kind": "api",
                "time_aware": True,
                "fetched": [
                    None if at is None else _iso_time_utc(at) for at in (answer_cache.first, answer_cache.last)
                ],
                **({"more_namesakes": sorted(set(api.unfinished))} if api.unfinished else {}),
            }

        return _build_online(api.url, api.entities, named, manifest_facts, out, settings)


def build_from_sparql(
    endpoint: str, out: Path | str, *, patience: RetryDelays | None = None, **settings: Unpack[BuildSettings]
) -> Report:
    """Write the snapshot `out` of entities at a SPARQL endpoint, given by a name of `ENDPOINTS` or a URL.

    The scope names ids, names or classes. Names are compared as in `SPARQLEntities.ids_by_name`; the manifest lists
    those that no entity has in `names_not_found` and warns of them. Full statements are read where the endpoint has
    them, else truthy ones; the manifest's `time_aware` reports which. Values are counted over the entities fetched.
    Raises as `build_from_api` does.
    """
    from kg.reading.sparql import Endpoint, SPARQLEntities

    out = Path(out)
    check_output_and_settings(out, settings)
    scope = _checked_scope(settings, "an endpoint")
    languages = with_fallback_languages(settings.get("languages"))
    asked = Endpoint(endpoint, patience=patience)
    source = SPARQLEntities(asked, languages=languages)
    began = datetime.now(UTC).timestamp()  # an endpoint does not report the date of its data
    found = {*source.ids_by_name(scope.names, languages or ("en", "mul"))} if scope.names else set[str]()
    if scope.classes:
        found |= {*source.transitive_instances(scope.classes)}

    def manifest_facts() -> dict[str, Any]:
        return {
            "source_kind": "sparql",
            "time_aware": not source.truthy,
            "fetched": [_iso_time_utc(began), _iso_time_utc(datetime.now(UTC).timestamp())],
            **({"names_not_found": source.not_found} if source.not_found else {}),
        }

    return _build_online(asked.url, source.entities, found, manifest_facts, out, settings)


def _build_online(
    url: str,
    fetch: Fetch,
    found: Collection[str],
    manifest_facts: Callable[[], Mapping[str, Any]],
    out: Path,
    settings: BuildSettings,
) -> Report:
    """Fetch the entities of a scope, those `found` for it and those reached, and build a snapshot.

    `manifest_facts` is called at the end.
    """
    scope = settings.get("scope") or Scope()
    seeds = sorted((scope.ids | scope.also).union(found))  # sorted, so that equal requests send equal queries
    if not seeds:
        raise SelectionError(f"{url} has nothing of what is selected; widen the selection")
    redirects: dict[str, str] = {}
    limit = settings.get("limit")

    def entities(_: Path) -> Iterator[Mapping[str, Any]]:
        reached = crawl(fetch, seeds, scope, redirects)
        there = (data for data in reached if "missing" not in data or data.get("id") not in scope.also - scope.ids)
        return islice(there, limit)

    def origin() -> Origin:
        known = {**manifest_facts(), "limit": limit}
        lacking = known.get("names_not_found", ())
        shown = ", ".join(lacking[:_SHOWN]) + (", ..." if len(lacking) > _SHOWN else "")
        warning = (
            f"{len(lacking):,} of the {len(scope.names):,} names asked for are no label or alias there, in the usual"
            f" spellings: {shown}; names_not_found in the manifest has all"
        )
        return Origin(
            sources=[{"name": url, "size": None, "modified": None, "sha256": None}],
            scope=scope,
            facts=known,
            redirects=redirects,
            warnings=[warning] if lacking else (),
        )

    return _build_from_copy(out, entities, origin, "fetching", {**settings, "scope": None, "limit": None})


def _build_from_copy(
    out: Path,
    entities: Callable[[Path], Iterator[Mapping[str, Any]]],
    origin: Callable[[], Origin],
    phase: str,
    settings: BuildSettings,
) -> Report:
    """Copy entities into a file in a folder next to the output and build from it; the folder is then removed.

    `origin` is called when all are read, for only then their origin is known. Raises SnapshotError where another
    process gathers for the same output, and for a full disk.
    """
    import zstandard

    with raising_snapshot_error(out), ExitStack() as stack:
        work = WorkFolder(out, error=SnapshotError, suffix=GATHERED)
        stack.callback(work.remove)
        work.clear()  # the remains of a killed build
        copy = work.path / "entities.json.zst"
        with copy.open("wb") as raw, zstandard.ZstdCompressor(level=1).stream_writer(raw) as packed:
            for count, data in enumerate(entities(work.path), 1):
                packed.write(orjson.dumps(data, option=orjson.OPT_APPEND_NEWLINE))
                _report_progress_at_steps(settings.get("progress"), phase, count)
        copied: BuildSettings = {**settings, "keep_partial": False}  # the copy is whole
        return build([copy], out, origin=origin(), **copied)


def _checked_scope(settings: BuildSettings, service: str) -> Scope:
    """The scope of a build from an online service. Raises SelectionError for one that no service supports."""
    scope = settings.get("scope") or Scope()
    if scope.everything:
        raise SelectionError(f"{service} cannot be asked for everything; name ids or names")
    if scope.excluded:
        raise SelectionError(f"{service} cannot leave classes out; take a dump, or name who is wanted")
    return scope


def _iso_time_utc(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def _report_progress_at_steps(progress: Callable[[Progress], None] | None, phase: str, entities: int) -> None:
    if progress is not None and entities % _STEP == 0:
        progress(Progress(phase=phase, bytes_read=0, bytes_total=None, entities=entities))
