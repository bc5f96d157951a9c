"""Dates in English texts: "August 4, 1961", "the 1960s", "c. 1500", "44 BC", "1914–1918".

What a reader could take in two ways is refused rather than guessed: 03/04/1961, '61, 1906-08.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field, replace
from typing import Literal

from abstraction.calendar_units import MONTHS, ORDINALS, Era, Style
from kg.model import TimeValue


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedDate:
    """A date as a text gives it.

    `last` is the end of a range, None for a single date. `circa` where the text says about; `part` where it
    means a part of the unit only ("the early 1960s", "summer 1961"). `style`, `era` are the text's own.
    """

    text: str
    first: TimeValue
    last: TimeValue | None = None
    circa: bool = False
    part: bool = False
    style: Style = "day-first"
    era: Era = field(default_factory=Era)


@dataclass(frozen=True, slots=True)
class _Point:
    value: TimeValue
    style: Style = "day-first"
    marked: Literal["", "before", "after"] = ""
    common: bool = False  # BCE/CE rather than BC/AD
    part: bool = False


_MONTH_NUMBERS = {
    name.lower()[:length]: n for n, name in enumerate(MONTHS, 1) for length in (3, len(name))
} | {"sept": 9}
_M = "(?P<m>" + "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True)) + r")\b\.?"
_D = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_Y = r"(?P<y>\d{1,4})"
_COUNT = r"(?P<n>\d{1,3}(?:st|nd|rd|th)|" + "|".join(sorted(ORDINALS, key=len, reverse=True)) + ")"

_POINTS: tuple[tuple[re.Pattern[str], Style], ...] = (
    (re.compile(rf"{_D}(?: of)?[ -]{_M},?(?: of)?[ -]{_Y}"), "day-first"),
    (re.compile(rf"{_M} (?:the )?{_D}(?:, ?| ){_Y}"), "month-first"),
    (re.compile(rf"(?P<y>\d{{3,4}}),? {_M} {_D}"), "day-first"),
    (re.compile(rf"{_M},?(?: of)? {_Y}"), "day-first"),
    (re.compile(rf"(?P<y>\d{{3,4}}),? {_M}"), "day-first"),
    (re.compile(r"(?:year )?(?P<y>\d{1,3}(?:,\d{3})+|\d{1,5})"), "day-first"),
    (re.compile(r"\+?(?P<y>\d{4})-(?P<m>\d\d)(?:-(?P<d>\d\d)(?P<time>t00:00:00(?:\.0+)?z?)?)?"), "day-first"),
    (re.compile(r"(?P<y>\d{4})[/.](?P<m>\d{1,2})[/.](?P<d>\d{1,2})"), "day-first"),
)
_NUMERIC = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})")
_DECADE = re.compile(r"(?P<y>\d{1,3}0)'?s")
_COUNTED = re.compile(rf"{_COUNT}[ -](?P<unit>century|centuries|millennium)")
_SEASON = re.compile(r"(?:spring|summer|autumn|fall)(?: of)?,? (?P<y>\d{4})")

_LEAD = re.compile(r"(?:(?:on|in|during|the)\s+)+")
_WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day,?\s+(?:the\s+)?")
_CIRCA = re.compile(
    r"(?:(?:c|ca|approx)\.\s*|c(?=\d)|(?:c|ca|circa|about|around|approximately|approx)\s+)(?:the\s+)?"
)
_PART = re.compile(r"(?:early|mid|middle|late|beginning|end|first half|second half)(?: of |[ -])(?:the )?")
_ERA_BEFORE = re.compile(r"\b(?P<era>a\.? ?d|c\.? ?e)\.?\s*(?=\d)")
_ERA_AFTER = re.compile(r"\s*(?<![a-z])(?P<era>a\.? ?d|c\.? ?e|b\.? ?c(?:\.? ?e)?)\Z")
_CALENDAR = re.compile(
    r"\s*\(?\b(?P<name>o\.? ?s|n\.? ?s|(?:old|new) style|(?:julian|gregorian)(?: calendar)?)\.?\)?\Z"
)
_RANGE = re.compile(r"\s*-\s*|\s+(?:to|until|till|through|thru|or|and)\s+")
_RANGE_LEAD = re.compile(r"(?:from|between|either)\s+")


def parse_date(text: str) -> ParsedDate | None:
    """The date or range that a text states, or None where it states none or could mean two.

    Read are days, months, years, decades, centuries, millennia, ranges of them, parts of decades and
    centuries, seasons but winter (it belongs to two years), all with BC/BCE/AD/CE and "circa". Two-digit
    years, open ranges ("since 1961") and WikiData's own negative years are not.
    """
    dashed = "–" in text or "—" in text
    rest = unicodedata.normalize("NFKC", text).lower()
    rest = rest.translate({ord(c): "-" for c in "‐‑‒–—−"} | {ord("’"): "'", ord("‘"): "'"})
    rest = " ".join(rest.split()).rstrip(" .;,")
    if len(rest) > 80:
        return None
    calendar = ""
    if found := _CALENDAR.search(rest):
        calendar = "julian" if found["name"][0] in "oj" else "gregorian"
        rest = rest[: found.start()]
    rest = _WEEKDAY.sub("", _strip(_LEAD, rest), count=1)
    shorter = _strip(_CIRCA, rest)
    circa, rest = shorter != rest, shorter
    points = _points(rest, dashed=dashed)
    if points is None:
        return None
    first, last = points[0], points[-1]
    if calendar:
        first, last = (_in_calendar(point, calendar) for point in (first, last))
    if _sort_key(first.value) > _sort_key(last.value):
        return None
    return ParsedDate(
        text=text.strip(),
        first=first.value,
        last=last.value if len(points) == 2 else None,
        circa=circa,
        part=first.part or last.part,
        style=first.style,
        era=Era("BCE" if first.common or last.common else "BC"),
    )


def _strip(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.match(text)
    return text[found.end() :] if found else text


def _sort_key(value: TimeValue) -> tuple[int, int, int]:
    return value.year, value.month or 0, value.day or 0


def _in_calendar(point: _Point, calendar: str) -> _Point:
    return replace(point, value=replace(point.value, calendar=calendar))


def _points(text: str, *, dashed: bool) -> list[_Point] | None:
    if not dashed and re.fullmatch(r"\d\d(\d\d)-(0\d|1[0-2])", text) and text[5:] > text[2:4]:
        return None  # 1906-08: August 1906, or 1906 to 1908
    if not (dashed and re.fullmatch(r"\d{4}-\d\d", text)) and (one := _point(text)):
        return [one]
    parts = _RANGE.split(_strip(_RANGE_LEAD, text))
    if len(parts) != 2 and "/" in text and re.fullmatch(r"\d{4}/\d\d(?:\d\d)?", text):
        parts = text.split("/")
    if len(parts) != 2 or not all(parts):
        return None
    left, right = (_strip(_LEAD, part) for part in parts)
    if re.fullmatch(r"\d{4}", left) and re.fullmatch(r"\d\d", right):
        right = left[:2] + right
    month_day = re.fullmatch(rf"{_M} {_D}", left)
    day_year = re.fullmatch(rf"{_D},? (?P<y>\d{{3,4}})", right)
    if month_day and day_year:
        left, right = f"{left}, {day_year['y']}", f"{month_day['m']} {right}"
    end = _point(right)
    if end is None:
        return None
    begin = _point(left, inherited=end if end.marked == "before" else None) or _completed(left, end)
    return [begin, end] if begin else None


def _completed(left: str, end: _Point) -> _Point | None:
    """The beginning of a range that leaves to its end what both share: "4-6 August 1961"."""
    value = end.value
    if value.precision in (6, 7):
        return _point(f"{left} {'century' if value.precision == 7 else 'millennium'}", inherited=end)
    year = f"{abs(value.year):04d}"
    month = MONTHS[value.month - 1].lower() if value.month else ""
    for full in (f"{left} {year}", f"{left}, {year}", f"{left} {month} {year}"):
        if found := _point(full, inherited=end):
            return found if found.value.precision == value.precision else None
    return None


def _point(text: str, *, inherited: _Point | None = None) -> _Point | None:
    marked: Literal["", "before", "after"] = ""
    common = False
    found = _ERA_AFTER.search(text)
    if found:
        text = text[: found.start()]
    else:
        found = _ERA_BEFORE.search(text)
        if found:
            text = text[: found.start()] + text[found.end() :]
    if found:
        name = found["era"].replace(".", "").replace(" ", "")
        marked, common = "before" if name[0] == "b" else "after", name.endswith("e")
    elif inherited:
        marked, common = inherited.marked, inherited.common
    sign = -1 if marked == "before" else 1
    bare = _strip(_PART, text)
    part, text = bare != text, bare
    for parse in (_decade, _counted, _season, _numeric, _dated):
        if part and parse not in (_decade, _counted, _dated):
            continue
        if made := parse(text, sign, bool(marked)):
            if part and made.value.precision > 10:
                return None
            return _Point(made.value, made.style, marked, common, part or made.part)
    return None


def _decade(text: str, sign: int, marked: bool) -> _Point | None:
    found = _DECADE.fullmatch(text)
    if not found or (len(found["y"]) < 3 and not marked):
        return None
    return _Point(TimeValue(year=sign * int(found["y"]), precision=8)) if int(found["y"]) else None


def _counted(text: str, sign: int, marked: bool) -> _Point | None:
    found = _COUNTED.fullmatch(text)
    if not found:
        return None
    count = found["n"]
    number = int(count[:-2]) if count[0].isdigit() else ORDINALS.index(count) + 1
    size, precision = (1000, 6) if found["unit"] == "millennium" else (100, 7)
    return _Point(TimeValue(year=sign * (number * size), precision=precision)) if number else None


def _season(text: str, sign: int, marked: bool) -> _Point | None:
    found = _SEASON.fullmatch(text)
    return _Point(TimeValue(year=sign * int(found["y"]), precision=9), part=True) if found else None


def _numeric(text: str, sign: int, marked: bool) -> _Point | None:
    found = _NUMERIC.fullmatch(text)
    if not found:
        return None
    a, b, year = int(found[1]), int(found[3]), int(found[4])
    if a <= 12 and b <= 12 and a != b:
        return None
    day, month, style = (b, a, "month-first") if b > 12 else (a, b, "day-first")
    return _checked(sign * year, month, day, "month-first" if style == "month-first" else "day-first")


def _dated(text: str, sign: int, marked: bool) -> _Point | None:
    for pattern, style in _POINTS:
        found = pattern.fullmatch(text)
        if not found:
            continue
        groups = found.groupdict()
        digits = groups["y"].replace(",", "")
        if (len(digits) < 3 or len(digits) > 4 or "," in groups["y"]) and not marked:
            continue
        if groups["y"].startswith("0") and len(digits) < 4:
            continue
        month = groups.get("m")
        number = (int(month) if month.isdigit() else _MONTH_NUMBERS[month]) if month else 0
        day = int(groups.get("d") or 0)
        if groups.get("time") and (number, day) == (1, 1):
            number = day = 0  # query services fill up what the precision leaves open
        made = _checked(sign * int(digits), number, day, style)
        if made:
            return made
    return None


def _checked(year: int, month: int, day: int, style: Style) -> _Point | None:
    """A point of a date that exists in one of the two calendars; 0 stands for a part that is not given."""
    if not year or not 0 <= month <= 12 or (day and not month):
        return None
    leap = (year if year > 0 else year + 1) % 4 == 0
    longest = (0, 31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month]
    if day > longest and month:
        return None
    precision = 11 if day else 10 if month else 9 if abs(year) < 10_000 else 5
    return _Point(TimeValue(year=year, month=month or None, day=day or None, precision=precision), style)
