"""Snapshots written for other programs: RDF, Parquet, and files for Neo4j's import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from kg.export.neo4j_import import export_neo4j
    from kg.export.parquet import export_parquet, import_parquet
    from kg.export.rdf_writer import export_rdf
    from kg.export.spark_tables import decode_dump

__all__ = [
    "decode_dump",
    "export_neo4j",
    "export_parquet",
    "export_rdf",
    "import_parquet",
]
_MODULES = {
    "decode_dump": ".spark_tables",
    "export_neo4j": ".neo4j_import",
    "export_parquet": ".parquet",
    "export_rdf": ".rdf_writer",
    "import_parquet": ".parquet",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
