"""Which entity a text means: candidates, what speaks for each, and how sure that makes a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from abstraction.linking.gazetteer import Gazetteer
    from abstraction.linking.linker import Link, Linker
    from abstraction.linking.review import Reviewer

__all__ = [
    "Gazetteer",
    "Link",
    "Linker",
    "Reviewer",
]
_MODULES = {
    "Gazetteer": ".gazetteer",
    "Link": ".linker",
    "Linker": ".linker",
    "Reviewer": ".review",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
