"""Who or what bears a name may be named otherwise: persons, countries, teams, and what has an acronym."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from granola.matching import vocabulary
from granola.matching.answer import Answer, Mention
from granola.matching.divisions import ABBREVIATIONS, country_adjectives, country_names, is_adjective
from granola.matching.folding import loose_key
from granola.matching.forms import initials_match
from granola.matching.gold import Tier
from granola.matching.people import Person, compatible, contradict, person, whole_person
from granola.matching.words import occurrences

Found = Iterator[Mention]
INITIALS = 12  # words of a name that is told by its initials
DELICATE = 3  # letters up to which a name is as likely a word or a code


def spans(answer: Answer, tier: Tier, wanted: tuple[str, ...], said: tuple[str, ...]) -> Found:
    """Where `said` has the words `wanted`; up to three letters, or ordinary words, only as the whole answer."""
    size = len(wanted)
    if size == 1 and len(wanted[0]) <= DELICATE:
        if said == wanted:
            yield Mention(tier[0], tier[1], 0, 1)
        return
    if vocabulary.ORDINARY.issuperset(wanted):
        return
    for start in occurrences(said, wanted):
        yield Mention(tier[0], tier[1], start, start + size)


def by_person(answer: Answer, tier: Tier) -> Found:
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
            if compatible(said, wanted) or not wanted.given:
                yield Mention(tier[0], tier[1], start, stop)
        elif _stands_for_all(answer, start, stop, wanted):
            yield Mention(tier[0], tier[1], start, stop)


def is_another_person(answer: Answer, level: int, start: int, end: int) -> bool:
    """Whether the words [start, end) have a name that a fuller name of the level contradicts.

    George H. W. Bush, where a level has George Bush, but George W. Bush as well.
    """
    fuller = [p for number, name, _ in answer.tiers if number == level and (p := whole_person(name)) is not None]
    families = {own.family for own in fuller if len(own.given) > 1}
    for index in range(start, end) if not families.isdisjoint(answer.texts[start:end]) else ():
        if answer.texts[index] not in families:
            continue
        stop = index + 1 + (not vocabulary.SUFFIXES.isdisjoint(answer.texts[index + 1 : index + 2]))
        said = person(answer.words[_run_before(answer, index + 1) : stop], answer.text)
        if said is None or not any(contradict(said, own) for own in fuller):
            continue
        if not any(len(own.given) == len(said.given) and compatible(said, own) for own in fuller):
            return True
    return False


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


_OF_A_FAMILY = frozenset({"administration", "family", "government", "cabinet", "presidency", "dynasty", "era"})


def _stands_for_all(answer: Answer, start: int, stop: int, wanted: Person) -> bool:
    """Whether a family name alone, with a title or without, is that of the person asked for."""
    titled = start < stop - 1 and answer.words[start].text in vocabulary.TITLES
    if wanted.family in answer.asked or (len(wanted.family) < DELICATE + 1 and not titled):
        return False
    if not (answer.asks_person or answer.of_persons):
        return False
    behind = answer.words[stop] if stop < len(answer.words) else None
    if behind is not None and not behind.gap and behind.text in _OF_A_FAMILY:
        return False
    if behind is not None and "," in behind.gap and answer.quote(stop, stop + 1).replace(".", "") in ABBREVIATIONS:
        return False  # Washington, D.C.
    return behind is None or bool(behind.gap) or not behind.capital or behind.text in vocabulary.FUNCTION


def _royal(answer: Answer, tier: Tier) -> Found:
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
        elif len(folded) == 1 and answer.asks_person and len(folded[0]) > DELICATE and answer.cased:
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


def _has_fuller_name(answer: Answer, tier: Tier) -> bool:
    """Whether the level names the bearer of a single name in full as well."""
    return any(level == tier[0] and len(folded) > 1 and tier[2][0] in folded for level, _, folded in answer.tiers)


def _ends_here(answer: Answer, index: int) -> bool:
    if index >= len(answer.words):
        return True
    word = answer.words[index]
    return bool(word.gap) or not word.capital or not word.text.isalpha()


def by_country(answer: Answer, tier: Tier) -> Found:
    """Another name of a country; where it is the whole answer, its adjective: French."""
    if answer.claimed and len(tier[2]) == 1 and vocabulary.FAITHS.get(tier[2][0]) and _believes(answer, tier[2][0]):
        yield Mention(tier[0], tier[1], 0, len(answer.words))
        return
    others, adjectives = country_names(tier[2]), country_adjectives(tier[2])
    if len(answer.levels) == 1 and (adjectives or is_adjective(tier[2])):
        from granola.matching.divisions import nation
        own = nation(tier[2])
        for start in range(len(answer.words)):
            said = nation(answer.texts[start:start+4])
            if said and own and said[0] == own[0] and (answer.words[start].capital or not answer.cased):
                yield Mention(tier[0], tier[1], start, start + said[1])
    if not others and not adjectives:
        return
    for other in others:
        if not answer.present.issuperset(other):
            continue
        if len(other) == 1 and len(other[0]) <= DELICATE and len(answer.texts) > 1 and answer.cased:
            for index, word in enumerate(answer.words):  # in the US, not us
                if word.text == other[0] and answer.quote(index, index + 1).isupper():
                    yield Mention(tier[0], tier[1], index, index + 1)
        yield from spans(answer, tier, other, answer.texts)
    if len(answer.claimed) == 1 and answer.own in adjectives:
        yield Mention(tier[0], tier[1], 0, len(answer.words))


def _believes(answer: Answer, said: str) -> bool:
    """Whether a faith or its believers are the whole answer: Hindu, Hindus, the Hindu religion."""
    own = [word for word in answer.loose if word not in vocabulary.FUNCTION and word not in ("religion", "faith")]
    return len(own) == 1 and vocabulary.FAITHS.get(own[0]) == vocabulary.FAITHS[said]


def by_acronym(answer: Answer, tier: Tier) -> Found:
    """`DMV` for Department of Motor Vehicles and the other way round."""
    _, name, folded = tier
    if len(folded) == 1:
        if len(folded[0]) <= 8 and is_acronym(name):
            yield from _spelt_out(answer, tier, folded[0])
    elif len(folded) <= INITIALS and answer.has_acronym:
        if answer.text == answer.text.upper() and len(answer.words) > 1:
            return  # capitals tell nothing
        for index, word in enumerate(answer.words):
            source = answer.quote(index, index + 1).replace(".", "")
            alone = len(answer.words) == 1
            told = source.isupper() or alone
            if len(folded) == 2:  # two letters are a state or a person's initials as well: the UN, or UN alone
                told = source.isupper() and (alone or answer.has_article(index))
                told = told and source not in ABBREVIATIONS and not country_names((word.text,))
            if not told or not 2 <= len(word.text) <= 8:
                continue
            if initials_match(word.text, folded) or initials_match(word.text, loose_key(name)):
                yield Mention(tier[0], name, index, index + 1)
            elif 2 < len(word.text) < len(folded):
                yield from _partly(answer, tier, index)


def _partly(answer: Answer, tier: Tier, index: int) -> Found:
    """`2005 MLB Draft` for 2005 Major League Baseball draft: the acronym of some words between the others."""
    folded, letters = tier[2], answer.texts[index]
    for first in range(len(folded) - len(letters) + 1):
        before, behind = folded[:first], folded[first + len(letters) :]
        start, end = index - len(before), index + 1 + len(behind)
        if (
            start >= 0
            and initials_match(letters, folded[first : first + len(letters)])
            and answer.texts[start:index] == before
            and answer.texts[index + 1 : end] == behind
        ):
            yield Mention(tier[0], tier[1], start, end)


@lru_cache(maxsize=1 << 16)
def is_acronym(name: str) -> bool:
    """Whether a name is two to eight capital letters."""
    letters = "".join(c for c in name if c.isalnum())
    return 2 <= len(letters) <= 8 and letters.isupper() and letters.isalpha()


def _spelt_out(answer: Answer, tier: Tier, letters: str) -> Found:
    texts = answer.texts
    for start, first in enumerate(texts):
        if first[0] != letters[0] or len(first) < 3 or (answer.cased and not answer.words[start].capital):
            continue
        for end in range(start + len(letters), min(len(texts), start + len(letters) + 3) + 1):
            proper = len(letters) > 2 or not answer.cased or all(w.capital for w in answer.words[start:end])
            if proper and texts[end - 1] not in vocabulary.FUNCTION and initials_match(letters, texts[start:end]):
                yield Mention(tier[0], tier[1], start, end)


def by_team(answer: Answer, tier: Tier) -> Found:
    """A team by its nickname or its place alone, where a team is asked for: Yankees, New York Yankees, New York."""
    if not answer.asks_team or not tier[1][:1].isupper():
        return
    folded = tier[2]
    if len(folded) > 1 and len(folded[-1]) > DELICATE and folded[-1] not in vocabulary.CLASSES:
        for end, word in enumerate(answer.words, start=1):
            if word.text == folded[-1] and _run_before(answer, end) == end - 1 and (word.capital or not answer.cased):
                yield Mention(tier[0], tier[1], end - 1, end)
        if folded[-1].endswith("s") and answer.claimed == loose_key(tier[1])[:-1]:
            yield Mention(tier[0], tier[1], 0, len(answer.words))
    size = len(folded)
    for start in occurrences(answer.texts, folded):
        if answer.texts[:start] == ("university", "of") and start + size == len(answer.words):
            yield Mention(tier[0], tier[1], start, start + size)
        stop, begin = start + size, _run_before(answer, start + size)
        if begin < start and _ends_here(answer, stop):
            yield Mention(tier[0], tier[1], begin, stop)
        elif stop < len(answer.words) and answer.texts[stop].endswith("s") and not answer.words[stop].gap:
            yield Mention(tier[0], tier[1], start, stop + 1)
