"""Calendar dates: units from a day to a millennium, their names in each language, and the date that a text states.

Years are signed without a year 0, as in `kg.base.model.TimeValue`: -1 is 1 BCE. Common conventions are used: the 20th
century is 1901-2000 and the 1st century BCE 100-1 BCE; the 1960s are 1960-1969 and the 40s BCE 49-40 BCE; a decade
belongs to the century that contains most of its years (the 1900s to the 20th). Years 1-9 of either era have no named
decade.

Texts are read as in "August 4, 1961", "the 1960s", "c. 1500", "44 v. Chr.", "XIXe siècle", "1914–1918". A text with two
readings is refused (03/04/1961 in English, '61, 1906-08), unless the caller asks for the likelier one, as for dates
within a sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Literal

from abstraction.text.language.languages import Language, folded, language
from kg.base.model import TimeValue

Kind = Literal["day", "month", "year", "decade", "century", "millennium", "deep"]
# From fine to coarse; their order is compared.
KINDS: tuple[Kind, ...] = ("day", "month", "year", "decade", "century", "millennium", "deep")
# WikiData's codes of precision; codes below 6 are "deep".
OF_PRECISION: dict[int, Kind] = {
    11: "day", 10: "month", 9: "year", 8: "decade", 7: "century", 6: "millennium",
}  # fmt: skip
Style = Literal["day-first", "month-first"]

MOST_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # days of each month in a leap year
GREGORIAN_REFORM = (1582, 10, 15)  # the first day of the Gregorian calendar


@dataclass(frozen=True, slots=True)
class Era:
    """The marks of years before and after 1 CE in a language: Christian ("BC") or neutral ("BCE")."""

    kind: Literal["BC", "BCE"] = "BC"
    code: str = "en"

    @property
    def language(self) -> Language:
        """The language of the marks."""
        return language(self.code)

    @property
    def before(self) -> str:
        """The mark of years before 1 CE: "BC", "v. Chr."."""
        return self.language.marks[self.kind][0]

    @property
    def after(self) -> str:
        """The mark of years since 1 CE: "AD", "n. Chr."."""
        return self.language.marks[self.kind][1]

    @property
    def other(self) -> Era:
        """The other pair of marks."""
        return Era("BCE" if self.kind == "BC" else "BC", self.code)


def day_number(year: int, month: int, day: int) -> int:
    """A number that orders days and leaves no gap: months of 31 days, years of 12 months, 1 BCE is the year 0."""
    return (year * 12 + month - 1) * 31 + day - 1


@dataclass(frozen=True, slots=True)
class CalendarUnit:
    """One calendar unit. `number` is the signed year, the first year of a decade, or the signed ordinal of a century.

    The 40s BCE are ("decade", -40), the 1st century BCE ("century", -1). `month` and `day` are 0 for coarser kinds.
    "deep" is a span of ten thousand years or more around the year `number`.
    """

    kind: Kind
    number: int
    month: int = 0
    day: int = 0

    def key(self) -> str:
        """A canonical text: "1961-08", "decade 1960", "century -1"."""
        if self.kind in ("day", "month", "year"):
            parts = [f"{self.number:04d}", f"{self.month:02d}", f"{self.day:02d}"]
            return "-".join(parts[: 3 - KINDS.index(self.kind)])
        return f"{self.kind} {self.number}"

    def first_year(self) -> int:
        """The first year of the unit, signed."""
        return self._years()[0]

    def last_year(self) -> int:
        """The last year of the unit, signed."""
        return self._years()[1]

    def days(self) -> tuple[int, int]:
        """The `day_number` of the first and of the last day."""
        first, last = (year if year > 0 else year + 1 for year in self._years())
        months = (self.month, self.month) if self.month else (1, 12)
        days = (self.day, self.day) if self.day else (1, 31)
        return day_number(first, months[0], days[0]), day_number(last, months[1], days[1])

    def _years(self) -> tuple[int, int]:
        n, size = abs(self.number), {"century": 100, "millennium": 1000}.get(self.kind, 1)
        if self.kind == "decade":
            first, last = n, n + 9
        else:
            first, last = (n - 1) * size + 1, n * size
        return (first, last) if self.number > 0 else (-last, -first)


def calendar_unit_of(value: TimeValue, kind: Kind | None = None) -> CalendarUnit | None:
    """The unit of `kind` that contains the value; `kind` None takes the value's own precision.

    None where the value is coarser than `kind`, lacks the month or day, or its decade has no name.
    """
    finest = OF_PRECISION.get(value.precision, "deep")
    kind = kind or finest
    if KINDS.index(kind) < KINDS.index(finest) or (finest == "deep"):
        return CalendarUnit("deep", value.year) if kind == "deep" else None
    year, sign = abs(value.year), 1 if value.year > 0 else -1
    if kind == "day":
        return CalendarUnit("day", value.year, value.month or 0, value.day or 0) if value.month and value.day else None
    if kind == "month":
        return CalendarUnit("month", value.year, value.month) if value.month else None
    if kind == "year":
        return CalendarUnit("year", value.year)
    if kind == "decade":
        return CalendarUnit("decade", sign * (year // 10 * 10)) if year >= 10 else None
    if finest == "decade" and year % 100 < 10:
        year += 1  # the 1900s are 1900-1909: nine of ten years are of the 20th century
    if kind == "century":
        return CalendarUnit("century", sign * ((year - 1) // 100 + 1))
    if kind == "millennium":
        return CalendarUnit("millennium", sign * ((year - 1) // 1000 + 1))
    return None


def names_of_unit(unit: CalendarUnit, *, era: Era, style: Style = "day-first") -> tuple[str, ...]:
    """All ways to write a unit, the usual one first, without duplicates."""
    match unit.kind:
        case "day":
            texts = _day_names(unit, era, style)
        case "month":
            texts = _month_names(unit, era)
        case "year":
            alone = era.language.fill_templates("year", n=unit.number) if unit.number >= 100 else ()
            texts = [*alone, *_year_names(unit.number, era)]
        case "decade" | "century" | "millennium" if not era.language.has_words_for(unit.kind):
            # A range of years, where the language has no word for the unit
            first = str(abs(unit.first_year())) if unit.number < 0 else _year_names(unit.first_year(), era)[0]
            texts = list(era.language.fill_templates("range", first=first, last=_year_names(unit.last_year(), era)[0]))
        case "decade":
            texts = _decade_names(unit.number, era)
        case "century" | "millennium":
            texts = [
                text
                for mark in era_marks_of_century(unit, era)
                for count in era.language.ordinals(abs(unit.number))
                for text in era.language.fill_templates(unit.kind, count=count, mark=mark)
            ]
        case _:
            texts = _deep_time_names(unit.number, era)
    return tuple(dict.fromkeys(texts))


def julian_to_gregorian(value: TimeValue) -> TimeValue | None:
    """The Gregorian date of a day in the Julian calendar; None for any other value.

    Uses the Julian day number, after E. G. Richards, "Calendars", in the Explanatory Supplement to the Astronomical
    Almanac (3rd ed., 2013), section 15.11.
    """
    if value.calendar != "julian" or value.precision != 11 or not value.month or not value.day:
        return None
    year = value.year if value.year > 0 else value.year + 1
    a = (14 - value.month) // 12
    y, m = year + 4800 - a, value.month + 12 * a - 3
    number = value.day + (153 * m + 2) // 5 + 365 * y + y // 4 - 32083
    a = number + 32044
    b = (4 * a + 3) // 146097
    c = a - 146097 * b // 4
    d = (4 * c + 3) // 1461
    e = c - 1461 * d // 4
    m = (5 * e + 2) // 153
    year = 100 * b + d - 4800 + m // 10
    return TimeValue(
        year=year if year > 0 else year - 1,
        month=m + 3 - 12 * (m // 10),
        day=e - (153 * m + 2) // 5 + 1,
        precision=11,
        calendar="gregorian",
    )


def _year_names(year: int, era: Era) -> list[str]:
    """The ways to write a year within a date."""
    words = era.language
    if year >= 1000:
        return list(words.fill_templates("year_in_date", n=year))
    if year < 0:
        return list(words.fill_templates("year_before", n=-year, mark=era.before, other=era.other.before))
    marked = words.fill_templates(f"year_after_{era.kind}", n=year)
    plain = words.fill_templates("year_in_date", n=year)
    return [*plain, *marked] if year >= 100 else [*marked, *plain]


def _day_names(unit: CalendarUnit, era: Era, style: Style) -> list[str]:
    words = era.language
    month = words.months[unit.month - 1]
    slots: dict[str, object] = {
        "d": words.days.get(unit.day, unit.day), "n": unit.day, "nth": words.ordinal(unit.day), "m": unit.month,
        "dd": f"{unit.day:02d}", "mm": f"{unit.month:02d}", "month": month.name, "short": month.short, "y": unit.number,
    }  # fmt: skip
    usual = "day" if style == "day-first" else "day_month_first"
    years = _year_names(unit.number, era)
    keys = ["day_also", *(["day_short"] if month.short else []), *(["day_numeric"] if unit.number >= 1000 else [])]
    out = [text for year in years for text in words.fill_templates(usual, year=year, **slots)]
    out += [text for key in keys for text in words.fill_templates(key, year=years[0], **slots)]
    if unit.number >= 1000:
        out.append(unit.key())
    return out


def _month_names(unit: CalendarUnit, era: Era) -> list[str]:
    words = era.language
    month = words.months[unit.month - 1]
    years = _year_names(unit.number, era)
    if 0 < unit.number < 32:
        years = [year for year in years if not year.isdigit()]  # "January 1" is a day
    slots = {"month": month.name, "alone": month.alone, "m": unit.month, "mm": f"{unit.month:02d}"}
    usual = [words.fill_templates("month", year=year, **slots) for year in years]
    out = [forms[0] for forms in usual] + [form for forms in usual for form in forms[1:]]
    out += words.fill_templates("month_also", month=month.name, year=years[0])
    if month.short:
        out += words.fill_templates("month_short", short=month.short, year=years[0])
    if unit.number >= 1000:
        out.append(unit.key())
    return out


def _decade_names(number: int, era: Era) -> list[str]:
    year, words = abs(number), era.language
    if number < 0:
        marks = [f" {era.before}", f" {era.other.before}"]
    elif number < 100:
        marks = [f" {era.after}", f" {era.other.after}", ""]
    else:
        marks = [""]
    out = [text for mark in marks for text in words.fill_templates("decade", n=year, mark=mark)]
    if 1920 <= number < 2000:
        out += words.fill_templates("decade_short", n=number % 100, spoken=words.spoken_decades[number % 100])
    return out


def era_marks_of_century(unit: CalendarUnit, era: Era) -> list[str]:
    """The possible era marks after a century or millennium, each with a space before it; "" for none.

    Centuries since the 11th take no AD.
    """
    if unit.number < 0:
        return [f" {era.before}", f" {era.other.before}"]
    if unit.kind == "century" and unit.number >= 11:
        return [""]
    return ["", f" {era.after}", f" {era.other.after}"]


def _deep_time_names(year: int, era: Era) -> list[str]:
    mark, words = era.before if year < 0 else era.after, era.language
    number = abs(year)
    for scale in words.scales:
        size = 10**scale.power
        if scale.power < 6 or not scale.singular or number < size:
            continue
        amount = f"{number / size:.3f}".rstrip("0").rstrip(".")
        worded = words.with_scale_word(amount, scale)
        ago = list(words.fill_templates("years_ago", amount=worded)) if year < 0 else []
        return [*ago, f"{worded} {mark}"]
    return [f"{words.formatted_number(str(number))} {mark}", f"{number} {mark}"]


def circa_tolerance(year: int) -> int:
    """The years by which "circa" may be off on either side; rounder years allow more.

    4 for an ordinary year, 9 for a multiple of ten, 25 of a hundred, 50 of a thousand.
    """
    for size, years in ((1000, 50), (100, 25), (10, 9)):
        if year % size == 0:
            return years
    return 4


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
    era_from = end if end.marked == "before" else None
    begin = _parse_point(ends[0], reading, era_from=era_from) or _complete_start(ends[0], end, reading)
    return [begin, end] if begin else None


def _range_ends(text: str, lang: Language) -> tuple[str, str] | None:
    """The texts of both ends of a range, each completed by the parts that it shares with the other: "1914-18"."""
    parts = lang.patterns["range_joint"].split(_without_prefix(lang.patterns["range_lead"], text))
    if len(parts) != 2 and re.fullmatch(r"\d{4}/\d\d(?:\d\d)?", text):
        parts = text.split("/")
    if len(parts) != 2 or not all(parts):
        return None
    left, right = (_without_prefix(lang.patterns["lead"], part) for part in parts)
    if re.fullmatch(r"\d{4}", left) and re.fullmatch(r"\d\d", right):
        right = left[:2] + right
    month_day = lang.month_day.fullmatch(left)
    day_year = lang.day_year.fullmatch(right)
    if month_day and day_year:
        return f"{left}, {day_year['y']}", f"{month_day['m']} {right}"
    return left, right


def _complete_start(left: str, end: _DatePoint, reading: _Reading) -> _DatePoint | None:
    """The start of a range whose month or year is written at its end only: "4-6 August 1961"."""
    value, words = end.value, reading.words
    if value.precision in (6, 7):
        key = "completed_century" if value.precision == 7 else "completed_millennium"
        (full,) = words.fill_templates(key, left=left)
        return _parse_point(full, reading, era_from=end)
    year = f"{abs(value.year):04d}"
    month = words.months[value.month - 1].name.lower() if value.month else ""
    for full in words.fill_templates("completed", left=left, month=month, year=year):
        if point := _parse_point(" ".join(full.split()), reading, era_from=end):
            return point if point.value.precision == value.precision else None
    return None


def _parse_point(text: str, reading: _Reading, *, era_from: _DatePoint | None = None) -> _DatePoint | None:
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
    elif era_from:
        marked, common = era_from.marked, era_from.common
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
            number = words.number_of_ordinal(match["n"])
            return _DatePoint(TimeValue(year=reading.sign * (number * size), precision=precision)) if number else None
    return None


def year_of_two_digits(number: int, first_in_1900s: int) -> int:
    """The full year of a two-digit year: below `first_in_1900s` in this century, else in the last."""
    return number + (2000 if number < first_in_1900s else 1900)


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
