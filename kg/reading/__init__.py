"""Bytes in, entities out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from kg.reading.api import WikiDataAPI
    from kg.reading.dump import DumpReader
    from kg.reading.rdf_files import RDFSource
    from kg.reading.sparql import Endpoint

__all__ = [
    "DumpReader",
    "Endpoint",
    "RDFSource",
    "WikiDataAPI",
]
_MODULES = {
    "DumpReader": ".dump",
    "Endpoint": ".sparql",
    "RDFSource": ".rdf_files",
    "WikiDataAPI": ".api",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
