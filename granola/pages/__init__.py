"""Pages of the report and of the service: one set of templates, which escape every text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from granola.pages.templates import page_file, render_page

__all__ = ["page_file", "render_page"]
_MODULES = {"page_file": ".templates", "render_page": ".templates"}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
