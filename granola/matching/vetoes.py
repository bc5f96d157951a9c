"""What takes a mention back beyond its own clause: companions, owners, other containers, names behind it."""

from __future__ import annotations

from collections.abc import Callable

from granola.matching import names, vocabulary
from granola.matching.answer import SENTENCE_END, Answer, Mention
from granola.matching.divisions import ABBREVIATIONS, contradict, division, exclude
from granola.matching.events import (
    is_behind_an_unknown_place,
    is_beside_another_person,
    is_in_a_contradicting_place,
    is_of_another_event,
)
from granola.matching.forms import place_parts
from granola.matching.modified import is_modified
from granola.matching.restated import is_restated
from granola.matching.roles import (
    has_another_office,
    is_a_relative,
    is_beaten,
    is_beside_the_answer,
    is_of_another_deed,
)
from granola.matching.surroundings import (
    is_before_a_finer_place,
    is_beginning_of_a_name,
    is_only_around,
    is_told_as_a_division,
)

_LIST = 20  # words to either side that are searched for companions
_CHAIN = 8  # words behind a place that are searched for its state
_RUN = 4  # capitalised words in a row, more are a headline


def _run(answer: Answer, start: int) -> int:
    """Where the name that begins at word `start` ends: capitalised words without a break, or `start` for none."""
    end = start
    while end < len(answer.words) and end - start < _RUN and not (end > start and answer.words[end].gap.strip("'-.")):
        word = answer.words[end]
        if not (word.capital or not answer.cased) or not word.text[0].isalpha() or word.text in vocabulary.FUNCTION:
            break
        if not answer.cased and word.text in _GOES_ON:
            break
        end += 1
    return end


_GOES_ON = vocabulary.CLAUSE_WORDS | {phrase[0] for phrase in vocabulary.NEARBY}


def _ends(answer: Answer, index: int) -> bool:
    """Whether a phrase may end before word `index`: at the text's end, at punctuation, before a function word."""
    return (
        index >= len(answer.words) or bool(answer.words[index].gap) or answer.words[index].text in vocabulary.FUNCTION
    )


def _is_other(answer: Answer, start: int, end: int) -> bool:
    """Whether [start, end) names something that is no tier, no date and no nationality."""
    if start >= end or not answer.is_claim(start, end):
        return False
    texts = [word.text for word in answer.words[start:end]]
    return vocabulary.MONTHS.isdisjoint(texts) and not texts[-1].endswith(vocabulary.DEMONYM_ENDINGS)


def is_one_of_several(answer: Answer, mention: Mention) -> bool:
    """`France, Germany and Italy`: one place among others is a guess, and so is a description among names."""
    if not answer.of_places:
        return False
    joined = other = False
    index = mention.end
    while index < min(len(answer.words), mention.end + _LIST):  # to the right: X, Y and Z
        word = answer.words[index]
        joint = word.text == "and" or "/" in word.gap
        if not joint and "," not in word.gap:
            break
        start = index + (word.text == "and")
        end = _run(answer, start)
        if end == start or not _ends(answer, end):
            break
        joined, other, index = joined or joint, other or _is_other(answer, start, end), end
    if not _ends(answer, index):
        return False
    index = mention.start
    while index > max(0, mention.start - _LIST):  # to the left
        joint = answer.words[index - 1].text == "and" or "/" in answer.words[index].gap
        if not joint and not ("," in answer.words[index].gap and joined):
            break
        end = index - (answer.words[index - 1].text == "and")
        start = answer.name_before(end) if answer.cased else max(0, end - 1)
        if start == end:
            break
        joined, other, index = joined or joint, other or _is_other(answer, start, end), start
    return joined and other


def is_in_another_container(answer: Answer, mention: Mention) -> bool:
    """`Paris, Texas` where the ladder has Paris in France: a larger place that no tier names.

    A coarser tier further on vouches for the chain (Munich, Upper Bavaria, Germany), and the coarsest tier
    has no container to differ in.
    """
    start = mention.end
    if start >= len(answer.words):
        return False
    if not answer.of_places:
        return answer.asks_place and bool(_in_another_division(answer, mention))
    if (elsewhere := _in_another_division(answer, mention)) is not None:
        return elsewhere
    if mention.level >= max(level for level, _, _ in answer.tiers):
        return False
    gap = answer.words[start].gap
    if answer.words[start].text == "in" and not gap and answer.cased:
        start += 1
    elif gap not in (",", "("):
        return False
    elif answer.words[start].text == "in":
        start += 1
    end = _run(answer, start)
    if not _ends(answer, end) or not _is_other(answer, start, end):
        return False
    if answer.words[end - 1].text in vocabulary.CONTINENTS or not vocabulary.GONE.isdisjoint(answer.texts[start:end]):
        return False  # Bavaria, Holy Roman Empire
    if end < len(answer.words) and answer.words[end].text in ("and", "is", "was", "s"):
        return False
    return not any(other.level > mention.level and other.start >= end for other in answer.mentions)


def _in_another_division(answer: Answer, mention: Mention) -> bool | None:
    """Whether a state or province said behind a place is another than its own; None where none is said.

    `Springfield, Ohio, United States` where a coarser tier is Illinois: no tier behind it vouches for that.
    """
    own = [folded for level, _, folded in answer.tiers if level > mention.level]
    told = [part for level, name, _ in answer.tiers if level == mention.level for part in place_parts(name)[1]]
    own += told
    for index in range(mention.end, min(len(answer.words), mention.end + _CHAIN)):
        word = answer.words[index]
        if set(word.gap) & SENTENCE_END:
            return None
        source = answer.quote(index, index + 1)
        said = division(answer.texts[index : index + 3])
        if said is None and word.gap:
            said = ABBREVIATIONS.get(source)
        if said is not None and (word.capital or not answer.cased):
            if said in own:
                return False
            if any(exclude(said, other) for other in own) or any(contradict(said, other) for other in told):
                return True
        named = (word.capital or not answer.cased) and word.text not in vocabulary.FUNCTION
        if not named and word.text not in vocabulary.BRIDGE and word.text not in vocabulary.CLASSES:
            return None
    return None


def is_before_another_name(answer: Answer, mention: Mention) -> bool:
    """`an Austrian composer, Joseph Haydn`: a description, and then the name of one who is no tier."""
    if mention.level == 0 or not answer.cased or answer.words[mention.end - 1].capital:
        return False
    start = mention.end
    while start < len(answer.words) and start < mention.end + 2 and answer.words[start].text in vocabulary.NAMED:
        start += 1
    if start >= len(answer.words) or answer.words[start].gap not in ("", ",", ":", "(", "-", "–", "—"):
        return False
    end = _run(answer, start)
    return _ends(answer, end) and _is_other(answer, start, end)


def is_numbered(answer: Answer, mention: Mention) -> bool:
    """`Toy Story 2` for Toy Story: another of the series."""
    last, right = answer.words[mention.end - 1], mention.end
    if answer.texts[right : right + 1] == ("part",) and answer.words[right].gap in ("", ":", ",", "-"):
        return right + 1 < len(answer.words) and answer.texts[right + 1] in _PART_NUMBERS
    if right >= len(answer.words) or answer.words[right].gap or not (last.capital or not answer.cased):
        return False
    word = answer.words[right]
    following = answer.words[right + 1].text if right + 1 < len(answer.words) else ""
    if following in vocabulary.MONTHS or answer.is_mentioned(right, right + 1) or word.text in answer.asked:
        return False
    if right + 1 < len(answer.words) and answer.words[right + 1].gap in ("-", "–") and following.isdecimal():
        return False  # the Falcons 34-28
    roman = word.text in vocabulary.ROMAN and (word.capital or not answer.cased)
    return (word.text.isdecimal() and len(word.text) <= 2 and _ends(answer, right + 1)) or roman


_PART_NUMBERS = vocabulary.ROMAN | {"2", "3", "4", "5", "6", "7", "8", "9", "10"}
ELSEWHERE = "other-container"
PART = "part-of-another-name"
RESTATED = "restated"
VETOES: tuple[tuple[str, Callable[[Answer, Mention], bool]], ...] = (
    ("negated", names.is_negated),
    ("superseded", names.is_superseded),
    (RESTATED, is_restated),
    ("only-nearby", names.is_only_nearby),
    ("only-nearby", is_only_around),
    ("alternatives", names.is_alternative),
    ("alternatives", is_one_of_several),
    (PART, names.is_part_of_a_name),
    (PART, is_numbered),
    (PART, is_beginning_of_a_name),
    (PART, is_told_as_a_division),
    ("relative", is_a_relative),
    ("relative", has_another_office),
    ("relative", is_of_another_deed),
    ("relative", is_beside_the_answer),
    ("beaten", is_beaten),
    ("other-kind", names.is_of_another_kind),
    ("other-kind", is_modified),
    ("other-event", is_of_another_event),
    ("finer-claim-conflict", is_behind_an_unknown_place),
    (ELSEWHERE, is_in_a_contradicting_place),
    ("finer-claim-conflict", is_beside_another_person),
    (ELSEWHERE, is_in_another_container),
    ("finer-claim-conflict", names.follows_a_finer_claim),
    ("finer-claim-conflict", is_before_another_name),
    ("finer-claim-conflict", is_before_a_finer_place),
)
"""What takes a mention back, in the order in which it is asked, by the name that the verdict then carries."""
