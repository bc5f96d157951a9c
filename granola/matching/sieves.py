"""Which tiers a looser rule is worth asking about: those of which its first conditions hold.

Most answers fail most rules, by what is quickly seen of the answer and the tiers together. A sieve may let
through what its rule then finds nothing for, and must not hold back what the rule would find.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from granola.matching import vocabulary
from granola.matching.answer import Answer
from granola.matching.divisions import country_adjective_keys, country_openings, is_country
from granola.matching.folding import stem
from granola.matching.gold import Tier
from granola.matching.looser import FAMILY, LOOSER
from granola.matching.phrases import LONG

_FAITHS = frozenset(vocabulary.FAITHS)
Sieve = Callable[[Answer], Sequence[Tier]]


def _joined(answer: Answer) -> Sequence[Tier]:
    """Tiers whose letters stand in the answer's."""
    joined = answer.joined
    if len(joined) < 3:
        return ()
    return [tier for tier, folds in answer.loose_tiers if folds[0] in joined and "".join(folds) in joined]


def _countries(answer: Answer) -> Sequence[Tier]:
    """Countries and faiths, where the answer has a word that a country's name begins with, or an adjective or faith."""
    if len(answer.levels) == 1: return answer.tiers
    said = not country_openings().isdisjoint(answer.present) or answer.own in country_adjective_keys()
    if not said and _FAITHS.isdisjoint(answer.loose):
        return ()
    return [tier for tier in answer.tiers if is_country(tier[2]) or tier[2][0] in _FAITHS]


def _acronyms(answer: Answer) -> Sequence[Tier]:
    """Acronyms, where the answer has several words; names of as many words as its shortest word has letters."""
    if len(answer.texts) > 1 and not answer.has_acronym:
        return [tier for tier in answer.tiers if len(tier[2]) == 1 and tier[1].isupper()]
    letters = min([len(text) for text in answer.texts if len(text) > 1], default=1)
    several = len(answer.texts) > 1
    return [
        tier
        for tier in answer.tiers
        if (1 < letters <= _initials(tier[2]) if len(tier[2]) > 1 else several and tier[1].isupper())
    ]


def _initials(folded: tuple[str, ...]) -> int:
    """How many letters the initials of a name have at most: a number stands whole, as in WWII."""
    return len(folded) - 1 + len(folded[-1]) if len(folded[-1]) < 5 else len(folded)


def _spelling(answer: Answer) -> Sequence[Tier]:
    """Names with a word of the answer, and single words that begin as one of its words does.

    Of a single word's answer, names whose last word begins like it.
    """
    first = {text[0] for text in answer.texts}
    present = answer.present
    only = answer.own[0][0] if len(answer.own) == 1 and len(answer.own[0]) >= FAMILY else ""
    return [
        tier
        for tier in answer.tiers
        if (tier[2][0][0] in first if len(tier[2]) == 1 else tier[2][-1][0] == only or not present.isdisjoint(tier[2]))
    ]


def _long_names(answer: Answer) -> Sequence[Tier]:
    return () if answer.denies else [tier for tier in answer.shared if len(tier[2]) >= LONG]


def _phrases(answer: Answer) -> Sequence[Tier]:
    """Phrases all of whose words the answer has in some form."""
    stems = answer.stems
    return [
        tier
        for tier, folds in answer.loose_tiers
        if len(folds) > 1
        and (stem(folds[-1]) in stems or tier[2][-1] in vocabulary.FUNCTION)  # most fail here
        and all(stem(fold) in stems or w in vocabulary.FUNCTION for w, fold in zip(tier[2], folds, strict=True))
    ]


def shared(answer: Answer) -> Sequence[Tier]:
    """Tiers that have a word in common with the answer."""
    return answer.shared


SIEVES: Mapping[str, Sieve] = {
    "joined": _joined,
    "country": _countries,
    "acronym": _acronyms,
    "spelling": _spelling,
    "phrase": _phrases,
    "coverage": _long_names,
}
"""By the name of the rule; the others are asked about the tiers that have a word in common with the answer."""

UNSHARED = tuple((rule, find) for rule, find in LOOSER if rule in SIEVES and SIEVES[rule] is not _long_names)
"""The rules that may find a tier which has no word in common with the answer."""
