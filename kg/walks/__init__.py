"""The graph of a store: which statements count, paths, closures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from kg.walks.graph import Graph
    from kg.walks.paths import Walker
    from kg.walks.ranks import current, held_at, stated

__all__ = [
    "Graph",
    "Walker",
    "current",
    "held_at",
    "stated",
]
_MODULES = {
    "Graph": ".graph",
    "Walker": ".paths",
    "current": ".ranks",
    "held_at": ".ranks",
    "stated": ".ranks",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
