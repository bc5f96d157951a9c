"""Alternative forms of a name, for answers of any length.

`in the Gospel of Luke` -> Gospel of Luke; `Toronto, Ontario` -> Toronto, where the answer names no other container;
`adenosine diphosphate (ADP)` -> either. A bracket that only disambiguates (`Paris (Texas)`) is no name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from granola.matching.text import word_lists
from granola.matching.text.match_cache import MATCHING
from granola.matching.text.tokens import FoldedWord, key, words

_PLACE_PARTS = 3  # parts of a place at most, as in "Springfield, Sangamon County, Illinois"
_PART_WORDS = 4  # words of a part at most, as in "Papua New Guinea"


@dataclass(frozen=True, slots=True)
class Form:
    """A form of a name as folded words; `contained` where the name adds the container (`Toronto, Ontario`).

    A `partial` form leaves out what a preposition adds (`Lincoln Park in San Francisco`): it is used only where no
    level has that name. A form `alone` counts only as the whole answer, since it is no name (`the left ventricle` of
    the heart).
    """

    folded: tuple[str, ...]
    contained: bool = False
    partial: bool = False
    alone: bool = False


@MATCHING.memoize(1 << 13)
def forms(name: str) -> tuple[Form, ...]:
    """The other forms of a name, none equal to its own folded words."""
    MATCHING.count(len(name))
    whole = key(name)
    form_of = {form.folded: form for form in _bracket_forms(name)}
    for form in (*_part_forms(name), *_university_forms(whole), *_forms_without_addition(name)):
        form_of.setdefault(form.folded, form)  # the first way to make a form decides how it may be used
    form_of.pop(whole, None)
    return tuple(form_of.values())


def _bracket_forms(name: str) -> Iterator[Form]:
    """The forms before a bracket and inside it."""
    before, bracket, rest = name.partition("(")
    inside = rest.partition(")")[0].strip()
    if bracket and key(before):
        yield Form(key(before))
        if is_abbreviation(inside, before):
            yield Form(key(inside))
    if len(key(inside)) > 1 and name.islower():  # erythrocytes (red blood cells)
        yield Form(key(inside))


def _part_forms(name: str) -> Iterator[Form]:
    """A name without leading prepositions, without its container or a ruler's country, and the part after a colon."""
    before, bracket, _ = name.partition("(")
    for text in (name, before) if bracket else (name,):
        if short := _without_leading_words(text):
            yield Form(short)
        if first := place_parts(text)[0]:
            yield Form(first, contained=True)
    title = key(name.partition(":")[2])
    if len(title) > 1 and not name[0].isdigit():
        yield Form(title)
    if numbered := _RULER.match(name):
        yield Form(key(numbered[1]))


def _university_forms(whole: tuple[str, ...]) -> Iterator[Form]:
    """`Yale` for Yale University, `Oxford` for University of Oxford: only as the whole answer."""
    if len(whole) == 2 and whole[1] == "university":
        yield Form(whole[:1], alone=True)
    if whole[:2] == ("university", "of") and len(whole) > 2:
        yield Form(whole[2:], partial=True, alone=True)


def _forms_without_addition(name: str) -> Iterator[Form]:
    """A name without the addition of a preposition, where the rest is specific enough."""
    cut = _ADDED.search(name)
    if cut is None or any(c.isdigit() for c in name):
        return
    before = name[: cut.start()]
    content = [word for word in words(before) if word.text not in word_lists.FUNCTION]
    if len(content) > 1 or (cut["in"] and content and content[0].capital and content[0].text not in word_lists.CLASSES):
        yield Form(_without_leading_words(before) or key(before), partial=True, alone=not content[-1].capital)


_RULER = re.compile(r"((?:[^\W\d_]\w* ){1,2}[IVX]+),? of \S")  # Nicholas II of Russia
_ADDED = re.compile(r"(?<=\w),? (?:(?P<in>in|at|near) |(?:of the|from|on|by|from the|for the|to the) )")


@MATCHING.memoize(1 << 14)
def place_parts(name: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The folded place and its containers, (Springfield, (Illinois,)) for `Springfield, Illinois`; ((), ()) where a
    name is no such chain.
    """
    MATCHING.count(len(name))
    parts = [part.strip() for part in name.split(",")]
    if not 2 <= len(parts) <= _PLACE_PARTS:
        return (), ()
    folded = []
    for part in parts:
        part_words = words(part)
        if not 1 <= len(part_words) <= _PART_WORDS or not all(_is_name_word(word) for word in part_words):
            return (), ()
        folded.append(tuple(word.text for word in part_words))
    # "March 5, 1990" and "Davis, Jr." are no places
    if word_lists.MONTHS & set(folded[0]) or word_lists.SUFFIXES & {part[0] for part in folded[1:]}:
        return (), ()
    return folded[0], tuple(folded[1:])


def _is_name_word(word: FoldedWord) -> bool:
    return (word.capital or word.text in word_lists.PARTICLES) and word.text[0].isalpha()


def _without_leading_words(text: str) -> tuple[str, ...]:
    """The folded words without leading prepositions; () where there are none."""
    folded = key(text)
    start = 0
    while start < len(folded) - 1 and folded[start] in word_lists.LEADING:
        start += 1
    return folded[start:] if start else ()


def is_abbreviation(short: str, long: str) -> bool:
    """Whether `short` abbreviates `long`: ADP, or a symbol of up to two letters (Fe); only the first letter is
    compared.
    """
    letters = "".join(c for c in short if c.isalnum())
    # longer brackets are words, no abbreviations
    if not letters or len(letters) > 8 or " " in short.strip() or not letters[0].isupper():
        return False
    folded = key(long)
    if letters.isupper() and len(letters) > 1:
        return bool(folded) and folded[0][0] == letters[0].lower()
    return len(letters) <= 2 and bool(folded) and folded[0].startswith(letters[0].lower()) and len(folded) == 1


def initials(folded: tuple[str, ...]) -> tuple[str, str]:
    """The initials of words, with function words and without: ("domv", "dmv") of department of motor vehicles.

    Numbers are kept whole (WWII is not World War I), and a final "junior" is left out.
    """
    if len(folded) > 2 and folded[-1] in ("jr", "junior", "sr", "senior"):
        folded = folded[:-1]
    short = [(word, word if word in word_lists.ROMAN or word[0].isdigit() else word[0]) for word in folded]
    all_of = "".join(initial for _, initial in short)
    return all_of, "".join(initial for word, initial in short if word not in word_lists.FUNCTION)
