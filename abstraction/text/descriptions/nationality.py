"""Nationalities at the start of a phrase: "American", "Canadian-American", "German-born American"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from abstraction.text.descriptions.attested_words import DescriptionWord, Vocabulary
from abstraction.text.language.demonyms import bundled_demonyms
from abstraction.text.language.phrases import listed
from kg.base.model import normalise

LONGEST = 5  # words of the longest name: "Saint Vincent and the Grenadines"
_HYPHEN = re.compile(r"[-–‐/]")
# Words that change the meaning of an adjective: "South American" is not the nationality of one country.
REGIONAL = frozenset({"south", "north", "latin", "central", "pan", "all", "meso", "west", "east", "middle", "roman"})
# Words of descent and faith, which are left out before a nationality: an African American is an American.
DESCENT = frozenset({"african", "asian", "afro", "jewish", "black", "latino", "hispanic", "arab", "white", "native"})
# BC, 19th-century, 1920s, 1914-1918.
_ERA = re.compile(r"^(?:BCE?|CE|AD|\d+(?:st|nd|rd|th)[-–]century|\d{1,4}(?:[-–—]\d{1,4})?s?|\d+(?:st|nd|rd|th))$")
ERA_WORDS = frozenset({"ancient", "medieval", "classical"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Nationality:
    """A nationality in a description.

    `text` is its adjective for phrases, `countries` the possible QIDs of each part (one part for "American", two for
    "Canadian-American", none for the language someone writes in: "Russian-language"), `parts` the adjectives of the
    parts.
    """

    text: str
    parts: tuple[str, ...]
    countries: tuple[tuple[str, ...], ...]
    words: tuple[DescriptionWord, ...]


def read_nationality(words: Sequence[DescriptionWord], vocabulary: Vocabulary) -> Nationality | None:
    """The longest nationality at the start of the words, or None."""
    for size in range(min(LONGEST, len(words)), 0, -1):
        piece = words[:size]
        if any(w.separator for w in piece) and size > 1 and piece[1].text not in "/&":
            continue
        nationality = _nationality_of_all(piece, vocabulary)
        if nationality is not None:
            # "American football" is a game, not football in America.
            behind = words[size].key if size < len(words) else ""
            return None if f"{piece[-1].key} {behind}" in listed("national_compounds") else nationality
    return None


def read_language(words: Sequence[DescriptionWord]) -> Nationality | None:
    """"Russian language" or "Russian-language" before a noun, as a Nationality without countries; or None."""
    if words and words[0].capital and words[0].key.endswith(("-language", "–language")):
        used, name = words[:1], words[0].text[: -len("-language")]
    elif len(words) > 1 and words[0].capital and words[1].text == "language":
        used, name = words[:2], words[0].text
    else:
        return None
    return Nationality(text=f"{name}-language", parts=(), countries=(), words=tuple(used))


def begins_with_nation(words: Sequence[DescriptionWord], vocabulary: Vocabulary) -> bool:
    """Whether a phrase begins with a nationality of its own ("French Revolution", "American football")."""
    if len(words) > 1 and f"{words[0].key} {words[1].key}" in listed("national_compounds"):
        return True
    nationality = read_nationality(words, vocabulary)
    return nationality is not None and nationality.words[-1].key != "roman"


def _nationality_of_all(piece: Sequence[DescriptionWord], vocabulary: Vocabulary) -> Nationality | None:
    joined = " ".join(w.text for w in piece)
    if not joined[:1].isalpha() or (joined[:1].islower() and (piece[0].start or len(joined) < 6)):
        return None  # "polish" is an adjective unless it opens the description
    if single := _countries_of_adjective(joined, vocabulary):
        text = _spell_adjective(joined, single, vocabulary)
        return Nationality(text=text, parts=(text,), countries=(single,), words=tuple(piece))
    pieces = [p.strip() for p in _HYPHEN.split(joined.replace(" / ", "/"))]
    if len(pieces) < 2 or not all(pieces) or pieces[-1].casefold() == "born" or pieces[0].casefold() in REGIONAL:
        return None
    last = _countries_of_adjective(pieces[-1][:1].upper() + pieces[-1][1:], vocabulary)
    countries = (*(_countries_of_adjective(p, vocabulary) for p in pieces[:-1]), last)
    if not last or (not all(countries) and len(piece) > 1):
        return None
    if not all(countries):
        # "African-American", "Jewish-American": descent or faith, which never becomes a tier.
        pieces, countries = pieces[-1:], (last,)
    parts = tuple(_spell_adjective(p, c, vocabulary) for p, c in zip(pieces, countries, strict=True))
    return Nationality(text="-".join(parts), parts=parts, countries=countries, words=tuple(piece))


def _countries_of_adjective(text: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    countries = vocabulary.nations(text)
    return countries or bundled_demonyms().names.get(normalise(text), ())


def _spell_adjective(text: str, countries: tuple[str, ...], vocabulary: Vocabulary) -> str:
    """The adjective with its usual capitals; for a country's name or abbreviation the adjective of the country."""
    key = normalise(text)
    bundled = bundled_demonyms()
    adjective = vocabulary.adjective(countries[0])
    if adjective is not None and key in bundled.names:
        return adjective
    if key in _ABBREVIATED:
        return adjective or text
    for form in (adjective, *bundled.variants.get(countries[0], ())):
        if form is not None and normalise(form) == key:
            return form
    return text[:1].upper() + text[1:] if text.islower() else text


# Abbreviations that are replaced by the adjective.
_ABBREVIATED = frozenset({"us", "u.s.", "usa", "uk", "u.k.", "us american", "us-american", "u.s. american"})


def is_era(word: DescriptionWord) -> bool:
    """Whether the word is a period: "19th-century", "1920s"."""
    return bool(_ERA.match(word.text))


def is_birth(word: DescriptionWord) -> bool:
    """Whether the word names a birthplace: "German-born"."""
    return word.key.endswith(("-born", "–born")) and len(word.text) > 5
