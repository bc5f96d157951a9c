"""Text that was sent or stated, made fit to stand on the page."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# They turn the text around them; marks, which only hint (U+200E, U+200F, U+061C), are ordinary in Arabic and Hebrew.
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
_UNSEEN = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Text with its control characters as signs, line breaks and tabs aside."""
    return _CONTROL.sub(_visible_sign, text)


def neutralise_direction(text: object) -> str:
    """The same, and what would turn the direction of the text named, so that it changes nothing around it."""
    return _TURNING.sub(lambda c: f"[U+{ord(c[0]):04X}]", visible(str(text)))


def keep_for_resending(text: object) -> Markup:
    """Text for a field, which keeps what turns directions to itself: what is sent again is what was sent."""
    return Markup(_TURNING.sub(lambda c: f"&#x{ord(c[0]):x};", str(escape(visible(str(text))))))


def escape_invisible(json_text: str) -> str:
    """JSON with what is not to be seen escaped; it reads as the same."""
    return _UNSEEN.sub(lambda c: f"\\u{ord(c[0]):04x}", json_text)


def _visible_sign(found: re.Match[str]) -> str:
    number = ord(found[0])
    if number < 0x20:
        return chr(0x2400 + number)
    return "\u2421" if number == 0x7F else f"[U+{number:04X}]"
