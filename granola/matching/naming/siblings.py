"""Siblings: names that differ from a tier's in the distinguishing word: Best Actress, Manchester United, Ohio State.

A name and its siblings begin or end alike: `University of California, Berkeley` and `..., Los Angeles`, `Nobel Prize
in Physics` and `... in Chemistry`, `Halloween (1978)` and `Halloween (2018)`. So an answer is compared with the name
from either end, and the first word in which they differ decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from granola.matching.naming.countries import contradict, is_known_place
from granola.matching.naming.mentions import AnswerText
from granola.matching.naming.person_names import whole_person
from granola.matching.text import word_lists
from granola.matching.text.match_cache import MATCHING
from granola.matching.text.near import is_near
from granola.matching.text.tokens import FoldedWord, loose_fold, root, words

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
    MATCHING.count(len(name))
    name_words = words(name)
    places = [index for index, word in enumerate(name_words) if word.text not in word_lists.FUNCTION]
    content = tuple(name_words[index] for index in places)
    return _NameStructure(
        content,
        tuple(_joint(name_words, first, second) for first, second in pairwise(places)),
        frozenset(root(loose_fold(word.text)) for word in content),
        whole_person(name) is not None,
    )


def _joint(all_words: Sequence[FoldedWord], first: int, second: int) -> frozenset[str]:
    """The function words and signs between two words, without hyphens and points."""
    between = {word.text for word in all_words[first + 1 : second]}
    # hyphens and points differ between spellings of one name
    signs = {sign for word in all_words[first + 1 : second + 1] for sign in word.gap if sign not in "-.'’)"}
    return frozenset(between | signs)


def is_proper_name(name: str) -> bool:
    """Whether a name begins with a capital and most of its words are capitalised or numbers: Piano Concerto in G
    major.
    """
    content = _parse_name(name).content
    written = [word.capital or word.text[0].isdigit() for word in content]
    return len(content) > 1 and content[0].capital and 2 * sum(written) > len(content)


def names_a_sibling(answer: AnswerText, name: str) -> bool:
    """Whether an answer names a sibling of a proper name anywhere."""
    if not is_proper_name(name):
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
        and answer.texts[start] == named.content[0].text
        and _diverges_as_sibling(answer, start, named, 1)
    )


def _diverges_as_sibling(answer: AnswerText, index: int, named: _NameStructure, step: int) -> bool:
    """Whether an answer with the first word of a name at `index`, or with `step` -1 the last, goes on as a sibling."""
    left = list(named.content[::step])
    for joint in named.joints[::step]:
        del left[0]
        following = _next_content_word(answer, index, step)
        if following is None or not _is_joined_alike(answer, joint, *sorted((index, following))):
            return False
        if answer.texts[following] != left[0].text:
            return _means_another(answer, following, left, named, joint)
        if left[0].capital and answer.has_case and not answer.words[following].capital:
            return False
        index = following
    return False


def _next_content_word(answer: AnswerText, index: int, step: int) -> int | None:
    """The next word after `index` (before it with `step` -1) that is no function word; None if it is too far away."""
    for place in range(index + step, index + step * (_FURTHEST + 2), step):
        if not 0 <= place < len(answer.words):
            return None
        if answer.texts[place] not in word_lists.FUNCTION:
            return place
    return None


def _is_joined_alike(answer: AnswerText, own: frozenset[str], first: int, second: int) -> bool:
    """Whether two words are joined like those of the name, or both pairs by words or signs of _ADDING."""
    stated = _joint(answer.words, first, second)
    if not stated and answer.text[answer.words[first].end : answer.words[second].start].strip(" -"):
        return not own
    return own == stated or (bool(own & _ADDING) and stated <= _ADDING | own)


def _means_another(
    answer: AnswerText, index: int, left: Sequence[FoldedWord], named: _NameStructure, joint: frozenset[str]
) -> bool:
    """Whether word `index` differs in meaning from the first of the name's words that are `left` after a joint."""
    stated, own = answer.words[index], left[0]
    if not answer.question_words.isdisjoint((stated.text, own.text)):
        return False
    adjacent = {answer.texts[place] for place in (index - 1, index + 1) if 0 <= place < len(answer.texts)}
    is_qualifier = (
        stated.text in word_lists.QUALIFIERS and stated.text not in named.folds
    )  # University of South Florida
    is_fixed = (not joint or is_qualifier) and not named.is_person and own.text not in word_lists.LEGAL_FORMS
    if (
        own.text in adjacent
        and is_fixed
        and stated.text.isalpha()
        and _is_comparable_new_word(answer, stated, own, named)
    ):
        return True  # Ohio State University, for Ohio University
    if own.text in answer.word_set:
        return False
    if stated.text in {word.text for word in left[1:2]}:
        return is_fixed  # Ohio University, for Ohio State University
    if not _is_comparable_new_word(answer, stated, own, named) or not answer.makes_claim(index, index + 1):
        return False
    if "," in joint:
        place, other = _leading_place([word.text for word in left]), _leading_place(answer.texts[index : index + 3])
        if is_known_place(place) or is_known_place(other):
            return contradict(other, place)
    is_short = own.text.startswith(stated.text) or stated.text.startswith(own.text)  # Ave for Avenue
    return not (is_short or is_near(stated.text, own.text) or sorted(stated.text) == sorted(own.text))  # Sheikh, Shiekh


def _leading_place(texts: Sequence[str]) -> tuple[str, ...]:
    """The longest name of a country or division that begins the words, else their first word."""
    return next((known for size in (3, 2) if is_known_place(known := tuple(texts[:size]))), tuple(texts[:1]))


def _is_comparable_new_word(answer: AnswerText, stated: FoldedWord, own: FoldedWord, named: _NameStructure) -> bool:
    """Whether a word is not in the name, and written like the name's word: both capitalised, or both numbers."""
    if root(loose_fold(stated.text)) in named.folds:
        return False
    numbers = [word.text[0].isdigit() and not word.capital for word in (stated, own)]
    return all(numbers) or (not any(numbers) and (stated.capital or not own.capital or not answer.has_case))
