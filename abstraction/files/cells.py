"""Values in the cells of CSV: lists and JSON as texts, and texts that a spreadsheet would take for a formula.

A text that begins with = + - @, a tab or a carriage return gets a `'` before it, as spreadsheets mark a text; numbers
stay. A text with such a mark of its own gets one more, so that what is written is read back as it was.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")

MARK = "'"
_FIRST = frozenset("'=+-@\t\r")
_FORMULA = re.compile(r"\A'*+[=+\-@\t\r]")
_STRING = r"""(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")"""
_ARRAY = re.compile(rf"\A\[\s*+{_STRING}(?:\s++{_STRING})*+\s*+\]\Z")  # as NumPy writes an array of texts
_NUMPY = re.compile(r"\Aarray\((\[.*\])(?:, dtype=\w+)?\)\Z", re.DOTALL)
_NAN = re.compile(r"(?<=[\[,(\s])nan(?=[\],)])")  # what pandas writes for nothing
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


def json_text(value: object) -> str:
    """A value as JSON in a column of text: compact, letters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def parsed(text: str) -> Any:
    """The JSON value of a text, or the text itself where it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if is_unicode(text, value) else text


def is_unicode(text: str, value: object) -> bool:
    """Whether the JSON value of a text can be written as UTF-8: no half of a surrogate pair is in it."""
    if text.isascii() and "\\ud" not in text and "\\uD" not in text:
        return True
    try:
        json_text(value).encode()
    except UnicodeEncodeError:
        return False
    return True


def literal(text: str) -> Any:
    """The value that a text writes: JSON, or Python's as pandas and NumPy put it into a cell; else the text itself."""
    value = parsed(text)
    if not isinstance(value, str):
        return value
    if (array := _NUMPY.match(text.strip())) is not None:
        text = array[1]
    if _ARRAY.match(text.strip()):  # before Python's reading, which joins texts that stand side by side
        return [ast.literal_eval(item) for item in re.findall(_STRING, text)]
    try:
        value = ast.literal_eval(_NAN.sub("None", text.strip()))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    if isinstance(value, set) and all(isinstance(item, str) for item in value):
        return sorted(value)
    is_texts = isinstance(value, tuple) and all(isinstance(item, str) for item in value)
    return list(value) if is_texts else value


def split_cell(cell: str) -> list[Any]:
    """The values of a cell: a list as JSON, Python or NumPy writes it, or texts parted by `|`."""
    if cell.lstrip()[:1] in ("[", "(", "{") or cell.lstrip().startswith("array("):
        value = literal(cell)
        if isinstance(value, list):
            return value
    return [part.strip() for part in cell.split("|")]


def join_cell(texts: Sequence[str]) -> str:
    """The inverse of `split_cell`: `|` between texts, or a JSON list where that would not read back."""
    joined = "|".join(texts)
    return joined if split_cell(joined) == list(texts) else json.dumps(list(texts), ensure_ascii=False)
