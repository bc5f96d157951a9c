"""The language of a row, for files with several languages."""

from __future__ import annotations

import re

from abstraction.files.rows import QARow
from abstraction.text.language.languages import is_known

# Codes as in BCP 47: a language of 2 or 3 letters, then up to three subtags.
_CODE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")


def row_language(row: QARow, default: str) -> str:
    """The row's language where it names a known one, else `default`.

    A row in de gets `default` where that is de-at.
    """
    named = row.extra.get("language")
    if not isinstance(named, str) or not _CODE.fullmatch(named.strip()):
        return default
    code = named.strip().lower()
    if code.split("-")[0] == default.lower().split("-")[0]:  # de-at as the default is more specific than de of the row
        return default
    return code if is_known(code) else default


def unknown_language(row: QARow) -> str | None:
    """The language that a row names, where it is unknown; None for a known one and for none."""
    named = row.extra.get("language")
    if not isinstance(named, str) or not named.strip():
        return None
    known = _CODE.fullmatch(named.strip()) is not None and is_known(named.strip().lower())
    return None if known else named.strip()
