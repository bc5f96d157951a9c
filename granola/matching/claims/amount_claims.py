"""Amounts in text, as the closed intervals that rounding or words ("between", "fewer than") leave open."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files

import orjson

from abstraction.language.language_data import any_of
from abstraction.language.languages import language
from abstraction.language.units import units
from granola.matching.claims.intervals import IntervalClaim, half_step
from granola.matching.text.match_cache import MATCHING
from granola.matching.text.numerals import with_digits
from granola.matching.text.tokens import key, words
from granola.replies.plain_text import plain

_SCALES = {word: 10.0**power for word, power in language("en").powers.items()} | {
    "dozen": 12.0, "lakh": 1e5, "lakhs": 1e5, "crore": 1e7, "crores": 1e7,
}  # fmt: skip
_TABLES = orjson.loads(files("granola.matching").joinpath("data/units.json").read_bytes())
_UNITS: dict[str, str] = {told: unit for unit, spellings in _TABLES["spellings"].items() for told in spellings}
_RATES = {
    ("m", "s"): "m/s",
    ("km", "s"): "km/s",
    ("mi", "s"): "mi/s",
    ("ft", "s"): "ft/s",
    ("m", "h"): "m/h",
    ("km", "h"): "km/h",
    ("mi", "h"): "mph",
}
_SQUARES = {"kilometre": "km2", "kilometer": "km2", "mile": "mi2", "metre": "m2", "meter": "m2"}

_DIGITS = r"(?:\d{1,3}(?:,\d{3}){1,20}+|\d{1,3}(?:[ '’]\d{3}){1,8}(?![\d'])|\d{1,60}+)(?:\.\d{1,60}+)?+"
_SPELT = {word: number for word, number in language("en").number_words.items() if number > 1}
_WORDS = any_of(_SPELT)
_COUNTED = {"once": 1, "twice": 2, "thrice": 3, "dozen": 12, "single": 1, "couple": 2, "pair": 2, "none": 0}
_NTH = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
_SCALE = rf"(?:[\s-]*+(?P<{{0}}s>{any_of(_SCALES)})\b)?"
_POWER = (
    r"(?:(?<=\d)(?P<thousands>k)(?!\w)|(?<=\d)(?P<billions>b)(?!\w)"
    r"|\s*+[x×*·]\s*+10\s?(?:\^|\*\*)\s?(?P<power>[-−]?\d{1,2})(?!\d)|e\+?(?P<e>\d{1,2})(?!\w))?"
)
_AMOUNT = re.compile(
    r"(?:(?:(?P<below>fewer than|less than|under|below|at most|up to|<=?|≤)"
    r"|(?P<above>more than|over|above|at least|>=?|≥))\s*+)?"
    rf"(?<![\w.,])(?<![^\W\d_]-)(?P<a>[-−]?{_DIGITS}|\b(?:{_WORDS})\b)" + _POWER + _SCALE.format("a")
    + r"(?:(?P<more>\+(?![\w.])|\s++(?:or|and) (?:more|above|over)\b)|(?P<less>\s++or (?:less|fewer|under)\b))?"
    + rf"(?:\s*+(?:-|–|—|\bto\b|\band\b)\s*+(?P<b>{_DIGITS})" + _SCALE.format("b") + r")?(?![\w]*\d|[.,]\d)"
    + r"[\s-]*+(?:square\s++(?P<of>kilometre|kilometer|mile|metre|meter)s?"
    r"|(?:degrees?\s++(?=celsius|fahrenheit))?(?P<unit>%|°\s?[cf]\b|[^\W\d_]+[2²]?)"
    r"(?P<per>\s*+(?:/|\bper\b|\ban?\b)\s*+(?P<time>sec|second|s|hr|hour|h)\b)?)?"
)  # fmt: skip


_CURRENCIES = {"$": "usd", "€": "eur", "£": "gbp", "¥": "jpy"}
_GROUPS = re.compile(r"[, '’]")


def _read(match: re.Match[str]) -> tuple[float, float, float | None]:
    """(low, high, the exact number where it is plain) of one match."""
    digits = _GROUPS.sub("", str(_SPELT.get(match["a"], match["a"]))).replace("−", "-")
    scale = _SCALES.get(match["as"] or "", 1.0)
    power = match["power"] or match["e"] or ("3" if match["thousands"] else "9" if match["billions"] else None)
    if power:
        scale *= 10.0 ** int(power.replace("−", "-"))
    if match["b"]:
        last = _SCALES.get(match["bs"] or "", 1.0)
        first = scale if match["as"] else last
        return float(digits) * first, float(_GROUPS.sub("", match["b"])) * last, None
    value = float(digits) * scale
    if match["below"] or match["less"]:
        return min(0.0, value - 1.0), math.nextafter(value, -math.inf), None
    if match["above"] or match["more"]:
        return math.nextafter(value, math.inf), _next_power(value), None
    half = half_step(digits.lstrip("-")) * scale
    plainly = None if match["as"] or power else value
    return value - half, value + half, plainly


def _next_power(value: float) -> float:
    """The power of ten above: who says "more than 300" does not mean 5,000."""
    return 10.0 ** (math.floor(math.log10(value)) + 1) if value > 0 else math.inf


# Units of one dimension: (dimension, size of one, offset), so that value * size + offset is in its base unit.
_SIZES: dict[str, tuple[str, float, float]] = {label: tuple(size) for label, size in _TABLES["sizes"].items()} | {
    label: (unit.dimension, float(unit.factor), float(unit.offset))
    for label, qid in _TABLES["measured_as"].items()
    if (unit := units()[qid])
}


def _size(label: str) -> tuple[str, float, float] | None:
    """Dimension, size and offset of a unit by its label here, or by its QID, as other languages have it."""
    if (size := _SIZES.get(label)) is not None or (unit := units().get(label)) is None:
        return size
    return unit.dimension, float(unit.factor), float(unit.offset)


def converted(claim: IntervalClaim, unit: str) -> IntervalClaim:
    """The claim in another unit of its dimension, else as it is: 29,032 feet are 8848.8 to 8849.1 m."""
    unit_of_claim, unit_wanted = _size(claim.label), _size(unit)
    if unit_of_claim is None or unit_wanted is None or unit_of_claim[0] != unit_wanted[0] or claim.label == unit:
        return claim
    low, high = (
        (value * unit_of_claim[1] + unit_of_claim[2] - unit_wanted[2]) / unit_wanted[1]
        for value in (claim.low, claim.high)
    )
    return replace(claim, low=low, high=high, label=unit, exact=None)


@MATCHING.remembered(1 << 13)
def amounts(text: str) -> tuple[IntervalClaim, ...]:
    """Every amount in `text`, left to right, number words included; a range is one claim."""
    MATCHING.count(len(text))
    if not text.isascii():
        text = _SUPERSCRIPT.sub(lambda power: "10^" + plain(power[1]), text)
    lower = plain(text)
    if len(lower) != len(text):
        text = lower
    if not lower.isascii():
        lower = lower.translate(_PRIMES)
    lower = _ONE_OR.sub("  1", with_digits(lower))
    claims = tuple(_scan(lower, text))
    return _compounds(claims, lower, text) if len(claims) > 1 else claims


_ONE_OR = re.compile(r"\bone(?= or )")
_SUPERSCRIPT = re.compile(r"(?<!\d)10([⁻⁰¹²³⁴-⁹]+)")
# An amount in two units: how many of the smaller make one of the larger.
_STEPS = {("ft", "in"): 12, ("lb", "oz"): 16, ("h", "min"): 60, ("min", "s"): 60, ("a", "mo"): 12, ("m", "cm"): 100}
_PRIMES = str.maketrans({"′": "'", "”": '"'})
_ENDS = re.compile(r"\s*+(?:in\b\.?\s*+)?(?:\"|''|\Z|[.,;:()]|(?:tall|high|long|wide|in height|or|and)\b)")
_STEP = re.compile(r"(?:'|[\s-]*+(?P<unit>[a-z]++)\.?)[\s,-]*+(?:and\s++)?")


def _compounds(claims: Sequence[IntervalClaim], lower: str, text: str) -> tuple[IntervalClaim, ...]:
    """Amounts in two units as one in the smaller: 5 ft 10 in, 5'10", five foot ten; 2 hours and 15 minutes."""
    kept = [claims[0]]
    for claim in claims[1:]:
        last, between = kept[-1], _STEP.fullmatch(lower, kept[-1].end, claim.start)
        unit = _UNITS.get(between["unit"], "") if between and between["unit"] else "ft"
        smaller = claim.label or ("in" if unit == "ft" and _ENDS.match(lower, claim.end) else "")
        step = _STEPS.get((unit, smaller))
        if between and step and last.exact is not None and claim.exact is not None and claim.exact < step:
            value, half = last.exact * step + claim.exact, (claim.high - claim.low) / 2
            half = min(half, 0.5)  # ten inches are no rounded amount
            kept[-1] = IntervalClaim(
                value - half, value + half, text[last.start : claim.end], last.start, claim.end, smaller, value
            )
        else:
            kept.append(claim)
    return tuple(kept)


def _unit(match: re.Match[str]) -> str:
    """The unit of a match; "" for one that is none of ours."""
    if match["of"]:
        return _SQUARES[match["of"]]
    unit = _UNITS.get((match["unit"] or "").replace(" ", ""), "")
    return _RATES.get((unit, match["time"][0]), "") if match["time"] else unit


def _scan(lower: str, text: str) -> Iterator[IntervalClaim]:
    for match in _AMOUNT.finditer(lower):
        low, high, exact = _read(match)
        if low > high:
            continue
        unit, before = _unit(match), _CURRENCIES.get(lower[: match.start("a")].rstrip()[-1:], "")
        if before and unit == "m":  # $5m are millions
            low, high, exact, unit = low * 1e6, high * 1e6, None, before
        if text[match.end("a") : match.end("a") + 1] == "M" and unit == "m" and match.end("a") == match.start("unit"):
            low, high, exact, unit = low * 1e6, high * 1e6, None, ""  # 5M people
        if before and lower[: match.start("a")].rstrip()[:-1].endswith(("-", "−")) and low > 0:  # -$2.8 billion
            low, high, exact = -high, -low, None if exact is None else -exact
        unit = unit or before or _CURRENCIES.get(lower[match.end() :].lstrip()[:1], "")
        end = match.end(
            next(part for part in ("bs", "b", "as", "power", "e", "thousands", "billions", "a") if match[part])
        )
        start = match.start() + len(match[0]) - len(match[0].lstrip())
        yield IntervalClaim(low, high, text[start:end], start, end, unit, exact)


def counted(text: str) -> tuple[IntervalClaim, ...]:
    """Numbers that are told as a place in a row or by a word: the fourteenth season, twice, a dozen."""
    claims = []
    for word in words(text):
        nth = _NTH.fullmatch(word.text)
        value = float(nth[1]) if nth else _COUNTED.get(word.text)
        if value is not None:
            claims.append(
                IntervalClaim(
                    value - 0.5, value + 0.5, text[word.start : word.end], word.start, word.end, "", float(value)
                )
            )
    return tuple(claims)


_AROUND = re.compile(
    r"(?:at|in|up to|over|just|the|only|once|every"
    r"|about|approximately|approx|around|roughly|some|nearly|almost|circa|ca|c|between|from"
    r"|an estimated|us(?=\s?\$)|[\s.~≈$€£¥])*+"
)
_UNIT_TAIL = re.compile(
    r"[\s-]*+(?:%|\"|''|°\s?[CFcf]|degrees? (?:Celsius|Fahrenheit)|[a-z]++[2²]?(?:(?:\s++|/)[a-z]++){0,2})?[\s.]*+"
)
_BRACKET = re.compile(r"(?:(?<!\s)\s++)?+\(([^()]*+)\)\s*+\Z")


def may_be_amount(text: str) -> bool:
    """Whether a text may state an amount: a digit is among its words, or a number in words; False is certain."""
    return not "".join(key(text)).isalpha()


@MATCHING.remembered(1 << 13)
def whole_amount(text: str) -> IntervalClaim | None:
    """The amount that `text` is, with a unit in small letters at most; None where it is something else.

    What a bracket behind it says in other units is left out.
    """
    MATCHING.count(len(text))
    if (bracket := _BRACKET.search(text)) and len(amounts(bracket[1])) == 1:
        text = text[: bracket.start()]
    if not may_be_amount(text):
        return None
    claims = amounts(text)
    if len(claims) != 1 or not _AROUND.fullmatch(plain(text[: claims[0].start])):
        return None
    return claims[0] if _UNIT_TAIL.fullmatch(text[claims[0].end :].translate(_PRIMES)) else None
