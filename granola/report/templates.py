"""The templates of pages and their shared environment, in which every text is escaped and made safe to show."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

# ASCII and Latin-1 controls, except tab and line feed.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# These change the direction of text around them; mere hints (U+200E, U+200F, U+061C) are usual in Arabic and Hebrew.
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
_UNSEEN = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def with_visible_controls(text: str) -> str:
    """Text with its control characters as visible signs, except line breaks and tabs."""

    def visible_sign(found: re.Match[str]) -> str:
        number = ord(found[0])
        if number < 0x20:
            # The Unicode block of control pictures.
            return chr(0x2400 + number)
        return "\u2421" if number == 0x7F else f"[U+{number:04X}]"

    return _CONTROL.sub(visible_sign, text)


def neutralise_direction(text: object) -> str:
    """A text with direction controls replaced by their names, so that they do not affect the text around them."""
    return _TURNING.sub(lambda c: f"[U+{ord(c[0]):04X}]", with_visible_controls(str(text)))


def keep_for_resending(text: object) -> Markup:
    """Text for an input field, with direction controls kept as entities: the text sent again equals the text received.
    """
    # Entities keep the characters in the value of the field but not in the source of the page.
    return Markup(_TURNING.sub(lambda c: f"&#x{ord(c[0]):x};", str(escape(with_visible_controls(str(text))))))


def escape_invisible(json_text: str) -> str:
    """JSON with invisible characters escaped; it parses to the same value."""
    return _UNSEEN.sub(lambda c: f"\\u{ord(c[0]):04x}", json_text)


def render_page(name: str, **values: Any) -> str:
    """The page `name`.html with these values. Raises UndefinedError where a template uses a name without a value."""
    text: str = _environment().get_template(f"{name}.html").render(values)
    return text


@cache
def page_file(name: str) -> bytes:
    """A style or a script of the pages."""
    return files("granola.report").joinpath(f"files/{name}").read_bytes()


@cache
def _environment() -> Environment:
    from abstraction.base.tiers import REASONS
    from granola.report.ladder_view import evidence_rows, wikidata_url
    from granola.report.score_tables import value_text
    from granola.scoring.metrics import language_of

    environment = Environment(
        loader=PackageLoader("granola.report", "files"),
        # Texts of rows and predictions may contain markup.
        autoescape=True,
        undefined=StrictUndefined,  # a misspelt name raises instead of printing nothing
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # templates do not change while the program runs
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "shown": neutralise_direction, "kept": keep_for_resending, "figure": value_text, "address": wikidata_url,
        "evidence_rows": evidence_rows, "language": language_of, "reason": REASONS.get,
    }  # fmt: skip
    return environment
