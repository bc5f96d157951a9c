"""Fields of rows with passages: texts, lists and labels, each bounded, each with an error that names the field."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from abstraction.faults import excerpt
from abstraction.files.cells import parsed
from abstraction.language.date_reader import parse_date
from granola.errors import SampleError
from granola.grounding.grounded_samples import WIDE_LABELS

MOST_PASSAGES = 500
LONGEST = 200_000  # characters of a passage or an answer
_RELEVANT = {"RELEVANT": True, "YES": True, "TRUE": True, "IRRELEVANT": False, "NO": False, "FALSE": False}
_NO_LABEL = frozenset({"NONE", "N/A", "NA", "NULL", "-"})
_UNTOLD = frozenset({"", "not defined", "n/a", "na", "none", "null", "unknown", "not available", "undefined"})
_HEAD = re.compile(r"(?:published|publication|passage)? ?(?:date|age|on) ?: ?", re.IGNORECASE)
_NO = frozenset({"0", "no", "false", "n", "not-cited", ""})
_YES = frozenset({"1", "yes", "true", "cited", "y"})
# What GaRAGe's providers are called, and where the private passages of its paper are from.
_WEB = frozenset({"web", "internet", "search"})
_PRIVATE = frozenset({"ent", "enterprise", "private", "internal"})
# The parts of an age ("1 year 2 months"), what stands between them, and their units.
_PART = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d{1,6}(?:\.\d{1,6})?) {0,3}-?(?P<unit>[a-z]{1,10})?", re.IGNORECASE)
_BETWEEN = re.compile(r"(?:about|around|approximately|approx\.?|~|old|ago|and|,| ){0,6}", re.IGNORECASE)
_UNITS = frozenset({
    "second", "sec", "s", "minute", "min", "hour", "hr", "h", "day", "d", "week", "wk", "w", "month", "mo", "year",
    "yr", "y",
})  # fmt: skip
_ISO = re.compile(r"(\d{4}-\d{1,2}-\d{1,2})[T ]")
_MONTH = 10  # WikiData's precision of months


def text_field(data: Mapping[str, Any], name: str) -> str:
    """A text that must be there; a number is taken for an id. Raises SampleError."""
    value = data.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and name.endswith("id"):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise SampleError(f'"{name}" is {excerpt(repr(value))}; expected a text')
    return value[:LONGEST]


def optional_text(data: Mapping[str, Any], name: str) -> str | None:
    """A text, None where there is none; a number is told in digits. Raises SampleError for anything else."""
    value = data.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if value is not None and not isinstance(value, str):
        raise SampleError(f'"{name}" is {excerpt(repr(value))}; expected a text')
    return value.strip()[:LONGEST] or None if value is not None else None


def told_text(data: Mapping[str, Any], name: str) -> str | None:
    """As `optional_text`; None for what says that it is not told: "not defined", "N/A", "Published date: N/A"."""
    text = optional_text(data, name)
    if text is None:
        return None
    head = _HEAD.match(text)
    bare = text[head.end() :] if head else text
    return None if is_untold(bare) else bare


def passage_list(data: Mapping[str, Any], name: str) -> Sequence[Any]:
    """A list of 1 to MOST_PASSAGES passages, also one told as JSON in a text. Raises SampleError."""
    value = data.get(name)
    if isinstance(value, str):
        value = parsed(value)
    if not isinstance(value, list) or not value:
        raise SampleError(f'"{name}" is {excerpt(repr(value))}; expected a list of passages')
    if len(value) > MOST_PASSAGES:
        raise SampleError(f'"{name}" has {len(value):,} passages; allowed are {MOST_PASSAGES}')
    return value


def parallel_list(data: Mapping[str, Any], name: str, n: int) -> Sequence[Any]:
    """A list of n entries, n times None where it is absent. Raises SampleError."""
    value = data.get(name)
    if value is None:
        return [None] * n
    if isinstance(value, str):
        value = parsed(value)
    if not isinstance(value, list) or len(value) != n:
        told = len(value) if isinstance(value, list) else excerpt(repr(value))
        raise SampleError(f'"{name}" has {told} entries for {n} passages')
    return value


def is_untold(text: str) -> bool:
    """Whether a value says that it is not told."""
    return text.casefold().strip(" .-") in _UNTOLD


def label_word(value: object) -> str | None:
    """A label in capitals with hyphens; None for what is no text."""
    if isinstance(value, bool):
        return str(value).upper()
    text = value.strip().upper().replace("_", "-").replace(" ", "-") if isinstance(value, str) else ""
    return text or None


def count_odd(unknown: Counter[str] | None, what: str) -> None:
    """Count what was not understood in a row, in words that say what it is and what it counts as."""
    if unknown is not None:
        unknown[what] += 1


def relevant_by(label: str | None, unknown: Counter[str] | None) -> bool | None:
    """The first step of labelling: RELEVANT or YES, IRRELEVANT or NO; others are counted in `unknown`."""
    if label is not None and label not in _RELEVANT:
        count_odd(unknown, f"relevance {label[:60]} (counts as not labelled)")
    return _RELEVANT.get(label) if label is not None else None


def both_steps(
    relevant: bool | None, label: str | None, unknown: Counter[str] | None
) -> tuple[bool | None, str | None]:
    """Relevance by the first step, and the label of the second, in which a label of the first may stand too.

    Steps that contradict each other are counted in `unknown`: such a passage is relevant in the wide reading alone
    where the first step says so, else irrelevant. So are labels that are none of the known ones, which are kept.
    """
    if label is None or label in _NO_LABEL:
        return relevant, None
    again = _RELEVANT.get(label)
    if again is not None and (relevant is None or relevant is again):
        return again, None
    if relevant is False and (again or label in WIDE_LABELS):
        count_odd(unknown, f"IRRELEVANT, second label {label} (counts as irrelevant)")
        return False, None if again else label
    if again is False:
        count_odd(unknown, f"RELEVANT, second label {label} (counts in the wide reading alone)")
        return relevant, "IRRELEVANT"
    if label not in WIDE_LABELS:
        count_odd(unknown, f"second label {label[:60]} (counts in the wide reading alone, if relevant)")
    return relevant, label


def validation(data: Mapping[str, Any], unknown: Counter[str] | None) -> str | None:
    """`answer_validate`, whether a second annotator validated the answer: yes, no or not told; None without it."""
    if "answer_validate" not in data:
        return None
    value = data["answer_validate"]
    word = "" if value is None else str(value).strip().casefold()
    if word in _UNTOLD:
        return "not told"
    if word not in _YES | _NO:
        count_odd(unknown, f"answer_validate {word[:60]} (decides nothing)")
        return None
    return "yes" if word in _YES else "no"


def is_yes(mark: object) -> bool:
    """Whether a passage is marked as cited."""
    return mark is True or mark == 1 or (isinstance(mark, str) and mark.strip().casefold() in _YES)


def is_cited(mark: object, unknown: Counter[str] | None) -> bool:
    """As `is_yes`; a mark that says neither yes nor no is counted in `unknown`."""
    word = label_word(mark)
    if word is not None and word not in _RELEVANT and word.casefold() not in _YES | _NO:
        count_odd(unknown, f"cited {word[:50]} (counts as not cited)")
    return is_yes(mark)


def is_provider(text: str) -> bool:
    """Whether a text is a provider as GaRAGe's passages name them."""
    return is_private(text) is not None


def is_private(provider: str | None) -> bool | None:
    """What a provider's name says of where a passage is from; None where it says nothing."""
    word = (provider or "").strip().casefold()
    return True if word in _PRIVATE else False if word in _WEB else None


def is_age(text: str) -> bool:
    """Whether a text is an age with its unit: "6 days", "about 1 year 2 months old"."""
    age = text.strip()[:80]
    at, parts = 0, 0
    while at < len(age):
        between = _BETWEEN.match(age, at)
        at = between.end() if between else at
        part = _PART.match(age, at)
        if part is None:
            break
        unit = (part["unit"] or ("day" if not parts else "")).casefold()
        if unit not in _UNITS and unit.removesuffix("s") not in _UNITS:
            return False
        parts, at = parts + 1, part.end()
    return parts > 0 and at >= len(age) and any(character.isalpha() for character in text)


def is_date(text: str) -> bool:
    """Whether a text is a date to the day or the month."""
    iso = _ISO.match(text)
    date_read = parse_date(iso[1] if iso else text[:80])
    return date_read is not None and date_read.first.precision >= _MONTH
