"""Rules for answers that state a tier in other words; asked where no name of a tier stands in the answer as it is.

Each finds places in the answer that may state a tier; the vetoes on plain mentions hold for them too. In order:

form       a name without its preposition, bracket or container (granola.matching.forms)
fold       the same words in another number, spelling or numeral (granola.matching.folding)
joined     the same letters, parted into words in another way: Spiderman, sky diving
person     one family name and first names that agree (granola.matching.people)
country    another name of a country, or its adjective as the whole answer
acronym    the initials of a name, or the name that initials stand for
words      all informative words of a name in any order, the question's own left out
spelling   a long capitalised word that is one letter off
coverage   most of what a long name says, by weight
polarity   yes or no at the beginning
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache

from granola.matching import vocabulary
from granola.matching.answer import Answer, Mention
from granola.matching.divisions import ABBREVIATIONS, contradict, country_adjectives, country_names
from granola.matching.folding import loose, loose_key, stem
from granola.matching.forms import Form, forms, initials_match
from granola.matching.people import Person, compatible, person, whole_person
from granola.matching.words import key

_Found = Iterator[Mention]
_Tier = tuple[int, str, tuple[str, ...]]
JOINED = 6  # letters from which the parting into words does not matter
SPELLED = 6  # letters of a word that may be one letter off in a name of several words; two more where it stands alone
SPREAD = 3  # words that may stand between the words of a name
LONG = 4  # informative words from which most of them are enough
COVERED = 0.75  # share of their weight that is
_DELICATE = 3
_POLARITY = frozenset({("yes",), ("no",)})


@lru_cache(maxsize=1 << 16)
def informative(name: str) -> tuple[str, ...]:
    """The further folds of a name's words that say something, in order."""
    empty = vocabulary.FUNCTION
    return tuple(folded for word, folded in zip(key(name), loose_key(name), strict=True) if word not in empty)


def _spans(answer: Answer, tier: _Tier, wanted: tuple[str, ...], said: tuple[str, ...]) -> _Found:
    size = len(wanted)
    if size == 1 and len(wanted[0]) <= _DELICATE:
        if said == wanted:
            yield Mention(tier[0], tier[1], 0, 1)
        return
    if vocabulary.ORDINARY.issuperset(wanted):
        return
    for start in range(len(said) - size + 1):
        if said[start] == wanted[0] and said[start : start + size] == wanted:
            yield Mention(tier[0], tier[1], start, start + size)


def by_form(answer: Answer, tier: _Tier) -> _Found:
    """A preposition, a bracket or a container of the name is not said."""
    for form in forms(tier[1]):
        if not answer.present.issuperset(form.folded):
            continue
        for mention in _spans(answer, tier, form.folded, answer.texts):
            if not form.container or _may_lie_in(answer, mention, form):
                yield mention


def _may_lie_in(answer: Answer, mention: Mention, form: Form) -> bool:
    """Whether what stands behind a place does not put it elsewhere than the name does."""
    index = mention.end
    texts = answer.texts
    while index < len(texts) and index < mention.end + 4 and texts[index] in vocabulary.BRIDGE:
        index += 1
    if index == len(texts):
        return True
    for size in (3, 2, 1):
        folded = texts[index : index + size]
        if len(folded) < size:
            continue
        if folded in form.container:
            return True
        if any(contradict(folded, container) for container in form.container):
            return False
    short = answer.quote(index, index + 1)
    if short.isupper() and (state := ABBREVIATIONS.get(short)):
        return not any(contradict(state, container) for container in form.container)
    return True


def by_fold(answer: Answer, tier: _Tier) -> _Found:
    """The words of the name or of one of its forms, in another number, spelling or numeral."""
    wanted = loose_key(tier[1])
    if answer.loose_present.issuperset(wanted):
        yield from _spans(answer, tier, wanted, answer.loose)
    for form in forms(tier[1]):
        if not form.container and answer.loose_present.issuperset(folded := tuple(map(loose, form.folded))):
            yield from _spans(answer, tier, folded, answer.loose)


def by_joining(answer: Answer, tier: _Tier) -> _Found:
    """The letters of the name, parted into words in another way."""
    wanted = "".join(loose_key(tier[1]))
    if len(wanted) < JOINED or wanted not in answer.joined:
        return
    texts = answer.loose
    for start, first in enumerate(texts):
        if not wanted.startswith(first) and not first.startswith(wanted):
            continue
        said, end = "", start
        while end < len(texts) and len(said) < len(wanted):
            said += texts[end]
            end += 1
        if said == wanted:
            yield Mention(tier[0], tier[1], start, end)


def by_person(answer: Answer, tier: _Tier) -> _Found:
    """One family name, and given names or a title that agree; the family name alone where persons are asked for."""
    if answer.of_places or answer.asks_place:
        return
    wanted = whole_person(tier[1])
    if wanted is None:
        yield from _royal(answer, tier)
        return
    for end, word in enumerate(answer.words, start=1):
        if word.text != wanted.family or (answer.cased and not word.capital):
            continue
        start = _run_before(answer, end)
        stop = end + (end < len(answer.words) and answer.words[end].text in vocabulary.SUFFIXES)
        said = person(answer.words[start:stop], answer.text)
        if said is None or said.family != wanted.family:
            continue
        if said.given:
            if compatible(said, wanted):
                yield Mention(tier[0], tier[1], start, stop)
        elif _stands_for_all(answer, start, stop, wanted):
            yield Mention(tier[0], tier[1], start, stop)


def _run_before(answer: Answer, end: int) -> int:
    """Where the name begins whose last word ends at `end`."""
    start = end - 1
    while start > 0 and end - start < 6 and not answer.words[start].gap.strip(".'’-"):
        word = answer.words[start - 1]
        particle = word.text in vocabulary.PARTICLES
        if (
            word.text in vocabulary.FUNCTION
            or not word.text.isalpha()
            or (answer.cased and not (word.capital or particle))
        ):
            break
        start -= 1
    return start


def _stands_for_all(answer: Answer, start: int, stop: int, wanted: Person) -> bool:
    """Whether a family name alone, with a title or without, is that of the person asked for."""
    if wanted.family in answer.asked or len(wanted.family) < _DELICATE + 1:
        return False
    if not (answer.asks_person or answer.of_persons):
        return False
    behind = answer.words[stop] if stop < len(answer.words) else None
    return behind is None or bool(behind.gap) or not behind.capital or behind.text in vocabulary.FUNCTION


def _royal(answer: Answer, tier: _Tier) -> _Found:
    """`Queen Charlotte` for Charlotte of Mecklenburg-Strelitz; `Donna Pinciotti` for Donna where one asks who."""
    folded = tier[2]
    if not folded[0].isalpha() or not tier[1][:1].isupper():
        return
    for start, word in enumerate(answer.words):
        if word.text != folded[0] or (answer.cased and not word.capital):
            continue
        if len(folded) > 2 and folded[1] == "of":
            if start and answer.words[start - 1].text in vocabulary.ROYAL and _ends_here(answer, start + 1):
                yield Mention(tier[0], tier[1], start - 1, start + 1)
        elif len(folded) == 1 and answer.asks_person and len(folded[0]) > _DELICATE and answer.cased:
            begin = _run_before(answer, start + 1)
            if begin < start and not _has_fuller_name(answer, tier) and _ends_here(answer, start + 1):
                yield Mention(tier[0], tier[1], begin, start + 1)
            end = start + 1
            while (
                end < len(answer.words) and end < start + 3 and answer.words[end].capital and not answer.words[end].gap
            ):
                end += 1
            names = {word.text for word in answer.words[start:end]}
            if (
                end > start + 1
                and names.isdisjoint(vocabulary.CLASSES | vocabulary.FUNCTION)
                and not answer.words[start].gap
            ):
                yield Mention(tier[0], tier[1], start, end)


def _has_fuller_name(answer: Answer, tier: _Tier) -> bool:
    """Whether the level names the bearer of a single name in full as well."""
    return any(level == tier[0] and len(folded) > 1 and tier[2][0] in folded for level, _, folded in answer.tiers)


def _ends_here(answer: Answer, index: int) -> bool:
    if index >= len(answer.words):
        return True
    word = answer.words[index]
    return bool(word.gap) or not word.capital or not word.text.isalpha()


def by_country(answer: Answer, tier: _Tier) -> _Found:
    """Another name of a country; where it is the whole answer, its adjective: French."""
    for other in country_names(tier[2]):
        if answer.present.issuperset(other):
            yield from _spans(answer, tier, other, answer.texts)
    if len(answer.claimed) == 1 and answer.own in country_adjectives(tier[2]):
        yield Mention(tier[0], tier[1], 0, len(answer.words))


def by_polarity(answer: Answer, tier: _Tier) -> _Found:
    """Yes or no at the beginning of an answer."""
    if tier[2] not in _POLARITY or answer.texts[:1] != tier[2]:
        return
    if all(folded in _POLARITY for level, _, folded in answer.tiers if level == tier[0]):
        yield Mention(tier[0], tier[1], 0, 1)


def by_acronym(answer: Answer, tier: _Tier) -> _Found:
    """`DMV` for Department of Motor Vehicles and the other way round."""
    _, name, folded = tier
    letters = "".join(c for c in name if c.isalnum())
    if len(folded) == 1 and 2 <= len(letters) <= 8 and letters.isupper() and letters.isalpha():
        yield from _spelt_out(answer, tier, folded[0])
    elif len(folded) > 2:
        if answer.text == answer.text.upper() and len(answer.words) > 1:
            return  # capitals tell nothing
        for index, word in enumerate(answer.words):
            source = answer.quote(index, index + 1).replace(".", "")
            alone = len(answer.words) == 1
            if 3 <= len(word.text) <= 8 and (source.isupper() or alone) and initials_match(word.text, folded):
                yield Mention(tier[0], name, index, index + 1)


def _spelt_out(answer: Answer, tier: _Tier, letters: str) -> _Found:
    texts = answer.texts
    for start, first in enumerate(texts):
        if first[0] != letters[0] or len(first) < 3 or (answer.cased and not answer.words[start].capital):
            continue
        for end in range(start + len(letters), min(len(texts), start + len(letters) + 3) + 1):
            proper = len(letters) > 2 or not answer.cased or all(w.capital for w in answer.words[start:end])
            if proper and texts[end - 1] not in vocabulary.FUNCTION and initials_match(letters, texts[start:end]):
                yield Mention(tier[0], tier[1], start, end)


def by_words(answer: Answer, tier: _Tier) -> _Found:
    """All informative words in any order; where the question has said some of them, the others."""
    whole = informative(tier[1])
    wanted = [word for word in whole if word not in answer.loose_asked]
    if not wanted or answer.denies:
        return
    there = answer.claimed
    if Counter(there) == Counter(wanted) and (len(wanted) < len(whole) or len(wanted) > 1):
        if len(wanted) > 1 or wanted[0].isdecimal() or len(wanted[0]) > _DELICATE:
            yield Mention(tier[0], tier[1], 0, len(answer.words))
        return
    if len(wanted) < 2 or not answer.loose_present.issuperset(wanted):
        return
    places = [index for index, word in enumerate(answer.loose) if word in wanted]
    spread = SPREAD if len(wanted) > 2 else 2
    for first in range(len(places)):
        need, last = set(wanted), first
        while last < len(places) and places[last] - places[first] < len(wanted) + spread:
            need.discard(answer.loose[places[last]])
            if not need:
                break
            last += 1
        if need or last == len(places):
            continue
        start, end = places[first], places[last] + 1
        more = [w for w, f in zip(answer.texts[start:end], answer.loose[start:end], strict=True) if f not in wanted]
        if len(wanted) == 2 and not all(word in vocabulary.FUNCTION for word in more):
            continue
        if any(word in vocabulary.QUALIFIERS or word in vocabulary.NEGATIONS or word[0].isdigit() for word in more):
            continue
        if any(set(word.gap) & set(".;!?") for word in answer.words[start + 1 : end]):
            continue
        yield Mention(tier[0], tier[1], start, end)


def by_spelling(answer: Answer, tier: _Tier) -> _Found:
    """One long capitalised word of the name is one letter off."""
    _, name, folded = tier
    if not name[:1].isupper():
        return
    size = len(folded)
    least = SPELLED if size > 1 else SPELLED + 2
    if not any(len(word) >= least for word in folded):
        return
    texts = answer.texts
    for start in range(len(texts) - size + 1):
        other = [(i, texts[start + i], word) for i, word in enumerate(folded) if texts[start + i] != word]
        if len(other) != 1:
            continue
        index, said, word = other[0]
        if len(word) < least or len(said) < least - 1 or said[0] != word[0] or not (said.isalpha() and word.isalpha()):
            continue
        if answer.cased and not answer.words[start + index].capital:
            continue
        if one_letter_off(said, word) and not _inflected(said, word):
            yield Mention(tier[0], name, start, start + size)


def _inflected(one: str, other: str) -> bool:
    """Georgian is no misspelt Georgia."""
    short, long = sorted((one, other), key=len)
    return long.startswith(short)


def one_letter_off(one: str, other: str) -> bool:
    """Whether one letter is changed, added or left out, or two neighbours are swapped."""
    if len(one) == len(other):
        off = [i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
        return len(off) == 1 or (
            len(off) == 2 and off[1] == off[0] + 1 and one[off[0]] == other[off[1]] and one[off[1]] == other[off[0]]
        )
    short, long = sorted((one, other), key=len)
    if len(long) - len(short) != 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return short[at:] == long[at + 1 :]


def by_coverage(answer: Answer, tier: _Tier) -> _Found:
    """Most of the informative words of a long name, by weight, every number among them."""
    wanted = set(informative(tier[1]))
    if len(wanted) < LONG or answer.denies:
        return
    said = answer.stems
    weights = {word: _weight(word) for word in wanted if word not in answer.loose_asked}
    if len(weights) < LONG - 1:
        return
    missing = [word for word in weights if stem(word) not in said]
    if any(word[0].isdigit() for word in missing):
        return
    if sum(weights[word] for word in missing) <= (1 - COVERED) * sum(weights.values()):
        yield Mention(tier[0], tier[1], 0, len(answer.words))


def _weight(word: str) -> float:
    """What a word says, by its length: short ones are common."""
    return 2.0 if word[0].isdigit() else min(len(word), 8) / 4


Looser = Callable[[Answer, _Tier], _Found]

LOOSER: tuple[tuple[str, Looser], ...] = (
    ("form", by_form),
    ("fold", by_fold),
    ("joined", by_joining),
    ("person", by_person),
    ("country", by_country),
    ("acronym", by_acronym),
    ("words", by_words),
    ("spelling", by_spelling),
    ("coverage", by_coverage),
    ("polarity", by_polarity),
)
"""The rules in their order, by the name that a verdict carries."""

WHOLE = frozenset({"words", "coverage", "polarity"})
"""Rules that read the answer as a whole and so need no veto on what stands before or behind a mention."""
