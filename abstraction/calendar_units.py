"""Calendar units from a day to a millennium: which one holds a date, and how each is written in English.

Years are signed without a year 0, as in `kg.model.TimeValue`: -1 is 1 BCE. Conventions, all of common use:
the 20th century is 1901-2000 and the 1st century BCE 100-1 BCE; the 1960s are 1960-1969 and the 40s BCE
49-40 BCE; a decade counts to the century that holds most of its years (the 1900s to the 20th). Years 1-9 of
either era have no named decade.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kg.model import TimeValue

Kind = Literal["day", "month", "year", "decade", "century", "millennium", "deep"]
KINDS: tuple[Kind, ...] = ("day", "month", "year", "decade", "century", "millennium", "deep")
OF_PRECISION: dict[int, Kind] = {
    11: "day", 10: "month", 9: "year", 8: "decade", 7: "century", 6: "millennium",
}  # fmt: skip
Style = Literal["day-first", "month-first"]

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth",
    "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth",
    "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth",
    "twenty-sixth", "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth",
)  # fmt: skip
SPOKEN_DECADES = {
    20: "twenties", 30: "thirties", 40: "forties", 50: "fifties",
    60: "sixties", 70: "seventies", 80: "eighties", 90: "nineties",
}  # fmt: skip
GREGORIAN_REFORM = (1582, 10, 15)


@dataclass(frozen=True, slots=True)
class Era:
    """How years before and after 1 CE are marked: BC with AD, or BCE with CE."""

    before: Literal["BC", "BCE"] = "BC"

    @property
    def after(self) -> str:
        """The mark of years since 1 CE."""
        return "AD" if self.before == "BC" else "CE"

    @property
    def other(self) -> Era:
        """The other pair of marks."""
        return Era("BCE" if self.before == "BC" else "BC")


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of a calendar. `number` is a signed year, or for a decade its round year, or a signed count.

    The 40s BCE are ("decade", -40), the 1st century BCE ("century", -1); month and day only where the kind
    has them. "deep" is a span of ten thousand years and more, around the year `number`.
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

    def _years(self) -> tuple[int, int]:
        n, size = abs(self.number), {"century": 100, "millennium": 1000}.get(self.kind, 1)
        if self.kind == "decade":
            first, last = n, n + 9
        else:
            first, last = (n - 1) * size + 1, n * size
        return (first, last) if self.number > 0 else (-last, -first)


def unit_of(value: TimeValue, kind: Kind | None = None) -> Unit | None:
    """The unit of `kind` (None: the value's own precision) that holds the value, or None where there is none.

    None too where the value is coarser than `kind` or the decade has no name.
    """
    own = OF_PRECISION.get(value.precision, "deep")
    kind = kind or own
    if KINDS.index(kind) < KINDS.index(own) or (own == "deep"):
        return Unit("deep", value.year) if kind == "deep" else None
    year, sign = abs(value.year), 1 if value.year > 0 else -1
    if kind == "day":
        return (
            Unit("day", value.year, value.month or 0, value.day or 0) if value.month and value.day else None
        )
    if kind == "month":
        return Unit("month", value.year, value.month) if value.month else None
    if kind == "year":
        return Unit("year", value.year)
    if kind == "decade":
        return Unit("decade", sign * (year // 10 * 10)) if year >= 10 else None
    if own == "decade" and year % 100 < 10:
        year += 1  # the 1900s are 1900-1909: nine of ten years are of the 20th century
    if kind == "century":
        return Unit("century", sign * ((year - 1) // 100 + 1))
    if kind == "millennium":
        return Unit("millennium", sign * ((year - 1) // 1000 + 1))
    return None


def names(unit: Unit, *, era: Era, style: Style = "day-first") -> tuple[str, ...]:
    """The ways to write a unit, the usual one first, without repeats."""
    match unit.kind:
        case "day":
            found = _days(unit, era, style)
        case "month":
            found = _months(unit, era)
        case "year":
            found = _years(unit.number, era)
        case "decade":
            found = _decades(unit.number, era)
        case "century" | "millennium":
            found = _counted(unit, era)
        case _:
            found = _deep(unit.number, era)
    return tuple(dict.fromkeys(found))


def ordinal(number: int) -> str:
    """1 -> "1st", 12 -> "12th", 22 -> "22nd"."""
    if 10 <= number % 100 <= 20:
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def gregorian_of(value: TimeValue) -> TimeValue | None:
    """The Gregorian date of a day in the Julian calendar, or None for anything else.

    By the Julian day number, after E. G. Richards, "Calendars", in the Explanatory Supplement to the
    Astronomical Almanac (3rd ed., 2013), section 15.11.
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


def _years(year: int, era: Era) -> list[str]:
    if year >= 1000:
        return [str(year)]
    other = era.other
    if year < 0:
        return [f"{-year} {era.before}", f"{-year} {other.before}"]
    marked = [_marked(year, era), *(f"{year} {name}" for name in ("AD", "CE")), f"AD {year}"]
    return [str(year), *marked] if year >= 100 else [*marked, str(year)]


def _marked(year: int, era: Era) -> str:
    return f"AD {year}" if era.after == "AD" else f"{year} CE"


def _days(unit: Unit, era: Era, style: Style) -> list[str]:
    month, day, nth = MONTHS[unit.month - 1], unit.day, ordinal(unit.day)
    out: list[str] = []
    for year in _years(unit.number, era):
        day_first, month_first = f"{day} {month} {year}", f"{month} {day}, {year}"
        out += [day_first, month_first] if style == "day-first" else [month_first, day_first]
    year = _years(unit.number, era)[0]
    out += [f"{month} {nth}, {year}", f"{nth} {month} {year}", f"{nth} of {month} {year}"]
    if len(month) > 4:
        out += [f"{day} {month[:3]} {year}", f"{month[:3]} {day}, {year}"]
    if unit.number >= 1000:
        out.append(unit.key())
    return out


def _months(unit: Unit, era: Era) -> list[str]:
    month = MONTHS[unit.month - 1]
    out = [f"{month} {year}" for year in _years(unit.number, era)]
    year = _years(unit.number, era)[0]
    out.append(f"{month} of {year}")
    if len(month) > 4:
        out.append(f"{month[:3]} {year}")
    if unit.number >= 1000:
        out.append(unit.key())
    return out


def _decades(number: int, era: Era) -> list[str]:
    year = abs(number)
    if number < 0:
        marks = [f" {era.before}", f" {era.other.before}"]
    elif number < 100:
        marks = [f" {era.after}", f" {era.other.after}", ""]
    else:
        marks = [""]
    out = [text for mark in marks for text in (f"the {year}s{mark}", f"{year}s{mark}")]
    if 1920 <= number < 2000:
        out += [f"the '{number % 100}s", f"the {SPOKEN_DECADES[number % 100]}"]
    return out


def _counted(unit: Unit, era: Era) -> list[str]:
    n = abs(unit.number)
    if unit.number < 0:
        marks = [f" {era.before}", f" {era.other.before}"]
    elif unit.kind == "century" and n >= 11:
        marks = [""]
    else:
        marks = ["", f" {era.after}", f" {era.other.after}"]
    counts = [ordinal(n), *([ORDINALS[n - 1]] if n <= len(ORDINALS) else [])]
    return [
        f"{article}{count} {unit.kind}{mark}"
        for mark in marks
        for count in counts
        for article in ("the ", "")
    ]


def _deep(year: int, era: Era) -> list[str]:
    mark = era.before if year < 0 else era.after
    number = abs(year)
    for size, word in ((10**9, "billion"), (10**6, "million")):
        if number >= size:
            amount = f"{number / size:.3f}".rstrip("0").rstrip(".")
            ago = [f"{amount} {word} years ago"] if year < 0 else []
            return [*ago, f"{amount} {word} {mark}"]
    return [f"{number:,} {mark}", f"{number} {mark}"]
