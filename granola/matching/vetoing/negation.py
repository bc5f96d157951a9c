"""Negation of mentions, within a clause and by later corrections."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache

from abstraction.text.language.languages import language
from granola.matching.naming.mentions import SENTENCE_END, AnswerText, Mention
from granola.matching.text import word_lists


def is_negated(answer: AnswerText, mention: Mention) -> bool:
    """Whether a mention is negated: `not in France`, `rather than France`, `not in Paris, France`; not by `not only
    France`.
    """
    if is_denied_word(answer, mention.start) or _is_taken_back(answer, mention):
        return True
    if answer.texts[max(0, mention.start - 1) : mention.start] == ("than",):  # larger than Africa
        return answer.texts[max(0, mention.start - 3) : mention.start - 1] not in (("none", "other"), ("no", "other"))
    if "," not in answer.words[mention.start].gap:
        return False
    smaller = next((m for m in answer.mentions_by_end.get(mention.start, ()) if m.level < mention.level), None)
    return smaller is not None and is_negated(answer, smaller)


def is_denied_word(answer: AnswerText, start: int) -> bool:
    """Whether the clause negates the words from `start` on."""
    before = list(_clause_before(answer, start))[::-1]
    if _DENYING.isdisjoint(before):
        return False
    near = before[-_NEAR:]
    if any(_contains_phrase(phrase, near) for phrase in word_lists.AFFIRMATIONS):
        return False
    return (
        any(word in word_lists.NEGATIONS for word in near)
        or any(_contains_phrase(phrase, near) for phrase in (*word_lists.NEGATION_PHRASES, *word_lists.HEARSAY))
        or any(_contains_phrase(phrase, before) for phrase in word_lists.ANNOUNCING)
    )


_NEAR = 6  # words before a name searched for a negation; phrases that announce an error may be farther away


def is_denied(answer: AnswerText, position: int) -> bool:
    """Whether the clause negates the word at a character of the text: `not in 1961`."""
    return is_denied_word(answer, bisect_right(answer.words, position, key=lambda word: word.end))


def _clause_before(answer: AnswerText, start: int) -> Iterator[str]:
    """The words before word `start`, nearest first, back to the beginning of its clause; at most nine."""
    for index in range(start - 1, max(-1, start - 10), -1):
        gap = answer.words[index + 1].gap if index + 1 < len(answer.words) else ""
        text = answer.words[index].text
        if '"' in gap or "”" in gap:  # a quotation is no part of the clause around it
            return
        # a negation of the question is no denial: "Who did not sign?"
        if text in word_lists.NEGATIONS and text in answer.question_words:
            continue
        if gap.strip("'\"’“”()-") or (
            text in word_lists.CLAUSE_WORDS and not (text == "but" and index and answer.texts[index - 1] in _BUT)
        ):
            return
        yield answer.words[index].text


# "anything but France" denies; any other "but" begins a clause
_BUT = frozenset({"anything", "anyone", "anybody", "everyone"})


def _contains_phrase(phrase: tuple[str, ...], before: list[str]) -> bool:
    size = len(phrase)
    return any(tuple(before[i : i + size]) == phrase for i in range(len(before) - size + 1))


_DENYING = word_lists.NEGATIONS | {
    phrase[0] for phrase in (*word_lists.NEGATION_PHRASES, *word_lists.HEARSAY, *word_lists.ANNOUNCING)
}
_CORRECTS, _IS_WRONG, _CONTRASTS = "corrects", "is_wrong", "contrasts"  # among a language's expressions


@cache
def _expressions(key: str, code: str) -> tuple[re.Pattern[str], ...]:
    """The expressions for taking something back, in English and in another language."""
    known = (language(one).matching.get(key) for one in dict.fromkeys(("en", code)))
    return tuple(pattern for pattern in known if pattern is not None)


def _expression_ends(key: str, answer: AnswerText, at: int) -> list[int]:
    """The ends of the expressions of a key that begin at a character of the answer."""
    return [found.end() for pattern in _expressions(key, answer.code) if (found := pattern.match(answer.text, at))]


def _is_taken_back(answer: AnswerText, mention: Mention) -> bool:
    """Whether an answer takes a mention back later: `In Lyon? No, in Marseille.`; `Lyon. Wait, no, Marseille.`; `Lyon
    is wrong`; `often said to be Lyon, but ...`
    """
    end = answer.words[mention.end - 1].end
    if any(answer.text[at : at + 1].isupper() for at in _expression_ends(_CORRECTS, answer, end)):
        return True
    if _expression_ends(_IS_WRONG, answer, end):
        return True
    if _expression_ends(_CONTRASTS, answer, end):
        before = list(_clause_before(answer, mention.start))[::-1]
        if any(_contains_phrase(phrase, before) for phrase in word_lists.UNCERTAIN):
            return True
    if "?" not in answer.text:
        return False
    for index in range(mention.end, len(answer.words)):
        if gap := set(answer.words[index].gap) & SENTENCE_END:
            return "?" in gap and answer.texts[index] in ("no", "nope")
    return False
