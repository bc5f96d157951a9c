"""Names in other forms: without a preposition or container, written as one word, another name of a country,
another spelling (`Havewala` for Havewalla, `Amr Moussa` for Amr Mousa).

Each rule finds the places of an answer that may state a name; the vetoes on plain mentions hold for them too.
"""

from __future__ import annotations

from collections.abc import Sequence

from granola.matching.naming.countries import (
    ABBREVIATIONS,
    country_adjectives,
    country_names,
    country_openings,
    is_adjective,
    is_country,
    nation,
)
from granola.matching.naming.mentions import DELICATE, AnswerText, Mention, Mentions
from granola.matching.naming.name_forms import forms, initials
from granola.matching.naming.references import Tier
from granola.matching.naming.siblings import goes_on_otherwise
from granola.matching.text import word_lists
from granola.matching.text.near import ONE, is_near
from granola.matching.text.tokens import MOST, loose, loose_key, occurrences


def spans(answer: AnswerText, tier: Tier, form: tuple[str, ...], texts: tuple[str, ...]) -> Mentions:
    """Where `texts` have a `form` of a name; up to three letters, or ordinary words, only as the whole answer."""
    size = len(form)
    if size == 1 and len(form[0]) <= DELICATE:
        if texts == form:
            yield Mention(tier[0], tier[1], 0, 1)
        return
    if word_lists.ORDINARY.issuperset(form):
        return
    for start in occurrences(texts, form):
        yield Mention(tier[0], tier[1], start, start + size)


def by_form(answer: AnswerText, tier: Tier) -> Mentions:
    """A preposition, a bracket or a container of the name is not said; in whatever number or spelling."""
    for form in forms(tier[1]):
        if form.partial and form.folded in answer.keys:
            continue
        if form.alone and form.folded != answer.texts:
            continue
        readings = [(form.folded, answer.texts, answer.present)]
        if not form.contained:
            readings.append((tuple(map(loose, form.folded)), answer.loose, answer.loose_present))
        for folded, texts, present in readings:
            for mention in spans(answer, tier, folded, texts) if present.issuperset(folded) else ():
                if not goes_on_otherwise(answer, mention.start, tier[1]):
                    yield mention


def by_joining(answer: AnswerText, tier: Tier) -> Mentions:
    """The letters of the name, parted into words in another way."""
    letters = "".join(loose_key(tier[1]))
    if letters not in answer.joined:
        return
    if len(letters) < (JOINED if letters.isalpha() or letters.isdecimal() else CODE):
        if letters == answer.joined and len(answer.texts) != len(tier[2]):  # H 2 O
            yield Mention(tier[0], tier[1], 0, len(answer.texts))
        return
    starts = answer.joined_starts
    at = answer.joined.find(letters)
    for _ in range(MOST):
        if at < 0:
            return
        start, end = starts.get(at), starts.get(at + len(letters))
        if start is not None and end is not None:
            yield Mention(tier[0], tier[1], start, end)
        at = answer.joined.find(letters, at + 1)


JOINED, CODE = 5, 4  # letters from which the parting into words does not matter; with digits among them (MP22)


def by_country(answer: AnswerText, tier: Tier) -> Mentions:
    """Another name of a country; its adjective as the whole answer, or anywhere where the gold answer has one level."""
    others, adjectives = country_names(tier[2]), country_adjectives(tier[2])
    for other in others:
        if not answer.present.issuperset(other):
            continue
        if len(other) == 1 and len(other[0]) <= DELICATE and len(answer.texts) > 1 and answer.cased:
            for index, word in enumerate(answer.words):  # in the US, not us
                if word.text == other[0] and answer.quote(index, index + 1).isupper():
                    yield Mention(tier[0], tier[1], index, index + 1)
        yield from spans(answer, tier, other, answer.texts)
    if len(answer.claimed) == 1 and answer.content_words in adjectives and not answer.denies:
        yield Mention(tier[0], tier[1], 0, len(answer.words))
    country = nation(tier[2]) if len(answer.levels) == 1 else None
    if country is None or country[1] < len(tier[2]):
        return
    for start, word in enumerate(answer.words):
        named = nation(answer.texts[start : start + 4])
        if named is not None and named[0] == country[0] and (word.capital or not answer.cased):
            yield Mention(tier[0], tier[1], start, start + named[1])


def joined_tiers(answer: AnswerText) -> Sequence[Tier]:
    """Names whose letters stand in the answer's."""
    joined = answer.joined
    if len(joined) < 3:
        return ()
    return [tier for tier, folds in answer.loose_tiers if folds[0] in joined and "".join(folds) in joined]


def country_tiers(answer: AnswerText) -> Sequence[Tier]:
    """Countries and faiths, where the answer has a word that a country's name begins with, or an adjective or faith."""
    if country_openings().isdisjoint(answer.present):
        return ()
    return [tier for tier in answer.tiers if is_country(tier[2]) or is_adjective(tier[2])]


def by_acronym(answer: AnswerText, tier: Tier) -> Mentions:
    """The initials of a name of several words in capitals: `DMV` for Department of Motor Vehicles; and back."""
    _, name, folded = tier
    if len(folded) == 1:
        letters = folded[0] if name.replace(".", "").isupper() else ""
        yield from _spelt_out(answer, tier, letters) if 2 <= len(letters) <= INITIALS else ()
        return
    if len(folded) > INITIALS or (answer.text.isupper() and len(answer.words) > 1):
        return  # capitals tell nothing
    alone = len(answer.words) == 1
    name_initials = {*initials(folded), *initials(loose_key(name))} if answer.capitals else ()
    for index, acronym in answer.capitals:
        word = answer.words[index]
        if not acronym.isupper() and len(folded) == 2:
            continue
        if len(folded) == 2 and (
            not (alone or answer.has_article(index)) or acronym in ABBREVIATIONS or country_names((word.text,))
        ):
            continue  # two letters are a state or a person's initials as well
        if word.text in name_initials:
            yield Mention(tier[0], name, index, index + 1)


def _spelt_out(answer: AnswerText, tier: Tier, letters: str) -> Mentions:
    """Words whose initials are the letters: a run of as many, or of up to three function words more."""
    texts = answer.texts
    for start, first in enumerate(texts):
        if first[0] != letters[0] or (answer.cased and not answer.words[start].capital):
            continue
        for end in range(start + len(letters), min(len(texts), start + len(letters) + 3) + 1):
            if texts[end - 1] not in word_lists.FUNCTION and letters in initials(texts[start:end]):
                yield Mention(tier[0], tier[1], start, end)


INITIALS = 12  # words of a name that is told by its initials


def acronym_tiers(answer: AnswerText) -> Sequence[Tier]:
    """Acronyms, where the answer has several words, and names of several words, where it has one in capitals."""
    has_acronym, several = bool(answer.capitals), len(answer.texts) > 1
    if not has_acronym and not several:
        return ()
    return [tier for tier in answer.tiers if (has_acronym if len(tier[2]) > 1 else several and tier[1].isupper())]


SPELT = 6  # words of a name that may be spelt otherwise
SENTENCE = 4  # words that are none yet
ALONE = 7  # letters of a name of one word that may be; among shorter ones others are as near (Geneva, Genova)


def by_spelling(answer: AnswerText, tier: Tier) -> Mentions:
    """The words of a name in their order, one of them or more with a letter or two spelt otherwise.

    Of names that begin with a capital alone. One of a single word is found in sentences, whose other words bear it out;
    it is none of a country, on neither side.
    """
    level, name, folded = tier
    texts = answer.texts
    for start in range(min(len(texts) - len(folded) + 1, MOST)):
        run = texts[start : start + len(folded)]
        if not answer.words[start].capital or not all(map(is_near, run, folded)) or is_country(run):
            continue
        if any(own in word_lists.CLASSES and own != said for said, own in zip(run, folded, strict=True)):
            continue
        if answer.is_claim(start, start + len(folded)):
            yield Mention(level, name, start, start + len(folded))


def spelling_tiers(answer: AnswerText) -> Sequence[Tier]:
    """Names in capitals that are long enough, where a word with a capital begins as they do."""
    if not answer.cased:
        return ()
    openings = {word.text[0] for word in answer.words if word.capital}
    is_sentence = len(answer.words) > SENTENCE
    return [
        tier
        for tier in answer.tiers
        if tier[2][0][0] in openings
        and (1 if is_sentence else 2) <= len(tier[2]) <= SPELT
        and max(map(len, tier[2])) >= (ONE if len(tier[2]) > 1 else ALONE)
        and tier[1][:1].isupper()
        and not tier[1].startswith(("A ", "An "))
        and not is_country(tier[2])
    ]
