"""Persons in answers: one family name with first names that agree, a title, or the family name alone."""

from __future__ import annotations

from granola.matching.naming.countries import ABBREVIATIONS
from granola.matching.naming.mentions import AnswerText, Mention
from granola.matching.naming.names import DELICATE, Mentions
from granola.matching.naming.person_names import Person, compatible, contradict, person, whole_person
from granola.matching.naming.references import Tier
from granola.matching.text import word_lists


def by_person(answer: AnswerText, tier: Tier) -> Mentions:
    """One family name, and given names or a title that agree; the family name alone where persons are asked for."""
    if answer.of_places or answer.asks_place:
        return
    bearer = whole_person(tier[1])
    if bearer is None:
        yield from _by_one_name(answer, tier)
        return
    for end, word in enumerate(answer.words, start=1):
        if word.text != bearer.family or (answer.cased and not word.capital):
            continue
        start = _run_before(answer, end)
        stop = end + (end < len(answer.words) and answer.words[end].text in word_lists.SUFFIXES)
        named = person(answer.words[start:stop], answer.text)
        if named is None or named.family != bearer.family:
            continue
        if named.given:
            if compatible(named, bearer) or not bearer.given:
                yield Mention(tier[0], tier[1], start, stop)
        elif _stands_for_all(answer, start, stop, bearer):
            yield Mention(tier[0], tier[1], start, stop)


def _stands_for_all(answer: AnswerText, start: int, stop: int, bearer: Person) -> bool:
    """Whether a family name alone, with a title or without, is that of the person asked for."""
    titled = start < stop - 1 and answer.words[start].text in word_lists.TITLES
    if bearer.family in answer.asked or (len(bearer.family) < DELICATE + 1 and not titled):
        return False
    if not (answer.asks_person or answer.of_persons or answer.content_words == (bearer.family,)):
        return False
    behind = answer.words[stop] if stop < len(answer.words) else None
    if behind is not None and not behind.gap and behind.text in _OF_A_FAMILY:
        return False
    if behind is not None and "," in behind.gap and answer.quote(stop, stop + 1).replace(".", "") in ABBREVIATIONS:
        return False  # Washington, D.C.
    return behind is None or bool(behind.gap) or not behind.capital or behind.text in word_lists.FUNCTION


_OF_A_FAMILY = frozenset({"administration", "family", "government", "cabinet", "presidency", "dynasty", "era"})


def _by_one_name(answer: AnswerText, tier: Tier) -> Mentions:
    """`Queen Charlotte` for Charlotte of Mecklenburg-Strelitz; `Donna Pinciotti` for Donna where one asks who."""
    folded = tier[2]
    if not folded[0].isalpha() or not tier[1][:1].isupper():
        return
    royal = len(folded) > 2 and folded[1] == "of"
    if not royal and not _may_be_added_to(answer, folded):
        return
    for start, word in enumerate(answer.words):
        if word.text != folded[0] or (answer.cased and not word.capital):
            continue
        if not royal:
            yield from _with_other_names(answer, tier, start)
        elif start and answer.words[start - 1].text in word_lists.ROYAL and _ends_here(answer, start + 1):
            yield Mention(tier[0], tier[1], start - 1, start + 1)


def _may_be_added_to(answer: AnswerText, folded: tuple[str, ...]) -> bool:
    """Whether an answer may state a single name by saying more names with it."""
    return len(folded) == 1 and len(folded[0]) > DELICATE and answer.cased and answer.asks_person


def _with_other_names(answer: AnswerText, tier: Tier, start: int) -> Mentions:
    """A single name with those before it, where no fuller one is known, and with those behind it."""
    begin = _run_before(answer, start + 1)
    if begin < start and not _has_fuller_name(answer, tier) and _ends_here(answer, start + 1):
        yield Mention(tier[0], tier[1], begin, start + 1)
    if answer.words[start].gap:
        return
    end = start + 1
    while end < len(answer.words) and end < start + 3 and answer.words[end].capital and not answer.words[end].gap:
        end += 1
    if end > start + 1 and (word_lists.CLASSES | word_lists.FUNCTION).isdisjoint(answer.texts[start:end]):
        yield Mention(tier[0], tier[1], start, end)


def _has_fuller_name(answer: AnswerText, tier: Tier) -> bool:
    """Whether the level names the bearer of a single name in full as well."""
    return any(level == tier[0] and len(folded) > 1 and tier[2][0] in folded for level, _, folded in answer.tiers)


def _ends_here(answer: AnswerText, index: int) -> bool:
    if index >= len(answer.words):
        return True
    word = answer.words[index]
    return bool(word.gap) or not word.capital or not word.text.isalpha()


def is_another_person(answer: AnswerText, level: int, start: int, end: int) -> bool:
    """Whether the words [start, end) have a name that a fuller name of the level contradicts.

    George H. W. Bush, where a level has George Bush, but George W. Bush as well.
    """
    fuller = [p for number, name, _ in answer.tiers if number == level and (p := whole_person(name)) is not None]
    families = {full.family for full in fuller if len(full.given) > 1}
    for index in range(start, end) if not families.isdisjoint(answer.texts[start:end]) else ():
        if answer.texts[index] not in families:
            continue
        stop = index + 1 + (not word_lists.SUFFIXES.isdisjoint(answer.texts[index + 1 : index + 2]))
        named = person(answer.words[_run_before(answer, index + 1) : stop], answer.text)
        if named is None or not any(contradict(named, full) for full in fuller):
            continue
        if not any(len(full.given) == len(named.given) and compatible(named, full) for full in fuller):
            return True
    return False


def _run_before(answer: AnswerText, end: int) -> int:
    """Where the name begins whose last word ends at `end`."""
    start = end - 1
    while start > 0 and end - start < 6 and not answer.words[start].gap.strip(".'’-"):
        word = answer.words[start - 1]
        particle = word.text in word_lists.PARTICLES
        if (
            word.text in word_lists.FUNCTION
            or not word.text.isalpha()
            or (answer.cased and not (word.capital or particle))
        ):
            break
        start -= 1
    return start
