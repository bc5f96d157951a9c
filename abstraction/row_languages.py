"""The language that a question's row names, where a file has several."""

from __future__ import annotations

import re

from abstraction.language.languages import is_known
from abstraction.rows import QARow

_CODE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")


def row_language(row: QARow, default: str) -> str:
    """The row's own language where it names one that is known, else `default`; de for de where de-at is asked for."""
    named = row.extra.get("language")
    if not isinstance(named, str) or not _CODE.fullmatch(named.strip()):
        return default
    code = named.strip().lower()
    if code.split("-")[0] == default.lower().split("-")[0]:
        return default
    return code if is_known(code) else default


def unknown_language(row: QARow) -> str | None:
    """What a row names as its language, where that is none that is known."""
    named = row.extra.get("language")
    if not isinstance(named, str) or not named.strip():
        return None
    known = _CODE.fullmatch(named.strip()) is not None and is_known(named.strip().lower())
    return None if known else named.strip()
