"""How a snapshot is built: blocks to workers, rows back, progress kept so that a killed build goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from kg.building.extraction import ExtractionPlan, Extractor
    from kg.building.other_sources import (
        build_from_api,
        build_from_parquet,
        build_from_rdf,
        build_from_sparql,
    )
    from kg.building.source_pass import Progress, SourcePass
    from kg.building.worker_pool import WorkerPool

__all__ = [
    "ExtractionPlan",
    "Extractor",
    "Progress",
    "SourcePass",
    "WorkerPool",
    "build_from_api",
    "build_from_parquet",
    "build_from_rdf",
    "build_from_sparql",
]
_MODULES = {
    "ExtractionPlan": ".extraction",
    "Extractor": ".extraction",
    "Progress": ".source_pass",
    "SourcePass": ".source_pass",
    "WorkerPool": ".worker_pool",
    "build_from_api": ".other_sources",
    "build_from_parquet": ".other_sources",
    "build_from_rdf": ".other_sources",
    "build_from_sparql": ".other_sources",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
