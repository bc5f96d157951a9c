"""Names that are alike: of one person, though written otherwise, or of siblings, which differ in a distinguishing word.

Dave Gahan is David Gahan, B. R. Ambedkar is Bhimrao Ramji Ambedkar, William Alan Friedle is Will Friedle; George W.
Bush is not George H. W. Bush, and Cal Ripken Jr. not Cal Ripken Sr.

A sibling of a name begins or ends like it: `University of California, Berkeley` and `..., Los Angeles`, Best Actress
and Best Actor. So an answer is compared with the name from either end, and the first word in which they differ decides.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise

from granola.matching import word_lists
from granola.matching.countries import ABBREVIATIONS, are_exclusive_places, is_country_or_division
from granola.matching.mentions import DELICATE, AnswerText, Mention, Mentions, Names, Tier
from granola.matching.tokens import MATCHING, FoldedWord, is_spelt_nearly_alike, loose_fold, root, words
from granola.replies.plain_text import fold_case_and_accents

_LONGEST = 6  # words at most of the name of a person


@cache
def _full_names_by_given_name() -> Mapping[str, set[str]]:
    """The full given names that a given name may mean (Will: William), itself included if it is full; each line of the
    file begins with a full name.
    """
    text = files("granola.matching").joinpath("data/given_names.txt").read_text(encoding="utf-8")
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    full_names, names = {full for full, *_ in lines}, defaultdict[str, set[str]](set)
    for full, *short_forms in lines:
        names[full] |= full_names & {full, *short_forms}
        for short_form in short_forms:
            names[short_form].add(full)
    return names


@dataclass(frozen=True, slots=True)
class Person:
    """The parts of a name: given names in order, indices of those that are `initials` ("w"), family name, suffix."""

    given: tuple[str, ...]
    initials: frozenset[int]
    family: str
    suffix: str


def parse_person(name_words: tuple[FoldedWord, ...], text: str) -> Person | None:
    """The parts of a name given as words of `text`, without titles; None where no family name is left."""
    while len(name_words) > 1 and name_words[0].text in word_lists.TITLES:
        name_words = name_words[1:]
    suffix = ""
    while len(name_words) > 1 and name_words[-1].text in word_lists.SUFFIXES:
        suffix, name_words = _SUFFIX.get(name_words[-1].text, name_words[-1].text), name_words[:-1]
    if not name_words or len(name_words) > _LONGEST or not name_words[-1].text.isalpha():
        return None
    family = name_words[-1].text
    given: list[str] = []
    initials: set[int] = set()
    for word in name_words[:-1]:
        if word.text in word_lists.PARTICLES:
            continue
        source = text[word.start : word.end]
        joined = len(word.text) <= 4 and (  # up to four initials may be one word: J. R. R. T.
            "." in source or " " in source or len(word.text) == 1 or (source.isupper() and len(word.text) <= 2)
        )
        for part in word.text if joined and word.text.isalpha() else (word.text,):  # jrr -> j, r, r
            if joined:
                initials.add(len(given))
            given.append(part)
    return Person(tuple(given), frozenset(initials), family, suffix)


_SUFFIX = {"junior": "jr", "senior": "sr"}  # spellings of suffixes


@MATCHING.memoize(1 << 13)
def person_of_name(name: str) -> Person | None:
    """The parts of a name that looks like a person's: capitalised words, a given and a family name, no words for
    kinds; else None.
    """
    text = name.partition("(")[0].strip()
    _, comma, given = text.partition(",")
    if comma and not (word_lists.SUFFIXES & {word.text for word in words(given)[:1]}):
        return None
    name_words = words(text)
    if len(name_words) < 2 or name_words[0].text in _NO_FIRST_WORDS:
        return None
    if any(not (word.capital or word.text in word_lists.PARTICLES) or word.text in _NO_NAMES for word in name_words):
        return None
    opening = text[name_words[0].start : name_words[0].end]
    if len(opening) > 2 and opening.isupper() and opening.isalpha() and not text.isupper():
        return None  # BBC America
    parts = parse_person(name_words, text)
    if parts is None or (not parts.given and (parts.suffix or name_words[0].text not in _OFFICIAL)):
        return None
    return parts


_OFFICIAL = word_lists.TITLES - word_lists.ROYAL  # titles that go with a family name; royal ones go with a given name

_NO_FIRST_WORDS = word_lists.QUALIFIERS | word_lists.ARTICLES_OF_NAMES
_NO_NAMES = (word_lists.CLASSES - word_lists.FAMILY_NAMES) | {
    "and", "or", "the", "of", "in", "for", "with", "on", "at", "to", "a", "an", "&", "is", "are",
}  # fmt: skip


def may_be_same_person(person: Person, other: Person) -> bool:
    """Whether two names can be one person's, both with given names; the family names are assumed to be equal."""
    suffixes = {person.suffix, other.suffix}
    if len(suffixes) > 1 and suffixes != {"", "jr"}:
        return False  # one may lack "jr", but no other suffix
    shorter, longer = sorted((person, other), key=lambda who: len(who.given))
    if not shorter.given or not _is_same_given_name(shorter, 0, longer, 0):
        return False
    if person.suffix != other.suffix and len(shorter.given) < len(longer.given):
        return False  # John F. Kennedy and his son
    return _has_further_names_in_order(longer, shorter)


def _has_further_names_in_order(longer: Person, shorter: Person) -> bool:
    """Whether the longer name has the further given names of the shorter in order, initials without a gap."""
    place = 1
    for index in range(1, len(shorter.given)):
        first = place
        while place < len(longer.given) and not _is_same_given_name(shorter, index, longer, place):
            place += 1
        if place == len(longer.given):
            return False
        if place > first and (index in shorter.initials or place in longer.initials):
            return False  # George W. and George Herbert Walker
        place += 1
    return True


def have_incompatible_middle_names(person: Person, other: Person) -> bool:
    """Whether two names of the same family and first name have middle names that cannot be one person's."""
    if len(person.given) < 2 or len(other.given) < 2 or person.family != other.family:
        return False
    return _is_same_given_name(person, 0, other, 0) and not may_be_same_person(person, other)


def _is_same_given_name(person: Person, i: int, other: Person, j: int) -> bool:
    """Whether given name `i` of one person and `j` of the other may be one: equal, an initial, or a short form."""
    a, b = person.given[i], other.given[j]
    if a == b:
        return True
    if i in person.initials or j in other.initials:
        return a[0] == b[0]  # an initial agrees with any name of that letter
    return not _full_names_by_given_name().get(a, set()).isdisjoint(_full_names_by_given_name().get(b, ()))


# bounded lengths: the pattern runs on any text
_FAMILY_FIRST = re.compile(r"\s*+([^\W\d_][\w'’-]++(?: [^\W\d_][\w'’-]++)?), ([^\W\d_][\w.'’ -]{0,40})\s*+")


def given_name_first_if_gold_person(text: str, levels: Names) -> str:
    """The text, with `Strauss, Richard` turned to `Richard Strauss` where the finest level has a person of that family
    name.
    """
    turned = _FAMILY_FIRST.fullmatch(text)
    if turned is None or not levels:
        return text
    family = fold_case_and_accents(turned[1])
    families = {who.family for name in levels[0] if (who := person_of_name(name)) is not None}
    return f"{turned[2]} {turned[1]}" if family in families else text


# Persons in answers: a family name with compatible given names, with a title, or alone.


def mentions_by_person(answer: AnswerText, tier: Tier) -> Mentions:
    """Mentions by the family name with compatible given names or a title; alone if the question asks for a person."""
    if answer.is_about_places or answer.question_asks_place:
        return
    bearer = person_of_name(tier[1])
    if bearer is None:
        yield from _mentions_of_one_word_name(answer, tier)
        return
    for end, word in enumerate(answer.words, start=1):
        if word.text != bearer.family or (answer.has_case and not word.capital):
            continue
        start = _start_of_name_ending_before(answer, end)
        stop = end + (end < len(answer.words) and answer.words[end].text in word_lists.SUFFIXES)
        named = parse_person(answer.words[start:stop], answer.text)
        if named is None or named.family != bearer.family:
            continue
        if named.given:
            if may_be_same_person(named, bearer) or not bearer.given:
                yield Mention(tier[0], tier[1], start, stop)
        elif _may_mean_bearer_by_family_name(answer, start, stop, bearer):
            yield Mention(tier[0], tier[1], start, stop)


def _may_mean_bearer_by_family_name(answer: AnswerText, start: int, stop: int, bearer: Person) -> bool:
    """Whether a family name without given names, with a title or without, refers to the person asked for."""
    titled = start < stop - 1 and answer.words[start].text in word_lists.TITLES
    if bearer.family in answer.question_words or (len(bearer.family) < DELICATE + 1 and not titled):
        return False
    if not (answer.question_asks_person or answer.levels_describe_persons or answer.content_words == (bearer.family,)):
        return False
    behind = answer.words[stop] if stop < len(answer.words) else None
    if behind is not None and not behind.gap and behind.text in _OF_A_FAMILY:
        return False
    if behind is not None and "," in behind.gap and answer.quote(stop, stop + 1).replace(".", "") in ABBREVIATIONS:
        return False  # Washington, D.C.
    return behind is None or bool(behind.gap) or not behind.capital or behind.text in word_lists.FUNCTION


_OF_A_FAMILY = frozenset({"administration", "family", "government", "cabinet", "presidency", "dynasty", "era"})


def _mentions_of_one_word_name(answer: AnswerText, tier: Tier) -> Mentions:
    """Mentions of a one-word name: `Queen Charlotte` for Charlotte of Mecklenburg-Strelitz; `Donna Pinciotti` for
    Donna where the question asks who.
    """
    folded = tier[2]
    if not folded[0].isalpha() or not tier[1][:1].isupper():
        return
    royal = len(folded) > 2 and folded[1] == "of"  # Charlotte of Mecklenburg-Strelitz
    is_one_long_word = len(folded) == 1 and len(folded[0]) > DELICATE
    may_have_other_names = is_one_long_word and answer.has_case and answer.question_asks_person
    if not royal and not may_have_other_names:
        return
    for start, word in enumerate(answer.words):
        if word.text != folded[0] or (answer.has_case and not word.capital):
            continue
        if not royal:
            yield from _mentions_with_names_around(answer, tier, start)
        elif start and answer.words[start - 1].text in word_lists.ROYAL and _name_ends_before(answer, start + 1):
            yield Mention(tier[0], tier[1], start - 1, start + 1)


def _mentions_with_names_around(answer: AnswerText, tier: Tier, start: int) -> Mentions:
    """Mentions of a single name with the names before it, if the level has no fuller one, and with those after it."""
    begin = _start_of_name_ending_before(answer, start + 1)
    has_fuller = any(level == tier[0] and len(folded) > 1 and tier[2][0] in folded for level, _, folded in answer.tiers)
    if begin < start and not has_fuller and _name_ends_before(answer, start + 1):
        yield Mention(tier[0], tier[1], begin, start + 1)
    if answer.words[start].gap:
        return
    end = start + 1
    while end < len(answer.words) and end < start + 3 and answer.words[end].capital and not answer.words[end].gap:
        end += 1
    if end > start + 1 and (word_lists.CLASSES | word_lists.FUNCTION).isdisjoint(answer.word_texts[start:end]):
        yield Mention(tier[0], tier[1], start, end)


def _name_ends_before(answer: AnswerText, index: int) -> bool:
    """Whether a name that ends before word `index` is complete: no further part follows."""
    if index >= len(answer.words):
        return True
    word = answer.words[index]
    return bool(word.gap) or not word.capital or not word.text.isalpha()


def names_another_person_than_level(answer: AnswerText, level: int, start: int, end: int) -> bool:
    """Whether the words [start, end) contain a name that a fuller name of the level contradicts.

    George H. W. Bush is another where a level has George Bush and George W. Bush.
    """
    fuller = [p for number, name, _ in answer.tiers if number == level and (p := person_of_name(name)) is not None]
    families = {full.family for full in fuller if len(full.given) > 1}
    for index in range(start, end) if not families.isdisjoint(answer.word_texts[start:end]) else ():
        if answer.word_texts[index] not in families:
            continue
        stop = index + 1 + (not word_lists.SUFFIXES.isdisjoint(answer.word_texts[index + 1 : index + 2]))
        named = parse_person(answer.words[_start_of_name_ending_before(answer, index + 1) : stop], answer.text)
        if named is None or not any(have_incompatible_middle_names(named, full) for full in fuller):
            continue
        if not any(len(full.given) == len(named.given) and may_be_same_person(named, full) for full in fuller):
            return True
    return False


def _start_of_name_ending_before(answer: AnswerText, end: int) -> int:
    """The index of the first word of the name whose last word is the one before `end`."""
    start = end - 1
    while start > 0 and end - start < 6 and not answer.words[start].gap.strip(".'’-"):
        word = answer.words[start - 1]
        particle = word.text in word_lists.PARTICLES
        if (
            word.text in word_lists.FUNCTION
            or not word.text.isalpha()
            or (answer.has_case and not (word.capital or particle))
        ):
            break
        start -= 1
    return start


# Siblings of a name in answers.

_ADDING = frozenset({"of", "in", "at", "for", "from", "to", ",", "(", ":"})
"""Words and signs before an addition to a name, interchangeable: `Trinity College in Dublin`, `..., Cambridge`."""

_FURTHEST = 3  # function words at most between two words of a name


@dataclass(frozen=True, slots=True)
class _NameStructure:
    """The content words of a name in order, and the joints between them: none, "of", ","."""

    content: tuple[FoldedWord, ...]
    joints: tuple[frozenset[str], ...]
    folds: frozenset[str]
    is_person: bool


@MATCHING.memoize(1 << 13)
def _parse_name(name: str) -> _NameStructure:
    name_words = words(name)
    places = [index for index, word in enumerate(name_words) if word.text not in word_lists.FUNCTION]
    content = tuple(name_words[index] for index in places)
    return _NameStructure(
        content,
        tuple(_words_and_signs_between(name_words, first, second) for first, second in pairwise(places)),
        frozenset(root(loose_fold(word.text)) for word in content),
        person_of_name(name) is not None,
    )


def _words_and_signs_between(all_words: Sequence[FoldedWord], first: int, second: int) -> frozenset[str]:
    """The function words and signs between two words, without hyphens and points."""
    between = {word.text for word in all_words[first + 1 : second]}
    # hyphens and points differ between spellings of one name
    signs = {sign for word in all_words[first + 1 : second + 1] for sign in word.gap if sign not in "-.'’)"}
    return frozenset(between | signs)


def is_proper_name_of_several_words(name: str) -> bool:
    """Whether a name of several words begins with a capital and most of its words are capitalised or numbers: Piano
    Concerto in G major.
    """
    content = _parse_name(name).content
    written = [word.capital or word.text[0].isdigit() for word in content]
    return len(content) > 1 and content[0].capital and 2 * sum(written) > len(content)


def names_a_sibling(answer: AnswerText, name: str) -> bool:
    """Whether an answer names, anywhere, a sibling of the proper name `name`."""
    if not is_proper_name_of_several_words(name):
        return False
    kind, of, rest = name.partition(" of ")
    turned = (f"{rest} {kind}",) if of and kind.lower() in word_lists.CLASSES else ()  # Michigan State University
    ends = [(named, end, step) for named in map(_parse_name, (name, *turned)) for end, step in ((0, 1), (-1, -1))]
    return any(
        word.text == named.content[end].text
        and (word.capital or not answer.has_case)
        and _diverges_as_sibling(answer, index, named, step)
        for index, word in enumerate(answer.words)
        for named, end, step in ends
    )


def begins_a_sibling(answer: AnswerText, start: int, name: str) -> bool:
    """Whether a sibling of a name begins at word `start` of an answer."""
    named = _parse_name(name)
    return (
        len(named.content) > 1
        and answer.word_texts[start] == named.content[0].text
        and _diverges_as_sibling(answer, start, named, 1)
    )


def _diverges_as_sibling(answer: AnswerText, index: int, structure: _NameStructure, step: int) -> bool:
    """Whether an answer with the first word of a name at `index`, or with `step` -1 the last, goes on as a sibling."""
    rest = list(structure.content[::step])
    for joint in structure.joints[::step]:
        del rest[0]
        places = range(index + step, index + step * (_FURTHEST + 2), step)
        content = (p for p in places if 0 <= p < len(answer.words) and answer.word_texts[p] not in word_lists.FUNCTION)
        following = next(content, None)
        if following is None or not _is_joined_alike(answer, joint, *sorted((index, following))):
            return False
        if answer.word_texts[following] != rest[0].text:
            return _word_differs_in_meaning(answer, following, rest, structure, joint)
        if rest[0].capital and answer.has_case and not answer.words[following].capital:
            return False
        index = following
    return False


def _is_joined_alike(answer: AnswerText, joint: frozenset[str], first: int, second: int) -> bool:
    """Whether two words are joined like those of the name, or both pairs by words or signs of _ADDING."""
    stated = _words_and_signs_between(answer.words, first, second)
    if not stated and answer.text[answer.words[first].end : answer.words[second].start].strip(" -"):
        return not joint
    return joint == stated or (bool(joint & _ADDING) and stated <= _ADDING | joint)


def _word_differs_in_meaning(
    answer: AnswerText, index: int, rest: Sequence[FoldedWord], structure: _NameStructure, joint: frozenset[str]
) -> bool:
    """Whether word `index` of an answer differs in meaning from `rest[0]`, the next word of the name, which `joint`
    joins to the word before.
    """
    stated, name_word = answer.words[index], rest[0]
    if not answer.question_words.isdisjoint((stated.text, name_word.text)):
        return False
    adjacent = {answer.word_texts[place] for place in (index - 1, index + 1) if 0 <= place < len(answer.word_texts)}
    is_qualifier = stated.text in word_lists.QUALIFIERS and stated.text not in structure.folds  # South Florida
    is_fixed = (not joint or is_qualifier) and not structure.is_person and name_word.text not in word_lists.LEGAL_FORMS
    is_comparable = _is_new_word_written_alike(answer, stated, name_word, structure)
    if name_word.text in adjacent and is_fixed and stated.text.isalpha() and is_comparable:
        return True  # Ohio State University, for Ohio University
    if name_word.text in answer.word_set:
        return False
    if stated.text in {word.text for word in rest[1:2]}:
        return is_fixed  # Ohio University, for Ohio State University
    if not is_comparable or not answer.claims_beyond_tiers(index, index + 1):
        return False
    if "," in joint:
        place, other = (
            _leading_place_or_word([word.text for word in rest]),
            _leading_place_or_word(answer.word_texts[index : index + 3]),
        )
        if is_country_or_division(place) or is_country_or_division(other):
            return are_exclusive_places(other, place)
    is_short = name_word.text.startswith(stated.text) or stated.text.startswith(name_word.text)  # Ave for Avenue
    is_misspelt = is_spelt_nearly_alike(stated.text, name_word.text) or sorted(stated.text) == sorted(
        name_word.text
    )  # Shiekh
    return not (is_short or is_misspelt)


def _leading_place_or_word(texts: Sequence[str]) -> tuple[str, ...]:
    """The longest name of a country or division that begins the words, else their first word."""
    return next((known for size in (3, 2) if is_country_or_division(known := tuple(texts[:size]))), tuple(texts[:1]))


def _is_new_word_written_alike(
    answer: AnswerText, stated: FoldedWord, name_word: FoldedWord, structure: _NameStructure
) -> bool:
    """Whether the word of the answer is not in the name, and written like the name's word: both capitalised, or both
    numbers.
    """
    if root(loose_fold(stated.text)) in structure.folds:
        return False
    numbers = [word.text[0].isdigit() and not word.capital for word in (stated, name_word)]
    return all(numbers) or (not any(numbers) and (stated.capital or not name_word.capital or not answer.has_case))
