"""Names in other forms: without a preposition or container, written as one word, another name of a country, another
spelling (`Havewala` for Havewalla, `Amr Moussa` for Amr Mousa).

`in the Gospel of Luke` -> Gospel of Luke; `Toronto, Ontario` -> Toronto, where the answer names no other container;
`adenosine diphosphate (ADP)` -> either. A bracket that only disambiguates (`Paris (Texas)`) is no name. Each rule
yields the mentions of a tier in an answer; they are subject to the same vetoes as plain mentions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from granola.matching import word_lists
from granola.matching.countries import (
    ABBREVIATIONS,
    country_adjectives,
    country_names,
    country_openings,
    is_adjective,
    is_country,
    leading_country,
)
from granola.matching.mentions import DELICATE, AnswerText, Mention, Mentions, Tier
from granola.matching.partial_answers import begins_a_sibling
from granola.matching.tokens import (
    MATCHING,
    MOST,
    ONE_LETTER_FROM,
    is_near,
    key,
    loose_fold,
    loose_key,
    occurrences,
    words,
)

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
    whole = key(name)
    form_of = {form.folded: form for form in _bracket_forms(name)}
    for form in (*_part_forms(name), *_shorter_forms(name, whole)):
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


def _shorter_forms(name: str, whole: tuple[str, ...]) -> Iterator[Form]:
    """`Yale` for Yale University, `Oxford` for University of Oxford; a name without what a preposition adds, where the
    rest is specific enough.
    """
    if len(whole) == 2 and whole[1] == "university":
        yield Form(whole[:1], alone=True)
    if whole[:2] == ("university", "of") and len(whole) > 2:
        yield Form(whole[2:], partial=True, alone=True)
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
    parts = [part.strip() for part in name.split(",")]
    if not 2 <= len(parts) <= _PLACE_PARTS:
        return (), ()
    folded = []
    for part in parts:
        part_words = words(part)
        are_names = (
            (word.capital or word.text in word_lists.PARTICLES) and word.text[0].isalpha() for word in part_words
        )
        if not 1 <= len(part_words) <= _PART_WORDS or not all(are_names):
            return (), ()
        folded.append(tuple(word.text for word in part_words))
    # "March 5, 1990" and "Davis, Jr." are no places
    if word_lists.MONTHS & set(folded[0]) or word_lists.SUFFIXES & {part[0] for part in folded[1:]}:
        return (), ()
    return folded[0], tuple(folded[1:])


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


def spans_of_form(answer: AnswerText, tier: Tier, form: tuple[str, ...], texts: tuple[str, ...]) -> Mentions:
    """The mentions where `texts` have a `form` of a name; one of up to three letters only as the whole answer."""
    size = len(form)
    if size == 1 and len(form[0]) <= DELICATE:
        if texts == form:
            yield Mention(tier[0], tier[1], 0, 1)
        return
    if word_lists.ORDINARY.issuperset(form):
        return
    for start in occurrences(texts, form):
        yield Mention(tier[0], tier[1], start, start + size)


def mentions_by_form(answer: AnswerText, tier: Tier) -> Mentions:
    """Mentions without the preposition, bracket or container of the name, in any number or spelling."""
    for form in forms(tier[1]):
        if form.partial and form.folded in answer.keys_of_names:  # another tier has that name
            continue
        if form.alone and form.folded != answer.texts:
            continue
        readings = [(form.folded, answer.texts, answer.word_set)]
        if not form.contained:
            readings.append((tuple(map(loose_fold, form.folded)), answer.loose_folds, answer.loose_set))
        for folded, texts, present in readings:
            for mention in spans_of_form(answer, tier, folded, texts) if present.issuperset(folded) else ():
                if not begins_a_sibling(answer, mention.start, tier[1]):
                    yield mention


def mentions_by_joining(answer: AnswerText, tier: Tier) -> Mentions:
    """Mentions that have the letters of the name with other word boundaries: `Mac Donald`."""
    letters = "".join(loose_key(tier[1]))
    if letters not in answer.joined_letters:
        return
    if len(letters) < (LEAST_LETTERS_JOINED if letters.isalpha() or letters.isdecimal() else LEAST_CHARACTERS_OF_CODE):
        if letters == answer.joined_letters and len(answer.texts) != len(tier[2]):  # H 2 O
            yield Mention(tier[0], tier[1], 0, len(answer.texts))
        return
    starts = {at: index for index, at in enumerate(accumulate(map(len, answer.loose_folds), initial=0))}
    at = answer.joined_letters.find(letters)
    for _ in range(MOST):
        if at < 0:
            return
        start, end = starts.get(at), starts.get(at + len(letters))
        if start is not None and end is not None:
            yield Mention(tier[0], tier[1], start, end)
        at = answer.joined_letters.find(letters, at + 1)


LEAST_LETTERS_JOINED = 5  # letters from which word boundaries are ignored
LEAST_CHARACTERS_OF_CODE = 4  # the same where digits are among them (MP22)


def mentions_by_country(answer: AnswerText, tier: Tier) -> Mentions:
    """Another name of a country; its adjective as the whole answer, or anywhere where the gold answer has one level."""
    others, adjectives = country_names(tier[2]), country_adjectives(tier[2])
    for other in others:
        if not answer.word_set.issuperset(other):
            continue
        if len(other) == 1 and len(other[0]) <= DELICATE and len(answer.texts) > 1 and answer.has_case:
            for index, word in enumerate(answer.words):  # "in the US", but not the pronoun
                if word.text == other[0] and answer.quote(index, index + 1).isupper():
                    yield Mention(tier[0], tier[1], index, index + 1)
        yield from spans_of_form(answer, tier, other, answer.texts)
    if len(answer.claimed_folds) == 1 and answer.content_words in adjectives and not answer.has_negation:
        yield Mention(tier[0], tier[1], 0, len(answer.words))
    country = leading_country(tier[2]) if len(answer.levels) == 1 else None
    if country is None or country[1] < len(tier[2]):
        return
    for start, word in enumerate(answer.words):
        named = leading_country(answer.texts[start : start + 4])
        if named is not None and named[0] == country[0] and (word.capital or not answer.has_case):
            yield Mention(tier[0], tier[1], start, start + named[1])


def joinable_tiers(answer: AnswerText) -> Sequence[Tier]:
    """The tiers whose letters the answer contains in sequence."""
    joined = answer.joined_letters
    if len(joined) < 3:  # characters; two letters occur in any text
        return ()
    return [tier for tier, folds in answer.loose_tiers if folds[0] in joined and "".join(folds) in joined]


def country_tiers(answer: AnswerText) -> Sequence[Tier]:
    """Countries and national adjectives, where the answer has the first word of such a name."""
    if country_openings().isdisjoint(answer.word_set):
        return ()
    return [tier for tier in answer.tiers if is_country(tier[2]) or is_adjective(tier[2])]


def mentions_by_acronym(answer: AnswerText, tier: Tier) -> Mentions:
    """Mentions by the initials of a name in capitals (`DMV` for Department of Motor Vehicles), or by the words of an
    acronym.
    """
    _, name, folded = tier
    if len(folded) == 1:
        letters = folded[0] if name.replace(".", "").isupper() else ""
        yield from _mentions_of_expansion(answer, tier, letters) if 2 <= len(letters) <= MOST_WORDS_OF_ACRONYM else ()
        return
    if len(folded) > MOST_WORDS_OF_ACRONYM or (answer.text.isupper() and len(answer.words) > 1):
        return  # in a text in capitals an acronym is no different from a word
    alone = len(answer.words) == 1
    name_initials = {*initials(folded), *initials(loose_key(name))} if answer.acronyms else ()
    for index, acronym in answer.acronyms:
        word = answer.words[index]
        if not acronym.isupper() and len(folded) == 2:
            continue
        if len(folded) == 2 and (
            not (alone or answer.has_article(index)) or acronym in ABBREVIATIONS or country_names((word.text,))
        ):
            continue  # two letters are a state or a person's initials as well
        if word.text in name_initials:
            yield Mention(tier[0], name, index, index + 1)


def _mentions_of_expansion(answer: AnswerText, tier: Tier, letters: str) -> Mentions:
    """Mentions by words whose initials are the letters, with up to three function words more."""
    texts = answer.texts
    for start, first in enumerate(texts):
        if first[0] != letters[0] or (answer.has_case and not answer.words[start].capital):
            continue
        for end in range(start + len(letters), min(len(texts), start + len(letters) + 3) + 1):
            if texts[end - 1] not in word_lists.FUNCTION and letters in initials(texts[start:end]):
                yield Mention(tier[0], tier[1], start, end)


MOST_WORDS_OF_ACRONYM = 12  # words of a name at most that is matched by its initials


def acronym_tiers(answer: AnswerText) -> Sequence[Tier]:
    """Acronyms, where the answer has several words, and names of several words, where it has one in capitals."""
    has_acronym, several = bool(answer.acronyms), len(answer.texts) > 1
    if not has_acronym and not several:
        return ()
    return [tier for tier in answer.tiers if (has_acronym if len(tier[2]) > 1 else several and tier[1].isupper())]


MOST_WORDS_RESPELT = 6  # words of a name at most that is matched in another spelling
WORDS_OF_NO_SENTENCE = 4  # words up to which an answer is no sentence
LEAST_LETTERS_OF_ONE_WORD = 7  # among shorter ones other names are as near (Geneva, Genova)


def mentions_by_spelling(answer: AnswerText, tier: Tier) -> Mentions:
    """The words of a name in order, at least one of them with a letter or two spelt otherwise.

    Only capitalised names. A name of a single word is matched in sentences, whose other words support it; names of
    countries never are, in the answer or in the tier.
    """
    level, name, folded = tier
    texts = answer.texts
    for start in range(min(len(texts) - len(folded) + 1, MOST)):
        run = texts[start : start + len(folded)]
        if not answer.words[start].capital or not all(map(is_near, run, folded)) or is_country(run):
            continue
        # words for kinds must be spelt alike
        if any(own in word_lists.CLASSES and own != stated for stated, own in zip(run, folded, strict=True)):
            continue
        if answer.makes_claim(start, start + len(folded)):
            yield Mention(level, name, start, start + len(folded))


def spelling_tiers(answer: AnswerText) -> Sequence[Tier]:
    """Capitalised names that are long enough, where a capitalised word of the answer has the same first letter."""
    if not answer.has_case:
        return ()
    openings = {word.text[0] for word in answer.words if word.capital}
    is_sentence = len(answer.words) > WORDS_OF_NO_SENTENCE
    return [
        tier
        for tier in answer.tiers
        if tier[2][0][0] in openings
        and (1 if is_sentence else 2) <= len(tier[2]) <= MOST_WORDS_RESPELT
        and max(map(len, tier[2])) >= (ONE_LETTER_FROM if len(tier[2]) > 1 else LEAST_LETTERS_OF_ONE_WORD)
        and tier[1][:1].isupper()
        and not tier[1].startswith(("A ", "An "))
        and not is_country(tier[2])
    ]
