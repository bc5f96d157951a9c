"""The currencies that a text names, by their codes (ISO 4217), as Unicode CLDR spells them: ₩, C$, CHF, rupees, won.

A sign or a noun is that of several currencies at times: pesos of eight. So each is read as all that it may be, and two
texts name different currencies where no reading is the same. "$" alone is the US dollar's.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from abstraction.language.cldr import currency_spellings
from abstraction.language.language_data import any_of
from abstraction.language.languages import language
from kg.bounded_cache import bounded_cache

SIGNS = "$¢-¥₠-⃏"
"""The characters that are signs of currencies, as a class of a regular expression has them."""
_ALSO = {"C$": "CAD", "AU$": "AUD", "US$": "USD", "S$": "SGD", "kr": "SEK NOK DKK ISK", "Rs": "INR PKR LKR NPR MUR"}
_SIGN, _WORD = re.compile(f"[{SIGNS}]"), re.compile(r"[^\W\d_]+")
_LONGEST = 300  # characters of a text that is kept with its currencies


@dataclass(frozen=True, slots=True)
class _Spellings:
    """What names currencies in a language: what stands before a number or behind, and the nouns, behind one alone.

    A text without a sign and any of the `words`, in small letters, names none.
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
    """The readings, as codes, of each currency that a text in the language names, left to right."""
    spellings = _spellings(code)
    if not _SIGN.search(text) and spellings.words.isdisjoint(_WORD.findall(text.lower())):
        return ()
    found = (match[match.lastgroup or 0] for match in spellings.named.finditer(text))
    return tuple(spellings.codes.get(name) or spellings.codes[name.lower()] for name in found)


def are_other_currencies(text: str, other: str, code: str = "en") -> bool:
    """Whether both texts name currencies and none that may be the same."""
    first, second = currencies(text, code), currencies(other, code)
    return bool(first and second) and frozenset().union(*first).isdisjoint(frozenset().union(*second))
