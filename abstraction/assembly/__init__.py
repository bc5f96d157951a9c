"""From what builders propose to the levels of a ladder: what is struck, merged, ordered, joined, translated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from abstraction.assembly.filters import Triviality, clean
    from abstraction.assembly.levels import union

__all__ = [
    "Triviality",
    "clean",
    "union",
]
_MODULES = {
    "Triviality": ".filters",
    "clean": ".filters",
    "union": ".levels",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
