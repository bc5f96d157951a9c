"""Amounts within texts in any language, as the intervals that rounding or words ("between", "fewer than") allow.

Digits are read with the language's separators; where those do not fit, with the separators swapped: 6.3 in a German
text is six and three tenths. Words for powers of ten, units, bounds and joints come from the language's data. Currency
signs, k, M, ×10⁸ and e8 are read in every language.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from abstraction.text.language.cldr import currency_spellings
from abstraction.text.language.currencies import SIGNS, currencies
from abstraction.text.language.date_finder import lowered, words_in
from abstraction.text.language.interval_claims import IntervalClaim, half_step
from abstraction.text.language.language_data import any_of
from abstraction.text.language.languages import Language, language
from abstraction.text.language.number_words import number_words
from abstraction.text.language.units import spellings_in_texts, units_in_texts
from kg.base.bounded_cache import bounded_cache
from kg.base.terms import normalise

_KEPT = 1 << 13  # texts whose amounts are cached
_LONGEST = 300  # characters; longer texts are read but not cached

# Digits with any separators; bounded, possessive repetitions keep matching linear.
_DIGITS = r"\d{1,60}+(?:[.,]\d{1,60}+|[ '’]\d{3}(?!\d)){0,10}+"
# "k", "b", "× 10^8" and "e8" right after digits.
_POWER = (
    r"(?:(?<=\d)(?P<thousands>k)(?!\w)|(?<=\d)(?P<billions>b)(?!\w)"
    r"|\s*+[x×*·]\s*+10\s?(?:\^|\*\*)\s?(?P<power>[-−]?\d{1,2})(?!\d)|e\+?(?P<e>\d{1,2})(?!\w))?"
)
# Swapped separators: 1.234,5 for 1,234.5.
_SWAPPED_SEPARATORS = str.maketrans(".,", ",.")
_PRIMES = str.maketrans({"′": "'", "”": '"', "″": '"', "−": "-"})
_SUPERSCRIPT = re.compile(r"(?<!\d)10([⁻⁰¹²³⁴-⁹]+)")  # 10⁸, but not 210⁸
_PLAIN_POWER = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_LONGEST_UNIT_CACHED = 60  # characters; longer names of units are looked up but not cached


@cache
def _amount_pattern(words: Language) -> re.Pattern[str]:
    spelled = any_of(word for word, number in words.number_words.items() if number > 1)
    joint = any_of(joint.strip() for joint in (words.joint_and, words.joint_to))
    scale = rf"(?:[\s-]*+(?P<{{}}>{any_of(words.powers)})\b\.?)?"
    more, less = (_pattern_or_never(words, key) for key in ("or_more", "or_less"))
    return re.compile(
        rf"(?:(?:(?P<below>(?:{any_of(map(str.lower, words.fewer))})(?=[\s\d])|<=?|≤)"
        rf"|(?P<above>(?:{any_of(map(str.lower, words.more))})(?=[\s\d])|>=?|≥))\s*+)?"
        rf"(?<![\w.,])(?<![^\W\d_]-)(?P<a>-?{_DIGITS}|\b(?:{spelled})\b){_POWER}{scale.format('s')}"
        rf"(?:(?P<more>\+(?![\w.])|{more})|(?P<less>{less}))?"
        rf"(?:\s*+(?:-|(?<!\w)(?:{joint})(?!\w))\s*+(?P<b>{_DIGITS}){scale.format('t')})?(?!\w*\d|[.,]\d)"
        r"(?:(?=[\s-]*+(?:d[ei]\s+|d')?(?P<unit>%|°\s?[cf]\b|[^\W\d_]+[²³23]?(?:/[^\W\d_]+)?(?:\s[^\W\d_]+){0,2})))?"
    )


def _pattern_or_never(words: Language, key: str) -> str:
    pattern = words.matching.get(key)
    return pattern.pattern if pattern else "(?!)"


@bounded_cache(entries=_KEPT, longest=_LONGEST)
def amounts(text: str, code: str = "en") -> tuple[IntervalClaim, ...]:
    """All amounts in a text of the language, left to right, including numbers in words; a range is one claim."""
    if not may_be_amount(text, code):
        return ()
    words = language(code)
    if not text.isascii():
        text = _SUPERSCRIPT.sub(lambda power: "10^" + power[1].translate(_PLAIN_POWER), text)
    text, lower = lowered(words.with_plain_amounts(text))
    lower = number_words(words).in_digits(lower.translate(_PRIMES))
    if " or " in lower:
        lower = _one_before_or(words).sub(lambda one: "1".rjust(len(one[0])), lower)
    claims = tuple(_find_amounts(text, lower, words))
    return _merge_compounds(claims, text, lower, words) if len(claims) > 1 else claims


@cache
def _one_before_or(words: Language) -> re.Pattern[str]:
    """The word for 1 before "or", where it is a number and not an article: "one or two"."""
    return re.compile(rf"\b(?:{any_of(word for word, number in words.number_words.items() if number == 1)})(?= or )")


def _find_amounts(text: str, lower: str, words: Language) -> Iterator[IntervalClaim]:
    for match in _amount_pattern(words).finditer(lower):
        read = _interval_of_match(match, words)
        if read is None or read[0] > read[1]:
            continue
        low, high, exact = read
        unit = unit_label(match["unit"] or "", words.code)
        before = lower[: match.start("a")].rstrip()
        currency = _currency(before[-1:])
        if unit == _METRE and (currency or text[match.end("a") : match.end("a") + 1] == "M"):  # $5m, 5M people
            low, high, exact, unit = low * 1e6, high * 1e6, None, ""
        if currency and before[:-1].endswith("-") and low > 0:  # -$2.8 billion
            low, high, exact = -high, -low, None if exact is None else -exact
        unit = currency or unit or _currency(lower[match.end() :].lstrip()[:1])
        end = match.end("a")
        if match.lastgroup != "a":
            end = max(end, *map(match.end, ("t", "b", "s", "power", "e", "thousands", "billions")))
        start = match.start() + len(match[0]) - len(match[0].lstrip())
        first = start
        while lower[first - 1 : first] == " ":
            first -= 1
        if text[first:start].strip():  # `in_digits` pads digits with blanks on the left
            start = first + len(text[first:start]) - len(text[first:start].lstrip())
        yield IntervalClaim(low, high, text[start:end], start, end, unit, exact)


def _interval_of_match(match: re.Match[str], words: Language) -> tuple[float, float, float | None] | None:
    """The interval (low, high) of a match, and its exact value where the number is plain; None for malformed digits."""
    spelled = words.number_words.get(match["a"])
    digits = _plain_decimal(match["a"], words) if spelled is None else str(spelled)
    if digits is None:
        return None
    scale = 10.0 ** words.powers[match["s"]] if match["s"] else 1.0
    power = match["power"] or match["e"] or ("3" if match["thousands"] else "9" if match["billions"] else None)
    if power:
        scale *= 10.0 ** int(power)
    if match["b"]:
        last_digits = _plain_decimal(match["b"], words)
        last = 10.0 ** words.powers[match["t"]] if match["t"] else 1.0
        first = scale if match["s"] else last
        return None if last_digits is None else (float(digits) * first, float(last_digits) * last, None)
    value = float(digits) * scale
    if match["below"] or match["less"]:
        return min(0.0, value - 1.0), math.nextafter(value, -math.inf), None
    if match["above"] or match["more"]:
        return math.nextafter(value, math.inf), _next_power(value), None
    half = half_step(digits.lstrip("-")) * scale
    return value - half, value + half, None if match["s"] or power else value


def _plain_decimal(written: str, words: Language) -> str | None:
    """A number of the language as decimal text with a point, or None if it is malformed.

    Where the language's separators do not fit, they are swapped: 6.3 in a German answer is six and three tenths.
    """
    sign, digits = ("-", written[1:]) if written.startswith("-") else ("", written)
    if digits.isdigit():
        return sign + digits
    for text in (digits, digits.translate(_SWAPPED_SEPARATORS), digits.replace("'", "")):
        if re.fullmatch(words.number_pattern, text):
            return sign + words.plain_number(text)
    return None


def _next_power(value: float) -> float:
    """The next power of ten, the upper bound of "more than": "more than 300" is not used for 5,000."""
    return 10.0 ** (math.floor(math.log10(value)) + 1) if value > 0 else math.inf


# Units: a QID, or two for a rate.


@bounded_cache(entries=_KEPT, longest=_LONGEST_UNIT_CACHED)
def unit_label(written: str, code: str) -> str:
    """The label of the unit at the beginning of a text: its QID, two QIDs joined by "/" for a rate, or ""."""
    words, spelled = language(code), spellings_in_texts(language(code).code)
    parts, blank = (written.split(), " ") if words.parts_words else (list(written[:_LONGEST_UNIT]), "")
    for size in range(len(parts), 0, -1):
        name = normalise(blank.join(parts[:size])).rstrip(".")
        unit = spelled.get(name)
        if unit is not None and name not in words.no_nouns and not _is_little_word(name, words):
            per = parts[size] if size + 1 < len(parts) else ""
            time = spelled.get(parts[size + 1]) if unit.dimension == "length" and per in words.per else None
            return f"{unit.qid}/{time.qid}" if time is not None and time.dimension == "time" else unit.qid
    return ""


def _is_little_word(name: str, words: Language) -> bool:
    """Whether the name of a unit is also a common function word: "in" (inches), "au" (astronomical units)."""
    return 1 < len(name) <= _LITTLE and name in words.function_words


_LITTLE = 3  # letters of the longest such name
_LONGEST_UNIT = 12  # characters of the longest unit name, in scripts without spaces


@cache
def _currency(sign: str) -> str:
    if not sign or sign.isalnum():
        return ""
    return next((unit.qid for unit in units_in_texts().values() if sign in unit.before), "")


@lru_cache(maxsize=256)
def _unit_size(label: str) -> tuple[str, float, float] | None:
    """Dimension, factor and offset of a label's unit: value * factor + offset is the value in the base unit."""
    length, _, time = label.partition("/")
    unit, per = units_in_texts().get(length), units_in_texts().get(time)
    if unit is None or (time and per is None):
        return None
    if per is not None:
        return "speed", float(unit.factor / per.factor), 0.0
    return unit.dimension, float(unit.factor), float(unit.offset)


def is_money(label: str) -> bool:
    """Whether the unit of a claim is a currency."""
    unit = units_in_texts().get(label)
    return unit is not None and bool(unit.before)


def convert_claim(claim: IntervalClaim, unit: str) -> IntervalClaim:
    """The claim converted to another unit of the same dimension, else unchanged: 29,032 feet are 8848.8 to 8849.1 m."""
    unit_of_claim, unit_wanted = _unit_size(claim.label), _unit_size(unit)
    if unit_of_claim is None or unit_wanted is None or unit_of_claim[0] != unit_wanted[0] or claim.label == unit:
        return claim
    low, high = (
        (value * unit_of_claim[1] + unit_of_claim[2] - unit_wanted[2]) / unit_wanted[1]
        for value in (claim.low, claim.high)
    )
    return replace(claim, low=low, high=high, label=unit, exact=None)


# Amounts in two units: 5 ft 10 in, 5'10", 2 hours and 15 minutes.

_FOOT, _INCH, _METRE = "Q3710", "Q218593", "Q11573"  # QIDs of the units with special signs
# The end of inches, whose unit may be missing: 5 ft 10.
_ENDS = re.compile(r"\s*+(?:in\b\.?\s*+)?(?:\"|''|\Z|[.,;:()]|\s)")
# The text between two amounts of a compound: a unit and perhaps "and".
_STEP = re.compile(r"(?:'|[\s-]*+(?P<unit>[^\W\d_]++)\.?)[\s,-]*+(?:(?P<and>[^\W\d_]++)\s++)?")
_MOST_HALF_STEP = 0.5  # widest half step of a compound: "ten inches" is not rounded to tens


def _merge_compounds(
    claims: Sequence[IntervalClaim], text: str, lower: str, words: Language
) -> tuple[IntervalClaim, ...]:
    """Merge each amount in two units into one claim in the smaller unit."""
    kept = [claims[0]]
    for claim in claims[1:]:
        last, between = kept[-1], _STEP.fullmatch(lower, kept[-1].end, claim.start)
        unit = unit_label(between["unit"], words.code) if between and between["unit"] else _FOOT
        smaller = claim.label or (_INCH if unit == _FOOT and _ENDS.match(lower, claim.end) else "")
        step = _units_per_larger(unit, smaller) if between and between["and"] in (None, words.joint_and.strip()) else 0
        if step and last.exact is not None and claim.exact is not None and claim.exact < step:
            value, half = last.exact * step + claim.exact, min((claim.high - claim.low) / 2, _MOST_HALF_STEP)
            whole = text[last.start : claim.end]
            kept[-1] = IntervalClaim(value - half, value + half, whole, last.start, claim.end, smaller, value)
        else:
            kept.append(claim)
    return tuple(kept)


def _units_per_larger(unit: str, smaller: str) -> int:
    """The number of smaller units in one larger unit; 0 where the units do not combine."""
    larger, small = _unit_size(unit), _unit_size(smaller)
    if larger is None or small is None or larger[0] != small[0] or larger[1] <= small[1]:
        return 0
    step = round(larger[1] / small[1])
    return step if abs(step * small[1] - larger[1]) < small[1] / 1000 else 0


# Texts that are an amount.


def may_be_amount(text: str, code: str = "en") -> bool:
    """Whether a text may contain an amount, in digits or words. May be wrong when True, never when False."""
    if _DIGIT.search(text) or not _number_word_parts(code).isdisjoint(words_in(text.lower())):
        return True
    words = language(code)
    if words.glue is not None:
        return number_words(words).may_occur_in(text.lower())
    return not words.parts_words and any(map(str.isnumeric, text))


_DIGIT = re.compile(r"\d")


@lru_cache(maxsize=256)  # codes may come from outside
def _number_word_parts(code: str) -> frozenset[str]:
    words = language(code)
    return frozenset(part for word in (*words.number_words, *words.dozens, *words.powers) for part in words_in(word))


@cache
def _allowed_before(words: Language) -> re.Pattern[str]:
    """A pattern for text before an amount that adds no information: "about", "between", a currency."""
    said = any_of(filter(None, map(str.lower, (*words.about, words.between, "us"))))
    also = words.matching.get("around_amounts")
    codes = any_of(map(str.lower, currency_spellings("en")))
    more = rf"|(?>{also.pattern})" if also else ""
    money = rf"[a-z]{{0,3}}[{SIGNS}]|(?=[a-z]{{3}}(?!\w))(?:{codes})"
    return re.compile(rf"(?:(?:{said})(?!\w)|(?>{words.patterns['about'].pattern}){more}|{money}|[\s.~≈])*+")


# A unit or counted noun after an amount, in lower case: a capital would begin a name.
_UNIT_TAIL = re.compile(
    r"[\s-]*+(?:d[ei]\s+|d')?(?:%|\"|''|°\s?[CFcf]|degrees? (?:Celsius|Fahrenheit)"
    r"|[^\W\d_A-Z]++[2²³]?(?:(?:\s++|/)[^\W\d_A-Z]++){0,2})?[\s.]*+"
)
_BRACKET = re.compile(r"(?:(?<!\s)\s++)?+\(([^()]*+)\)\s*+\Z")  # a bracket at the end of a text


@bounded_cache(entries=_KEPT, longest=_LONGEST)
def whole_amount(text: str, code: str = "en") -> IntervalClaim | None:
    """The amount that makes up the whole of `text`, with its unit or counted noun; None if the text has other content.

    A bracket at the end that repeats the amount in other units is ignored.
    """
    if (bracket := _BRACKET.search(text)) and len(amounts(bracket[1], code)) == 1:
        text = text[: bracket.start()]
    if not may_be_amount(text, code):
        return None
    claims = amounts(text, code)
    words = language(code)
    if len(claims) != 1:
        return None
    told = words.with_plain_amounts(text)
    behind = told[claims[0].end :]
    if not _allowed_before(words).fullmatch(lowered(told)[1][: claims[0].start] + " "):
        return None
    spelled, noun = spellings_in_texts(words.code), normalise(behind.strip(" .-"))
    is_unit = noun in spelled or noun.rpartition(" ")[2] in spelled  # with capitals: "Meter", "US dollars"
    if not is_unit and not currencies(text, code) and not _UNIT_TAIL.fullmatch(behind.translate(_PRIMES)):
        return None
    return claims[0]
