"""A mention that tells another place by its own: what lies around it, a longer name, a finer place behind it."""

from __future__ import annotations

from granola.matching import vocabulary
from granola.matching.answer import SENTENCE_END, Answer, Mention
from granola.matching.divisions import country_names, is_country, is_division, is_known
from granola.matching.words import key

_AROUND = vocabulary.AROUND
_REGIONS = frozenset(map(key, vocabulary.REGIONS))
_JOINTS = vocabulary.JOINTS
_HYPHENATED = _JOINTS | {"on", "in", "next", "over"}
_BEFORE_NAMES = vocabulary.SETTLEMENTS | vocabulary.BEFORE_PLACES
_LARGER = vocabulary.CONTINENTS | vocabulary.GONE | vocabulary.MONTHS
_WITHIN = 7  # words behind a mention that are searched for a finer place


def is_only_around(answer: Answer, mention: Mention) -> bool:
    """`the Paris region`, `the Chicago area`: more than the place; the Lombardy region is Lombardy."""
    index = mention.end
    if index >= len(answer.words) or answer.words[index].gap.strip("-") or answer.words[index].capital:
        return False
    text = answer.words[index].text
    if text != "region" and text not in _AROUND:
        return False
    if text == "region":  # without coarser levels nobody tells whether the name is that of a region
        folded = key(mention.name)
        return answer.of_places and mention.level == 0 and folded not in _REGIONS and not is_known(folded)
    if text == "metropolitan" and answer.texts[index + 1 : index + 2] not in (("area",), ("region",), ("district",)):
        return False
    return answer.of_places or answer.asks_place


def is_told_as_a_division(answer: Answer, mention: Mention) -> bool:
    """`Isfahan Province`, `the state of Washington`: another place than the town of the finest level.

    Not where a name of the level says so as well, nor for divisions known here that the level names by nothing
    longer (Washington, D.C.).
    """
    if not (answer.of_places or answer.asks_place):
        return False
    if mention.level > 0:
        return _is_told_as_a_town(answer, mention)
    index, kind = mention.end, ""
    if index < len(answer.words) and not answer.words[index].gap.strip("-"):
        kind = answer.texts[index]
    if kind not in _DIVISION_TYPES and answer.texts[mention.start - 1 : mention.start] == ("of",) and mention.start > 1:
        kind = answer.texts[mention.start - 2]
    if kind not in _DIVISION_TYPES or kind in answer.asked:
        return False
    level = [folded for number, _, folded in answer.tiers if number == mention.level]
    if any(kind in folded for folded in level):
        return False
    own = answer.texts[mention.start : mention.end]
    return not is_division(own) or any(len(folded) > len(own) and folded[: len(own)] == own for folded in level)


def _is_told_as_a_town(answer: Answer, mention: Mention) -> bool:
    """`Oregon City` for the state, of which it is a town that no tier names."""
    index = mention.end
    if answer.texts[index : index + 1] != ("city",) or answer.words[index].gap or not answer.words[index].capital:
        return False
    if any("city" in folded for _, _, folded in answer.tiers):
        return False
    return is_division(answer.texts[mention.start : mention.end])


_DIVISION_TYPES = vocabulary.DIVISION_TYPES


def is_beginning_of_a_name(answer: Answer, mention: Mention) -> bool:
    """`Kingston upon Thames` for Kingston, unless a coarser tier behind it vouches that this is the place."""
    index = mention.end
    if index + 1 >= len(answer.words) or not answer.cased or not answer.words[mention.end - 1].capital:
        return False
    if answer.words[index].text not in _HYPHENATED or not (answer.of_places or answer.asks_place):
        return False
    joints = _HYPHENATED if "-" in answer.words[index].gap else _JOINTS
    start = index
    while start < index + 2 and start < len(answer.words) and answer.words[start].text in joints:
        if answer.words[start].capital or answer.words[start].gap.strip("-"):
            return False
        start += 1
    if start == index or start == len(answer.words) or answer.words[start].gap.strip("-"):
        return False
    if not answer.words[start].capital or not answer.is_claim(start, start + 1):
        return False
    if answer.words[start].text in vocabulary.MONTHS:
        return False
    return not any(other.level > mention.level and other.start > start for other in answer.mentions)


def is_before_a_finer_place(answer: Answer, mention: Mention) -> bool:
    """`in France, in the city of Lyon`, `Germany (Hamburg)`: a finer place behind a coarser one that is no tier."""
    if mention.level == 0 or not answer.cased or not answer.of_places or mention.end >= len(answer.words):
        return False
    if any(other.level < mention.level for other in answer.mentions):
        return False
    start, small, inside = mention.end, False, False
    while start < min(len(answer.words), mention.end + _WITHIN):
        word = answer.words[start]
        if set(word.gap) & (SENTENCE_END - {":"}) or (word.capital and word.text[0].isalpha()):
            break
        if start == mention.end and word.text != "in":
            return False
        if start > mention.end and (word.gap or word.text not in _BEFORE_NAMES):
            return False
        small, inside = small or word.text in vocabulary.SETTLEMENTS, True
        start += 1
    else:
        return False
    end = start
    while end < len(answer.words) and answer.words[end].capital and (end == start or not answer.words[end].gap):
        end += 1
    if start == end or not answer.is_claim(start, end) or (answer.has_article(start) and not small):
        return False
    if not inside and not (_is_all(answer, mention, end) and answer.words[start].gap in (",", "(", ":", "-", "–", "—")):
        return False
    said = answer.texts[start:end]
    if not _LARGER.isdisjoint(said) or any(name in answer.keys for name in country_names(said)):
        return False
    own = key(mention.name)
    if is_division(own):
        return not is_country(said)
    return small or is_country(own)


def _is_all(answer: Answer, mention: Mention, end: int) -> bool:
    """Whether the answer ends at word `end` and says nothing before the mention."""
    return end == len(answer.words) and all(word.text in vocabulary.FUNCTION for word in answer.words[: mention.start])
