"""Numbers and names in text from outside, bounded in length; None for anything else.

`str.isdigit` is true of "²", `int` and `Decimal` read the digits of all scripts, `int` raises above 4 300 digits,
`float` reads "nan" and "1_0". Here digits are those of ASCII, and a number is finite and of a length that occurs.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

MOST_DIGITS = 127  # characters of an amount: Wikibase's own limit
LONGEST_NAME = 250  # characters of a statement's id

# A language code: those of WikiData have 12 characters at most.
_LANGUAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")
_WHOLE = re.compile(r"[0-9]+\Z")
_DECIMAL = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?\Z")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")


def whole_number(text: str, most: int) -> int | None:
    """A number from 0 to `most`, written in digits alone."""
    if len(text) > MOST_DIGITS or not _WHOLE.match(text):
        return None
    number = int(text)
    return number if number <= most else None


def decimal_number(text: str) -> Decimal | None:
    """A decimal without an exponent, exactly as it is written."""
    return Decimal(text) if len(text) <= MOST_DIGITS and _DECIMAL.match(text) else None


def finite_number(text: str) -> float | None:
    """A number with or without an exponent that fits a float."""
    if len(text) > MOST_DIGITS or not _FLOAT.match(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def is_language(code: str) -> bool:
    """Whether it is a language code by its form."""
    return _LANGUAGE.match(code) is not None


def by_number(entity_id: str) -> tuple[int, str]:
    """A sort key: ids of one kind by their numbers, however many digits these have."""
    return len(entity_id), entity_id
