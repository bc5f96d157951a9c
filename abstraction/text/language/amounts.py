"""Amounts in any language: those within texts as intervals, and the single amount that a text states.

Amounts within texts are the intervals that rounding or words ("between", "fewer than") allow. Digits are read with the
language's separators; where those do not fit, with the separators swapped: 6.3 in a German text is 6 3/10.
Words for powers of ten, units, bounds and joints come from the language's data. Currency signs, k, M, ×10⁸ and e8 are
read in every language.

A gold answer is read strictly ("8,848.86 m", "etwa 1,4 Milliarden", "$3.5 million", "douze", "5 ft 11 in"): one-sided
and two-sided amounts ("over 3 million", "10-20 km") are refused, since they state no single amount.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, lru_cache

from abstraction.text.language.cldr import currency_spellings
from abstraction.text.language.date_finder import IntervalClaim, half_unit_of_last_digit, text_and_lower_case, words_in
from abstraction.text.language.language_data import any_of, with_plain_digits, without_direction
from abstraction.text.language.languages import Language, language
from abstraction.text.language.units import (
    SIGNS,
    MeasureUnit,
    currencies,
    text_units_by_qid,
    text_units_by_spelling,
    unit_of_sign_before,
    unit_of_spelling,
)
from kg.base.bounded_cache import bounded_cache
from kg.base.model import normalise

_NOUN = re.compile(r"[^\W\d_]+(?:[ -][^\W\d_]+){0,3}")  # a counted noun of up to four words
# "12k", "1.2M", "$3B": kelvins have a capital, metres have none.
_LETTER = re.compile(r"(?<=\d)(?:\s?(?P<k>k)|(?P<K>K)|\s?(?P<M>M)|\s?(?P<B>B))(?![^\W_]|[/²³])")
# Exponents of ten by letter.
_POWERS = {"k": 3, "K": 3, "M": 6, "B": 9}
_FRACTIONS = re.compile("[¼-¾⅐-⅞]")  # vulgar fractions, which are refused


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedQuantity:
    """An amount parsed from a text.

    `digits` is the number of significant digits (zeros at the end of a whole number do not count). `unit` is None for
    a bare number and for counted things, whose noun is `noun` ("people"). `bound` is the ± of a value in the graph.
    `words`: whether the text writes out "million" and the like; `sign`: the sign of the unit where it precedes the
    number.
    """

    text: str
    amount: Decimal
    digits: int
    unit: MeasureUnit | None = None
    unit_text: str = ""
    noun: str = ""
    sign: str = ""
    bound: Decimal | None = None
    approximate: bool = False
    words: bool = False
    code: str = "en"

    @property
    def language(self) -> Language:
        """The language that the amount is written in."""
        return language(self.code)


@cache
def _patterns_of_whole_amount(lang: Language) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The patterns of an amount in one unit and in two."""
    number, joint = rf"[+-]?{lang.number_pattern}", re.escape(lang.joint_and.strip())
    in_one = re.compile(
        rf"(?P<sign>[^\w\s+.,-]|[a-z]{{1,3}}[^\w\s+.,-]|[a-z]{{3}} )?(?:(?<!\s)\s++)?(?P<number>{number})"
        rf"(?:[\s-]*(?P<scale>{any_of(lang.powers)})\b\.?(?:\s+(?:d[ei]\s+|d'))?)?\s*(?P<rest>.*)"
    )
    return in_one, re.compile(rf"\A({number})\s*([a-zß-ÿ]+|')\s*(?:{joint}\s+)?({number})\s*([a-zß-ÿ]+|\"|'')")


def parse_quantity(text: str, *, code: str = "en", is_temperature: bool = True) -> ParsedQuantity | None:
    """The single amount that a text in the language states, or None. With `is_temperature` false, 12K is 12 thousand.

    Texts of more than 80 characters, vulgar fractions and texts with several amounts give None.
    """
    if len(text) > 80 or _FRACTIONS.search(text):
        return None
    words = language(code)
    # One form of signs and digits; words instead of k, M and B after a number.
    plain = with_plain_digits(without_direction(unicodedata.normalize("NFKC", text))).translate(_SIGNS)

    def with_power_word(match: re.Match[str]) -> str:
        letter = match.lastgroup or ""
        word = next((word for word, power in words.powers.items() if power == _POWERS[letter]), "")
        return f" {word}" if word and not (letter == "K" and is_temperature) else match[0]

    plain = _LETTER.sub(with_power_word, " ".join(plain.split()).rstrip(" .;,"))
    lowered = plain.lower()
    about = words.patterns["about"].match(lowered)
    start = about.end() if about else 0
    plain, lowered = plain[start:], _leading_number_in_digits(lowered[start:], words)
    if lowered != plain.lower():
        plain = lowered
    quantity = _parse_compound(lowered, plain, words) or _parse_single(lowered, plain, words)
    if quantity is None and (whole := " ".join(words.with_plain_amounts(text).split())) != text:  # 1億2,600万人
        quantity = parse_quantity(whole, code=code, is_temperature=is_temperature)
        start += quantity is not None and quantity.approximate
    return replace(quantity, text=text.strip(), approximate=start > 0, code=words.code) if quantity else None


# One form of minus, apostrophe and inch.
_SIGNS = {ord(c): "-" for c in "‐‑‒–—−"} | {ord(c): "'" for c in "’′"} | {ord("″"): '"'}


def _parse_single(text: str, cased: str, lang: Language) -> ParsedQuantity | None:
    """Parse an amount with one number; `cased` is the text with its capitals."""
    match = _patterns_of_whole_amount(lang)[0].fullmatch(text)
    if match is None:
        return None
    sign = match["sign"] or ""
    unit = unit_of_sign_before(sign.strip(), code=lang.code) if sign else None
    if sign and unit is None:
        return None
    unit_text = noun = ""
    if tail := cased[match.start("rest") :].strip():
        named = unit_of_spelling(tail, code=lang.code)
        # The words after a number may be numbers themselves, not a counted noun
        is_number = any(word in lang.no_nouns or word in lang.number_words for word in tail.lower().split())
        if named is None and _NOUN.fullmatch(tail) and not is_number:
            noun = tail
        elif named is None or sign:
            return None
        else:
            unit = named
            # The text was NFKC-normalised: km² became km2. Restore the spelling of the unit.
            unit_text = next((s for s in named.spellings if unicodedata.normalize("NFKC", s) == tail), tail)
    number = lang.plain_number(match["number"])
    whole, _, fraction = number.lstrip("+-").partition(".")
    digits = (whole + fraction).lstrip("0") if fraction else whole.strip("0")
    scale = Decimal(10) ** lang.powers[match["scale"]] if match["scale"] else Decimal(1)
    return ParsedQuantity(
        text=text,
        amount=Decimal(number) * scale,
        digits=max(1, len(digits)),
        unit=unit,
        unit_text=unit_text,
        noun=noun,
        sign=cased[match.start("sign") : match.end("sign")].strip() if sign else "",
        words=scale >= 10**6,
    )


def _parse_compound(text: str, cased: str, lang: Language) -> ParsedQuantity | None:
    """Parse an amount in two units (feet and inches): the total in the larger unit, as precise as the smaller."""
    match = _patterns_of_whole_amount(lang)[1].fullmatch(text)
    if match is None:
        return None
    first, second = (unit_of_spelling(spelling, code=lang.code) for spelling in (match[2], match[4].replace("''", '"')))
    if first is None or second is None or first.dimension != second.dimension or first.factor <= second.factor:
        return None
    lesser = Decimal(lang.plain_number(match[3]))
    if lesser * second.factor >= first.factor:
        return None
    amount = Decimal(lang.plain_number(match[1])) + second.convert(lesser, first)
    places = max(1, -(second.factor / first.factor).adjusted())
    rounded = amount.quantize(Decimal(1).scaleb(-places))
    at = cased.lower().find(match[2])
    unit_text = "ft" if match[2] in ("'", "ft") else cased[at : at + len(match[2])] if at >= 0 else match[2]
    digits = len(rounded.as_tuple().digits)
    return ParsedQuantity(text=text, amount=amount, digits=digits, unit=first, unit_text=unit_text)


def _leading_number_in_digits(text: str, lang: Language) -> str:
    """Replace a number in words at the beginning by digits: "twenty-one people" -> "21 people"."""
    parts = text.split(" ")
    for size in (3, 2, 1):
        number = lang.number_words.get(" ".join(parts[:size])) if size <= len(parts) else None
        if number is not None:
            behind = parts[size:]
            return text if behind and behind[0] in lang.number_words else " ".join([str(number), *behind])
    return text


_HUNDRED = 2  # exponent of ten
_LEAST_HUNDRED = 100  # words for whole hundreds ("zweihundert") have this value or more
# A number and one scale word of at least this value stay in words: "two million" is as precise as "2 million".
_LEAST_SCALE = 10**6


class NumberWordReader:
    """A reader of numbers in several words of one language: `half a million`, `deux cents`, `un milione e mezzo`.

    `number_words_to_digits`, its main method, replaces them by digits at the same position.
    """

    def __init__(self, lang: Language) -> None:
        self._small = {word: n for word, n in lang.number_words.items() if n} | dict.fromkeys(lang.ones, 1)
        self._large = {word: 10**power for word, power in lang.powers.items() if power > _HUNDRED}
        self._hundreds = {word for word, power in lang.powers.items() if power == _HUNDRED}
        self._hundreds |= {word for word, number in self._small.items() if number == _LEAST_HUNDRED}
        self._fractions: Mapping[str, float] = lang.fractions
        self._dozens, self._articles = frozenset(lang.dozens), frozenset(lang.ones)
        names, large = any_of(self._small.keys() - set(lang.ones)), any_of(self._large)
        hundred, one = any_of(self._hundreds), any_of(lang.ones)
        word = rf"(?:{names}|{hundred}|{large})"
        joint = re.escape(lang.joint_and.strip())
        gap = rf"(?:[\s-]+{joint}[\s-]+|, (?:{joint} )?(?=(?:{names})\b)|[\s-]+)"
        glued = lang.glue is not None
        gap, edge = (rf"(?:{gap}|{lang.glue})", "") if glued else (gap, r"\b")
        self._bare_hundred = not lang.ones  # "hundert" is one hundred, English "hundred" needs a number before it
        part = any_of(self._fractions)
        halves = any_of(word for word, share in self._fractions.items() if share >= 0.5)  # "third" may be an ordinal
        self._word = re.compile(rf"{edge}(?:{any_of([*self._small, *self._hundreds, *self._large])}){edge}")
        of_hundreds = any_of(word for word, n in self._small.items() if n >= _LEAST_HUNDRED)
        self._needed = re.compile(rf"{hundred}|{large}|{of_hundreds}|{any_of(self._dozens)}|{part}")
        self._run = re.compile(rf"(?<!\d[\s-])\b(?:(?:{one})\s+(?=(?:{hundred}|{large})\b))?{word}(?:{gap}{word})+\b")
        # The word for 1 before "or", where it is a number and not an article: "one or two".
        ones = any_of(word for word, number in lang.number_words.items() if number == 1)
        self.one_before_or = re.compile(rf"\b(?:{ones})(?= or )")
        of, apart = lang.magnitude_of.strip() or "(?!)", r"[\s-]*" if glued else r"[\s-]+"
        whole = rf"\d{{1,15}}|{names}|(?:{one})"
        self._part = re.compile(
            rf"\b(?:(?P<many>{one}|{names})[\s-]+)?(?:(?P<half>{halves}){apart}(?:{of}\s+)?(?:(?:{one})\s+)?"
            rf"|(?P<part>{part})(?:\s+{of}(?:\s+(?:{one}))?\s+|\s+(?:{one})\s+))"
            rf"(?P<scale>{large})\b"
        )
        self._and_a_part = re.compile(
            rf"\b(?P<whole>{whole})(?:\s+(?P<large>{large}|{any_of(self._dozens)}))?\s+{joint}\s+"
            rf"(?:(?:{one})\s+)?(?P<part>{part})(?:\s+(?P<scale>{large}))?\b"
        )
        self._of_dozens = re.compile(
            rf"\b(?P<part>(?:{part}) )?(?P<many>{one}|{names}|\d{{1,3}}) (?:{any_of(self._dozens)})\b"
        )

    def may_contain_number_words(self, lower: str) -> bool:
        """Whether a lower-case text may contain a number in several words. May be wrong when True, never when False."""
        return self._needed.search(lower) is not None

    def number_words_to_digits(self, lower: str) -> str:
        """The lower-case text with numbers in words as digits ("two hundred and five": "205"), padded with blanks so
        that positions stay.

        Forms that the patterns of amounts read themselves stay: `seventy-three`, `1.5 million`, `nineteen sixty-one`.
        """
        if not self.may_contain_number_words(lower):
            return lower
        if self._fractions:
            lower = self._part.sub(
                self._digits_of_fraction_of_scale, self._and_a_part.sub(self._digits_of_whole_and_fraction, lower)
            )
        if self._dozens:
            lower = self._of_dozens.sub(self._digits_of_dozens, lower)
        return self._run.sub(self._digits_or_same_words, lower)

    def _small_number(self, text: str) -> int:
        return self._small.get(text) or int(text)

    def _digits_of_whole_and_fraction(self, match: re.Match[str]) -> str:
        """A number with a fraction: "two and a half million", "un million et demi", "a dozen and a half"."""
        unit = match["large"] or match["scale"] or ""
        if (match["large"] and match["scale"]) or (not match["large"] and match["whole"] in self._articles):
            return match[0]
        scale = 12 if unit in self._dozens else self._large.get(unit, 1)
        return _blank_padded_digits_or_words(
            (self._small_number(match["whole"]) + self._fractions[match["part"]]) * scale, match
        )

    def _digits_of_fraction_of_scale(self, match: re.Match[str]) -> str:
        many = self._small.get(match["many"] or "", 1)
        part = self._fractions[match["half"] or match["part"]]
        return _blank_padded_digits_or_words(many * part * self._large[match["scale"]], match)

    def _digits_of_dozens(self, match: re.Match[str]) -> str:
        share = self._fractions[match["part"].strip()] if match["part"] else 1
        return _blank_padded_digits_or_words(self._small_number(match["many"]) * 12 * share, match)

    def _digits_or_same_words(self, match: re.Match[str]) -> str:
        parts = self._word.findall(match[0])
        if not any(
            word in self._large or word in self._hundreds or self._small[word] >= _LEAST_HUNDRED for word in parts
        ):
            return match[0]
        if len(parts) < 2 or (len(parts) == 2 and self._large.get(parts[1], 0) >= _LEAST_SCALE):
            return match[0]  # "ten million" is as exact as 10 million
        value = self._value_of_words(parts)
        return match[0] if value is None else _blank_padded_digits_or_words(value, match)

    def _value_of_words(self, parts: Sequence[str]) -> int | None:
        """The number that the words form, or None where they are several numbers or a year."""
        total = group = 0
        last = 0  # the lowest place value so far in the group; rejects `twenty thirty`
        scale = 10**15
        for word in parts:
            if word in self._hundreds or word in self._large:
                group = group or int(self._bare_hundred)
            if word in self._hundreds:
                if not group or group > 99:
                    return None
                group, last = group * 100, 100
            elif word in self._large:
                if not group or self._large[word] >= scale:
                    return None
                scale = self._large[word]
                total, group, last = total + group * scale, 0, 0
            else:
                value = self._small[word]
                if last and (value >= last or (last < 100 and (value > 9 or last < 20))):
                    return None
                group, last = group + value, value
        return total + group


def _blank_padded_digits_or_words(value: float, match: re.Match[str]) -> str:
    digits = str(round(value)) if abs(value - round(value)) < 1e-6 else f"{value:.2f}".rstrip("0")
    return digits.rjust(len(match[0])) if len(digits) <= len(match[0]) else match[0]


@cache
def number_word_reader(lang: Language) -> NumberWordReader:
    """The cached reader of numbers in words of a language."""
    return NumberWordReader(lang)


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
def _pattern_of_amount_within_text(lang: Language) -> re.Pattern[str]:
    spelled = any_of(word for word, number in lang.number_words.items() if number > 1)
    joint = any_of(joint.strip() for joint in (lang.joint_and, lang.joint_to))
    scale = rf"(?:[\s-]*+(?P<{{}}>{any_of(lang.powers)})\b\.?)?"
    read = lang.matching
    more, less = (read[key].pattern if key in read else "(?!)" for key in ("or_more", "or_less"))
    return re.compile(
        rf"(?:(?:(?P<below>(?:{any_of(map(str.lower, lang.fewer))})(?=[\s\d])|<=?|≤)"
        rf"|(?P<above>(?:{any_of(map(str.lower, lang.more))})(?=[\s\d])|>=?|≥))\s*+)?"
        rf"(?<![\w.,])(?<![^\W\d_]-)(?P<a>-?{_DIGITS}|\b(?:{spelled})\b){_POWER}{scale.format('s')}"
        rf"(?:(?P<more>\+(?![\w.])|{more})|(?P<less>{less}))?"
        rf"(?:\s*+(?:-|(?<!\w)(?:{joint})(?!\w))\s*+(?P<b>{_DIGITS}){scale.format('t')})?(?!\w*\d|[.,]\d)"
        r"(?:(?=[\s-]*+(?:d[ei]\s+|d')?(?P<unit>%|°\s?[cf]\b|[^\W\d_]+[²³23]?(?:/[^\W\d_]+)?(?:\s[^\W\d_]+){0,2})))?"
    )


@bounded_cache(entries=_KEPT, longest=_LONGEST)
def amounts(text: str, code: str = "en") -> tuple[IntervalClaim, ...]:
    """All amounts in a text of the language, left to right, including numbers in words; a range is one claim."""
    if not may_be_amount(text, code):
        return ()
    words = language(code)
    if not text.isascii():
        text = _SUPERSCRIPT.sub(lambda power: "10^" + power[1].translate(_PLAIN_POWER), text)
    text, lower = text_and_lower_case(words.with_plain_amounts(text))
    lower = number_word_reader(words).number_words_to_digits(lower.translate(_PRIMES))
    if " or " in lower:
        lower = number_word_reader(words).one_before_or.sub(lambda one: "1".rjust(len(one[0])), lower)
    claims = tuple(_find_amounts(text, lower, words))
    return _merge_compounds(claims, text, lower, words) if len(claims) > 1 else claims


def _find_amounts(text: str, lower: str, lang: Language) -> Iterator[IntervalClaim]:
    for match in _pattern_of_amount_within_text(lang).finditer(lower):
        read = _interval_and_exact_value(match, lang)
        if read is None or read[0] > read[1]:
            continue
        low, high, exact = read
        unit = unit_id_at_start(match["unit"] or "", lang.code)
        before = lower[: match.start("a")].rstrip()
        currency = _currency_id_of_sign(before[-1:])
        if unit == _METRE and (currency or text[match.end("a") : match.end("a") + 1] == "M"):  # $5m, 5M people
            low, high, exact, unit = low * 1e6, high * 1e6, None, ""
        if currency and before[:-1].endswith("-") and low > 0:  # -$2.8 billion
            low, high, exact = -high, -low, None if exact is None else -exact
        unit = currency or unit or _currency_id_of_sign(lower[match.end() :].lstrip()[:1])
        end = match.end("a")
        if match.lastgroup != "a":
            end = max(end, *map(match.end, ("t", "b", "s", "power", "e", "thousands", "billions")))
        start = match.start() + len(match[0]) - len(match[0].lstrip())
        first = start
        while lower[first - 1 : first] == " ":
            first -= 1
        if text[first:start].strip():  # `number_words_to_digits` pads digits with blanks on the left
            start = first + len(text[first:start]) - len(text[first:start].lstrip())
        yield IntervalClaim(low, high, text[start:end], start, end, unit, exact)


def _interval_and_exact_value(match: re.Match[str], lang: Language) -> tuple[float, float, float | None] | None:
    """The interval (low, high) of a match, and its exact value where the number is plain; None for malformed digits."""
    spelled = lang.number_words.get(match["a"])
    digits = _plain_decimal(match["a"], lang) if spelled is None else str(spelled)
    if digits is None:
        return None
    scale = 10.0 ** lang.powers[match["s"]] if match["s"] else 1.0
    power = match["power"] or match["e"] or ("3" if match["thousands"] else "9" if match["billions"] else None)
    if power:
        scale *= 10.0 ** int(power)
    if match["b"]:
        last_digits = _plain_decimal(match["b"], lang)
        last = 10.0 ** lang.powers[match["t"]] if match["t"] else 1.0
        if last_digits is None:
            return None
        low, high = float(digits) * (scale if match["s"] else last), float(last_digits) * last
        # "between 10 and 100 million" begins at ten million, unlike "between 100,000 and 1 million".
        return (low if low <= high else float(digits) * scale), high, None
    value = float(digits) * scale
    if match["below"] or match["less"]:
        return min(0.0, value - 1.0), math.nextafter(value, -math.inf), None
    if match["above"] or match["more"]:
        # The next power of ten is the upper bound: "more than 300" is not used for 5,000.
        most = 10.0 ** (math.floor(math.log10(value)) + 1) if value > 0 else math.inf
        return math.nextafter(value, math.inf), most, None
    half = half_unit_of_last_digit(digits.lstrip("-")) * scale
    return value - half, value + half, None if match["s"] or power else value


def _plain_decimal(written: str, lang: Language) -> str | None:
    """A number of the language as decimal text with a point, or None if it is malformed.

    Where the language's separators do not fit, they are swapped: 6.3 in a German answer is six and three tenths.
    """
    sign, digits = ("-", written[1:]) if written.startswith("-") else ("", written)
    if digits.isdigit():
        return sign + digits
    for text in (digits, digits.translate(_SWAPPED_SEPARATORS), digits.replace("'", "")):
        if re.fullmatch(lang.number_pattern, text):
            return sign + lang.plain_number(text)
    return None


# Units: a QID, or two for a rate.


@bounded_cache(entries=_KEPT, longest=_LONGEST_UNIT_CACHED)
def unit_id_at_start(text: str, code: str) -> str:
    """The label of the unit at the beginning of a text: its QID, two QIDs joined by "/" for a rate, or ""."""
    words, spelled = language(code), text_units_by_spelling(language(code).code)
    parts, blank = (text.split(), " ") if words.separates_words_by_spaces else (list(text[:_LONGEST_UNIT]), "")
    for size in range(len(parts), 0, -1):
        name = normalise(blank.join(parts[:size])).rstrip(".")
        unit = spelled.get(name)
        if unit is None or name in words.no_nouns:
            continue
        if 1 < len(name) <= _LITTLE and name in words.function_words:
            continue  # "in" (inches), "au" (astronomical units)
        per = parts[size] if size + 1 < len(parts) else ""
        time = spelled.get(parts[size + 1]) if unit.dimension == "length" and per in words.per else None
        return f"{unit.qid}/{time.qid}" if time is not None and time.dimension == "time" else unit.qid
    return ""


_LITTLE = 3  # letters of the longest name of a unit that is also a common function word
_LONGEST_UNIT = 12  # characters of the longest unit name, in scripts without spaces


@cache
def _currency_id_of_sign(sign: str) -> str:
    if not sign or sign.isalnum():
        return ""
    return next((unit.qid for unit in text_units_by_qid().values() if sign in unit.before), "")


@lru_cache(maxsize=256)
def _dimension_factor_and_offset(label: str) -> tuple[str, float, float] | None:
    """Dimension, factor and offset of a label's unit: value * factor + offset is the value in the base unit."""
    length, _, time = label.partition("/")
    unit, per = text_units_by_qid().get(length), text_units_by_qid().get(time)
    if unit is None or (time and per is None):
        return None
    if per is not None:
        return "speed", float(unit.factor / per.factor), 0.0
    return unit.dimension, float(unit.factor), float(unit.offset)


def is_money(label: str) -> bool:
    """Whether the unit of a claim is a currency."""
    unit = text_units_by_qid().get(label)
    return unit is not None and bool(unit.before)


def convert_if_same_dimension(claim: IntervalClaim, unit: str) -> IntervalClaim:
    """The claim converted to another unit of the same dimension, else unchanged: 29,032 feet are 8848.8 to 8849.1 m."""
    unit_of_claim, unit_wanted = _dimension_factor_and_offset(claim.label), _dimension_factor_and_offset(unit)
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
    claims: Sequence[IntervalClaim], text: str, lower: str, lang: Language
) -> tuple[IntervalClaim, ...]:
    """Merge each amount in two units into one claim in the smaller unit."""
    kept = [claims[0]]
    for claim in claims[1:]:
        last, between = kept[-1], _STEP.fullmatch(lower, kept[-1].end, claim.start)
        unit = unit_id_at_start(between["unit"], lang.code) if between and between["unit"] else _FOOT
        smaller = claim.label or (_INCH if unit == _FOOT and _ENDS.match(lower, claim.end) else "")
        step = _units_per_larger(unit, smaller) if between and between["and"] in (None, lang.joint_and.strip()) else 0
        if step and last.exact is not None and claim.exact is not None and claim.exact < step:
            value, half = last.exact * step + claim.exact, min((claim.high - claim.low) / 2, _MOST_HALF_STEP)
            whole = text[last.start : claim.end]
            kept[-1] = IntervalClaim(value - half, value + half, whole, last.start, claim.end, smaller, value)
        else:
            kept.append(claim)
    return tuple(kept)


def _units_per_larger(unit: str, smaller: str) -> int:
    """The number of smaller units in one larger unit; 0 where the units do not combine."""
    larger, small = _dimension_factor_and_offset(unit), _dimension_factor_and_offset(smaller)
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
        return number_word_reader(words).may_contain_number_words(text.lower())
    return not words.separates_words_by_spaces and any(map(str.isnumeric, text))


_DIGIT = re.compile(r"\d")


@lru_cache(maxsize=256)  # bounded, since codes come from requests too
def _number_word_parts(code: str) -> frozenset[str]:
    words = language(code)
    return frozenset(part for word in (*words.number_words, *words.dozens, *words.powers) for part in words_in(word))


@cache
def _pattern_of_uninformative_text_before_amount(lang: Language) -> re.Pattern[str]:
    """A pattern for text before an amount that adds no information: "about", "between", a currency."""
    said = any_of(filter(None, map(str.lower, (*lang.about, lang.between, "us"))))
    also = lang.matching.get("around_amounts")
    codes = any_of(map(str.lower, currency_spellings("en")))
    more = rf"|(?>{also.pattern})" if also else ""
    money = rf"[a-z]{{0,3}}[{SIGNS}]|(?=[a-z]{{3}}(?!\w))(?:{codes})"
    return re.compile(rf"(?:(?:{said})(?!\w)|(?>{lang.patterns['about'].pattern}){more}|{money}|[\s.~≈])*+")


# A unit or counted noun after an amount, in lower case: a capital would begin a name.
_UNIT_TAIL = re.compile(
    r"[\s-]*+(?:d[ei]\s+|d')?(?:%|\"|''|°\s?[CFcf]|degrees? (?:Celsius|Fahrenheit)"
    r"|[^\W\d_A-Z]++[2²³]?(?:(?:\s++|/)[^\W\d_A-Z]++){0,2})?[\s.]*+"
)
_BRACKET = re.compile(r"(?:(?<!\s)\s++)?+\(([^()]*+)\)\s*+\Z")  # a bracket at the end of a text


@bounded_cache(entries=_KEPT, longest=_LONGEST)
def amount_of_whole_text(text: str, code: str = "en") -> IntervalClaim | None:
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
    if not _pattern_of_uninformative_text_before_amount(words).fullmatch(
        text_and_lower_case(told)[1][: claims[0].start] + " "
    ):
        return None
    spelled, noun = text_units_by_spelling(words.code), normalise(behind.strip(" .-"))
    is_unit = noun in spelled or noun.rpartition(" ")[2] in spelled  # with capitals: "Meter", "US dollars"
    if not is_unit and not currencies(text, code) and not _UNIT_TAIL.fullmatch(behind.translate(_PRIMES)):
        return None
    return claims[0]
