"""The templates and their shared environment. Every text passed to them is escaped; only Markup is not."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from granola.report.pages.visible_text import keep_for_resending, neutralise_direction


def render_page(name: str, **values: Any) -> str:
    """The page `name`.html with these values. Raises UndefinedError where a template uses a name without a value."""
    text: str = _environment().get_template(f"{name}.html").render(values)
    return text


def page_file(name: str) -> bytes:
    """A style or a script of the pages."""
    return files("granola.report.pages").joinpath(f"files/{name}").read_bytes()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("granola.report.pages", "files"),
        # Texts of rows and predictions may contain markup.
        autoescape=True,
        undefined=StrictUndefined,  # a misspelt name raises instead of printing nothing
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # templates do not change while the program runs
        keep_trailing_newline=True,
    )
    environment.filters |= {"shown": neutralise_direction, "kept": keep_for_resending}
    return environment
