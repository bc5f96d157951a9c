"""Bits: how much a tier tells of what is asked, from counts over the whole source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from abstraction.information.weighing import Information

__all__ = [
    "Information",
]
_MODULES = {
    "Information": ".weighing",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
