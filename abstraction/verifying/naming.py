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
    words = [w.rstrip(".") for w in all_words(re.sub(r"\([^()]*\)", " ", text))]
    said = {w.rstrip(".") for w in attested}
    for name in names:
        theirs = [w.rstrip(".") for w in all_words(name)]
        if theirs and stands_in(theirs, words):
            rest = [w for w in _without(words, theirs) if w not in FUNCTION]
            tail = normalise(text).partition(normalise(name))[2]
            if _AND.search(f" {tail} ") and not set(rest) <= said:
                return Naming.MORE
            if any(w in SUFFIXES and w not in said for w in rest):
                return Naming.INVENTED
            if person or all(w in LEGAL or w in said or w.isdigit() for w in rest):
                return Naming.ALIAS
    if person:
        return _of_person(text, words, names)
    return Naming.NONE


def _of_person(text: str, words: list[str], names: Sequence[str]) -> Naming:
    own = {w.rstrip(".") for name in names for w in all_words(name)}
    if text[:1].islower() or re.match(r"(?:an?|the)\s", text, re.I):
        return Naming.NONE
    for name in names:
        theirs = [w.rstrip(".") for w in all_words(name)]
        if len(theirs) > 1 and theirs[0] in words and theirs[-1] in words:
            rest = [w for w in words if w not in own]
            return Naming.INVENTED if any(w in SUFFIXES for w in rest) else Naming.ALIAS
        if words and all(w in theirs or (len(w) == 1 and any(t[0] == w for t in theirs)) for w in words):
            return Naming.ALIAS
    shared = {w for w in words if w in own and w not in _PARTICLES}
    return Naming.OTHER if shared and _looks_like_a_name(text) else Naming.NONE


def _looks_like_a_name(text: str) -> bool:
    parts = [p for p in re.split(r"[\s,]+", text) if p]
    return len(parts) <= 8 and all(p[:1].isupper() or p.casefold() in _PARTICLES for p in parts)


def _without(words: Sequence[str], part: Sequence[str]) -> list[str]:
    before, found, behind = f" {' '.join(words)} ".partition(f" {' '.join(part)} ")
    return [*before.split(), *behind.split()] if found else list(words)
