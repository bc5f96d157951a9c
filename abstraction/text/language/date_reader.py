"""Parsing of dates: "August 4, 1961", "the 1960s", "c. 1500", "44 v. Chr.", "XIXe siècle", "1914–1918".

A text with two readings is refused (03/04/1961 in English, '61, 1906-08), unless the caller asks for the likelier one,
as for dates within a sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Literal

from abstraction.text.language.calendar_units import MOST_DAYS, Era, Style
from abstraction.text.language.languages import Language, folded, language
from kg.base.model import TimeValue


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedDate:
    """A date parsed from a text.

    `last` is the end of a range, None for a single date. `circa`: whether the text marks the date as approximate.
    `part` is the part of the unit that is meant: "early", "mid", "late", "season" ("the early 1960s", "summer 1961"),
    or "". `style` is the order of day and month in the text; `era` is the pair of era words that it uses (BC and AD,
    or BCE and CE).
    """

    text: str
    first: TimeValue
    last: TimeValue | None = None
    circa: bool = False
    part: str = ""
    style: Style = "day-first"
    era: Era = field(default_factory=Era)


@dataclass(frozen=True, slots=True)
class _DatePoint:
    value: TimeValue
    style: Style = "day-first"
    marked: Literal["", "before", "after"] = ""
    common: bool = False  # BCE/CE rather than BC/AD
    part: str = ""


# Forms that are the same in every language.
_ISO: tuple[tuple[re.Pattern[str], Style], ...] = (
    (re.compile(r"\+?(?P<y>\d{4})-(?P<m>\d\d)(?:-(?P<d>\d\d)(?P<time>t00:00:00(?:\.0+)?z?)?)?"), "day-first"),
    (re.compile(r"(?P<y>\d{4})[/.](?P<m>\d{1,2})[/.](?P<d>\d{1,2})"), "day-first"),
)
# Day and month in either order, then a year of four digits.
_NUMERIC = re.compile(r"(\d{1,2})([/.-]) ?(\d{1,2})\2 ?(\d{4})")
_NUMERIC_OR_SHORT = re.compile(r"(\d{1,2})([/.-]) ?(\d{1,2})\2 ?(\d{4}|(?<=/)\d\d)")
_NUMERIC_MONTH = re.compile(r"(0?[1-9]|1[0-2])[/-](\d{4})")  # 8/1961


@dataclass(frozen=True, slots=True)
class _Reading:
    """The language of a text, and whether ambiguous dates are read in their likelier sense.

    For one date: the sign of its years (-1 before the common era), and whether the text has an era mark.
    """

    words: Language
    likelier: bool = False
    sign: int = 1
    marked: bool = False


def parse_date(text: str, *, code: str = "en", likelier: bool = False) -> ParsedDate | None:
    """The date or range that a text in the language states, or None where there is none or the text has two readings.

    Days, months, years, decades, centuries and millennia are read, ranges of them, parts of decades and centuries, and
    seasons except winter (it spans two years), all with BC/BCE/AD/CE and "circa". Two-digit years, open ranges ("since
    1961") and WikiData's negative years are refused. With `likelier` an ambiguous date is read in the usual sense:
    8/4/1961 is August in English, '61 is 1961, 1906-08 a month and 2017-18 two years.
    """
    words = language(code)
    dashed = "–" in text or "—" in text
    plain = folded(text).rstrip(" .;,")
    if len(plain) > 80:  # characters; no date is longer
        return None
    date = _without_prefix(words.patterns["weekday"], _without_prefix(words.patterns["lead"], plain))
    bare = _without_prefix(words.patterns["circa"], date)
    points = _parse_points(bare, _Reading(words, likelier), dashed=dashed)
    if points is None:
        return None
    first, last = points[0], points[-1]
    if _sort_key(first.value) > _sort_key(last.value):
        return None
    return ParsedDate(
        text=text.strip(),
        first=first.value,
        last=last.value if len(points) == 2 else None,
        circa=bare != date,
        part=first.part or last.part,
        style=first.style,
        era=Era("BCE" if first.common or last.common else "BC", words.code),
    )


def _without_prefix(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.match(text)
    return text[match.end() :] if match else text


def _sort_key(value: TimeValue) -> tuple[int, int, int]:
    return value.year, value.month or 0, value.day or 0


def _parse_points(text: str, reading: _Reading, *, dashed: bool) -> list[_DatePoint] | None:
    words = reading.words
    if not reading.likelier and not dashed and re.fullmatch(r"\d\d(\d\d)-(0\d|1[0-2])", text) and text[5:] > text[2:4]:
        return None  # 1906-08: August 1906, or 1906 to 1908
    if not (dashed and re.fullmatch(r"\d{4}-\d\d", text)) and (point := _parse_point(text, reading)):
        return [point]
    ends = _range_ends(text, words)
    end = _parse_point(ends[1], reading) if ends else None
    if ends is None or end is None:
        return None
    inherited = end if end.marked == "before" else None
    begin = _parse_point(ends[0], reading, inherited=inherited) or _complete_start(ends[0], end, reading)
    return [begin, end] if begin else None


def _range_ends(text: str, words: Language) -> tuple[str, str] | None:
    """The texts of both ends of a range, each completed by the parts that it shares with the other: "1914-18"."""
    parts = words.patterns["range_joint"].split(_without_prefix(words.patterns["range_lead"], text))
    if len(parts) != 2 and re.fullmatch(r"\d{4}/\d\d(?:\d\d)?", text):
        parts = text.split("/")
    if len(parts) != 2 or not all(parts):
        return None
    left, right = (_without_prefix(words.patterns["lead"], part) for part in parts)
    if re.fullmatch(r"\d{4}", left) and re.fullmatch(r"\d\d", right):
        right = left[:2] + right
    month_day = words.month_day.fullmatch(left)
    day_year = words.day_year.fullmatch(right)
    if month_day and day_year:
        return f"{left}, {day_year['y']}", f"{month_day['m']} {right}"
    return left, right


def _complete_start(left: str, end: _DatePoint, reading: _Reading) -> _DatePoint | None:
    """The start of a range whose month or year is written at its end only: "4-6 August 1961"."""
    value, words = end.value, reading.words
    if value.precision in (6, 7):
        key = "completed_century" if value.precision == 7 else "completed_millennium"
        (full,) = words.fill_templates(key, left=left)
        return _parse_point(full, reading, inherited=end)
    year = f"{abs(value.year):04d}"
    month = words.months[value.month - 1].name.lower() if value.month else ""
    for full in words.fill_templates("completed", left=left, month=month, year=year):
        if point := _parse_point(" ".join(full.split()), reading, inherited=end):
            return point if point.value.precision == value.precision else None
    return None


def _parse_point(text: str, reading: _Reading, *, inherited: _DatePoint | None = None) -> _DatePoint | None:
    words = reading.words
    marked: Literal["", "before", "after"] = ""
    common = False
    mark = words.patterns["era_after"].search(text)
    if mark:
        text = text[: mark.start()]
    else:
        mark = words.patterns["era_before"].search(text)
        if mark:
            text = text[: mark.start()] + text[mark.end() :]
    if mark:
        marked = "before" if mark.lastgroup in ("bc", "bce") else "after"
        common = mark.lastgroup in ("bce", "ce")
    elif inherited:
        marked, common = inherited.marked, inherited.common
    reading = replace(reading, sign=-1 if marked == "before" else 1, marked=bool(marked))
    part = ""
    if match := words.patterns["part"].match(text):
        part, text = match.lastgroup or "", text[match.end() :]
    for parse in (_parse_decade_or_century, *(() if part else (_parse_season_or_numeric,))):
        if parsed := parse(text, reading):
            return _DatePoint(parsed.value, parsed.style, marked, common, part or parsed.part)
    if (parsed := _parse_calendar_date(text, reading)) is None or (part and parsed.value.precision > 10):
        return None
    return _DatePoint(parsed.value, parsed.style, marked, common, part)


def _parse_decade_or_century(text: str, reading: _Reading) -> _DatePoint | None:
    words = reading.words
    match = words.patterns["decade"].fullmatch(text.lstrip("'") if reading.likelier else text)
    year = int(match["y"]) if match else next((n for n, word in words.spoken_decades.items() if word == text), 0)
    if match is None or (len(match["y"]) < 3 and not reading.marked):
        year = year_of_two_digits(year, CENTURY_OF_DECADES) if reading.likelier and year else 0
    if year:
        return _DatePoint(TimeValue(year=reading.sign * year, precision=8))
    for key, size, precision in (("century", 100, 7), ("millennium", 1000, 6)):
        if match := words.patterns[key].fullmatch(text):
            number = words.count_of(match["n"])
            return _DatePoint(TimeValue(year=reading.sign * (number * size), precision=precision)) if number else None
    return None


def year_of_two_digits(number: int, turn: int) -> int:
    """The full year of a two-digit year: below `turn` in this century, else in the last."""
    return number + (2000 if number < turn else 1900)


CENTURY_OF_DECADES = 20  # "the '10s" are of this century, "the twenties" of the last
CENTURY_OF_YEARS = 30  # '05 is 2005, '61 is 1961


def _parse_season_or_numeric(text: str, reading: _Reading) -> _DatePoint | None:
    if match := reading.words.patterns["season"].fullmatch(text):
        return _DatePoint(TimeValue(year=reading.sign * int(match["y"]), precision=9), part="season")
    if reading.likelier and (match := _NUMERIC_MONTH.fullmatch(text)):
        return _valid_point(int(match[2]), int(match[1]), 0, "day-first")
    match = (_NUMERIC_OR_SHORT if reading.likelier else _NUMERIC).fullmatch(text)
    if not match:
        return None
    a, b, year = int(match[1]), int(match[3]), int(match[4])
    if len(match[4]) == 2:
        year = year_of_two_digits(year, CENTURY_OF_YEARS)
    year *= reading.sign
    day_first, month_first = _valid_point(year, b, a, "day-first"), _valid_point(year, a, b, "month-first")
    if reading.words.numeric_day_first:
        return day_first or (month_first if reading.likelier else None)
    if reading.likelier:
        return month_first or day_first if match[2] == "/" else day_first or month_first
    return None if a != b and day_first and month_first else day_first or month_first


def _parse_calendar_date(text: str, reading: _Reading) -> _DatePoint | None:
    words = reading.words
    for pattern, style in (*words.points, *_ISO):
        match = pattern.fullmatch(text)
        if not match:
            continue
        groups = match.groupdict()
        year = _parse_year(groups["y"], reading)
        if year is None:
            continue
        month = groups.get("m")
        number = (int(month) if month.isdigit() else words.month_numbers[month]) if month else 0
        written = groups.get("d") or "0"
        day = int(written) if written.isdigit() else words.day_words[written]
        if groups.get("time") and (number, day) == (1, 1):
            number = day = 0  # query services write 1 January for a date of year precision
        point = _valid_point(year, number, day, style)
        if point:
            return point
    return None


def _parse_year(written: str, reading: _Reading) -> int | None:
    """The signed year, or None for a number of digits that is unusual for a year without an era mark."""
    digits = re.sub(r"\D", "", written)
    if reading.likelier and written.startswith("'"):
        return year_of_two_digits(int(digits), CENTURY_OF_YEARS)
    if (len(digits) < 3 or len(digits) > 4 or digits != written) and not reading.marked:
        return None
    return None if digits.startswith("0") and len(digits) < 4 else reading.sign * int(digits)


def _valid_point(year: int, month: int, day: int, style: Style) -> _DatePoint | None:
    """A date that exists in the Julian or Gregorian calendar, else None; 0 is a missing month or day."""
    if not year or not 0 <= month <= 12 or (day and not month):
        return None
    leap = (year if year > 0 else year + 1) % 4 == 0
    if month and day > MOST_DAYS[month - 1] - (month == 2 and not leap):
        return None
    precision = 11 if day else 10 if month else 9 if abs(year) < 10_000 else 5
    return _DatePoint(TimeValue(year=year, month=month or None, day=day or None, precision=precision), style)
