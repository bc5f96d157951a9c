"""Who was born here and studied there: a place or date belongs to the event whose word stands before it."""

from __future__ import annotations

from collections.abc import Iterator

from granola.matching import vocabulary
from granola.matching.answer import SENTENCE_END, Answer, Mention

# Words of one event a line; folded. Where a question asks about one, what an answer says of another is no answer.
_EVENTS = tuple(
    frozenset(line.split())
    for line in (
        "born birth birthplace",
        "died death dead killed murdered passed deathplace",
        "educated studied studies attended graduated education student",
        "lived lives moved resided settled raised grew residence emigrated",
        "worked works career became elected served serves joined appointed",
        "married marriage wife husband wed",
        "founded formed established created founding formation",
        "headquartered headquarters based",
        "released published premiered issued",
        "buried burial grave",
    )
)
_BEFORE_PLACES = frozenset({"in", "at", "near", "from"})


def _event(word: str) -> int | None:
    return next((number for number, words in enumerate(_EVENTS) if word in words), None)


def asked_events(answer: Answer) -> frozenset[int]:
    """The events that the question is about."""
    return frozenset(event for word in answer.asked if (event := _event(word)) is not None)


def _scopes(answer: Answer, asked: frozenset[int]) -> Iterator[tuple[int, int]]:
    """[start, end) of the words behind each word of an asked event, up to another event or the sentence's end."""
    for index, word in enumerate(answer.words):
        if _event(word.text) not in asked:
            continue
        end = index + 1
        while end < len(answer.words):
            event = _event(answer.words[end].text)
            if set(answer.words[end].gap) & SENTENCE_END or (event is not None and event not in asked):
                break
            end += 1
        yield index + 1, end


def is_of_another_event(answer: Answer, mention: Mention) -> bool:
    """`born in Shanghai and studied in Kunming`, `Obama, President of the United States, was born in Kenya`.

    So where the asked event is told with a place of its own that no tier names, and the mention stands elsewhere.
    """
    asked = asked_events(answer)
    if not asked or not answer.cased:
        return False
    for start, end in _scopes(answer, asked):
        if start <= mention.start < end:
            return False
        if not answer.is_mentioned(start, end) and _has_a_place(answer, start, end):
            return True
    return False


def _has_a_place(answer: Answer, start: int, end: int) -> bool:
    for index in range(start, end - 1):
        following = answer.words[index + 1]
        named = following.capital and following.text[0].isalpha() and following.text not in vocabulary.MONTHS
        if named and answer.words[index].text in _BEFORE_PLACES and answer.is_claim(index + 1, index + 2):
            return True
    return False


def of_asked_events(answer: Answer, positions: list[int]) -> list[bool]:
    """For what stands at each character of the text, whether the asked event tells it; all True where none does."""
    asked = asked_events(answer)
    if not asked:
        return [True] * len(positions)
    scopes = [(answer.words[start - 1].start, answer.words[end - 1].end) for start, end in _scopes(answer, asked)]
    others = [word.start for word in answer.words if (event := _event(word.text)) is not None and event not in asked]
    inside = [any(low <= place <= high for low, high in scopes) for place in positions]
    if not others or not any(inside):
        return [True] * len(positions)
    told = []
    for place, well in zip(positions, inside, strict=True):
        before = max((start for start in others if start < place), default=None)
        told.append(well or before is None)
    return told
