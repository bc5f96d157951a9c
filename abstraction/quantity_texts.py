"""Amounts in English texts: "8,848.86 m", "about 1.4 billion", "$3.5 million", "twelve", "5 ft 11 in".

One-sided and two-sided amounts ("over 3 million", "10-20 km") are refused: they state no single amount.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal

from abstraction.languages import language
from abstraction.units import MeasureUnit, unit_of_sign, unit_of_spelling

SCALES = {
    "hundred": Decimal(10) ** 2, "thousand": Decimal(10) ** 3, "million": Decimal(10) ** 6,
    "billion": Decimal(10) ** 9, "trillion": Decimal(10) ** 12,
    "mn": Decimal(10) ** 6, "bn": Decimal(10) ** 9,
}  # fmt: skip
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBER_WORDS = {word: n for n, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}

_ABOUT = re.compile(r"(?:about|around|approximately|approx\.?|roughly|circa|ca?\.|some|nearly|almost|~|≈)\s*")
_NUMBER = r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d{1,3}(?: \d{3})+|\d+)(?:\.\d+)?"
_AMOUNT = re.compile(
    rf"(?P<sign>[^\w\s+.,-]|[a-z]{{1,3}}[^\w\s+.,-]|[a-z]{{3}} )?\s*(?P<number>{_NUMBER})"
    rf"(?:\s*(?:±|\+/-)\s*(?P<bound>{_NUMBER}))?"
    rf"(?:[\s-]*(?P<scale>{'|'.join(SCALES)})\b)?\s*(?P<rest>.*)"
)
_COMPOUND = re.compile(rf"({_NUMBER})\s*([a-z]+|')\s*(?:and\s+)?({_NUMBER})\s*([a-z]+|\"|'')")
_NOUN = re.compile(r"[^\W\d_]+(?:[ -][^\W\d_]+){0,3}")
_FRACTIONS = re.compile("[¼-¾⅐-⅞]")
_NO_NOUN = {month.name.lower() for month in language("en").months} | {
    "to", "or", "and", "bc", "bce", "ad", "ce", "century", "per",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedQuantity:
    """An amount as a text gives it.

    `digits` counts its significant digits (zeros at the end of a whole number are not). `unit` is None for
    a bare number and for counted things, whose noun is `noun` ("people"). `bound` is the ± given. `words`
    where the text says million and the like; `sign` where the unit stands before the number.
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


def parse_quantity(text: str) -> ParsedQuantity | None:
    """The amount that a text states, or None where it states none, or not one."""
    if len(text) > 80 or _FRACTIONS.search(text):
        return None
    rest = unicodedata.normalize("NFKC", text)
    rest = rest.translate({ord(c): "-" for c in "‐‑‒–—−"} | {ord(c): "'" for c in "’′"} | {ord("″"): '"'})
    rest = " ".join(rest.split()).rstrip(" .;,")
    lowered = rest.lower()
    found = _ABOUT.match(lowered)
    start = found.end() if found else 0
    approximate = start > 0
    rest, lowered = rest[start:], _spelled_out(lowered[start:])
    if lowered != rest.lower():
        rest = lowered
    if compound := _compound(lowered):
        amount, greater, unit_text, digits = compound
        return ParsedQuantity(
            text=text.strip(),
            amount=amount,
            digits=digits,
            unit=greater,
            unit_text=unit_text,
            approximate=approximate,
        )
    match = _AMOUNT.fullmatch(lowered)
    if match is None:
        return None
    unit: MeasureUnit | None = None
    unit_text = sign = noun = ""
    if match["sign"]:
        sign = match["sign"].strip()
        unit = unit_of_sign(sign)
        if unit is None:
            return None
        sign = rest[match.start("sign") : match.end("sign")].strip()
    if tail := rest[match.start("rest") :].strip():
        named = unit_of_spelling(tail)
        if named is None and _NOUN.fullmatch(tail) and _NO_NOUN.isdisjoint(tail.lower().split()):
            noun = tail
        elif named is None or sign:
            return None
        else:
            unit, unit_text = named, tail
    number = match["number"].replace(",", "").replace(" ", "")
    scale = SCALES[match["scale"]] if match["scale"] else Decimal(1)
    amount = Decimal(number) * scale
    bound = Decimal(match["bound"].replace(",", "").replace(" ", "")) * scale if match["bound"] else None
    return ParsedQuantity(
        text=text.strip(),
        amount=amount,
        digits=significant_digits(number),
        unit=unit,
        unit_text=unit_text,
        noun=noun,
        sign=sign,
        bound=bound,
        approximate=approximate,
        words=scale >= 10**6,
    )


def significant_digits(number: str) -> int:
    """Of a decimal text without separators: "8848.86" 6, "1.40" 3, "8800" 2, "0.05" 1, "0" 1."""
    whole, _, fraction = number.lstrip("+-").partition(".")
    if fraction:
        return max(1, len((whole + fraction).lstrip("0")))
    return max(1, len(whole.strip("0")) if not whole.startswith("0") else len(whole.lstrip("0").rstrip("0")))


def _compound(text: str) -> tuple[Decimal, MeasureUnit, str, int] | None:
    """Feet and inches, hours and minutes: the whole in the greater unit, to the lesser's precision."""
    found = _COMPOUND.fullmatch(text)
    if found is None:
        return None
    first, second = unit_of_spelling(found[2]), unit_of_spelling(found[4].replace("''", '"'))
    if (
        first is None
        or second is None
        or first.dimension != second.dimension
        or first.factor <= second.factor
    ):
        return None
    lesser = Decimal(found[3].replace(",", ""))
    if lesser * second.factor >= first.factor:
        return None
    amount = Decimal(found[1].replace(",", "")) + second.convert(lesser, first)
    places = max(1, -(second.factor / first.factor).adjusted())
    rounded = amount.quantize(Decimal(1).scaleb(-places))
    return amount, first, "ft" if found[2] == "'" else found[2], len(rounded.as_tuple().digits)


def _spelled_out(text: str) -> str:
    """A number in words at the beginning, as digits: "twenty-one people" -> "21 people"."""
    words = text.replace("-", " ").split(" ")
    if not words or words[0] not in NUMBER_WORDS:
        return text
    number, used = NUMBER_WORDS[words[0]], 1
    if number >= 20 and len(words) > 1 and 0 < NUMBER_WORDS.get(words[1], 0) < 10:
        number, used = number + NUMBER_WORDS[words[1]], 2
    rest = words[used:]
    if rest and rest[0] in NUMBER_WORDS:
        return text
    return " ".join([str(number), *rest])
