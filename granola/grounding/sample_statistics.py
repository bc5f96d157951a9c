"""What questions with passages consist of: labels, passages by provider and relevance, deflections, and how old
a passage was when its question was asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from abstraction.language.date_reader import parse_date
from granola.grounding.deflections import deflects
from granola.grounding.grounded_samples import GroundedSample, GroundingPassage, Relevance

# How old a passage was when a question was asked: question date minus passage date (Sorodoc et al. 2025).

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


# The statistics.


KINDS = 30  # values of a tag that are told


@dataclass(kw_only=True)
class GroundedStatistics:
    """Counts over questions; `tags` by tag and value, `providers` by provider and label."""

    questions: int = 0
    passages: int = 0
    deflections: int = 0
    references: int = 0
    cited: int = 0
    deflecting: int = 0
    words: int = 0
    tags: dict[str, Counter[str]] = field(default_factory=dict)
    providers: dict[str, Counter[str]] = field(default_factory=dict)
    sources: Counter[str] = field(default_factory=Counter)
    relevant_shares: dict[Relevance, list[float]] = field(default_factory=lambda: {one: [] for one in Relevance})
    aged: int = 0
    stale: int = 0
    unlabelled: int = 0

    def add(self, sample: GroundedSample) -> None:
        """Count a question."""
        self.questions += 1
        self.passages += len(sample.passages)
        self.deflections += sample.deflection
        self.cited += len(sample.cited or ())
        ids = [passage.id for passage in sample.passages]
        self.deflecting += bool(sample.reference.strip()) and deflects(sample.reference, ids) is not None
        if sample.reference.strip() and not sample.deflection:
            self.references += 1
            self.words += len(sample.reference.split())
        for tag, value in sample.tags.items():
            self.tags.setdefault(tag, Counter())[value] += 1
        self.sources[sample.source or "not told"] += 1
        for reading in Relevance:
            share = sample.relevant_share(reading)
            if share is not None:
                self.relevant_shares[reading].append(share)
        fast = sample.tags.get("time_sensitivity") == "fast-changing"
        for passage in sample.passages:
            told = passage.label or {True: "RELEVANT", False: "IRRELEVANT", None: "not labelled"}[passage.relevant]
            self.unlabelled += passage.label is None and passage.relevant is None
            self.providers.setdefault(passage.provider or "not told", Counter())[told] += 1
            age = age_in_days(sample, passage)
            self.aged += age is not None
            self.stale += fast and age is not None and age > FRESH and passage.label == "ANSWER-THE-QUESTION"

    def to_json(self) -> dict[str, Any]:
        """All of it; tags with more than KINDS values by their number alone."""
        return {
            "questions": self.questions,
            "passages": self.passages,
            "passages_a_question": self.passages / self.questions if self.questions else None,
            "deflection_expected": self.deflections,
            "references_that_deflect_by_rules": self.deflecting,
            "answerable": self.questions - self.deflections,
            "words_of_a_reference": self.words / self.references if self.references else None,
            "citations_of_a_reference": self.cited / self.references if self.references else None,
            "sources": _sorted(self.sources),
            "providers": {name: _sorted(own) for name, own in sorted(self.providers.items())},
            "relevant_share": {
                str(reading): sum(shares) / len(shares) if shares else None
                for reading, shares in self.relevant_shares.items()
            },
            "passages_not_labelled": self.unlabelled,
            "passages_with_age": self.aged,
            "answers_older_than_7_days_of_fast_changing_questions": self.stale,
            "tags": {
                tag: _sorted(own) if len(own) <= KINDS else {"different values": len(own)}
                for tag, own in sorted(self.tags.items())
            },
        }


def statistics_of(samples: Iterable[GroundedSample]) -> GroundedStatistics:
    """The counts of all."""
    statistics = GroundedStatistics()
    for sample in samples:
        statistics.add(sample)
    return statistics


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
