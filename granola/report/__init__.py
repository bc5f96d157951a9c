"""What people look at: tables in the terminal and the one-file HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from granola.report.score_page import render
    from granola.report.study import Study
    from granola.report.study_html import write_study

__all__ = [
    "Study",
    "render",
    "write_study",
]
_MODULES = {
    "Study": ".study",
    "render": ".score_page",
    "write_study": ".study_html",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
