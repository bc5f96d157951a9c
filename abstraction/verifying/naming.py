"""Is a text another name of the answer, an invented one, or the name of someone else?"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from enum import StrEnum

from abstraction.verifying.comparable_words import FUNCTION, all_words, stands_in
from kg.terms import normalise

_LEGAL = """
    ltd limited inc incorporated corp corporation company co plc llc gmbh ag sa nv bv kk group holding records label
    fc f.c a.f.c afc cf club
"""
LEGAL = frozenset(_LEGAL.split())
# Said of one of several people of a name: no name has them by chance.
_SUFFIXES = "jr sr junior senior ii iii iv v ph.d phd m.d md esq"
SUFFIXES = frozenset(_SUFFIXES.split())
_SMALL = "de del della di da von van der den of the la le du al el bin ibn y e"
_PARTICLES = frozenset(_SMALL.split())
_AND = re.compile(r"\s(?:and|&|feat\.?|featuring|with)\s")


class Naming(StrEnum):
    """How a text stands to the names of the answer."""

    ALIAS = "alias"
    INVENTED = "invented"  # the name with an addition that nothing attests
    OTHER = "other"  # shares a part of the name and is someone else's
    MORE = "more"  # the answer and something beside it
    NONE = "none"


def naming(text: str, names: Sequence[str], *, person: bool, attested: Collection[str] = ()) -> Naming:
    """How `text` stands to `names`; `attested` are further words said of the answer (description, places, years).

    For persons a part of the name with given name or initial and family name is an alias; words after the whole name
    are attested ones, or make it an alias that nobody vouches for. For all others the whole name must stand in it.
    """
    words = _plain_words(re.sub(r"\([^()]*\)", " ", text))
    attested_words = {w.rstrip(".") for w in attested}
    for name in names:
        theirs = _plain_words(name)
        if theirs and stands_in(theirs, words):
            added = [w for w in _without(words, theirs) if w not in FUNCTION]
            tail = normalise(text).partition(normalise(name))[2]
            if _AND.search(f" {tail} ") and not set(added) <= attested_words:
                return Naming.MORE
            if any(w in SUFFIXES and w not in attested_words for w in added):
                return Naming.INVENTED
            if person or all(w in LEGAL or w in attested_words or w.isdigit() for w in added):
                return Naming.ALIAS
    if person:
        return _of_person(text, words, names)
    return Naming.NONE


def _of_person(text: str, words: list[str], names: Sequence[str]) -> Naming:
    if text[:1].islower() or re.match(r"(?:an?|the)\s", text, re.I):
        return Naming.NONE
    called = [_plain_words(name) for name in names]
    every = frozenset().union(*called)
    for theirs in called:
        if len(theirs) > 1 and theirs[0] in words and theirs[-1] in words:
            return Naming.ALIAS if SUFFIXES.isdisjoint(set(words) - every) else Naming.INVENTED
        if words and all(_stands_for_part(w, theirs) for w in words):
            return Naming.ALIAS
    shared = every.intersection(words) - _PARTICLES
    return Naming.OTHER if shared and _looks_like_a_name(text) else Naming.NONE


def _stands_for_part(word: str, name: Sequence[str]) -> bool:
    """Whether the word is a word of the name, or the initial of one."""
    return word in name or (len(word) == 1 and any(part[0] == word for part in name))


def _plain_words(text: str) -> list[str]:
    """The words of a text without the full stop behind an abbreviation."""
    return [w.rstrip(".") for w in all_words(text)]


def _looks_like_a_name(text: str) -> bool:
    parts = [p for p in re.split(r"[\s,]+", text) if p]
    return len(parts) <= 8 and all(p[:1].isupper() or p.casefold() in _PARTICLES for p in parts)


def _without(words: Sequence[str], part: Sequence[str]) -> list[str]:
    before, middle, behind = f" {' '.join(words)} ".partition(f" {' '.join(part)} ")
    return [*before.split(), *behind.split()] if middle else list(words)
