"""Dates in text, as closed intervals of days; proleptic, and blind to the calendar they were written in."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

from abstraction.language.calendar_units import MOST_DAYS, CalendarUnit, Kind, day_number
from abstraction.language.language_data import any_of
from abstraction.language.languages import language
from granola.matching.claims.intervals import IntervalClaim
from granola.matching.text.match_cache import MATCHING
from granola.replies.plain_text import plain

_ENGLISH = language("en")
_NUMBER = _ENGLISH.month_numbers
_ORDINAL_WORD = {word: number for number, word in enumerate((*_ENGLISH.count_words[:30], "thirty-first"), 1)}

_MONTH = rf"(?:{any_of(_NUMBER)})\b\.?"
_WORDS = any_of(_ORDINAL_WORD)
_DAY = rf"(?:(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?|{_WORDS})"
_ORD = rf"(?:\d{{1,2}}(?:st|nd|rd|th)|{_WORDS})"

# Words and units are those of `abstraction.language`; the patterns are not. A gold date is a whole text, and refused
# where it could mean two; an answer's stands within sentences, and is read in its likelier sense: '61, 8/4/1961.
_OF_YEAR = r"(?:(?:of|in)\s++)?(?:the\s++)?(?:year\s++)?"
_BESIDE = r"\s*+(?:b\.?\s?c|before christ|a\.?d\b|c\.?e\b)"
_PART = (
    r"(?:(?P<part>early|mid(?:dle)?|late|beginning|start|end|(?:first|second) half)"
    r"(?:\s++|-)(?:of\s++)?(?:the\s++)?)?"
)


def _era(name: str) -> str:
    return rf"(?:\s*+(?P<{name}_era>b\.?\s?c\.?(?:\s?e\.?)?|before christ|a\.?d\.?|c\.?e\.?)(?!\w))?"


def _year(name: str) -> str:
    """A year of three or four digits, or of fewer or more beside an era."""
    return (
        rf"(?:a\.?d\.?\s*+)?(?P<{name}>\d{{3,4}}"
        rf"|(?:\d{{1,2}}|\d{{5,9}}|\d{{1,3}}(?:,\d{{3}})+)(?={_BESIDE})"
        r"|(?<=ad )\d{1,2}|(?<=a\.d\. )\d{1,2}|'\d\d(?![\w']))"
        rf"(?!\d){_era(name)}"
    )


_DECADES = {word: 1900 + first for first, word in _ENGLISH.spoken_decades.items()}
_TO = r"\s*+(?:-|–|—|to|and|until|through)\s*+"

# Tried in this order at each position: the most exact reading first.
_PATTERNS = tuple(
    (kind, re.compile(rf"(?<![\w.,]){pattern}"))
    for kind, pattern in (
        ("iso", r"(?P<y>\d{4})(?P<sep>[-/.])(?P<m>\d{1,2})(?P=sep)(?P<d>\d{1,2})(?!\d)"),
        ("days", rf"(?P<mon>{_MONTH})\s++(?P<d>{_DAY})\b{_TO}(?P<e>{_DAY})\b\s*+,?\s*+{_year('y')}"),
        ("days", rf"(?P<d>{_DAY})\b{_TO}(?P<e>{_DAY})\b\s*+(?:of\s++)?(?P<mon>{_MONTH})\s*+,?\s*+{_year('y')}"),
        ("mdy", rf"(?P<mon>{_MONTH})\s++(?:the\s++)?(?P<d>{_DAY})\b\s*+,?\s*+(?:of\s++)?{_year('y')}"),
        ("mdy", rf"(?P<d>{_DAY})\b\s*+(?:day\s++)?(?:of\s++)?(?P<mon>{_MONTH})\s*+,?\s*+{_OF_YEAR}{_year('y')}"),
        ("mdy", rf"{_year('y')}(?:\s*+,)?+\s++(?:on\s++)?(?:the\s++)?(?P<d>{_DAY})\b\s*+(?:of\s++)?(?P<mon>{_MONTH})"),
        ("mdy", rf"{_year('y')}(?:\s*+,)?+\s++(?:on\s++)?(?P<mon>{_MONTH})\s++(?P<d>{_DAY})\b"),
        ("slash", r"(?P<a>\d{1,2})(?P<sep>[/.-])(?P<b>\d{1,2})(?P=sep)(?P<y>\d{4})(?!\d)"),
        ("slash", r"(?P<a>\d{1,2})(?P<sep>/)(?P<b>\d{1,2})/(?P<y>\d\d)(?![\d/])"),
        ("my", rf"(?P<mon>{_MONTH})(?:\s*+,?\s*+(?:of\s++)?|-){_year('y')}"),
        ("iso-month", r"(?P<y>\d{4})-(?P<m>0[1-9]|1[0-2])(?![\d-])"),
        ("iso-month", r"(?<![/-])(?P<m>0?[1-9]|1[0-2])[/-](?P<y>\d{4})(?![\d/-])"),
        ("century", rf"{_PART}(?P<c>{_ORD})(?:\s++|-)(?P<unit>centur(?:y|ies)|c(?:ent)?\b\.?|millennium)" + _era("y")),
        ("decade", rf"{_PART}(?P<y>\d{{2,3}}0|\d0(?='?s{_BESIDE})|'[1-9]0|(?<=the )[2-9]0)'?s\b" + _era("y")),
        ("twenties", rf"(?<=the ){_PART}(?P<t>{'|'.join(_DECADES)})\b(?!\s++of\b)"),
        ("span", rf"(?:between\s++|from\s++)?{_year('y')}\s*+(?:-|–|—|to|and|until|through)\s*+{_year('z')}"),
        ("season", r"(?P<y>\d{4})\s?[-–—/]\s?(?P<z>\d\d)(?![\d-])"),
        ("year", rf"(?:fy\s?)?{_year('y')}(?![\w%]|[.,]\d)"),
    )
)  # fmt: skip

# How most dates are written. A text that is one of these and nothing else needs none of the patterns.
_NAMES = "|".join(month.name.lower() for month in _ENGLISH.months)
_USUAL = re.compile(
    rf"(?:(?P<mon>{_NAMES}) (?P<d>[12]\d|3[01]|[1-9]),? |(?P<e>[12]\d|3[01]|[1-9]) (?P<m>{_NAMES}) |(?P<n>{_NAMES}) )?"
    r"(?P<y>[1-9]\d{3})"
)

# Without these in a text a pattern need not be tried.
_NEEDED = {
    **dict.fromkeys(("mdy", "my"), re.compile("|".join(month.name[:3].lower() for month in _ENGLISH.months))),
    **dict.fromkeys(("days", "span"), re.compile("-|–|—|to|and|until|through")),
    **dict.fromkeys(("iso", "slash"), re.compile(r"\d[/.-]\d")),
    "season": re.compile(r"\d\s?[-–—/]\s?\d\d"),
    "iso-month": re.compile(r"\d[/-]\d"),
    "century": re.compile(r"cent|mill|\bc\b"),
    "decade": re.compile("0'?s"),
    "twenties": re.compile("ties"),
}

# A number that one of these follows or precedes is an amount, not a year.
_AMOUNT_AFTER = re.compile(
    r"\s*+(?:%|percent|hundred|thousand|million|billion|people|inhabitants|residents|members|students|copies|pages"
    r"|km|kilomet|met(?:er|re)s?\b|m\b|feet|ft\b|miles|square|kg|kilogram|tons?\b|tonnes?|euros?|dollars?|pounds?"
    r"|years? old|days|hours|minutes|seconds)"
)
_AMOUNT_BEFORE = frozenset("$€£¥#")


SEASONS = 30  # years that two digits behind a year may span: 2017-18
TURN = 30  # years written with two digits below this are of this century


def _span(first: int, last: int) -> tuple[int, int]:
    return day_number(first, 1, 1), day_number(last, 12, 31)


def _signed(year: str, era: str | None) -> int:
    """Astronomical year: 1 BCE is 0; of two digits alone the last that is not far ahead: '61 is 1961, '05 is 2005."""
    number = int(year.replace(",", "").lstrip("'"))
    if year[0] == "'":
        return number + (2000 if number < TURN else 1900)
    return 1 - number if _is_before(era) else number


def _is_before(era: str | None) -> bool:
    return era is not None and era.startswith("b")


def _ordinal(text: str) -> int:
    """4 of `4`, `4th` and `fourth`."""
    return _ORDINAL_WORD.get(text) or int(re.sub(r"\D", "", text))


def _interval(kind: str, match: re.Match[str]) -> tuple[int, int] | None:
    group = match.groupdict()
    year = _signed(group["y"], group.get("y_era")) if group.get("y") else 0
    match kind:
        case "iso":
            return _day(year, int(group["m"]), int(group["d"]))
        case "iso-month":
            return _month(year, int(group["m"]))
        case "mdy":
            return _day(year, _NUMBER[group["mon"].rstrip(".")], _ordinal(group["d"]))
        case "days":
            return _day_to_day(year, _NUMBER[group["mon"].rstrip(".")], _ordinal(group["d"]), _ordinal(group["e"]))
        case "my":
            return _month(year, _NUMBER[group["mon"].rstrip(".")])
        case "slash":
            return _slash(_this_or_last(group["y"]), int(group["a"]), int(group["b"]), american=group["sep"] == "/")
        case "century":
            size: Kind = "millennium" if group["unit"] == "millennium" else "century"
            number = _ordinal(group["c"]) * (-1 if _is_before(group["y_era"]) else 1)
            return _part(group["part"], *CalendarUnit(size, number).days())
        case "decade":
            return _part(group["part"], *_decade(int(group["y"].lstrip("'")), group["y_era"]))
        case "season":
            return _season(year, int(group["z"]))
        case "twenties":
            return _part(group["part"], *CalendarUnit("decade", _DECADES[group["t"]]).days())
        case "span":
            return _years(_signed(group["y"], group["y_era"] or group["z_era"]), _signed(group["z"], group["z_era"]))
    return _span(year, year)


def _day_to_day(year: int, month: int, first: int, last: int) -> tuple[int, int] | None:
    one, other = _day(year, month, first), _day(year, month, last)
    return (one[0], other[1]) if one and other and one <= other else None


def _this_or_last(year: str) -> int:
    """A year of four digits, or of two in this century or the last."""
    return _signed(year if len(year) > 2 else "'" + year, None)


def _decade(first: int, era: str | None) -> tuple[int, int]:
    """Ten years from their first, which may have two digits; before the common era they count down."""
    if first < 100 and not era:
        first += 2000 if first < 20 else 1900
    return CalendarUnit("decade", -first if _is_before(era) else first).days()


def _years(first: int, last: int) -> tuple[int, int] | None:
    return _span(first, last) if first <= last else None


def _season(year: int, digits: int) -> tuple[int, int] | None:
    """From a year to the next that ends with the two digits; None where that is too far off."""
    last = year // 100 * 100 + digits
    last += 100 if last < year else 0
    return _span(year, last) if 0 < last - year < SEASONS else None


_HUNDREDS = re.compile(rf"(?:the )?{_PART}(?P<c>\d{{1,2}})00'?s")


def as_century(claim: IntervalClaim) -> IntervalClaim | None:
    """The hundred years, or their part, that "the (late) 1800s" may mean as well as ten; None for another date."""
    match = _HUNDREDS.fullmatch(claim.text.lower())
    if match is None:
        return None
    first = 100 * int(match["c"])
    low, high = _part(match["part"], *_span(first, first + 99))
    return replace(claim, low=low, high=high)


def _part(part: str | None, low: int, high: int) -> tuple[int, int]:
    """The early, middle or late half: generous, for nobody counts."""
    if part is None:
        return low, high
    half = (high - low + 1) // 2
    if part.startswith(("early", "beg", "start", "first")):
        return low, low + half - 1
    if part.startswith("mid"):
        return low + half // 2, high - half // 2
    return high - half + 1, high


def _day(year: int, month: int, day: int) -> tuple[int, int] | None:
    if not (1 <= month <= 12 and 1 <= day <= MOST_DAYS[month - 1]):
        return None
    number = day_number(year, month, day)
    return number, number


def _month(year: int, month: int) -> tuple[int, int]:
    return day_number(year, month, 1), day_number(year, month, 31)


def _slash(year: int, a: int, b: int, *, american: bool) -> tuple[int, int] | None:
    """8/4/1961 is August, as in America; 13/4/1961 can only be April; with dots the day comes first."""
    month, day = (a, b) if american else (b, a)
    return _day(year, month, day) or _day(year, day, month)


_MAY_BE = re.compile(
    r"\d|cent|mill|t(?:ies|een|wenty|wo)|m[cdm]|si[eè]cle|siglo"
)  # without any of these nothing is a date


def may_be_date(text: str) -> bool:
    """Whether a text may state a date; False is certain."""
    return _MAY_BE.search(text.lower()) is not None


@MATCHING.remembered(1 << 13)
def dates(text: str) -> tuple[IntervalClaim, ...]:
    """Every date in `text`, left to right, without overlaps; bare numbers of 3 or 4 digits are years."""
    MATCHING.count(len(text))
    if not may_be_date(text):
        return ()
    lower = plain(text)
    if len(lower) != len(text):
        text = lower
    if usual := _usual(lower, text):
        return (usual,)
    return tuple(_scan(_YEAR_IN_WORDS.sub(_year_in_digits, lower), text))


_HUNDREDS_OF_YEARS = {word: n for word, n in _ENGLISH.number_words.items() if 10 < n < 21}
_TENS = {word: n for word, n in _ENGLISH.number_words.items() if n >= 20 and not n % 10}
_ONES = {word: n for word, n in _ENGLISH.number_words.items() if 0 < n < 10}
_YEAR_IN_WORDS = re.compile(  # nineteen seventy-one, eighteen oh five
    rf"\b(?P<hundreds>{any_of(_HUNDREDS_OF_YEARS)})[\s-]++(?:(?P<tens>{any_of(_TENS)})(?:[\s-]++(?P<ones>{any_of(_ONES)}))?"
    rf"|(?:oh?|zero)[\s-]++(?P<one>{any_of(_ONES)}))\b"
)


def _year_in_digits(match: re.Match[str]) -> str:
    """The digits of a year, behind blanks that keep every position."""
    rest = _TENS.get(match["tens"] or "", 0) + _ONES.get(match["ones"] or match["one"] or "", 0)
    return str(100 * _HUNDREDS_OF_YEARS[match["hundreds"]] + rest).rjust(len(match[0]))


def turned_dates(text: str) -> tuple[IntervalClaim, ...]:
    """The dates of a text whose day and month may stand in either order, in the order that `dates` does not read."""
    claims = []
    for match in _TURNABLE.finditer(text):
        first, second = int(match["a"]), int(match["b"])
        if first != second and max(first, second) <= 12 and (days := _day(int(match["y"]), second, first)):
            claims.append(IntervalClaim(*days, match[0], match.start(), match.end()))
    return tuple(claims)


_TURNABLE = re.compile(r"(?<![\d/])(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<y>\d{4})(?![\d/])")


def _usual(lower: str, text: str) -> IntervalClaim | None:
    """The date that the whole of a text is, where it is written in a usual way."""
    match = _USUAL.fullmatch(lower)
    if match is None:
        return None
    mon, d, e, m, n, y = match.groups()
    year, day, month = int(y), d or e, mon or m or n
    if not month:
        return IntervalClaim(*_span(year, year), text, 0, len(text))
    days = _day(year, _NUMBER[month], int(day)) if day else _month(year, _NUMBER[month])
    return IntervalClaim(*days, text, 0, len(text)) if days else None


def _scan(lower: str, text: str) -> Iterator[IntervalClaim]:
    hits: list[tuple[int, int, int, int, int]] = []
    absent = {kind for kind, needed in _NEEDED.items() if not needed.search(lower)}
    for rank, (kind, pattern) in enumerate(_PATTERNS):
        if kind in absent:
            continue
        for match in pattern.finditer(lower):
            interval = _interval(kind, match)
            if interval is None:
                continue
            if kind in ("year", "span") and (
                _AMOUNT_AFTER.match(lower, match.end()) or lower[: match.start()].rstrip()[-1:] in _AMOUNT_BEFORE
            ):
                continue
            hits.append((rank, match.start(), match.end(), *interval))
    kept: list[tuple[int, int, int, int]] = []  # from left to right
    for _, start, end, low, high in sorted(hits):
        at = bisect_left(kept, (start,))
        if (at == 0 or kept[at - 1][1] <= start) and (at == len(kept) or end <= kept[at][0]):
            kept.insert(at, (start, end, low, high))
    for start, end, low, high in kept:
        yield IntervalClaim(low, high, text[start:end].strip(), start, end)


_AROUND = re.compile(
    r"(?:(?:the|in|on|fiscal|year|circa|ca|c|about|around|early|mid|late|of|a\.?d|born|by|season|usually"
    r"|prior to|before|after|since|during|sometime|first)(?!\w)|[\s,.:()-])*+"
)


@MATCHING.remembered(1 << 13)
def whole_date(text: str) -> IntervalClaim | None:
    """The date that `text` is, or None where it is something else or says more than a date."""
    MATCHING.count(len(text))
    if not may_be_date(text):
        return None
    lower = plain(text)
    if len(lower) == len(text) and (usual := _usual(lower, text)):
        return usual
    claims = dates(text)
    if len(claims) != 1:
        return None
    outside = lower[: claims[0].start], lower[claims[0].end :]
    return claims[0] if all(_AROUND.fullmatch(part) for part in outside) else None
