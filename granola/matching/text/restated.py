"""What an answer repeats of its question: `The capital of Australia is Sydney` says nothing of Australia."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from granola.matching.naming.mentions import AnswerText, Mention
from granola.matching.text import word_lists
from granola.matching.text.tokens import key


def is_restated(answer: AnswerText, mention: Mention) -> bool:
    """Whether a mention repeats the question; elsewhere in the answer the same name may be told anew."""
    if not answer.asked.issuperset(answer.texts[mention.start : mention.end]):
        return False
    return restates(answer, mention.start, mention.end) or _is_asked_kind(answer, mention)


def restates(answer: AnswerText, start: int, end: int) -> bool:
    """Whether the words [start, end) stand in the question beside the same word as in the answer."""
    if not answer.question:
        return False
    repeated, asked = answer.texts[start:end], key(answer.question)
    opened = start < len(answer.words) and not answer.words[start].gap.strip("-'")
    closed = end < len(answer.words) and not answer.words[end].gap.strip("-'")
    beside = _beside(answer.texts, start if opened else 0, start, end if closed else len(answer.texts))
    if not beside or not repeated:
        return False
    return any(
        asked[at : at + len(repeated)] == repeated and not beside.isdisjoint(_beside(asked, at, at, at + len(repeated)))
        for at in range(len(asked) - len(repeated) + 1)
    )


def _beside(texts: Sequence[str], first: int, start: int, end: int) -> frozenset[tuple[str, str]]:
    """The words that say something on either side of `start` and `end`, with the side; none to the left at 0.

    What stands before "of" may as well stand behind: the capital of Australia, Australia's capital.
    """
    neighbours = []
    if first > 1 and texts[start - 1] == "of":
        neighbours.append(("of", texts[start - 2]))
    elif first:
        neighbours.append(("left", texts[start - 1]))
    if end < len(texts):
        neighbours += [("right", texts[end]), ("of", texts[end])]
    return frozenset((side, word) for side, word in neighbours if word not in word_lists.FUNCTION)


def _is_asked_kind(answer: AnswerText, mention: Mention) -> bool:
    """`The sport is hockey` for a sport: the kind that is asked for, before its copula and an unknown answer."""
    end = mention.end
    if mention.level == 0 or not mention.name.islower() or end + 1 >= len(answer.words):
        return False
    return answer.texts[end] in _COPULAS and not answer.words[end].gap and answer.is_claim(end + 1, len(answer.words))


_COPULAS = frozenset({"is", "was", "are", "were"})


def restates_at(answer: AnswerText, first: int, last: int) -> bool:
    """The same of the characters [first, last) of the text."""
    start = bisect_right(answer.words, first, key=lambda word: word.end)
    return restates(answer, start, bisect_right(answer.words, last, key=lambda word: word.end))
