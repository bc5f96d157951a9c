"""Texts whose capitals tell nothing, in capitals throughout or without any, as they would stand in a book.

Which words are names is told by the names of the levels and by the question, by the countries, divisions and months
that are known, and by a list of common words; what none of these knows is a name.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from itertools import pairwise

from granola.matching import vocabulary
from granola.matching.divisions import ABBREVIATIONS, is_adjective, is_known
from granola.matching.gold import Names
from granola.matching.memory import MATCHING
from granola.matching.words import ARTICLES, Word, drop_articles, occurrences, words

_KINDS = vocabulary.CLASSES - vocabulary.KINDS - vocabulary.DIVISION_TYPES - vocabulary.OCCUPATIONS
_YEAR = re.compile("M[CDM][CDMLXVI]{2,}")
_ADDRESSES = frozenset({"mr", "mrs", "ms", "miss", "dr"})
_INITIALS = frozenset({"us", "usa", "uk", "ussr", "uae", "prc", "drc", "dprk"})
_LEFT = vocabulary.ORDINARY | _INITIALS
_ENDS = frozenset(",.;:()")
_FRAGMENT = 3  # words of a text that may be a part of a sentence
_LONG = 7  # words of a name whose inner initials are not thought of
_CLOSE = 3  # words that a country's or a division's name has at most


@cache
def _common() -> frozenset[str]:
    listed = files("granola.matching").joinpath("commonwords.txt").read_text(encoding="utf-8").split()
    return frozenset(listed).union(
        vocabulary.ORDINARY,
        vocabulary.CLASSES,
        vocabulary.RELATIVES,
        vocabulary.OFFICES,
        vocabulary.OCCUPATIONS,
        vocabulary.LEADING,
        vocabulary.BRIDGE,
        vocabulary.NEGATIONS,
        vocabulary.PARTICLES,
    )


def recased(text: str, levels: Names, question: str | None) -> str:
    """The text with the capitals that its names have; as it is where its own capitals tell which they are."""
    lower = text.lower()
    if (text != lower and text != text.upper()) or len(lower) != len(text):
        return text
    found = words(lower)
    if not found:
        return text
    marks = _marks(found, lower)
    if question:
        _as_written(marks, found, _names_in(question))
    _as_written(marks, found, _of_levels(levels))
    _widen(marks, found, lower)
    if len(found) > _FRAGMENT and marks[0] is None:
        marks[0] = ""
    out: list[str] = []
    end = 0
    for word, mark in zip(found, marks, strict=True):
        own = lower[word.start : word.end]
        out += (lower[end : word.start], own if mark is None else _capital(own, mark))
        end = word.end
    return "".join((*out, lower[end:]))


def _capital(own: str, mark: str) -> str:
    if len(mark) > 1 and mark.isupper() and own.replace(".", "") == mark.lower():
        return own.upper()
    return mark + own[len(mark) :] if mark and own.startswith(mark.lower()) else own[:1].upper() + own[1:]


def _marks(found: tuple[Word, ...], lower: str) -> list[str | None]:
    """For each word how it is written where it is a name: "" with a capital, otherwise so; None for other words."""
    texts = tuple([word.text for word in found])
    common = _common()
    marks: list[str | None] = []
    described = False  # what follows an article is common, up to the next small word
    for index, word in enumerate(found):
        if word.text in vocabulary.FUNCTION or word.text in vocabulary.PARTICLES or not _ENDS.isdisjoint(word.gap):
            described = word.text in vocabulary.INDEFINITE
        name = word.text[0].isalpha() and word.text not in common and not described
        own = word.text.upper()
        alone = index + 1 == len(found) or bool(found[index + 1].gap)
        short = word.text in _INITIALS and (len(found) == 1 or word.text != "us" or texts[index - 1] == "the")
        if short or (own in ABBREVIATIONS and "," in word.gap and alone) or _YEAR.fullmatch(own):
            marks.append(own)
        elif word.text in vocabulary.ORDINARY:
            marks.append("" if index and found[index - 1].text in _ADDRESSES else None)
        else:
            marks.append("" if name or is_adjective((word.text,)) or word.text in vocabulary.MONTHS else None)
    for size in range(_CLOSE, 0, -1):
        for start in range(len(found) - size + 1):
            if is_known(texts[start : start + size]) and not (size == 1 and texts[start] in _LEFT):
                for index in range(start, start + size):
                    marks[index] = None if texts[index] in vocabulary.FUNCTION else ""
    return marks


def _widen(marks: list[str | None], found: tuple[Word, ...], lower: str) -> None:
    """Kinds that are parts of names: China Airlines, University of Paris, and South India where a text begins so."""
    for index, (one, other) in enumerate(pairwise(found)):
        if other.gap.strip("-"):
            continue
        if marks[index] is not None and (other.text in _KINDS or other.text == "city"):
            if not is_adjective((one.text,)) and not lower.startswith(("'s", "’s"), one.end - 2):
                marks[index + 1] = marks[index + 1] or ""
        elif marks[index] is None and marks[index + 1] is not None and not index and one.text in vocabulary.POINTS:
            marks[index] = ""
    for index in range(len(found) - 2):
        if found[index].text in _KINDS and found[index + 1].text == "of" and not found[index + 1].gap:
            behind = index + 2 + (found[index + 2].text == "the")
            if behind < len(found) and marks[behind] is not None:
                marks[index] = marks[index] or ""


_Written = tuple[tuple[tuple[str, ...], tuple[str | None, ...]], ...]
"""Runs of folded words, each with its words as they are written where those have a capital."""


def _as_written(marks: list[str | None], found: tuple[Word, ...], written: _Written) -> None:
    texts = tuple([word.text for word in found])
    places = [index for index, text in enumerate(texts) if text not in ARTICLES]
    bare = tuple([texts[index] for index in places])
    present = frozenset(bare)
    for run, sources in written:
        size = len(run)
        if run[0] not in present:
            continue
        for start in occurrences(bare, run):
            at = places[start]
            if size == 1 and len(bare) > 1 and marks[at] is None and run[0] in vocabulary.ORDINARY:
                continue
            if size == 1 and at and texts[at - 1] in vocabulary.INDEFINITE and run[0] in vocabulary.CLASSES:
                continue
            for offset, source in enumerate(sources):
                marks[places[start + offset]] = source


@MATCHING.remembered(1 << 14)
def _of_levels(levels: Names) -> _Written:
    """Every name of the levels, words of their own first, whole names last; and the initials of long names."""
    own: dict[tuple[str, ...], tuple[str | None, ...]] = {}
    whole: dict[tuple[str, ...], tuple[str | None, ...]] = {}
    for name in (name for names in levels for name in names):
        found = drop_articles(words(name))
        if not found:
            continue
        sources = tuple([name[word.start : word.end] if word.capital else None for word in found])
        whole.setdefault(tuple([word.text for word in found]), sources)
        for word, source in zip(found, sources, strict=True):
            if word.text[0].isalpha() and word.text not in vocabulary.ORDINARY:
                small = source is None or own.get((word.text,), (source,))[0] is None
                own[word.text,] = (None if small else source,)
        initials = "".join(word.text[0] for word in found if word.text not in vocabulary.FUNCTION)
        if len(initials) > 1 and any(sources):
            own.setdefault((initials,), (initials.upper(),))
            for start in range(len(initials) - 2) if len(initials) < _LONG else ():
                for end in range(start + 3, len(initials) + 1):
                    own.setdefault((initials[start:end],), (initials[start:end].upper(),))
    return (*own.items(), *whole.items())


@MATCHING.remembered(1 << 13)
def _names_in(question: str) -> _Written:
    """The words of a question in their own case, its first left out."""
    MATCHING.count(len(question))
    if question in (question.lower(), question.upper()):
        return ()
    found = [word for word in words(question)[1:] if word.text[0].isalpha() and word.text not in vocabulary.ORDINARY]
    return tuple([((word.text,), (question[word.start : word.end] if word.capital else None,)) for word in found])
