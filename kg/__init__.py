"""WikiData, and nothing about questions: reading dumps, snapshots, stores, selection, the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.base.packages import lazy_names

if TYPE_CHECKING:
    from kg.base.model import Entity, Rank, Statement
    from kg.base.scope import Scope
    from kg.building.snapshot import build
    from kg.errors import KGError
    from kg.graph.graph import Graph
    from kg.store import open_store

__version__ = "0.3.0"  # the version of all three packages

__all__ = ["Entity", "Graph", "KGError", "Rank", "Scope", "Statement", "__version__", "build", "open_store"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
