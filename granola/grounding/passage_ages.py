"""How old a passage was when a question was asked: question date minus passage date (Sorodoc et al. 2025)."""

from __future__ import annotations

import re
from datetime import date

from abstraction.language.date_reader import parse_date
from granola.grounding.grounded_samples import GroundedSample, GroundingPassage

DAY = 11  # WikiData's precision of days
FRESH = 7  # days: a fast-changing question needs passages that are no older
_ISO = re.compile(r"(\d{4}-\d{1,2}-\d{1,2})[T ]")
_PART = re.compile(r"(?P<n>\d{1,3}(?:,\d{3})+|\d{1,6}(?:\.\d{1,6})?) {0,3}-?(?P<unit>[a-z]{1,10})?", re.IGNORECASE)
_BETWEEN = re.compile(r"(?:about|around|approximately|approx\.?|~|old|ago|and|,| ){0,6}", re.IGNORECASE)
_DAYS = {
    "second": 1 / 86_400, "sec": 1 / 86_400, "s": 1 / 86_400, "minute": 1 / 1_440, "min": 1 / 1_440, "hour": 1 / 24,
    "hr": 1 / 24, "h": 1 / 24, "day": 1.0, "d": 1.0, "week": 7.0, "wk": 7.0, "w": 7.0, "month": 30.44, "mo": 30.44,
    "year": 365.25, "yr": 365.25, "y": 365.25,
}  # fmt: skip


def age_in_days(sample: GroundedSample, passage: GroundingPassage) -> float | None:
    """By both dates ("2024-12-17", "17 December 2024"), else by the passage's `age` ("6 days", "1 year 2 months").

    A bare number is days. None where neither can be read. A passage from after the question has a negative age.
    """
    asked, written = _date(sample.question_date), _date(passage.date)
    if asked is not None and written is not None:
        return float((asked - written).days)
    return _age(passage.age or "")


def is_age(text: str) -> bool:
    """Whether a text is an age with its unit."""
    return any(character.isalpha() for character in text) and _age(text) is not None


def is_date(text: str) -> bool:
    """Whether a text is a date to the day or the month."""
    iso = _ISO.match(text)
    date_read = parse_date(iso[1] if iso else text[:80])
    return date_read is not None and date_read.first.precision >= DAY - 1


def _date(text: str | None) -> date | None:
    if not text:
        return None
    iso = _ISO.match(text)
    date_read = parse_date(iso[1] if iso else text[:80])
    if date_read is None or date_read.last is not None or date_read.first.precision != DAY:
        return None
    try:
        return date(date_read.first.year, date_read.first.month or 1, date_read.first.day or 1)
    except ValueError:
        return None


def _age(text: str) -> float | None:
    age_text = text.strip()[:80]
    days, at, parts = 0.0, 0, 0
    while at < len(age_text):
        between = _BETWEEN.match(age_text, at)
        at = between.end() if between else at
        part = _PART.match(age_text, at)
        if part is None:
            break
        unit = (part["unit"] or ("day" if not parts else "")).casefold()
        length = _DAYS.get(unit, _DAYS.get(unit.removesuffix("s")))
        if length is None:
            return None
        days, parts, at = days + float(part["n"].replace(",", "")) * length, parts + 1, part.end()
    return days if parts and at >= len(age_text) else None
