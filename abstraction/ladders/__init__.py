"""One builder an answer class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from abstraction.ladders.builders import builder_for

__all__ = [
    "builder_for",
]
_MODULES = {
    "builder_for": ".builders",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
