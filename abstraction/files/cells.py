"""Values in the cells of CSV: lists and JSON as texts, and texts that a spreadsheet would read as a formula.

A text that begins with = + - @, a tab or a carriage return gets a leading `'`, by which spreadsheets mark texts;
numbers do not. A text with such a mark of its own gets another, so that reading returns the written text.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")

MARK = "'"  # spreadsheets show such a cell as text, without the mark
_FIRST = frozenset("'=+-@\t\r")  # a quick check before the patterns
_FORMULA = re.compile(r"\A'*+[=+\-@\t\r]")  # the marks of earlier escapes, then a character that begins a formula
_STRING = r"""(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")"""  # a string as Python writes it
_ARRAY = re.compile(rf"\A\[\s*+{_STRING}(?:\s++{_STRING})*+\s*+\]\Z")  # as NumPy writes an array of texts
_NUMPY = re.compile(r"\Aarray\((\[.*\])(?:, dtype=\w+)?\)\Z", re.DOTALL)  # the `repr` of an array
_NAN = re.compile(r"(?<=[\[,(\s])nan(?=[\],)])")  # as pandas writes a missing value
_NUMBER = re.compile(r"\A[+-]?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?\Z")


def escape_formula(value: T) -> T | str:
    """The value as a cell that is no formula; only texts change."""
    if not isinstance(value, str) or value[:1] not in _FIRST:
        return value
    if _FORMULA.match(value) and not _NUMBER.match(value):  # numbers may begin with + or -
        return MARK + value
    return value


def unescape_formula(cell: str) -> str:
    """The inverse of `escape_formula`."""
    return cell[1:] if cell[:1] == MARK and _FORMULA.match(cell) else cell


def json_text(value: object) -> str:
    """A value as compact JSON for a text column, without escapes of letters."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def parse_json(text: str) -> Any:
    """The JSON value of a text, or the text itself where it is no JSON."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if is_unicode(text, value) else text


def is_unicode(text: str, value: object) -> bool:
    """Whether the JSON value of a text can be written as UTF-8, that is, contains no lone surrogate."""
    if text.isascii() and "\\ud" not in text and "\\uD" not in text:
        return True
    try:
        json_text(value).encode()
    except UnicodeEncodeError:
        return False
    return True


def parse_literal(text: str) -> Any:
    """The value of a text: JSON, or Python as pandas and NumPy write it into a cell; else the text itself."""
    value = parse_json(text)
    if not isinstance(value, str):
        return value
    if (array := _NUMPY.match(text.strip())) is not None:
        text = array[1]
    if _ARRAY.match(text.strip()):  # before Python reads it, which would concatenate adjacent texts
        return [ast.literal_eval(item) for item in re.findall(_STRING, text)]
    try:
        value = ast.literal_eval(_NAN.sub("None", text.strip()))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    if isinstance(value, set) and all(isinstance(item, str) for item in value):
        return sorted(value)  # sets have no order
    is_texts = isinstance(value, tuple) and all(isinstance(item, str) for item in value)
    return list(value) if is_texts else value


def split_cell(cell: str) -> list[Any]:
    """The values of a cell: a list as JSON, Python or NumPy writes it, or texts separated by `|`."""
    if cell.lstrip()[:1] in ("[", "(", "{") or cell.lstrip().startswith("array("):
        value = parse_literal(cell)
        if isinstance(value, list):
            return value
    return [part.strip() for part in cell.split("|")]


def join_cell(texts: Sequence[str]) -> str:
    """The inverse of `split_cell`: texts joined by `|`, or a JSON list where that would read back differently."""
    joined = "|".join(texts)
    return joined if split_cell(joined) == list(texts) else json.dumps(list(texts), ensure_ascii=False)
