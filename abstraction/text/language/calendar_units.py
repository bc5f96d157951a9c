"""Calendar units from a day to a millennium: the unit that contains a date, and its names in each language.

Years are signed without a year 0, as in `kg.base.model.TimeValue`: -1 is 1 BCE. Common conventions are used: the 20th
century is 1901-2000 and the 1st century BCE 100-1 BCE; the 1960s are 1960-1969 and the 40s BCE 49-40 BCE; a decade
belongs to the century that contains most of its years (the 1900s to the 20th). Years 1-9 of either era have no named
decade.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from abstraction.text.language.languages import Language, language
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
    def words(self) -> Language:
        """The language of the marks."""
        return language(self.code)

    @property
    def before(self) -> str:
        """The mark of years before 1 CE: "BC", "v. Chr."."""
        return self.words.marks[self.kind][0]

    @property
    def after(self) -> str:
        """The mark of years since 1 CE: "AD", "n. Chr."."""
        return self.words.marks[self.kind][1]

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


def unit_of(value: TimeValue, kind: Kind | None = None) -> CalendarUnit | None:
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


def names(unit: CalendarUnit, *, era: Era, style: Style = "day-first") -> tuple[str, ...]:
    """All ways to write a unit, the usual one first, without duplicates."""
    match unit.kind:
        case "day":
            texts = _day_names(unit, era, style)
        case "month":
            texts = _month_names(unit, era)
        case "year":
            alone = era.words.fill_templates("year", n=unit.number) if unit.number >= 100 else ()
            texts = [*alone, *_year_names(unit.number, era)]
        case "decade" | "century" | "millennium" if not era.words.has_words_for(unit.kind):
            # A range of years, where the language has no word for the unit
            first = str(abs(unit.first_year())) if unit.number < 0 else _year_names(unit.first_year(), era)[0]
            texts = list(era.words.fill_templates("range", first=first, last=_year_names(unit.last_year(), era)[0]))
        case "decade":
            texts = _decade_names(unit.number, era)
        case "century" | "millennium":
            texts = [
                text
                for mark in century_marks(unit, era)
                for count in era.words.ordinals(abs(unit.number))
                for text in era.words.fill_templates(unit.kind, count=count, mark=mark)
            ]
        case _:
            texts = _deep_time_names(unit.number, era)
    return tuple(dict.fromkeys(texts))


def gregorian_of(value: TimeValue) -> TimeValue | None:
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
    words = era.words
    if year >= 1000:
        return list(words.fill_templates("year_in_date", n=year))
    if year < 0:
        return list(words.fill_templates("year_before", n=-year, mark=era.before, other=era.other.before))
    marked = words.fill_templates(f"year_after_{era.kind}", n=year)
    plain = words.fill_templates("year_in_date", n=year)
    return [*plain, *marked] if year >= 100 else [*marked, *plain]


def _day_names(unit: CalendarUnit, era: Era, style: Style) -> list[str]:
    words = era.words
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
    words = era.words
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
    year, words = abs(number), era.words
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


def century_marks(unit: CalendarUnit, era: Era) -> list[str]:
    """The possible era marks after a century or millennium, each with a space before it; "" for none.

    Centuries since the 11th take no AD.
    """
    if unit.number < 0:
        return [f" {era.before}", f" {era.other.before}"]
    if unit.kind == "century" and unit.number >= 11:
        return [""]
    return ["", f" {era.after}", f" {era.other.after}"]


def _deep_time_names(year: int, era: Era) -> list[str]:
    mark, words = era.before if year < 0 else era.after, era.words
    number = abs(year)
    for scale in words.scales:
        size = 10**scale.power
        if scale.power < 6 or not scale.singular or number < size:
            continue
        amount = f"{number / size:.3f}".rstrip("0").rstrip(".")
        worded = words.with_scale_word(amount, scale)
        ago = list(words.fill_templates("years_ago", amount=worded)) if year < 0 else []
        return [*ago, f"{worded} {mark}"]
    return [f"{words.number(str(number))} {mark}", f"{number} {mark}"]


def tolerance(year: int) -> int:
    """The years by which "circa" may be off on either side; rounder years allow more.

    4 for an ordinary year, 9 for a multiple of ten, 25 of a hundred, 50 of a thousand.
    """
    for size, years in ((1000, 50), (100, 25), (10, 9)):
        if year % size == 0:
            return years
    return 4
