"""What may stand for a name besides the whole of it, in answers of any length.

`in the Gospel of Luke` -> Gospel of Luke; `Toronto, Ontario` -> Toronto, where no other container is said;
`adenosine diphosphate (ADP)` -> either. What a bracket only tells apart (`Paris (Texas)`) is no name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from granola.matching.text import word_lists
from granola.matching.text.match_cache import MATCHING
from granola.matching.text.tokens import FoldedWord, key, words

_PLACE_PARTS = 3  # parts of "Springfield, Sangamon County, Illinois"
_PART_WORDS = 4


@dataclass(frozen=True, slots=True)
class Form:
    """Folded words that may stand for a name; `contained` where the name says beside them what its bearer lies in.

    A `partial` form leaves out what the name adds behind a preposition (`Lincoln Park in San Francisco`): it stands
    for the name only where no level is called so. One that is no name (`the left ventricle` of the heart) does so
    `alone`: where it is the whole answer.
    """

    folded: tuple[str, ...]
    contained: bool = False
    partial: bool = False
    alone: bool = False


@MATCHING.remembered(1 << 13)
def forms(name: str) -> tuple[Form, ...]:
    """The other forms of a name, none equal to its own folded words."""
    MATCHING.count(len(name))
    whole = key(name)
    form_of = {form.folded: form for form in _set_apart(name)}
    for form in (*_parts(name), *_of_a_university(whole), *_without_addition(name)):
        form_of.setdefault(form.folded, form)
    form_of.pop(whole, None)
    return tuple(form_of.values())


def _set_apart(name: str) -> Iterator[Form]:
    """What brackets set apart, and what stands before them."""
    before, bracket, rest = name.partition("(")
    inside = rest.partition(")")[0].strip()
    if bracket and key(before):
        yield Form(key(before))
        if is_abbreviation(inside, before):
            yield Form(key(inside))
    if len(key(inside)) > 1 and name.islower():  # erythrocytes (red blood cells)
        yield Form(key(inside))


def _parts(name: str) -> Iterator[Form]:
    """A name without what leads to it, what contains it or what a ruler rules; and what stands behind a colon."""
    before, bracket, _ = name.partition("(")
    for text in (name, before) if bracket else (name,):
        if short := _without_edges(text):
            yield Form(short)
        if first := place_parts(text)[0]:
            yield Form(first, contained=True)
    title = key(name.partition(":")[2])
    if len(title) > 1 and not name[0].isdigit():
        yield Form(title)
    if numbered := _RULER.match(name):
        yield Form(key(numbered[1]))


def _of_a_university(whole: tuple[str, ...]) -> Iterator[Form]:
    if len(whole) == 2 and whole[1] == "university":
        yield Form(whole[:1], alone=True)
    if whole[:2] == ("university", "of") and len(whole) > 2:
        yield Form(whole[2:], partial=True, alone=True)


def _without_addition(name: str) -> Iterator[Form]:
    """A name without what it adds behind a preposition, where what is left says enough."""
    cut = _ADDED.search(name)
    if cut is None or any(c.isdigit() for c in name):
        return
    before = name[: cut.start()]
    content = [word for word in words(before) if word.text not in word_lists.FUNCTION]
    if len(content) > 1 or (cut["in"] and content and content[0].capital and content[0].text not in word_lists.CLASSES):
        yield Form(_without_edges(before) or key(before), partial=True, alone=not content[-1].capital)


_RULER = re.compile(r"((?:[^\W\d_]\w* ){1,2}[IVX]+),? of \S")  # Nicholas II of Russia
_ADDED = re.compile(r"(?<=\w),? (?:(?P<in>in|at|near) |(?:of the|from|on|by|from the|for the|to the) )")


@MATCHING.remembered(1 << 14)
def place_parts(name: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """(Springfield, (Illinois,)) of `Springfield, Illinois`, folded; ((), ()) of what is no such chain."""
    MATCHING.count(len(name))
    parts = [part.strip() for part in name.split(",")]
    if not 2 <= len(parts) <= _PLACE_PARTS:
        return (), ()
    folded = []
    for part in parts:
        part_words = words(part)
        if not 1 <= len(part_words) <= _PART_WORDS or not all(_is_named(word) for word in part_words):
            return (), ()
        folded.append(tuple(word.text for word in part_words))
    if word_lists.MONTHS & set(folded[0]) or word_lists.SUFFIXES & {part[0] for part in folded[1:]}:
        return (), ()
    return folded[0], tuple(folded[1:])


def _is_named(word: FoldedWord) -> bool:
    return (word.capital or word.text in word_lists.PARTICLES) and word.text[0].isalpha()


def _without_edges(text: str) -> tuple[str, ...]:
    """The folded words without prepositions before them."""
    folded = key(text)
    start = 0
    while start < len(folded) - 1 and folded[start] in word_lists.LEADING:
        start += 1
    return folded[start:] if start else ()


def is_abbreviation(short: str, long: str) -> bool:
    """Whether `short` is made of initials of what `long` names: ADP, Fe only where it begins alike."""
    letters = "".join(c for c in short if c.isalnum())
    if not letters or len(letters) > 8 or " " in short.strip() or not letters[0].isupper():
        return False
    folded = key(long)
    if letters.isupper() and len(letters) > 1:
        return bool(folded) and folded[0][0] == letters[0].lower()
    return len(letters) <= 2 and bool(folded) and folded[0].startswith(letters[0].lower()) and len(folded) == 1


def initials(folded: tuple[str, ...]) -> tuple[str, str]:
    """The initials of words, function words counted and not: ("domv", "dmv") of department of motor vehicles.

    Numbers stand as they are (WWII is no World War I), and a junior is left out.
    """
    if len(folded) > 2 and folded[-1] in ("jr", "junior", "sr", "senior"):
        folded = folded[:-1]
    short = [(word, word if word in word_lists.ROMAN or word[0].isdigit() else word[0]) for word in folded]
    all_of = "".join(initial for _, initial in short)
    return all_of, "".join(initial for word, initial in short if word not in word_lists.FUNCTION)
