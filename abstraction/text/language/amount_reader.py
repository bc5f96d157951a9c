"""Amounts in texts: "8,848.86 m", "etwa 1,4 Milliarden", "$3.5 million", "douze", "5 ft 11 in".

One-sided and two-sided amounts ("over 3 million", "10-20 km") are refused: they state no single amount.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache

from abstraction.text.language.language_data import any_of, with_plain_digits, without_direction
from abstraction.text.language.languages import Language, language
from abstraction.text.language.units import MeasureUnit, unit_of_sign_before, unit_of_spelling

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
def _amount_patterns(words: Language) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The patterns of an amount in one unit and in two."""
    number, joint = rf"[+-]?{words.number_pattern}", re.escape(words.joint_and.strip())
    in_one = re.compile(
        rf"(?P<sign>[^\w\s+.,-]|[a-z]{{1,3}}[^\w\s+.,-]|[a-z]{{3}} )?(?:(?<!\s)\s++)?(?P<number>{number})"
        rf"(?:[\s-]*(?P<scale>{any_of(words.powers)})\b\.?(?:\s+(?:d[ei]\s+|d'))?)?\s*(?P<rest>.*)"
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


def _parse_single(text: str, cased: str, words: Language) -> ParsedQuantity | None:
    """Parse an amount with one number; `cased` is the text with its capitals."""
    match = _amount_patterns(words)[0].fullmatch(text)
    if match is None:
        return None
    sign = match["sign"] or ""
    unit = unit_of_sign_before(sign.strip(), code=words.code) if sign else None
    if sign and unit is None:
        return None
    unit_text = noun = ""
    if tail := cased[match.start("rest") :].strip():
        named = unit_of_spelling(tail, code=words.code)
        # The words after a number may be numbers themselves, not a counted noun
        is_number = any(word in words.no_nouns or word in words.number_words for word in tail.lower().split())
        if named is None and _NOUN.fullmatch(tail) and not is_number:
            noun = tail
        elif named is None or sign:
            return None
        else:
            unit = named
            # The text was NFKC-normalised: km² became km2. Restore the spelling of the unit.
            unit_text = next((s for s in named.spellings if unicodedata.normalize("NFKC", s) == tail), tail)
    number = words.plain_number(match["number"])
    whole, _, fraction = number.lstrip("+-").partition(".")
    digits = (whole + fraction).lstrip("0") if fraction else whole.strip("0")
    scale = Decimal(10) ** words.powers[match["scale"]] if match["scale"] else Decimal(1)
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


def _parse_compound(text: str, cased: str, words: Language) -> ParsedQuantity | None:
    """Parse an amount in two units (feet and inches, hours and minutes): the total in the larger unit, with the
    precision of the smaller.
    """
    match = _amount_patterns(words)[1].fullmatch(text)
    if match is None:
        return None
    first, second = (
        unit_of_spelling(spelling, code=words.code) for spelling in (match[2], match[4].replace("''", '"'))
    )
    if first is None or second is None or first.dimension != second.dimension or first.factor <= second.factor:
        return None
    lesser = Decimal(words.plain_number(match[3]))
    if lesser * second.factor >= first.factor:
        return None
    amount = Decimal(words.plain_number(match[1])) + second.convert(lesser, first)
    places = max(1, -(second.factor / first.factor).adjusted())
    rounded = amount.quantize(Decimal(1).scaleb(-places))
    at = cased.lower().find(match[2])
    unit_text = "ft" if match[2] in ("'", "ft") else cased[at : at + len(match[2])] if at >= 0 else match[2]
    digits = len(rounded.as_tuple().digits)
    return ParsedQuantity(text=text, amount=amount, digits=digits, unit=first, unit_text=unit_text)


def _leading_number_in_digits(text: str, words: Language) -> str:
    """Replace a number in words at the beginning by digits: "twenty-one people" -> "21 people"."""
    parts = text.split(" ")
    for size in (3, 2, 1):
        number = words.number_words.get(" ".join(parts[:size])) if size <= len(parts) else None
        if number is not None:
            behind = parts[size:]
            return text if behind and behind[0] in words.number_words else " ".join([str(number), *behind])
    return text
