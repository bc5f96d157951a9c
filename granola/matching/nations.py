"""Names that say whose they are: `US Congress` for United States Congress, `the Civil War` for American Civil War."""

from __future__ import annotations

from collections import Counter

from granola.matching import vocabulary
from granola.matching.answer import SENTENCE_END, Answer, Mention
from granola.matching.bearers import Found
from granola.matching.divisions import nation
from granola.matching.folding import loose, loose_key
from granola.matching.gold import Tier, is_description
from granola.matching.memory import MATCHING
from granola.matching.words import key

Part = tuple[str, int, int]
"""A word's further fold, or `@` and the id of the country that words name, and the words [start, end) of it."""
_NO_NAMES = frozenset(map(loose, vocabulary.CLASSES | vocabulary.OCCUPATIONS | vocabulary.TITLES))


@MATCHING.remembered(1 << 12)
def _parts(texts: tuple[str, ...], loose: tuple[str, ...]) -> tuple[Part, ...]:
    """The parts of some words, function words left out, countries and their adjectives put alike."""
    MATCHING.count(sum(map(len, texts)))
    found: list[Part] = []
    index = 0
    while index < len(texts):
        known = nation(texts[index : index + 4])
        if known is not None:
            found.append(("@" + known[0], index, index + known[1]))
            index += known[1]
            continue
        if texts[index] not in vocabulary.FUNCTION:
            found.append((loose[index], index, index + 1))
        index += 1
    return tuple(found)


@MATCHING.remembered(1 << 14)
def _owned(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A name's parts, and those left where the country before or behind them is not said; empty where there is none."""
    parts = tuple(part for part, _, _ in _parts(key(name), loose_key(name)))
    nations = [index for index, part in enumerate(parts) if part[0] == "@"]
    if not nations or len(nations) == len(parts):
        return (), ()
    if len(nations) > 1 or is_description(name):
        return parts, ()
    if nations == [0]:
        return parts, parts[1:]
    return parts, parts[:-1] if nations == [len(parts) - 1] and "of" in key(name) else ()


def by_nation(answer: Answer, tier: Tier) -> Found:
    """The country of a name in another form, or left out where several words are left or the answer says no more."""
    whole, rest = _owned(tier[1])
    if not whole or not answer.loose_present.issuperset(part for part in whole if part[0] != "@"):
        return
    said = _parts(answer.texts, answer.loose)
    for start, end in _windows(answer, said, whole):
        yield Mention(tier[0], tier[1], start, end)
    if not rest or answer.of_places or any(folded == rest for folded in map(_loose, answer.keys)):
        return
    if len(rest) == 1:
        if answer.claimed == rest and rest[0] not in _NO_NAMES and not answer.asks_place:
            yield Mention(tier[0], tier[1], 0, len(answer.words))
        return
    for start, end in _windows(answer, said, rest):
        before = answer.words[start - 1] if start else None
        named = before is not None and (before.capital or not answer.cased) and before.text not in vocabulary.FUNCTION
        if not named or answer.words[start].gap:
            yield Mention(tier[0], tier[1], start, end)


def _loose(folded: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part for part, _, _ in _parts(folded, folded))


def _windows(answer: Answer, said: tuple[Part, ...], wanted: tuple[str, ...]) -> list[tuple[int, int]]:
    """The words [start, end) of every run of the parts wanted, in any order, within one sentence."""
    size, need = len(wanted), Counter(wanted)
    found = []
    for first in range(len(said) - size + 1):
        run = said[first : first + size]
        if run[0][0] in need and Counter(part for part, _, _ in run) == need:
            start, end = run[0][1], run[-1][2]
            if not any(set(word.gap) & SENTENCE_END - {"."} for word in answer.words[start + 1 : end]):
                found.append((start, end))
    return found
