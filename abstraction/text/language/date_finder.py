"""Dates within texts in any language: candidates are found by pattern, and each is parsed in its likelier sense.

A gold answer that could mean two dates is refused by `parse_date`; within a sentence the usual meaning is taken:
8/4/1961, '61, 1906-08, "the 60s". English dates are found in texts of every language.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Literal

from abstraction.text.language.calendar_dates import (
    CENTURY_OF_YEARS,
    CalendarUnit,
    Kind,
    ParsedDate,
    calendar_unit_of,
    day_number,
    parse_date,
    year_of_two_digits,
)
from abstraction.text.language.language_data import any_of, with_plain_digits
from abstraction.text.language.languages import Language, language
from kg.base.bounded_cache import bounded_cache


@dataclass(frozen=True, slots=True)
class IntervalClaim:
    """The closed interval [low, high] of values that `text`, at [start, end) of its source, allows.

    For dates the unit is `calendar_dates.day_number`, and `wider` is the interval of a second sense: "the 1800s" are
    ten or a hundred years. For amounts `label` is the QID of the unit, "" for none; claims of different units are not
    comparable. `exact` is the value of a plain number: "1,500" may be 1,523 rounded, but as a gold answer it is 1500.
    """

    low: float
    high: float
    text: str
    start: int
    end: int
    label: str = ""
    exact: float | None = None
    wider: tuple[float, float] | None = None

    def inside(self, other: IntervalClaim) -> bool:
        """Whether the interval is contained in that of `other`."""
        return other.low <= self.low and self.high <= other.high

    def contains(self, gold: IntervalClaim) -> bool:
        """Whether this claim contains `gold`, taken at its exact value where it has one."""
        if gold.exact is not None:
            return self.low <= gold.exact <= self.high
        return gold.inside(self)

    @property
    def width(self) -> float:
        """The width of the interval."""
        return self.high - self.low


def half_unit_of_last_digit(digits: str) -> float:
    """Half a unit of the last significant digit: 0.05 for 35.4, 50 for 1500, 0.5 for 8849."""
    if "." in digits:
        return 0.5 * 10.0 ** -len(digits.split(".")[1])
    stripped = digits.rstrip("0")
    return 0.5 * 10.0 ** min(len(digits) - len(stripped), 300) if stripped else 0.5


BESIDE = "en"  # answers in other languages contain English dates
_KEPT = 1 << 13  # texts whose dates are cached
_LONGEST = 300  # characters; longer texts are read but not cached
_SHORT = 60  # characters; longer candidates are parsed but not cached

# One character for one, so that positions stay.
_ONE_FOR_ONE = str.maketrans(
    dict.fromkeys("\xa0\u2009\u202f", " ") | dict.fromkeys("‐‑‒–—−", "-") | {"’": "'", "‘": "'", "º": "o", "ᵉ": "e"}
)


def text_and_lower_case(text: str) -> tuple[str, str]:
    """The text, and its lower case with plain digits, dashes and apostrophes; both have the same length."""
    lower = text.lower()
    if not text.isascii():
        lower = with_plain_digits(lower.translate(_ONE_FOR_ONE))
    return (text if len(lower) == len(text) else lower), lower


# Numeric dates; four digits of the year unless slashes separate.
_NUMERIC = (
    r"\d{4}-\d{1,2}-\d{1,2}(?!\d)", r"\d{4}[/.]\d{1,2}[/.]\d{1,2}(?!\d)", r"\d{1,2}(?P<sep>[./-])\d{1,2}(?P=sep)\d{4}",
    r"\d{1,2}/\d{1,2}/\d\d(?![\d/])", r"\d{4}-(?:0[1-9]|1[0-2])(?![\d-]|[.,]\d)",
    r"(?<![/-])(?:0?[1-9]|1[0-2])[/-]\d{4}(?![/-])",
)  # fmt: skip
_SEASON = r"\d{4}\s?[-/]\s?\d\d(?![\d-])"  # two consecutive years: 2017-18, 2017/18


@cache
def _candidate_pattern(lang: Language) -> re.Pattern[str]:
    """A pattern of any date; alternatives at one position are ordered from exact to coarse."""
    read = {key: _without_group_names(lang.patterns[key].pattern) for key in _PARTS}
    era = read["era_after"].replace(r"\Z", r"\.?(?!\w)")
    joint = rf"(?!\s*+or\b)(?:{read['range_joint']})"  # "1961 or 1962" are two dates
    loose = (pattern.pattern.replace(" ?", " *") for pattern, _ in lang.points if "(?P<m>" in pattern.pattern)
    points = [re.sub(r" (?![?*+]|[^\[]*\])|\[ -\]", r"\g<0>+", point) for point in loose]  # any number of blanks
    if not lang.templates["day"][0].startswith("{y"):
        # "1961, may it be" has no month.
        points = [point for point in points if "(?P<d>" in point or not point.startswith("(?P<y>")]
    day = lang.day_year.pattern.partition(",?")[0]
    days = [rf"{lang.month_day.pattern}{joint}{lang.day_year.pattern}", rf"{day}{joint}{points[0]}"]
    year = rf"(?:\d{{3,4}}|'\d\d(?![\w'])|(?:\d{{1,3}}(?:,\d{{3}})+|\d{{1,2}}|\d{{5,9}})(?={era}))(?:{era})?"
    decades = (
        rf"{read['decade']}(?:{era})",
        read["decade"].replace(r"\d{1,3}0", r"\d{2,3}0"),
        rf"{read['short_decade']}(?:{era})?",
    )
    centuries = (rf"{read[key]}(?:{era})?" for key in _COUNTED)
    counted = [rf"(?:{read['part']})?(?:{unit})" for unit in (*centuries, *decades)]
    worded = [*days, *(rf"{point}(?:{era})?" for point in points), *_NUMERIC, *counted]
    years = [rf"{year}{joint}{year}", _SEASON, rf"(?:{read['era_before']})\d{{1,4}}", year]
    spaced = lang.separates_words_by_spaces
    before, behind = (r"(?<![\w.,])", r"(?![\w%]|[.,]\d)") if spaced else (r"(?<![\d.,])", r"(?!\d|[.,]\d)")
    whole = _NO_LONGER if spaced else r"(?!(?<=\d)\d)"
    forms = [*(form + whole for form in worded), *(form + behind for form in years)]
    return re.compile(before + "(?:" + "|".join(map(_without_group_names, forms)) + ")")


_COUNTED = ("century", "millennium")
_PARTS = (*_COUNTED, "era_after", "era_before", "range_joint", "part", "decade", "short_decade")
# A footnote mark may follow a word, and a word may follow a year, without a space.
_NO_LONGER = r"(?:(?<=\d)(?!\d)|(?<!\d)(?![^\W\d_]))"


def _without_group_names(pattern: str) -> str:
    """The pattern without group names but `sep`, so that it can be combined with others."""
    return re.sub(r"\?P<(?!sep>)\w+>", "?:", pattern)


@lru_cache(maxsize=256)  # bounded, since codes come from requests too
def _date_words_and_roman_pattern(code: str) -> tuple[frozenset[str], re.Pattern[str] | None]:
    """The words of the language and of English that dates without digits contain, and a pattern for Roman numerals if
    the language writes centuries with them.

    The words are ordinals, tens and decades ("nineteenth", "seventy", "twenties"); a text without digits and without
    any of them has no date.
    """
    told: set[str] = set()
    for words in (language(code), language(BESIDE)):
        tens = [word for word, number in words.number_words.items() if number >= 20 and not number % 10]
        for word in (*words.count_words, *words.spoken_decades.values(), *tens):
            told.update(words_in(word))
    roman = any("roman" in template for template in language(code).counts)
    return frozenset(told), re.compile(r"\b[ivxl]{1,12}(?![ivxl])") if roman else None


_DIGIT = re.compile(r"\d")


def may_be_date(text: str, code: str = "en") -> bool:
    """Whether a text may contain a date. May be wrong when True, never when False."""
    if _DIGIT.search(text):
        return True
    lower = text.lower()
    told, roman = _date_words_and_roman_pattern(code)
    return not told.isdisjoint(words_in(lower)) or (roman is not None and roman.search(lower) is not None)


def words_in(lower: str) -> list[str]:
    """The words of a lower-case text without common punctuation; faster than a regular expression."""
    return lower.replace("-", " ").replace(",", " ").replace(".", " ").split()


@bounded_cache(entries=_KEPT, longest=_LONGEST)
def dates(text: str, code: str = "en") -> tuple[IntervalClaim, ...]:
    """All dates in a text of the language, left to right; bare numbers of 3 or 4 digits are years."""
    if not may_be_date(text, code):
        return ()
    words = language(code)
    found = list(_find_dates(text, words))
    for claim in _find_dates(text, language(BESIDE)) if words.code != BESIDE else ():
        if not any(map(str.isalpha, claim.text)):
            continue  # numeric dates are read by the rules of the language, not of English
        last = bisect_left(found, claim.end, key=lambda own: own.start)
        first = last
        while first and found[first - 1].end > claim.start:
            first -= 1
        # Overlapping dates give way where they are less precise, or as precise with a shorter text.
        if all((own.width, -len(own.text)) > (claim.width, -len(claim.text)) for own in found[first:last]):
            found[first:last] = [claim]
    return tuple(found)


def _find_dates(text: str, lang: Language) -> Iterator[IntervalClaim]:
    text = _pattern_of_years_in_words(lang).sub(lambda found: _year_words_to_digits(found, lang), text)
    text, lower = text_and_lower_case(text)
    pattern, at = _candidate_pattern(lang), 0
    while match := pattern.search(lower, at):
        start, end = match.span()
        days = _day_intervals_of_text(text[start:end], lang.code)
        if days is None and (year := _YEAR.match(lower, start)):
            days, end = _day_intervals_of_text(year[0], lang.code), year.end()
        at = end if days else start + 1
        # One or two bare years, without any word, may be amounts.
        bare = days and lower[start].isdigit() and lower[end - 1].isdigit() and days[1] - days[0] >= _LEAST_OF_YEAR
        if days and not (bare and _is_amount_by_text_around(lower, start, end, lang)):
            claim = IntervalClaim(days[0], days[1], text[start:end].strip(), start, end, wider=days[2])
            yield claim if lang.has_file else _extend_by_inflected_month(claim, text, lower, lang)


_LEAST_OF_YEAR = 12 * 31 - 1  # the width of a year in day numbers
_YEAR = re.compile(r"\d{3,4}(?![\w%]|[.,]\d)")


def _is_amount_by_text_around(lower: str, start: int, end: int, lang: Language) -> bool:
    """Whether the text around a number makes it an amount, not a year: "$1961", "1500 metres"."""
    behind = lang.matching.get("counted_behind")
    before = lower[:start].rstrip()[-1:]
    if before == "#" or (before and unicodedata.category(before) == "Sc"):
        return True
    return behind is not None and behind.match(lower, end) is not None


@bounded_cache(entries=_KEPT, longest=_SHORT)
def _day_intervals_of_text(text: str, code: str) -> tuple[int, int, tuple[int, int] | None] | None:
    """The first and last day number of a date, and those of a second, wider sense; None for other texts."""
    if (digits := text.lstrip("'")).isdigit():
        year = int(digits) * (digits[0] != "0") if digits == text else year_of_two_digits(int(digits), CENTURY_OF_YEARS)
        return (day_number(year, 1, 1), day_number(year, 12, 31), None) if year else None
    words = language(code)
    if usual := _usual_date_pattern(words).fullmatch(text.lower()):  # parsing is slow, and most gold answers are such
        month, day = words.month_numbers[usual["month"] or usual["after_day"]], int(usual["day"] or usual["first"] or 0)
        return *CalendarUnit("day" if day else "month", int(usual["year"]), month, day).days(), None
    parsed = parse_date(text, code=code, likelier=True)
    return None if parsed is None else _day_intervals_of_parsed(parsed)


@cache
def _usual_date_pattern(lang: Language) -> re.Pattern[str]:
    """A pattern of months, and of days that every month has, with a year, in the most frequent forms."""
    month, day = any_of(lang.month_numbers), r"0?[1-9]|1\d|2[0-8]"
    month_first = rf"(?P<month>{month})\.? (?:(?P<day>{day}),? )?"
    return re.compile(rf"(?:{month_first}|(?P<first>{day})\.? (?P<after_day>{month})\.? )(?P<year>[1-9]\d{{3}})")


def _day_intervals_of_parsed(parsed: ParsedDate) -> tuple[int, int, tuple[int, int] | None] | None:
    first, last = calendar_unit_of(parsed.first), calendar_unit_of(parsed.last or parsed.first)
    if first is None or last is None:
        return None
    part = parsed.part if first.kind in _PARTED else ""
    wider = None
    if first == last and first.kind == "decade" and first.number > 0 and not first.number % 100:
        century = day_number(first.number, 1, 1), day_number(first.number + 99, 12, 31)
        wider = _part_of_interval(part, *century)
    low, high = _part_of_interval(part, first.days()[0], last.days()[1])
    return low, high, wider


# Kinds of units that have an early, middle and late part.
_PARTED: frozenset[Kind] = frozenset({"decade", "century", "millennium"})


def _part_of_interval(part: str, low: int, high: int) -> tuple[int, int]:
    """The early, middle or late half of an interval. Halves, not thirds, since "early" is used loosely."""
    half = (high - low + 1) // 2
    if part == "early":
        return low, low + half - 1
    if part == "mid":
        return low + half // 2, high - half // 2
    return (high - half + 1, high) if part == "late" else (low, high)


# Years in words ("nineteen seventy-one", "eighteen oh five"), in languages that have words for their halves.


@cache
def _pattern_of_years_in_words(lang: Language) -> re.Pattern[str]:
    numbers = lang.number_words
    hundreds = any_of(word for word, number in numbers.items() if 10 < number < 21)
    rest = any_of(word for word, number in numbers.items() if number > 9)
    ones = any_of(word for word, number in numbers.items() if 0 < number < 10)
    tens = any_of(word for word, number in numbers.items() if number >= 20 and not number % 10)
    return re.compile(
        rf"\b(?P<hundreds>{hundreds})[\s-]++(?:(?P<tens>{tens})[\s-]++(?P<ones>{ones})|(?P<rest>{rest})"
        rf"|(?:oh?|zero)[\s-]++(?P<one>{ones}))\b",
        re.IGNORECASE,
    )


def _year_words_to_digits(found: re.Match[str], lang: Language) -> str:
    """The digits of a year in words, padded on the left with blanks to keep positions."""
    value = {name: lang.number_words[text.lower()] for name, text in found.groupdict().items() if text}
    return str(100 * value.pop("hundreds") + sum(value.values())).rjust(len(found[0]))


# Inflected months that CLDR does not list, in languages without a file: words with the stem of a month.

# A word, with a day next to it, before a year.
_WORD_BEFORE = re.compile(
    r"(?:(?<!\w)(?P<day>\d{1,2})\.?\s+)?(?P<word>[^\W\d_]{3,20})(?:\s+(?P<behind>\d{1,2})\b(?!\s*\d))?"
)
# A word after a year, perhaps followed by a day.
_BEHIND_YEAR = re.compile(r"\.?\s+(?P<word>[^\W\d_]{3,20})(?!\w)(?:\s+(?P<day>\d{1,2})(?!\w))?(?!\s*\d)")
_NEAR = 30  # characters before a year that are searched for a day and month


def _extend_by_inflected_month(claim: IntervalClaim, text: str, lower: str, lang: Language) -> IntervalClaim:
    """Extend a year claim by an inflected month near it: `v lednu 1961`, `1961 augusztusában`, `15 juni, 1848`."""
    if not claim.text.isdigit() or len(claim.text) != 4:
        return claim
    stems = _month_stems(lang)
    before = list(_WORD_BEFORE.finditer(lower, max(0, claim.start - _NEAR), claim.start))[::-1][:4]
    for found in (*before, _BEHIND_YEAR.match(lower, claim.end)):
        word = found["word"] if found else ""
        if found and (month := stems.get(lang.stem(word)) or lang.month_numbers.get(word)):
            day = int(found["day"] or found.groupdict().get("behind") or 0)
            low, high = CalendarUnit("day" if day else "month", int(claim.text), month, day).days()
            start = found.start("day" if found["day"] and found in before else "word")
            start, end = min(start, claim.start), max(found.end(), claim.end)
            return replace(claim, low=low, high=high, text=text[start:end].strip(), start=start, end=end)
    return claim


@cache
def _month_stems(lang: Language) -> dict[str, int]:
    """Month numbers by stem of the month's name, without stems that several months share."""
    stems: dict[str, set[int]] = {}
    for number, month in enumerate(lang.months, 1):
        for name in (month.name, month.alone, *month.read):
            if len(name) >= _LEAST_OF_NAME:
                stems.setdefault(lang.stem(name), set()).add(number)
    return {stem: min(numbers) for stem, numbers in stems.items() if len(numbers) == 1}


_LEAST_OF_NAME = 3  # letters; shorter forms occur before digits only


def dates_with_swapped_day_and_month(text: str) -> tuple[IntervalClaim, ...]:
    """The numeric dates that are valid with day and month in either order, read in the order that `dates` does not
    use.
    """
    claims = []
    for match in _TURNABLE.finditer(text):
        first, second = int(match["a"]), int(match["b"])
        if first != second and max(first, second) <= 12:
            day = day_number(int(match["y"]), second, first)
            claims.append(IntervalClaim(day, day, match[0], match.start(), match.end()))
    return tuple(claims)


# 8/4/1961, which is 8 April or 4 August.
_TURNABLE = re.compile(r"(?<![\d/])(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<y>\d{4})(?![\d/])")


@cache
def _pattern_of_uninformative_text_around_date(lang: Language) -> re.Pattern[str]:
    """A pattern for text around a date that adds no information."""
    also = lang.matching.get("around_dates")
    parts = [lang.patterns[key].pattern for key in ("lead", "circa", "range_lead")] + ([also.pattern] if also else [])
    return re.compile("(?:" + "|".join(f"(?>{part})" for part in parts) + r"|[\s,.:()-])*+")


@bounded_cache(entries=_KEPT, longest=_LONGEST)
def date_of_whole_text(text: str, code: str = "en", ranges: Literal["ranges", ""] = "") -> IntervalClaim | None:
    """The date that makes up the whole of `text`, in the language or in English; None if the text has other content.

    With "ranges" also a range between dates of two months or years: "June 13 to July 2, 2012".
    """
    if not may_be_date(text, code):
        return None
    claims = dates(text, code)
    if len(claims) == 1:
        lower = text_and_lower_case(text)[1]
        outside = f"{lower[: claims[0].start].strip()} ", f"{lower[claims[0].end :].strip()} "
        for one in dict.fromkeys((code, BESIDE)):
            if all(_pattern_of_uninformative_text_around_date(language(one)).fullmatch(part) for part in outside):
                return claims[0]
    parsed = parse_date(text, code=language(code).code)
    interval = _day_intervals_of_parsed(parsed) if parsed and (ranges or parsed.last is None) else None
    return None if interval is None else IntervalClaim(*interval[:2], text.strip(), 0, len(text), wider=interval[2])
