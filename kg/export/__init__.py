"""Snapshots written for other programs: RDF and Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from kg.export.parquet import export_parquet
    from kg.export.rdf_writer import export_rdf
    from kg.export.spark_tables import decode_dump

__all__ = [
    "decode_dump",
    "export_parquet",
    "export_rdf",
]
_MODULES = {
    "decode_dump": ".spark_tables",
    "export_parquet": ".parquet",
    "export_rdf": ".rdf_writer",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
