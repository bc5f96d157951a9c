"""`granola snapshot build --from ...`: which of the library's builders a source goes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from granola.errors import UsageError

if TYPE_CHECKING:
    from kg.scope import Scope
    from kg.snapshot import Progress, Report


class SourceKind(StrEnum):
    """What a snapshot is built from."""

    DUMP = "dump"
    API = "api"
    SPARQL = "sparql"
    RDF = "rdf"
    PARQUET = "parquet"


def build_from(
    kind: SourceKind,
    sources: Sequence[str],
    out: Path,
    *,
    scope: Scope,
    cache: Path | None,
    keep_partial: bool,
    progress: Callable[[Progress], None] | None,
    **options: Any,
) -> Report:
    """Build from sources of one kind; `options` are those that every builder takes.

    Raises UsageError for options and numbers of sources that the kind has no use for.
    """
    if kind is not SourceKind.API and cache is not None:
        raise UsageError(f"--cache is for --from api; --from {kind} keeps no answers")
    if keep_partial and kind in (SourceKind.API, SourceKind.SPARQL):
        raise UsageError(f"--keep-partial is for files; --from {kind} has none")
    if kind is SourceKind.API:
        from kg.building.other_sources import build_from_api

        if len(sources) > 1:
            raise UsageError(f"--from api takes one URL or none, not {len(sources)}")
        url = sources[0] if sources else None
        if url is not None and "://" not in url:
            raise UsageError(f"--from api takes another API's URL, not {url}; entities are named by --ids")
        return build_from_api(out, scope=scope, url=url, cache=cache, progress=progress, **options)
    if kind is SourceKind.SPARQL:
        from kg.building.other_sources import build_from_sparql

        if len(sources) != 1:
            raise UsageError(f"--from sparql takes one endpoint, a URL or a profile's name, not {len(sources)}")
        return build_from_sparql(sources[0], out, scope=scope, progress=progress, **options)
    if not sources:
        raise UsageError(f"--from {kind} needs a file, or - for standard input")
    if kind is SourceKind.PARQUET:
        return _build_from_parquet(sources, out, scope=scope, keep_partial=keep_partial, progress=progress, **options)
    if kind is SourceKind.RDF:
        from kg.building.other_sources import build_from_rdf

        return build_from_rdf(sources, out, scope=scope, keep_partial=keep_partial, progress=progress, **options)
    from kg.snapshot import build

    return build(sources, out, scope=scope, keep_partial=keep_partial, progress=progress, **options)


def _build_from_parquet(
    folders: Sequence[str],
    out: Path,
    *,
    scope: Scope,
    keep_partial: bool,
    progress: Callable[[Progress], None] | None,
    languages: Sequence[str] | None,
    limit: int | None,
    force: bool,
    **_: Any,
) -> Report:
    from kg.building.other_sources import build_from_parquet

    if len(folders) != 1:
        raise UsageError(f"--from parquet takes one folder of tables, not {len(folders)}")
    if not scope.everything or languages is not None or limit is not None or keep_partial:
        raise UsageError("--from parquet takes the whole snapshot that was exported; leave selections and limits out")
    return build_from_parquet(folders[0], out, force=force, progress=progress)
