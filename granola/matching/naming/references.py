"""Values that depend on acceptable names alone, computed once for all predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from itertools import chain

from abstraction.text.language.amount_finder import may_be_amount, whole_amount
from abstraction.text.language.date_finder import IntervalClaim, may_be_date, whole_date
from abstraction.text.language.languages import language
from granola.matching.text import word_lists
from granola.matching.text.match_cache import MATCHING
from granola.matching.text.repair import decode_mojibake
from granola.matching.text.tokens import key, loose_folds
from granola.replies.plain_text import plain

Names = tuple[tuple[str, ...], ...]
"""Acceptable names by level, finest first."""
Tier = tuple[int, str, tuple[str, ...]]
"""A name of a level: the level from 0, the name, its folded words."""
_REMEMBERED = 1 << 14  # entries per cache, each for the names of one ladder
LONGEST = 500  # characters of a name at most that rules search for; gold answers have up to 200


def names_without_mojibake(levels: Names) -> Names:
    """The names with mojibake decoded."""
    if all(map(str.isascii, chain.from_iterable(levels))):
        return levels
    return tuple(tuple(decode_mojibake(name) for name in names) for names in levels)


@MATCHING.memoize(_REMEMBERED)
def searchable_names(levels: Names) -> Names:
    """The names that rules search for in answers, not only compare with the whole prediction.

    That is names of up to LONGEST characters, and the names that follow a description in them (`author Rudyard
    Kipling`).
    """
    MATCHING.count(sum(map(len, chain.from_iterable(levels))))
    if max(map(len, chain.from_iterable(levels)), default=0) > LONGEST:
        levels = tuple(tuple([name for name in names if len(name) <= LONGEST]) for names in levels)
    bare = [
        [bearer for name in names if (bearer := name_after_description(name)) and bearer not in names]
        for names in levels
    ]
    return tuple((*names, *more) for names, more in zip(levels, bare, strict=True)) if any(bare) else levels


@MATCHING.memoize(_REMEMBERED)
def without_function_words(levels: Names, code: str) -> Names:
    """The names that are no function words of the answer's language ("de" for Germany, "au" for Australia).

    A code of three capitals is kept: where it occurs, its capitals distinguish USA from *usa*.
    """
    function, numbers = function_words(code), language(code).number_words
    if not function:
        return levels
    MATCHING.count(sum(map(len, chain.from_iterable(levels))))
    return tuple(
        tuple(
            name
            for name in names
            if (len(name) == _CODE and name.isupper())
            or plain(name) not in function
            or numbers.get(name.lower(), 1) != 1
            or any(map(str.isdigit, name))
        )
        for names in levels
    )


_CODE = 3  # letters of a code that its capitals distinguish from a word


@lru_cache(maxsize=256)  # bounded, since codes may come from requests
def function_words(code: str) -> frozenset[str]:
    """The folded function words of a language; empty for English, whose function words the rules list themselves."""
    return frozenset(map(plain, language(code).function_words))


def name_after_description(name: str) -> str:
    """The name after a description, as in `English author Rudyard Kipling`; "" where there is none."""
    if not name[name.rfind(" ") + 1 :][:1].isupper() or _INTRODUCING.isdisjoint(name_words := name.split()):
        return ""
    for place in range(len(name_words) - 2, 0, -1):
        kind = name_words[place].lower()
        bearer = name_words[place + 1 :]
        if not all(word[0].isupper() or word == "the" or word in word_lists.PARTICLES for word in bearer):
            return ""
        if kind in word_lists.TITLES and len(bearer) > 1 and bearer[0] != "the":
            return " ".join(bearer)
        if name_words[place] in _KINDS and len("".join(bearer)) > _SHORTEST:
            return " ".join(bearer)
    return ""


# words that may precede a name as its description; "of" leads to another name
_KINDS = (word_lists.CLASSES | word_lists.OCCUPATIONS) - {"of"}
_INTRODUCING = _KINDS | word_lists.TITLES | {title.capitalize() for title in word_lists.TITLES}
_SHORTEST = 4  # letters that a name after a description must exceed


@MATCHING.memoize(_REMEMBERED)
def tiers(levels: Names) -> tuple[Tier, ...]:
    """Every name that has at least one word, in the order of the levels."""
    MATCHING.count(sum(map(len, chain.from_iterable(levels))))
    return tuple(
        [(level, name, folded) for level, names in enumerate(levels) for name in names if (folded := key(name))]
    )


@MATCHING.memoize(_REMEMBERED)
def loose_keys(levels: Names) -> tuple[tuple[str, ...], ...]:
    """The further folds of each of the tiers, in their order."""
    MATCHING.count(sum(map(len, chain.from_iterable(levels))))
    return tuple([loose_folds(name, folded) for _, name, folded in tiers(levels)])


@MATCHING.memoize(_REMEMBERED)
def names_places(levels: Names) -> bool:
    """Whether a coarser level has a proper name, as those of places do, and not only descriptions ("a composer")."""
    MATCHING.count(sum(map(len, chain.from_iterable(levels))))
    return any(level > 0 and name[:1].isupper() and not is_description(name) for level, name, _ in tiers(levels))


def is_description(name: str) -> bool:
    """Whether a name is a description: `a composer`, `American playwright`; its last word has no capital."""
    last = name.split()[-1] if name.split() else ""
    return name.startswith(("a ", "an ", "A ", "An ")) or last[:1].islower()


@MATCHING.memoize(_REMEMBERED)
def claims_of_kind(levels: Names, kind: str, code: str) -> tuple[tuple[IntervalClaim, ...], ...]:
    """The names of each level that are dates or amounts, as claims; () where the finest level has none."""
    MATCHING.count(sum(map(len, chain.from_iterable(levels))))
    read, may_be = (whole_date, may_be_date) if kind == "date" else (whole_amount, may_be_amount)
    if (
        not levels
        or not may_be("\n".join(levels[0]), code)
        or not (finest := _claims_of_names(read, may_be, levels[0], code))
    ):
        return ()
    return finest, *(_claims_of_names(read, may_be, names, code) for names in levels[1:])


def _claims_of_names(
    read: Callable[[str, str], IntervalClaim | None],
    may_be: Callable[[str, str], bool],
    names: tuple[str, ...],
    code: str,
) -> tuple[IntervalClaim, ...]:
    """The names that `read` reads as dates or amounts, as claims with the whole name as text."""
    named_claims = [(claim, name) for name in names if may_be(name, code) and (claim := read(name, code))]
    return tuple([claim if claim.text == name else replace(claim, text=name) for claim, name in named_claims])


@MATCHING.memoize(_REMEMBERED)
def names_of_other_kinds(levels: Names, kind: str, code: str) -> Names:
    """The names of each level that are no dates or amounts of that kind."""
    MATCHING.count(sum(map(len, chain.from_iterable(levels))))
    if not (claims := claims_of_kind(levels, kind, code)):
        return levels
    values_of_levels = [{claim.text for claim in level} for level in claims]
    return tuple(
        [
            tuple([name for name in names if name not in texts])
            for names, texts in zip(levels, values_of_levels, strict=True)
        ]
    )
