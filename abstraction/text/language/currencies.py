"""The currencies named in a text, as ISO 4217 codes, by the spellings of Unicode CLDR: ₩, C$, CHF, rupees, won.

A sign or noun may belong to several currencies (eight are called peso), so all possible readings are returned. Two
texts name different currencies if they share no reading. "$" alone is the US dollar.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from abstraction.text.language.cldr import currency_spellings
from abstraction.text.language.language_data import any_of
from abstraction.text.language.languages import language
from kg.base.bounded_cache import bounded_cache

SIGNS = "$¢-¥₠-⃏"
"""The characters that are signs of currencies, as a class of a regular expression has them."""
# Usual spellings that CLDR lacks or that it gives to one currency alone.
_ALSO = {"C$": "CAD", "AU$": "AUD", "US$": "USD", "S$": "SGD", "kr": "SEK NOK DKK ISK", "Rs": "INR PKR LKR NPR MUR"}
_SIGN, _WORD = re.compile(f"[{SIGNS}]"), re.compile(r"[^\W\d_]+")
_LONGEST = 300  # characters; longer texts are read but not cached


@dataclass(frozen=True, slots=True)
class _Spellings:
    """Currency spellings of a language: `named` matches signs and codes before or after a number and nouns after one.

    `words` are the last words of all spellings, in lower case: a text without them and without a sign names no
    currency.
    """

    named: re.Pattern[str]
    words: frozenset[str]
    codes: Mapping[str, frozenset[str]]


@cache
def _spellings(code: str) -> _Spellings:
    codes: dict[str, set[str]] = {sign: set(known.split()) for sign, known in _ALSO.items()}
    nouns: set[str] = set()
    for one in dict.fromkeys(("en", language(code).code)):
        for iso, (sign, *names) in currency_spellings(one).items():
            codes.setdefault(iso, set()).add(iso)
            codes.setdefault(sign, set()).add(iso)
            for name in names:
                for noun in (name.lower(), name.lower().rpartition(" ")[2]):
                    nouns.add(noun)
                    codes.setdefault(noun, set()).add(iso)
    signs = set(codes) - nouns
    alone = {sign for sign in signs if any(unicodedata.category(letter) == "Sc" for letter in sign)}
    number = rf"(?:\d|\b(?:{any_of(language(code).powers)})|\b(?:{any_of(language(code).number_words)}))"
    named = re.compile(
        rf"(?P<sign>(?<![^\W\d_])(?:{any_of(alone)}))|(?<!\w)(?P<code>{any_of(signs - alone)})\.?(?=\s?\d)"
        rf"|(?<=\d)\s?(?P<behind>{any_of(signs - alone)})(?!\w)|(?i:{number}\.?\s(?P<noun>{any_of(nouns)})(?!\w))"
    )
    last_words = frozenset(spelling.lower().rpartition(" ")[2] for spelling in codes)
    return _Spellings(named, last_words, {spelling: frozenset(known) for spelling, known in codes.items()})


@bounded_cache(entries=1 << 12, longest=_LONGEST)
def currencies(text: str, code: str = "en") -> tuple[frozenset[str], ...]:
    """For each currency named in a text of the language, left to right, the ISO codes that it may mean."""
    spellings = _spellings(code)
    if not _SIGN.search(text) and spellings.words.isdisjoint(_WORD.findall(text.lower())):
        return ()
    found = (match[match.lastgroup or 0] for match in spellings.named.finditer(text))
    return tuple(spellings.codes.get(name) or spellings.codes[name.lower()] for name in found)


def are_other_currencies(text: str, other: str, code: str = "en") -> bool:
    """Whether both texts name currencies and no reading is shared."""
    first, second = currencies(text, code), currencies(other, code)
    return bool(first and second) and frozenset().union(*first).isdisjoint(frozenset().union(*second))
