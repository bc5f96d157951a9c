"""Ladders in a language model's words: asked for with prompts that can be replaced, each tier checked by the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from abstraction.phrasing.phraser import ModelPhraser

__all__ = [
    "ModelPhraser",
]
_MODULES = {
    "ModelPhraser": ".phraser",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
