"""Who was born here and studied there: a place belongs to the event whose word stands before it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

import orjson

from granola.matching.naming.countries import contradict, division
from granola.matching.naming.mentions import SENTENCE_END, AnswerText, Mention
from granola.matching.text import word_lists
from granola.matching.vetoing.conflicts import is_only_nearby
from granola.matching.vetoing.negation import is_denied_word


def is_of_another_event(answer: AnswerText, mention: Mention) -> bool:
    """`born in Shanghai and studied in Kunming`, `Obama, President of the United States, was born in Kenya`.

    So where the asked event is told with a place of its own that no tier names, and the mention stands elsewhere;
    and where it is told with a tier, and the mention with another event: `born in France and died in Paris`.
    Of places alone: who founded Apple in Cupertino is told by the words before.
    """
    if not answer.cased or not (answer.asks_place or answer.of_places):
        return False
    asked = asked_events(answer)
    if not asked:
        return False
    scopes = list(_scopes(answer, asked))
    if any(start <= mention.start < end for start, end in scopes):
        return False
    affirmed = [(start, end) for start, end in scopes if not is_denied_word(answer, start)]
    if any(not answer.is_mentioned(start, end) and _has_a_place(answer, start, end) for start, end in affirmed):
        return True
    return any(answer.is_mentioned(*scope) for scope in affirmed) and _is_told_with_an_event(answer, mention.start)


def is_behind_an_unknown_place(answer: AnswerText, mention: Mention) -> bool:
    """`born in Versailles, in the Île-de-France region`: the place that the asked event names first is no tier.

    So for coarser levels alone, where no finer one is mentioned: a place inside level 1 cannot be told wrong.
    """
    if mention.level == 0 or not answer.cased or not answer.of_places:
        return False
    scopes = list(_scopes(answer, asked_events(answer))) or [(0, 0)]
    if any(other.level == 0 and not is_only_nearby(answer, other) for other in answer.mentions):
        return False
    if any(start <= mention.start < end and _has_a_place(answer, start, mention.start) for start, end in scopes):
        return True
    return _has_answered(answer, mention.start)


def is_in_a_contradicting_place(answer: AnswerText, mention: Mention) -> bool:
    """`born in Texas, in the town of Paris` where the ladder has Paris in France."""
    if mention.level > 0 or not answer.cased or not answer.of_places:
        return False
    coarser = [folded for level, _, folded in answer.tiers if level > 0]
    for start, end in _scopes(answer, asked_events(answer)):
        if not start <= mention.start < end or any(m.level > 0 and start <= m.start < end for m in answer.mentions):
            continue
        for index in range(start, mention.start):
            stated = division(answer.texts[index : index + 3])
            if stated is None or not answer.words[index].capital or answer.is_mentioned(index, index + 1):
                continue
            if any(contradict(stated, folded) for folded in coarser):
                return True
    return False


def is_beside_another_person(answer: AnswerText, mention: Mention) -> bool:
    """`The composer is Maurice Ravel`: who is described is named, and no tier has that name."""
    if mention.level == 0 or not answer.cased or not answer.of_persons:
        return False
    words = answer.words
    for start, word in enumerate(words):
        if not word.capital or (start > 0 and words[start - 1].text not in _NAMING) or word.text in word_lists.FUNCTION:
            continue
        end = start
        while end < len(words) and words[end].capital and (end == start or not words[end].gap.strip(".'-")):
            end += 1
        if end - start > 1 and all(answer.is_claim(i, i + 1) for i in range(start, end)):
            return not any(other.level == 0 for other in answer.mentions)
    return False


# Words of one event a line; folded. Where a question asks about one, what an answer says of another is no answer.
_LISTED = orjson.loads(files("granola.matching").joinpath("data/events.json").read_bytes())["events"]
_EVENTS: dict[str, int] = {word: number for number, line in enumerate(_LISTED) for word in line}


_MOST_SCOPES = 10  # words of an asked event of which the scopes are read
_CLAUSES = frozenset({"although", "though", "while", "whereas", "however"})


_ENDS = frozenset({"end", "start", "beginning", "close", "opening", "ending"})  # of a year, that is no event


_BEFORE_PLACES = frozenset({"in", "at", "near", "from"})


def _event_at(answer: AnswerText, index: int) -> int | None:
    """The event that word `index` tells, if any; the end of 1945 is none."""
    event = _EVENTS.get(answer.words[index].text)
    if event is not None and answer.words[index].text in _ENDS and answer.texts[index + 1 : index + 2] == ("of",):
        return None
    return event


def asked_events(answer: AnswerText) -> frozenset[int]:
    """The events that the question is about."""
    return frozenset([_EVENTS[word] for word in _EVENTS.keys() & answer.asked])


def _scopes(answer: AnswerText, asked: frozenset[int]) -> Iterator[tuple[int, int]]:
    """[start, end) of the words behind each word of an asked event, up to another event or the sentence's end.

    Those of the first words: an answer that tells the event more often does not tell it.
    """
    end = count = 0
    for index, word in enumerate(answer.words):
        if word.text not in _EVENTS or _event_at(answer, index) not in asked:
            continue
        count += 1
        if count > _MOST_SCOPES:
            return
        if index < end:  # inside the scope before, which ends where this one does
            yield index + 1, end
            continue
        end = index + 1
        while end < len(answer.words):
            event = _event_at(answer, end)
            other = (event is not None and event not in asked) or answer.words[end].text in _CLAUSES
            if other or set(answer.words[end].gap) & SENTENCE_END:
                break
            end += 1
        yield index + 1, end


def _is_told_with_an_event(answer: AnswerText, index: int) -> bool:
    """Whether an event's word stands before word `index` in its sentence, and a preposition between."""
    if not index or answer.words[index - 1].text not in _BEFORE_PLACES:
        return False
    while index and not set(answer.words[index].gap) & SENTENCE_END:
        index -= 1
        if _event_at(answer, index) is not None:
            return True
    return False


_OPENING = frozenset({"answer", "is", "was", "it", "he", "she", "in", "at", "born", "died", "located", "place"})


def _has_answered(answer: AnswerText, before: int) -> bool:
    """Whether a first, short sentence names an unknown place and nothing else: `The answer is Marseille.`"""
    end = next((i for i in range(1, before + 1) if set(answer.words[i].gap) & SENTENCE_END), None)
    if end is None or end > 6 or answer.is_mentioned(0, end):
        return False
    names = [word for word in answer.words[:end] if word.text not in _OPENING and word.text not in word_lists.FUNCTION]
    return bool(names) and all(word.capital for word in names) and answer.is_claim(end - len(names), end)


_NAMING = frozenset({"is", "was", "by", "named", "called", "composer", "author", "director", "singer", "writer"})


def _has_a_place(answer: AnswerText, start: int, end: int) -> bool:
    for index in range(start, end - 1):
        following = answer.words[index + 1]
        named = following.capital and following.text[0].isalpha() and following.text not in word_lists.MONTHS
        directed = following.text in word_lists.DIRECTIONS | word_lists.POINTS
        if (
            named
            and not directed
            and answer.words[index].text in _BEFORE_PLACES
            and answer.is_claim(index + 1, index + 2)
        ):
            return True
    return False


def tells_of_another(question: str | None, text: str) -> bool:
    """Whether a text tells of an event that the question is not about, and not of the asked one."""
    answer = AnswerText(text, (), question)
    asked = asked_events(answer)
    events = {event for index in range(len(answer.words)) if (event := _event_at(answer, index)) is not None}
    return bool(asked and events) and events.isdisjoint(asked)
