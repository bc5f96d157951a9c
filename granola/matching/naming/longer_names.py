"""Mentions that are a piece of a longer name: York in New York, Paris in Paris Hilton."""

from __future__ import annotations

from granola.matching.naming.countries import ABBREVIATIONS, division, is_adjective, nation
from granola.matching.naming.mentions import AnswerText, Mention
from granola.matching.naming.person_names import person, tells_by_initials
from granola.matching.text import word_lists
from granola.matching.text.tokens import FoldedWord, key


def is_part_of_a_name(answer: AnswerText, mention: Mention) -> bool:
    """`York` in New York, `Paris` in Paris Hilton, `Oxford` in University of Oxford."""
    return _has_a_name_before(answer, mention) or _has_a_name_behind(answer, mention)


def _has_a_name_before(answer: AnswerText, mention: Mention) -> bool:
    first, left = answer.words[mention.start], mention.start - 1
    if left < 0 or first.gap.strip("-") or (answer.cased and not first.capital):
        return False
    if answer.is_mentioned(left, left + 1):
        return False
    word = answer.words[left]
    if word.text in word_lists.DIRECTIONS or word.text in word_lists.POINTS:
        return _is_elsewhere(answer, mention, word)
    if word.text in word_lists.QUALIFIERS and (word.capital or not answer.cased):
        return not (mention.name.islower() and first.text in word_lists.OCCUPATIONS)  # Former politician
    return answer.cased and _goes_on_from(answer, mention, left)


def _goes_on_from(answer: AnswerText, mention: Mention, left: int) -> bool:
    """Whether a mention in a text with capitals is the end of a name that has word `left` before it."""
    word = answer.words[left]
    if word.text == "of" and left > 0 and answer.words[left - 1].text not in word_lists.PARTS:
        return answer.words[left - 1].capital and answer.is_claim(left - 1, left)
    if _is_a_language(mention) or (mention.name.islower() and nation((word.text,)) is not None):
        return False  # Brazilian Portuguese is Portuguese, the U.S. President a president
    if _has_name_with(answer, mention.level, word.text):
        return False  # Roman Catholic, where Roman Catholicism and Catholic are names of one
    if answer.asks_person and mention.level == 0 and not _has_fuller_names(answer, mention):
        return False  # Gerald Ford, where the gold answer is Ford
    # A name of several words bears more first names: Achille Claude Debussy. A single word does not.
    return mention.end - mention.start == 1 and word.capital and answer.is_claim(left, left + 1)


def _is_a_language(mention: Mention) -> bool:
    """Whether the mention is a single adjective of a country, as languages are called."""
    return mention.end - mention.start == 1 and is_adjective(key(mention.name))


def _is_elsewhere(answer: AnswerText, mention: Mention, direction: FoldedWord) -> bool:
    """`South Korea` for Korea, `East Asia` beside the finer tier Western Asia; not so `northern India`."""
    name = answer.words[mention.start].text
    if _has_a_part(answer, mention):
        return True
    if direction.text in word_lists.POINTS and answer.cased and not direction.capital:
        return name in word_lists.PARTED_BY_NAME
    if direction.text in word_lists.DIRECTIONS:
        return (direction.text, name) in word_lists.NO_PARTS
    return direction.text not in word_lists.PARTED_BY_POINTS.get(name, ())


def _has_a_part(answer: AnswerText, mention: Mention) -> bool:
    """Whether a finer tier is the mention's last word with a direction: Western Asia, not Île-de-France."""
    head, directions = answer.words[mention.end - 1].text, word_lists.DIRECTIONS | word_lists.POINTS
    return any(
        level < mention.level and folded[-1] == head and not directions.isdisjoint(folded[:-1])
        for level, _, folded in answer.tiers
    )


def _has_a_name_behind(answer: AnswerText, mention: Mention) -> bool:
    last, right = answer.words[mention.end - 1], mention.end
    if not (answer.cased and last.capital and right < len(answer.words)):
        return False
    word = answer.words[right]
    between = answer.text[last.end : word.start]
    if not word.capital or between.strip("- ") or answer.is_mentioned(right, right + 1):
        return False
    if (answer.of_places or answer.asks_place) and _is_a_container(answer, right):
        return False  # Chicago Illinois
    if word.text in _JUNIOR:  # Al Gore Jr., but not John F. Kennedy Jr.; the elder and the third have their number
        named = person(answer.words[mention.start : right], answer.text)
        return named is not None and tells_by_initials(named)
    return word.text not in word_lists.FUNCTION | word_lists.KINDS and word.text not in answer.asked


_JUNIOR = frozenset({"jr", "junior"})


def _is_a_container(answer: AnswerText, index: int) -> bool:
    """Whether a state or country stands from word `index` on."""
    folded = answer.texts[index : index + 3]
    known = division(folded) is not None or nation(folded[:1]) is not None
    return known or answer.quote(index, index + 1).replace(".", "") in ABBREVIATIONS


def _has_name_with(answer: AnswerText, level: int, word: str) -> bool:
    """Whether a name of the level has the word."""
    return any(number == level and word in folded for number, _, folded in answer.tiers)


def _has_fuller_names(answer: AnswerText, mention: Mention) -> bool:
    """Whether the level tells its bearer by more than this word, so that other first names are another's."""
    return any(level == mention.level and len(folded) > 1 for level, _, folded in answer.tiers)
