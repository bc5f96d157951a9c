"""Dates, amounts and refusals in answers that are not English, by the data of `abstraction.language.languages`.

A date is found by the language's own patterns and read as gold dates are; amounts follow its separators, words
for powers of ten and unit names. Positions are those of the text as given.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import takewhile
from operator import attrgetter, eq

from abstraction.language.calendar_units import day_number, unit_of
from abstraction.language.date_reader import ParsedDate, parse_date
from abstraction.language.language_data import any_of, with_plain_digits
from abstraction.language.languages import Language, language
from abstraction.language.units import unit_of_spelling
from granola.matching.claims import date_claims as english
from granola.matching.claims.intervals import IntervalClaim, half_step
from granola.matching.text.match_cache import MATCHING

_ONE_FOR_ONE = str.maketrans(
    dict.fromkeys("\xa0\u2009\u202f", " ") | dict.fromkeys("‐‑‒–—−", "-") | {"’": "'", "‘": "'", "º": "o", "ᵉ": "e"}
)
_OPEN, _CLOSED = r"(?<![\w.,])", r"(?!\w|[.,]\d)"
_BETWEEN_WORDS = r"(?<![\d.,])", r"(?!\d|[.,]\d)"  # where words follow each other without spaces


def _lowered(text: str) -> tuple[str, str]:
    """The text and its lower case, of one length."""
    lower = with_plain_digits(text.lower().translate(_ONE_FOR_ONE))
    return (text if len(lower) == len(text) else lower), lower


@cache
def _date_patterns(words: Language) -> tuple[re.Pattern[str], ...]:
    """What a date in a sentence looks like, the most exact form first."""
    era = re.sub(r"\?P<\w+>", "?:", words.patterns["era_after"].pattern).replace(r"\Z", r"(?!\w)")
    joint = words.patterns["range_joint"].pattern
    forms = [p.pattern for p, _ in words.points[:-1]]
    forms += [r"\d{1,2}[./]\d{1,2}[./]\d{4}", r"\d{4}-\d{2}-\d{2}", *(words.patterns[k].pattern for k in _COUNTED)]
    year = rf"(?:\d{{3,4}}|\d{{1,2}}(?={era}))(?:{era})?"
    found = [rf"{form}(?:{era})?" for form in forms]
    before, behind = (_OPEN, _CLOSED) if words.parts_words else _BETWEEN_WORDS
    return tuple(re.compile(before + form + behind) for form in (*found, rf"{year}(?:{joint}){year}", year))


_COUNTED = ("century", "millennium", "decade")


@MATCHING.remembered(1 << 16)
def dates(text: str, code: str) -> tuple[IntervalClaim, ...]:
    """Every date in a text of the language, left to right, without overlaps."""
    MATCHING.count(len(text))
    words = language(code)
    text, lower = _lowered(text)
    kept: list[IntervalClaim] = []  # from left to right, none across another
    for pattern in _date_patterns(words):
        for match in pattern.finditer(lower):
            at = bisect_left(kept, match.start(), key=_start)
            if (at and match.start() < kept[at - 1].end) or (at < len(kept) and kept[at].start < match.end()):
                continue
            claim = _claim(parse_date(match[0], code=words.code), text, *match.span())
            if claim is not None:
                kept.insert(at, claim)
    kept = [_with_inflected_month(claim, text, lower, words) for claim in kept]
    for claim in english.dates(text):  # 28 June 1919, and the months of other languages
        if any(letter.isalpha() for letter in claim.text):
            last = bisect_left(kept, claim.end, key=_start)
            first = last
            while first and kept[first - 1].end > claim.start:
                first -= 1
            if all(own.width > claim.width for own in kept[first:last]):
                kept[first:last] = [claim]
    return tuple(kept)


_BEFORE_YEAR = re.compile(r"(?:(?<!\w)(?P<day>\d{1,2})\.?\s+)?(?P<word>[^\W\d_]{3,20})\s+\Z")
_STEM, _ENDING = 3, 4  # letters that forms of a month have in common at least, and that they end with at most


def _with_inflected_month(claim: IntervalClaim, text: str, lower: str, words: Language) -> IntervalClaim:
    """A year with the month before it in a case that CLDR does not list: `v lednu 1961`, `tammikuussa 1961`."""
    if not claim.text.isdigit() or len(claim.text) != 4:
        return claim
    before = _BEFORE_YEAR.search(lower, max(0, claim.start - 30), claim.start)
    month = _month_of(before["word"], words) if before else None
    if before is None or month is None:
        return claim
    day = int(before["day"] or 0)
    start = before.start("day") if day else before.start("word")
    low = day_number(int(claim.text), month, day or 1)
    return IntervalClaim(low, low if day else low + MOST_DAYS_OF_MONTH, text[start : claim.end], start, claim.end)


MOST_DAYS_OF_MONTH = 30  # behind its first; `day_number` gives every month 31


@MATCHING.remembered(1 << 12)
def _month_of(word: str, words: Language) -> int | None:
    """The month of which a word in small letters may be a form: the one with which it shares most letters."""
    MATCHING.count(len(word))
    shared: dict[int, int] = {}
    for number, month in enumerate(words.months, 1):
        for name in (month.name.lower(), *(form.lower() for form in month.read)):
            size = sum(takewhile(bool, map(eq, word, name)))
            longest_ending = max(len(word), len(name)) - size
            if size >= _STEM and longest_ending <= _ENDING:
                shared[number] = max(size, shared.get(number, 0))
    best = max(shared.values(), default=0)
    months = [number for number, size in shared.items() if size == best]
    return months[0] if len(months) == 1 else None


_start = attrgetter("start")


@MATCHING.remembered(1 << 16)
def whole_date(text: str, code: str) -> IntervalClaim | None:
    """The date that `text` is, in the language or in English; None where it is something else or says more."""
    MATCHING.count(len(text))
    claim = _claim(parse_date(text, code=language(code).code), text, 0, len(text))
    return english.whole_date(text) if claim is None else claim


def _claim(parsed: ParsedDate | None, text: str, start: int, end: int) -> IntervalClaim | None:
    if parsed is None:
        return None
    first, last = unit_of(parsed.first), unit_of(parsed.last or parsed.first)
    if first is None or last is None:
        return None
    return IntervalClaim(first.days()[0], last.days()[1], text[start:end].strip(), start, end)


_DIGITS = r"\d{1,60}+(?:[.,'’]\d{1,60}+|[ ]\d{3}(?!\d)){0,10}+"
_TURNED = str.maketrans(".,", ",.")


def _number(written: str, words: Language) -> str | None:
    """Digits as the language writes them, with a point for decimals; None for what is no number.

    What the language cannot read wholly is read the other way: 6.3 in a German answer is six and three tenths.
    """
    sign, digits = ("-", written[1:]) if written.startswith("-") else ("", written)
    for text in (digits, digits.translate(_TURNED)):
        if re.fullmatch(words.number_pattern, text):
            return sign + words.plain_number(text)
    return None


@cache
def _amount(words: Language) -> re.Pattern[str]:
    spelled = any_of(word for word, number in words.number_words.items() if number > 1)
    below = "|".join(re.escape(word.lower()) for word in words.fewer)
    joint = "|".join(re.escape(j.strip()) for j in (words.joint_and, words.joint_to))
    scale = rf"(?:\s*(?P<{{}}>{any_of(words.powers)})\b\.?)?"
    return re.compile(
        rf"(?P<below>(?:{below})\s+)?(?<![\w.,])(?P<a>-?{_DIGITS}|\b(?:{spelled})\b){scale.format('s')}"
        rf"(?:\s*(?:-|\b(?:{joint})\b)\s*(?P<b>{_DIGITS}){scale.format('t')})?(?!\w*\d)"
        r"(?:\s*(?:d[ei]\s+|d')?(?P<unit>%|°\s?[cf]\b|[^\W\d_]+[²³23]?(?:/[^\W\d_]+)?(?:\s[^\W\d_]+){0,2}))?"
    )


@MATCHING.remembered(1 << 16)
def amounts(text: str, code: str) -> tuple[IntervalClaim, ...]:
    """Every amount in a text of the language, left to right; a range is one claim."""
    MATCHING.count(len(text))
    words = language(code)
    text, lower = _lowered(words.with_plain_amounts(text))
    return tuple(_amounts(text, lower, words))


def _amounts(text: str, lower: str, words: Language) -> Iterator[IntervalClaim]:
    for match in _amount(words).finditer(lower):
        written = words.number_words.get(match["a"])
        digits = str(written) if written is not None else _number(match["a"], words)
        last_digits = _number(match["b"], words) if match["b"] else ""
        if digits is None or last_digits is None:
            continue
        scale = 10.0 ** words.powers[match["s"]] if match["s"] else 1.0
        value = float(digits) * scale
        low, high, exact = value, value, None
        if match["b"]:
            last = 10.0 ** words.powers[match["t"]] if match["t"] else 1.0
            low = float(digits) * (scale if match["s"] else last)
            high = float(last_digits) * last
        elif match["below"]:
            low, high = min(0.0, value - 1.0), math.nextafter(value, -math.inf)
        else:
            half = half_step(digits.lstrip("-")) * scale
            low, high, exact = value - half, value + half, None if match["s"] else value
        if low > high:
            continue
        end = match.end("t" if match["t"] else "b" if match["b"] else "s" if match["s"] else "a")
        yield IntervalClaim(
            low, high, text[match.start() : end], match.start(), end, _unit(match["unit"], words), exact
        )


def _unit(written: str | None, words: Language) -> str:
    parts = (written or "").split()
    for size in range(len(parts), 0, -1):
        unit = unit_of_spelling(" ".join(parts[:size]), code=words.code)
        if unit is not None:
            return unit.qid
    return ""


@MATCHING.remembered(1 << 16)
def whole_amount(text: str, code: str) -> IntervalClaim | None:
    """The amount that `text` is, with a unit or what is counted behind it; None where it is something else."""
    MATCHING.count(len(text))
    words, name = language(code), text
    claims = amounts(text, code)
    if len(claims) != 1:
        return None
    text = words.with_plain_amounts(text)
    before = _lowered(text)[1][: claims[0].start].strip()
    about = [*words.about, words.between, "environ", "von", "de"]
    if (
        before
        and before not in {word.lower() for word in about}
        and not words.patterns["about"].fullmatch(f"{before} ")
    ):
        return None
    behind = text[claims[0].end :].split()
    return replace(claims[0], text=name) if len(behind) <= 3 else None
