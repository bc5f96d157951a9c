"""Names inside an answer: where a tier is named, and what takes the mention back.

An answer that names a tier states it, unless the mention is negated, is one of two alternatives, is a
piece of a longer name, or stands behind a finer claim that no tier bears out ("Lyon, France" for Paris).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from granola.matching import vocabulary
from granola.matching.verdict import Levels
from granola.matching.words import Word, drop_articles, key, words

_SENTENCE_END = frozenset(".!?;:")
_PROSE = frozenset({"is", "was", "were", "are", "and", "or"})
_SHORT = 3  # letters up to which a name is as likely a word or a code
_CHAIN_WORDS = 6  # a comma-separated part with more words is prose, not a place


@dataclass(frozen=True, slots=True)
class Mention:
    """A tier's name in an answer: level from 0, the name, and its words [start, end)."""

    level: int
    name: str
    start: int
    end: int


def _is_delicate(folded: tuple[str, ...]) -> bool:
    """Whether a name could be ordinary words: function words, or up to three letters (IN, US, ME, Ali)."""
    return vocabulary.ORDINARY.issuperset(folded) or (
        len(folded) == 1 and len(folded[0]) <= _SHORT and folded[0].isalpha()
    )


def _letters(text: str) -> str:
    """The letters and digits of a text in their case, without its articles: `the U.S.` -> `US`."""
    found = drop_articles(words(text))
    return "".join(c for word in found for c in text[word.start : word.end] if c.isalnum())


@dataclass(frozen=True)
class Answer:
    """An answer as words without articles, with the words of its question and every mention of a tier."""

    text: str
    levels: Levels
    question: str | None = None

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The answer's words in order."""
        return drop_articles(words(self.text))

    @cached_property
    def asked(self) -> frozenset[str]:
        """The words of the question: repeating them claims nothing."""
        return frozenset(key(self.question)) if self.question else frozenset()

    @cached_property
    def cased(self) -> bool:
        """Whether capitals tell names here: there are some, and the answer is not all in capitals."""
        return self.text != self.text.lower() and self.text != self.text.upper()

    @cached_property
    def tiers(self) -> tuple[tuple[int, str, tuple[str, ...]], ...]:
        """(level from 0, name, its folded words) of every name that has any word."""
        return tuple(
            (level, name, folded) for level, names in enumerate(self.levels) for name in names if (folded := key(name))
        )

    @cached_property
    def of_places(self) -> bool:
        """Whether coarser levels bear names and not only descriptions ("a composer"), as those of places do."""
        return any(
            level > 0 and name[:1].isupper() and not name.startswith(("A ", "An ")) for level, name, _ in self.tiers
        )

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """Every mention that no longer mention contains, finest level first, then from left to right."""
        texts = [word.text for word in self.words]
        found: dict[tuple[int, int, int], Mention] = {}
        present = set(texts)
        for level, name, folded in self.tiers:
            if not present.issuperset(folded):
                continue
            size = len(folded)
            delicate = _is_delicate(folded)
            for start in range(len(texts) - size + 1):
                if (
                    texts[start] == folded[0]
                    and tuple(texts[start : start + size]) == folded
                    and not (delicate and not self.is_meant(name, folded, start))
                ):
                    found.setdefault((level, start, start + size), Mention(level, name, start, start + size))
        longest: list[Mention] = []
        reached = -1  # the furthest end of the mentions that begin earlier, or here and are longer
        for mention in sorted(found.values(), key=lambda mention: (mention.start, -mention.end)):
            if mention.end > reached or (longest and longest[-1].start == mention.start and mention.end == reached):
                longest.append(mention)
            reached = max(reached, mention.end)
        return tuple(sorted(longest, key=lambda mention: (mention.level, mention.start)))

    @cached_property
    def mentioned(self) -> bytearray:
        """For each word 1 where it belongs to a mention of a tier."""
        marks = bytearray(len(self.words))
        for mention in self.mentions:
            marks[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
        return marks

    @cached_property
    def mentions_by_end(self) -> dict[int, list[Mention]]:
        """The mentions that end before a word, in their order."""
        ends: dict[int, list[Mention]] = {}
        for mention in self.mentions:
            ends.setdefault(mention.end, []).append(mention)
        return ends

    @cached_property
    def unknown_first(self) -> int | None:
        """Where the answer is short parts between commas and the first, the finest, is unknown: where that ends."""
        words = self.words
        starts = [0, *(i for i, word in enumerate(words) if i and "," in word.gap)]
        if len(starts) < 2 or any(set(word.gap) & _SENTENCE_END - {"."} for word in words):
            return None
        parts = pairwise([*starts, len(words)])
        if any(end - start > _CHAIN_WORDS for start, end in parts):
            return None
        if any(word.text in _PROSE and not self.is_mentioned(i, i + 1) for i, word in enumerate(words)):
            return None
        return starts[1] if self.is_claim(0, starts[1]) else None

    def is_meant(self, name: str, folded: tuple[str, ...], start: int) -> bool:
        """Whether the words from `start` are the short `name` and not ordinary words that are spelt like it.

        Only in the name's own case: IT is not It, US is not us. Capitals that a whole text or the beginning
        of a sentence has anyway tell nothing. An article before it (the uk) does.
        """
        end = start + len(folded)
        if start == 0 and end == len(self.words):
            return True
        before = self.text[: self.words[start].start].rstrip()
        if before[-4:].lower().strip() == "the" or before.lower().endswith((" the", "\nthe")):
            return True
        ordinary = vocabulary.ORDINARY.issuperset(folded)
        own, said = _letters(name), _letters(self.quote(start, end))
        if self.text == self.text.upper():
            return not ordinary
        if own != said:
            return False
        return not (ordinary and said[1:].islower() and (not before or before[-1] in '.!?:;"“'))

    def quote(self, start: int, end: int) -> str:
        """The answer's own text of the words [start, end)."""
        return self.text[self.words[start].start : self.words[end - 1].end]

    def is_denied(self, position: int) -> bool:
        """Whether the clause denies what stands at a character of the text: `not in 1961`."""
        return _is_denied(self, bisect_right(self.words, position, key=lambda word: word.end))

    def is_mentioned(self, start: int, end: int) -> bool:
        """Whether any word of [start, end) belongs to a mention of a tier."""
        return any(self.mentioned[start:end])

    def is_claim(self, start: int, end: int) -> bool:
        """Whether [start, end) says more than tiers, words of the question, titles and kinds of place."""
        if start >= end or self.is_mentioned(start, end):
            return False
        return any(
            word.text not in self.asked and word.text not in vocabulary.NO_CLAIM for word in self.words[start:end]
        )

    def name_before(self, end: int) -> int:
        """Start of the run of capitalised words that ends before word `end`; `end` where there is none."""
        start = end
        while start > 0 and self._in_name(start - 1) and (start == end or not self.words[start].gap.strip("'’.-")):
            start -= 1
        while start < end and not self.words[start].capital:
            start += 1
        return start

    def _in_name(self, index: int) -> bool:
        word = self.words[index]
        return (word.capital and word.text not in vocabulary.FUNCTION) or word.text in (
            "of",
            "de",
            "von",
            "van",
        )


def _clause(answer: Answer, start: int) -> Iterator[str]:
    """The words before word `start`, nearest first, back to the beginning of its clause; at most six."""
    for index in range(start - 1, max(-1, start - 7), -1):
        if answer.words[index + 1].gap.strip("'\"’“”()-") or answer.words[index].text in vocabulary.CLAUSE_WORDS:
            return
        yield answer.words[index].text


def _phrase_in(phrase: tuple[str, ...], before: list[str]) -> bool:
    size = len(phrase)
    return any(tuple(before[i : i + size]) == phrase for i in range(len(before) - size + 1))


def _is_denied(answer: Answer, start: int) -> bool:
    before = list(_clause(answer, start))[::-1]
    if any(_phrase_in(phrase, before) for phrase in vocabulary.AFFIRMATIONS):
        return False
    return any(word in vocabulary.NEGATIONS for word in before) or any(
        _phrase_in(phrase, before) for phrase in vocabulary.NEGATION_PHRASES
    )


def is_negated(answer: Answer, mention: Mention) -> bool:
    """`not in France`, `rather than France`, `not in Paris, France`; but `not only France` affirms."""
    if _is_denied(answer, mention.start):
        return True
    if "," not in answer.words[mention.start].gap:
        return False
    smaller = next((m for m in answer.mentions_by_end.get(mention.start, ()) if m.level < mention.level), None)
    return smaller is not None and is_negated(answer, smaller)


def is_only_nearby(answer: Answer, mention: Mention) -> bool:
    """`near Paris`, `north of Paris`: beside a place is not in it."""
    before = [word.text for word in answer.words[max(0, mention.start - 2) : mention.start]]
    return any(tuple(before[-len(phrase) :]) == phrase for phrase in vocabulary.NEARBY)


def is_alternative(answer: Answer, mention: Mention) -> bool:
    """`France or Germany`, where Germany is no tier: naming both names neither."""
    end = mention.end
    if end + 1 < len(answer.words) and answer.words[end].text == "or":
        stop = end + 2
        while stop < len(answer.words) and not answer.words[stop].gap and stop < end + 4:
            stop += 1
        if answer.is_claim(end + 1, stop):
            return True
    if mention.start >= 2 and answer.words[mention.start - 1].text == "or":
        return answer.is_claim(mention.start - 2, mention.start - 1)
    return False


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
    if word.text in vocabulary.DIRECTIONS or word.text in vocabulary.POINTS:
        return _is_elsewhere(answer, mention, word.text)
    if word.text in vocabulary.QUALIFIERS and (word.capital or not answer.cased):
        return True
    if not answer.cased:
        return False
    if word.text == "of" and left > 0:
        return answer.words[left - 1].capital and answer.is_claim(left - 1, left)
    # A name of several words bears more first names: Achille Claude Debussy. A single word does not.
    return mention.end - mention.start == 1 and word.capital and answer.is_claim(left, left + 1)


def _is_elsewhere(answer: Answer, mention: Mention, direction: str) -> bool:
    """`South Korea` for Korea, `East Asia` beside the finer tier Western Asia; not so `northern India`."""
    name = answer.words[mention.start].text
    if _has_a_sibling(answer, mention):
        return True
    if direction in vocabulary.DIRECTIONS:
        return (direction, name) in vocabulary.NO_PARTS
    return direction not in vocabulary.PARTED_BY_POINTS.get(name, ())


def _has_a_sibling(answer: Answer, mention: Mention) -> bool:
    """Whether a finer tier narrows the mention's last word by words of its own."""
    head = answer.words[mention.end - 1].text
    return any(level < mention.level and len(folded) > 1 and folded[-1] == head for level, _, folded in answer.tiers)


def _has_a_name_behind(answer: Answer, mention: Mention) -> bool:
    last, right = answer.words[mention.end - 1], mention.end
    if not (answer.cased and last.capital and right < len(answer.words)):
        return False
    word = answer.words[right]
    between = answer.text[last.end : word.start]
    if not word.capital or between.strip("- ") or answer.is_mentioned(right, right + 1):
        return False
    return word.text not in vocabulary.FUNCTION | vocabulary.KINDS and word.text not in answer.asked


def is_of_another_kind(answer: Answer, mention: Mention) -> bool:
    """`American composer` where a finer tier says `French composer`: one noun under two adjectives."""
    left = mention.start - 1
    if left < 0 or answer.words[mention.start].gap or answer.words[mention.start].capital:
        return False
    adjective = answer.words[left]
    proper = adjective.text.endswith(vocabulary.DEMONYM_ENDINGS) or (left > 0 and adjective.capital)
    if not proper or not answer.is_claim(left, left + 1):
        return False
    return _has_a_sibling(answer, mention)


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
        if set(gap) & _SENTENCE_END:
            return False
        parted = parted or "," in gap or "(" in gap
        if word.text not in vocabulary.BRIDGE and not (common and not word.capital and mention.start - bridge < 4):
            break
        bridge -= 1
    if bridge == mention.start and not parted:
        return False
    larger = next((m for m in answer.mentions_by_end.get(bridge, ()) if m.level < mention.level), None)
    if larger is not None:  # Lyon, Rhône, France: what takes back the part before takes back this one
        return follows_a_finer_claim(answer, larger)
    end = bridge
    while parted and 0 < end > bridge - 3 and not answer.words[end - 1].capital:
        if answer.words[end - 1].text in vocabulary.FUNCTION or answer.words[end - 1].gap:
            break
        end -= 1  # Norwood Junction railway station, England
    start = answer.name_before(end)
    return start < end and answer.is_claim(start, end)


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
