"""How old a passage was when a question was asked: question date minus passage date (Sorodoc et al. 2025)."""

from __future__ import annotations

import re
from datetime import date

from granola.grounding.grounded_samples import GroundedSample, GroundingPassage

FRESH = 7  # days: a fast-changing question needs passages that are no older
_DATE = re.compile(r"\s{0,9}(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_AGE = re.compile(
    r"\s{0,9}(?:about |~)?(\d{1,6})(?:\.\d{1,6})? {0,3}-?(hour|day|week|month|year|d\b|h\b)?", re.IGNORECASE
)
_DAYS = {"hour": 1 / 24, "h": 1 / 24, "day": 1.0, "d": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}


def age_in_days(sample: GroundedSample, passage: GroundingPassage) -> float | None:
    """By both dates (YYYY-MM-DD), else by the passage's `age` ("3 days", a bare number is days); None where untold.

    A passage from after the question has a negative age.
    """
    asked, written = _date(sample.question_date), _date(passage.date)
    if asked is not None and written is not None:
        return float((asked - written).days)
    match = _AGE.match(passage.age or "")
    return int(match[1]) * _DAYS[(match[2] or "day").casefold()] if match else None


def _date(text: str | None) -> date | None:
    match = _DATE.match(text or "")
    if match is None:
        return None
    try:
        return date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None
