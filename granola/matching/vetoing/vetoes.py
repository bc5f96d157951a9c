"""What takes a mention back, by the name that the verdict then has, in the order in which it is asked; and
mentions that are a piece of a longer name.

All hold for the coarser levels of a ladder, and for its finest in answers of up to SHORT words; in longer ones people
read past those of LONG. Where there is one level, those of ALWAYS hold, and the others but RESTATED in answers of up to
SHORT words (docs/reference/scoring.md).
"""

from __future__ import annotations

from collections.abc import Callable

from granola.matching.naming.countries import ABBREVIATIONS, division, is_adjective, nation
from granola.matching.naming.mentions import AnswerText, Mention
from granola.matching.naming.person_names import person, tells_by_initials
from granola.matching.text import word_lists
from granola.matching.text.restated import is_restated
from granola.matching.text.tokens import FoldedWord, key
from granola.matching.vetoing import conflicts
from granola.matching.vetoing.negation import is_negated

# Mentions that are a piece of a longer name: York in New York, Paris in Paris Hilton.


def has_a_name_before(answer: AnswerText, mention: Mention) -> bool:
    """`York` in New York, `Oxford` in University of Oxford."""
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


def has_a_name_behind(answer: AnswerText, mention: Mention) -> bool:
    """`Paris` in Paris Hilton."""
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


# The vetoes.


def is_alternative(answer: AnswerText, mention: Mention) -> bool:
    """`France or Germany`, `Paris, or possibly Lyon`, where the other is no tier: naming both names neither."""
    words = answer.words
    if answer.cased and not words[mention.start].capital:
        return False  # a bank or credit union
    end = _chain_end(answer, mention)
    if end < len(words) and not _BETWEEN.isdisjoint(words[end].gap) and _is_name(answer, end):
        return True  # Paris/Lyon, Paris -> Lyon
    start, joined = _past_or(answer, end, 1)
    if end < start < len(words):
        stop = start + 1
        while stop < len(words) and not words[stop].gap and stop < start + 3:
            stop += 1
        if answer.is_claim(start, stop) if joined else _is_name(answer, start):
            return True
    left, joined = _past_or(answer, mention.start - 1, -1)
    if not 0 <= left < mention.start - 1:
        return False
    return answer.is_claim(left, left + 1) if joined else _is_name(answer, left)


def _chain_end(answer: AnswerText, mention: Mention) -> int:
    """Where the coarser tiers end that commas join to a mention: Toronto, Ontario, or Ottawa."""
    end = mention.end
    while end < len(answer.words) and answer.words[end].gap == ",":
        larger = next((m for m in answer.mentions if m.start == end and m.level > mention.level), None)
        if larger is None:
            break
        end = larger.end
    return end


def _past_or(answer: AnswerText, index: int, step: int) -> tuple[int, bool]:
    """The first word from `index` on, or back with `step` -1, that is no "or" or "maybe"; whether any was an "or"."""
    joined = False
    while 0 <= index < len(answer.words) and answer.words[index].text in _JOINING:
        joined = joined or answer.words[index].text == "or"
        index += step
    return index, joined


_BETWEEN = frozenset("/→>")
_JOINING = word_lists.MAYBE | {"probably", "even", "or"}


def _is_name(answer: AnswerText, index: int) -> bool:
    word = answer.words[index]
    named = answer.cased and word.capital and word.text[0].isalpha() and word.text not in word_lists.CONTINENTS
    return named and answer.is_claim(index, index + 1)


SHORT = 6  # words up to which every veto holds
PART, LONGER, ELSEWHERE, RESTATED = "part-of-another-name", "goes-on-as-another-name", "other-container", "restated"
ALWAYS = frozenset({"negated"})
# Those that people read past in long answers on the finest level of a ladder.
LONG = frozenset({"alternatives", PART, LONGER})
VETOES: tuple[tuple[str, Callable[[AnswerText, Mention], bool]], ...] = (
    ("negated", is_negated),
    (RESTATED, is_restated),
    ("only-nearby", conflicts.is_only_nearby),
    ("alternatives", is_alternative),
    (PART, has_a_name_before),
    (LONGER, has_a_name_behind),
    (ELSEWHERE, conflicts.is_in_another_division),
    ("finer-claim-conflict", conflicts.follows_a_finer_claim),
    ("finer-claim-conflict", conflicts.is_before_another_name),
)


def veto(answer: AnswerText, mention: Mention) -> str | None:
    """The name of the first veto that takes the mention back, or None."""
    ladder, coarser, short = len(answer.levels) > 1, mention.level > 0, len(answer.words) <= SHORT
    for name, holds in VETOES:
        if (name in ALWAYS or coarser or (ladder and name not in LONG) or (short and name != RESTATED)) and holds(
            answer, mention
        ):
            return name
    return None
