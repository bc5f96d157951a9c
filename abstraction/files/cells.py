"""Cells of CSV that a spreadsheet would take for a formula: marked as text when written, unmarked when read.

A text that begins with = + - @, a tab or a carriage return gets a `'` before it, as spreadsheets mark a text; numbers
stay. A text with such a mark of its own gets one more, so that what is written is read back as it was.
"""

from __future__ import annotations

import re
from typing import TypeVar

T = TypeVar("T")

MARK = "'"
_FIRST = frozenset("'=+-@\t\r")
_FORMULA = re.compile(r"\A'*+[=+\-@\t\r]")
_NUMBER = re.compile(r"\A[+-]?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?\Z")


def marked(value: T) -> T | str:
    """The value as a cell that is no formula; only texts change."""
    if not isinstance(value, str) or value[:1] not in _FIRST:
        return value
    if _FORMULA.match(value) and not _NUMBER.match(value):
        return MARK + value
    return value


def unmarked(cell: str) -> str:
    """The text that a cell stands for."""
    return cell[1:] if cell[:1] == MARK and _FORMULA.match(cell) else cell
