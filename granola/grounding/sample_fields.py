"""Fields of rows with passages: texts, lists and labels, each bounded, each with an error that names the field."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from abstraction.formats.fields import parsed
from abstraction.formats.records import excerpt
from granola.errors import SampleError
from granola.grounding.grounded_samples import WIDE_LABELS

MOST_PASSAGES = 500
LONGEST = 200_000  # characters of a passage or an answer
_RELEVANT = {"RELEVANT": True, "YES": True, "TRUE": True, "IRRELEVANT": False, "NO": False, "FALSE": False}
_NO_LABEL = frozenset({"NONE", "N/A", "NA", "NULL", "IRRELEVANT", "NO", "-"})
_UNTOLD = frozenset({"", "not defined", "n/a", "na", "none", "null", "unknown", "not available", "undefined"})
_HEAD = re.compile(r"(?:published|publication|passage)? ?(?:date|age|on) ?: ?", re.IGNORECASE)
_NO = frozenset({"0", "no", "false", "n", "not-cited", ""})
_YES = frozenset({"1", "yes", "true", "cited", "y"})
# What GaRAGe's providers are called, and where the private passages of its paper are from.
_WEB = frozenset({"web", "internet", "search"})
_PRIVATE = frozenset({"ent", "enterprise", "private", "internal"})


def text_field(data: Mapping[str, Any], name: str) -> str:
    """A text that must be there; a number is taken for an id. Raises SampleError."""
    value = data.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and name.endswith("id"):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise SampleError(f'"{name}" is {excerpt(repr(value))}; expected a text')
    return value[:LONGEST]


def optional_text(data: Mapping[str, Any], name: str) -> str | None:
    """A text, None where there is none; a number is told in digits."""
    value = data.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    return value.strip()[:LONGEST] or None if isinstance(value, str) else None


def told_text(data: Mapping[str, Any], name: str) -> str | None:
    """As `optional_text`; None for what says that it is not told: "not defined", "N/A", "Published date: N/A"."""
    text = optional_text(data, name)
    if text is None:
        return None
    head = _HEAD.match(text)
    bare = text[head.end() :] if head else text
    return None if bare.casefold().strip(" .-") in _UNTOLD else bare


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


def label_word(value: object) -> str | None:
    """A label in capitals with hyphens; None for what is no text."""
    if isinstance(value, bool):
        return str(value).upper()
    text = value.strip().upper().replace("_", "-").replace(" ", "-") if isinstance(value, str) else ""
    return text or None


def relevant_by(label: str | None, unknown: Counter[str] | None) -> bool | None:
    """The first step of labelling: RELEVANT or YES, IRRELEVANT or NO; others are counted in `unknown`."""
    if label is not None and label not in _RELEVANT and unknown is not None:
        unknown[label[:60]] += 1
    return _RELEVANT.get(label) if label is not None else None


def is_first_step(label: str | None) -> bool:
    """Whether a label is of the first step."""
    return label in _RELEVANT


def second_label(label: str | None, unknown: Counter[str] | None) -> str | None:
    """The second step of labelling; a label that is none of the known ones is kept, and counted in `unknown`."""
    if label is None or label in _NO_LABEL:
        return None
    if label not in WIDE_LABELS and unknown is not None:
        unknown[label[:60]] += 1
    return label


def is_yes(mark: object) -> bool:
    """Whether a passage is marked as cited."""
    return mark is True or mark == 1 or (isinstance(mark, str) and mark.strip().casefold() in _YES)


def is_cited(mark: object, unknown: Counter[str] | None) -> bool:
    """As `is_yes`; a mark that says neither yes nor no is counted in `unknown`."""
    word = label_word(mark)
    if word is not None and unknown is not None and word not in _RELEVANT and word.casefold() not in _YES | _NO:
        unknown[f"cited: {word[:50]}"] += 1
    return is_yes(mark)


def is_private(provider: str | None) -> bool | None:
    """What a provider's name says of where a passage is from; None where it says nothing."""
    word = (provider or "").strip().casefold()
    return True if word in _PRIVATE else False if word in _WEB else None
