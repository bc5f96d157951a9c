"""What takes the mention of a tier back, in its own clause.

An answer that names a tier states it, unless the mention is negated, is one of two alternatives, is a
piece of a longer name, or stands behind a finer claim that no tier bears out ("Lyon, France" for Paris).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from granola.matching import vocabulary
from granola.matching.answer import SENTENCE_END, Answer, Mention
from granola.matching.divisions import ABBREVIATIONS, division, is_adjective, nation
from granola.matching.people import person, tells_by_initials
from granola.matching.words import key


def _clause(answer: Answer, start: int) -> Iterator[str]:
    """The words before word `start`, nearest first, back to the beginning of its clause; at most six."""
    for index in range(start - 1, max(-1, start - 7), -1):
        gap = answer.words[index + 1].gap if index + 1 < len(answer.words) else ""
        text = answer.words[index].text
        if '"' in gap or "”" in gap: return
        if text in vocabulary.NEGATIONS and text in answer.asked:
            continue
        if gap.strip("'\"’“”()-") or (
            text in vocabulary.CLAUSE_WORDS and not (text == "but" and index and answer.texts[index - 1] == "anything")
        ):
            return
        yield answer.words[index].text


def _phrase_in(phrase: tuple[str, ...], before: list[str]) -> bool:
    size = len(phrase)
    return any(tuple(before[i : i + size]) == phrase for i in range(len(before) - size + 1))


def is_denied_word(answer: Answer, start: int) -> bool:
    """Whether the clause denies what stands from word `start` on."""
    before = list(_clause(answer, start))[::-1]
    if _DENYING.isdisjoint(before):
        return False
    if any(_phrase_in(phrase, before) for phrase in vocabulary.AFFIRMATIONS):
        return False
    return any(word in vocabulary.NEGATIONS for word in before) or any(
        _phrase_in(phrase, before) for phrase in (*vocabulary.NEGATION_PHRASES, *vocabulary.HEARSAY)
    )


_DENYING = vocabulary.NEGATIONS | {phrase[0] for phrase in (*vocabulary.NEGATION_PHRASES, *vocabulary.HEARSAY)}


def is_denied(answer: Answer, position: int) -> bool:
    """Whether the clause denies what stands at a character of the text: `not in 1961`."""
    return is_denied_word(answer, bisect_right(answer.words, position, key=lambda word: word.end))


def is_negated(answer: Answer, mention: Mention) -> bool:
    """`not in France`, `rather than France`, `not in Paris, France`; but `not only France` affirms."""
    if is_denied_word(answer, mention.start) or _is_asked_and_denied(answer, mention):
        return True
    if "," not in answer.words[mention.start].gap:
        return False
    smaller = next((m for m in answer.mentions_by_end.get(mention.start, ()) if m.level < mention.level), None)
    return smaller is not None and is_negated(answer, smaller)


def _is_asked_and_denied(answer: Answer, mention: Mention) -> bool:
    """`Born in Lyon? No, in Marseille.`"""
    if "?" not in answer.text:
        return False
    for index in range(mention.end, len(answer.words)):
        if gap := set(answer.words[index].gap) & SENTENCE_END:
            return "?" in gap and answer.texts[index] in ("no", "nope")
    return False


_ONCE = frozenset({"raised", "formerly", "originally", "initially", "previously", "once"})
_SINCE = frozenset({"later", "then", "now", "became", "converted", "eventually", "today"})


def is_superseded(answer: Answer, mention: Mention) -> bool:
    """`raised Catholic, later an atheist` for Catholic; of no places, where it may be asked what came first."""
    before, sentence = answer.texts[max(0, mention.start - 3) : mention.start], mention.end
    if _ONCE.isdisjoint(before) or not _ONCE.isdisjoint(answer.asked) or answer.asks_place:
        return False
    if answer.of_places and answer.texts[mention.end - 1] not in vocabulary.FAITHS:
        return False
    while sentence < len(answer.words) and not set(answer.words[sentence].gap) & SENTENCE_END - {";"}:
        if answer.texts[sentence] in _SINCE:
            return answer.is_claim(sentence + 1, len(answer.words))
        sentence += 1
    return False


def is_only_nearby(answer: Answer, mention: Mention) -> bool:
    """`near Paris`, `north of Paris`: beside a place is not in it; `the north of France` is."""
    before = [word.text for word in answer.words[max(0, mention.start - 2) : mention.start]]
    if len(before) == 2 and before[0] in vocabulary.POINTS and before[1] == "of":
        at = mention.start - 2
        at -= at > 0 and answer.words[at - 1].text in vocabulary.POINTS  # south-east
        if answer.has_article(at) and not (at > 0 and answer.words[at - 1].text == "to"):
            return False
    return any(tuple(before[-len(phrase) :]) == phrase for phrase in vocabulary.NEARBY)


def is_alternative(answer: Answer, mention: Mention) -> bool:
    """`France or Germany`, `Paris, or possibly Lyon`, where the other is no tier: naming both names neither."""
    words = answer.words
    end = mention.end
    while end < len(words) and words[end].gap == ",":  # Toronto, Ontario, or Ottawa
        larger = next((m for m in answer.mentions if m.start == end and m.level > mention.level), None)
        if larger is None:
            break
        end = larger.end
    start, joined = end, False
    while start < len(words) and (words[start].text == "or" or words[start].text in _MAYBE):
        joined = joined or words[start].text == "or"
        start += 1
    if start > end and start < len(words):
        stop = start + 1
        while stop < len(words) and not words[stop].gap and stop < start + 3:
            stop += 1
        if answer.is_claim(start, stop) if joined else _is_name(answer, start):
            return True
    before, joined = mention.start, False
    while before > 0 and (words[before - 1].text == "or" or words[before - 1].text in _MAYBE):
        joined = joined or words[before - 1].text == "or"
        before -= 1
    if before == mention.start or before == 0:
        return False
    return answer.is_claim(before - 1, before) if joined else _is_name(answer, before - 1)


_MAYBE = vocabulary.MAYBE | {"probably", "even"}


def _is_name(answer: Answer, index: int) -> bool:
    word = answer.words[index]
    named = answer.cased and word.capital and word.text[0].isalpha() and word.text not in vocabulary.CONTINENTS
    return named and answer.is_claim(index, index + 1)


def is_part_of_a_name(answer: Answer, mention: Mention) -> bool:
    """`York` in New York, `Paris` in Paris Hilton, `Oxford` in University of Oxford."""
    return _has_a_name_before(answer, mention) or _has_a_name_behind(answer, mention)


def _has_a_name_before(answer: Answer, mention: Mention) -> bool:
    first, left = answer.words[mention.start], mention.start - 1
    if left < 0 or first.gap.strip("-"):
        return False
    word = answer.words[left]
    if answer.cased and not first.capital:
        return False
    if answer.is_mentioned(left, left + 1):
        return False
    if word.text in vocabulary.POINTS and answer.cased and not word.capital:
        return first.text in vocabulary.PARTED_BY_NAME or _has_a_part(answer, mention)
    if word.text in vocabulary.DIRECTIONS or word.text in vocabulary.POINTS:
        return _is_elsewhere(answer, mention, word.text)
    if word.text in vocabulary.QUALIFIERS and (word.capital or not answer.cased):
        return not (mention.name.islower() and first.text in vocabulary.OCCUPATIONS)  # Former politician
    if not answer.cased:
        return False
    if word.text == "of" and left > 0 and answer.words[left - 1].text not in vocabulary.PARTS:
        return answer.words[left - 1].capital and answer.is_claim(left - 1, left)
    if _is_a_language(mention) or (mention.name.islower() and nation((word.text,)) is not None):
        return False  # Brazilian Portuguese is Portuguese, the U.S. President a president
    if any(level == mention.level and word.text in folded for level, _, folded in answer.tiers):
        return False  # Roman Catholic, where Roman Catholicism and Catholic are names of one
    # A name of several words bears more first names: Achille Claude Debussy. A single word does not.
    return mention.end - mention.start == 1 and word.capital and answer.is_claim(left, left + 1)


def _is_a_language(mention: Mention) -> bool:
    """Whether the mention is a single adjective of a country, as languages are called."""
    return mention.end - mention.start == 1 and is_adjective(key(mention.name))


def _is_elsewhere(answer: Answer, mention: Mention, direction: str) -> bool:
    """`South Korea` for Korea, `East Asia` beside the finer tier Western Asia; not so `northern India`."""
    name = answer.words[mention.start].text
    if _has_a_part(answer, mention):
        return True
    if direction in vocabulary.DIRECTIONS:
        return (direction, name) in vocabulary.NO_PARTS
    return direction not in vocabulary.PARTED_BY_POINTS.get(name, ())


def _has_a_part(answer: Answer, mention: Mention) -> bool:
    """Whether a finer tier is the mention's last word with a direction: Western Asia, not Île-de-France."""
    head, directions = answer.words[mention.end - 1].text, vocabulary.DIRECTIONS | vocabulary.POINTS
    return any(
        level < mention.level and folded[-1] == head and not directions.isdisjoint(folded[:-1])
        for level, _, folded in answer.tiers
    )


def _has_a_sibling(answer: Answer, mention: Mention, *, national: bool) -> bool:
    """Whether a finer tier narrows the mention's last word by words of its own, by a country where that is asked.

    `German composer` is no other than an opera composer, and another than a French composer.
    """
    head = answer.words[mention.end - 1].text
    occupation = national and head in vocabulary.OCCUPATIONS
    return any(
        level < mention.level
        and len(folded) > 1
        and folded[-1] == head
        and not (occupation and not any(is_adjective((word,)) for word in folded[:-1]))
        for level, _, folded in answer.tiers
    )


def _has_a_name_behind(answer: Answer, mention: Mention) -> bool:
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
        said = person(answer.words[mention.start : right], answer.text)
        return said is not None and tells_by_initials(said)
    return word.text not in vocabulary.FUNCTION | vocabulary.KINDS and word.text not in answer.asked


_JUNIOR = frozenset({"jr", "junior"})


def _is_a_container(answer: Answer, index: int) -> bool:
    """Whether a state or country stands from word `index` on."""
    folded = answer.texts[index : index + 3]
    known = division(folded) is not None or nation(folded[:1]) is not None
    return known or answer.quote(index, index + 1).replace(".", "") in ABBREVIATIONS


def is_of_another_kind(answer: Answer, mention: Mention) -> bool:
    """`American composer` where a finer tier says `French composer`: one noun under two adjectives."""
    left = mention.start - 1
    if left < 0 or answer.words[mention.start].gap or answer.words[mention.start].capital:
        return False
    adjective = answer.words[left]
    national = adjective.text.endswith(vocabulary.DEMONYM_ENDINGS) or is_adjective((adjective.text,))
    proper = national or (left > 0 and adjective.capital)
    if not proper or not answer.is_claim(left, left + 1):
        return False
    return _has_a_sibling(answer, mention, national=national)


def follows_a_finer_claim(answer: Answer, mention: Mention) -> bool:
    """`Lyon, France` or `Kurt Masur, a German conductor`: a tier behind a finer claim that no tier states.

    A claim finer than level 1 cannot be told wrong and takes nothing back.
    """
    return mention.level > 0 and (
        _in_chain(answer, mention) or _behind_a_name(answer, mention) or _before_a_specific(answer, mention)
    )


def _in_chain(answer: Answer, mention: Mention) -> bool:
    """Short parts between commas, read from the finest: an unknown first part before a known one."""
    return answer.unknown_first is not None and mention.start >= answer.unknown_first


def _behind_a_name(answer: Answer, mention: Mention) -> bool:
    """A capitalised name before the mention, with nothing but a copula, a preposition or a comma between."""
    if not answer.cased:
        return False
    common = not answer.words[mention.start].capital
    bridge = mention.start
    parted = False
    while bridge > 0:
        gap, word = answer.words[bridge].gap, answer.words[bridge - 1]
        if set(gap) & SENTENCE_END:
            return False
        parted = parted or "," in gap or "(" in gap
        if word.text not in vocabulary.BRIDGE and not (common and not word.capital and mention.start - bridge < 4):
            break
        bridge -= 1
    if bridge == mention.start and not parted:
        return False
    larger = next((m for m in answer.mentions_by_end.get(bridge, ()) if m.level < mention.level), None)
    if parted and _is_an_alternative(answer, bridge):
        return False
    if larger is not None:  # Lyon, Rhône, France: what takes back the part before takes back this one
        return follows_a_finer_claim(answer, larger)
    end = bridge
    while parted and 0 < end > bridge - 3 and not answer.words[end - 1].capital:
        if answer.words[end - 1].text in vocabulary.FUNCTION or answer.words[end - 1].gap:
            break
        end -= 1  # Norwood Junction railway station, England
    if not parted and "-" in answer.words[end].gap:
        return False  # German-born, Paris-based: what a noun is told by, no name
    start = answer.name_before(end)
    while end - start > 1 and answer.words[end - 1].text in vocabulary.CLASSES:
        end -= 1  # Cambridge University, where a university is a tier
    if start == end or answer.words[end - 1].text in vocabulary.CONTINENTS | vocabulary.PARTS:
        return False  # somewhere in Asia; on the East Coast
    return answer.is_claim(start, end)


def _is_an_alternative(answer: Answer, end: int) -> bool:
    """Whether what ends before word `end` is the other of two of which a finer tier is one: Paris or Lyon, France."""
    start = answer.name_before(end)
    return start > 1 and answer.texts[start - 1] == "or" and answer.is_mentioned(start - 2, start - 1)


def _before_a_specific(answer: Answer, mention: Mention) -> bool:
    """`France, specifically Lyon`."""
    index = mention.end
    marked = False
    while index < len(answer.words) and not answer.words[index].capital:
        word = answer.words[index].text
        marked = marked or word in vocabulary.SPECIFICALLY
        if word not in vocabulary.BRIDGE and word not in vocabulary.SPECIFICALLY and word != "more":
            return False
        index += 1
    return marked and index < len(answer.words) and answer.is_claim(index, index + 1)
