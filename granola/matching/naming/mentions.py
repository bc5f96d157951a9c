"""An answer as folded words, with its question and with every mention of a tier's name in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

from granola.matching.naming import references
from granola.matching.naming.countries import country_adjectives, country_ids
from granola.matching.text import word_lists
from granola.matching.text.match_cache import MATCHING
from granola.matching.text.tokens import (
    FoldedWord,
    fold,
    is_mark,
    key,
    loose_key,
    occurrences,
    root,
    stem,
    words,
)

SENTENCE_END = frozenset(".!?;:")
_ASKS_PERSON = re.compile(
    r"\b(?:who|whom|whose|(?:which|what) (?:is the name of the )?(?:actor|actress|singer|author|writer|player|person"
    r"|man|woman|president|king|queen|director|composer|artist|politician|scientist|character|founder|inventor))\b"
)
_ASKS_PLACE = re.compile(
    r"\b(?:where|(?:which|what) (?:city|town|village|country|state|county|province|region|continent|place|island))\b"
)
_ACRONYM = re.compile(r"[A-Z0-9]\.?[A-Z]|[A-Z]\.?\d")
_PROSE = frozenset({"is", "was", "were", "are", "and", "or"})
_SUBJECTS = frozenset({"i", "we", "he", "she", "they", "it"})  # where capitals tell names, sentences need no chain
DELICATE = 3  # letters up to which a name is as likely a word or a code
_IN_NAMES = frozenset({"of", "de", "von", "van"})
_WITH_ARTICLE = frozenset(
    ("el", "del", "al", "la", "las", "los", "le", "les", "du", "des", "il", "lo", "gli", "o", "os", "as")
)  # articles, and prepositions with one
_CHAIN_WORDS = 6  # a comma-separated part with more words is prose, not a place


@dataclass(frozen=True, slots=True)
class Mention:
    """A tier's name in an answer: level from 0, the name, and its words [start, end)."""

    level: int
    name: str
    start: int
    end: int


Mentions = Iterator[Mention]


def is_delicate(folded: tuple[str, ...]) -> bool:
    """Whether a name could be ordinary words: function words, or up to three letters (IN, US, ME, Ali)."""
    return word_lists.ORDINARY.issuperset(folded) or (
        len(folded) == 1 and len(folded[0]) <= DELICATE and folded[0].isalpha()
    )


@MATCHING.remembered(1 << 12)
def _letters(text: str) -> str:
    """The letters and digits of a text in their case, without its articles: `the U.S.` -> `US`."""
    MATCHING.count(len(text))
    name_words = words(text)
    return "".join(c for word in name_words for c in text[word.start : word.end] if c.isalnum())


@dataclass(frozen=True)
class AnswerText:
    """An answer as words without articles, with the words of its question and every mention of a tier."""

    text: str
    levels: references.Names
    question: str | None = None
    code: str = "en"

    @cached_property
    def words(self) -> tuple[FoldedWord, ...]:
        """The answer's words in order."""
        return words(self.text)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The folded words' texts in order."""
        return tuple([word.text for word in self.words])

    @cached_property
    def present(self) -> frozenset[str]:
        """The texts without order."""
        return frozenset(self.texts)

    @cached_property
    def loose(self) -> tuple[str, ...]:
        """The words folded further, in order (granola.matching.text.tokens)."""
        return fold(self.words)

    @cached_property
    def loose_present(self) -> frozenset[str]:
        """The further folds without order."""
        return frozenset(self.loose)

    @cached_property
    def loose_asked(self) -> frozenset[str]:
        """The further folds of the question's words, and of the adjectives of the countries that it names."""
        if not self.question:
            return frozenset()
        asked = loose_key(self.question)
        adjectives = (adjective for word in asked for adjective in country_adjectives((word,)))
        return frozenset((*asked, *(word for adjective in adjectives for word in adjective)))

    @cached_property
    def joined(self) -> str:
        """The further folds without a break."""
        return "".join(self.loose)

    @cached_property
    def joined_starts(self) -> dict[int, int]:
        """Where each word begins in `joined`, and where the last ends: the index of the word, or how many there are."""
        ends = accumulate(map(len, self.loose), initial=0)
        return {at: index for index, at in enumerate(ends)}

    @cached_property
    def stems(self) -> frozenset[str]:
        """What forms of the words have in common."""
        return frozenset(map(stem, self.loose))

    @cached_property
    def roots(self) -> frozenset[str]:
        """The roots of the words."""
        return frozenset(map(root, self.loose))

    @cached_property
    def claimed(self) -> tuple[str, ...]:
        """The further folds that say something which the question has not said."""
        return tuple(
            folded
            for word, folded in zip(self.texts, self.loose, strict=True)
            if word not in word_lists.FUNCTION and folded not in self.loose_asked
        )

    @cached_property
    def content_words(self) -> tuple[str, ...]:
        """The folded words that are no function words."""
        return tuple(word for word in self.texts if word not in word_lists.FUNCTION)

    @cached_property
    def shared(self) -> tuple[references.Tier, ...]:
        """Those of the tiers that have a word in common with the answer, in whatever number or spelling."""
        present_folds = self.loose_present
        return tuple([tier for tier, folds in self.loose_tiers if not present_folds.isdisjoint(folds)])

    @cached_property
    def capitals(self) -> list[tuple[int, str]]:
        """(index, letters) of each word that may be an acronym: two capitals or more, or the only word."""
        alone = len(self.words) == 1
        if not alone and self.text.isascii() and not _ACRONYM.search(self.text):
            return []  # most have none, which is seen sooner
        spellings = ((index, self.quote(index, index + 1).replace(".", "")) for index in range(len(self.words)))
        return [
            (index, letters) for index, letters in spellings if 1 < len(letters) < 9 and (alone or letters.isupper())
        ]

    @cached_property
    def denies(self) -> bool:
        """Whether any word negates."""
        return not word_lists.NEGATIONS.isdisjoint(self.present)

    @cached_property
    def asks_person(self) -> bool:
        """Whether the question asks who."""
        return bool(self.question and _ASKS_PERSON.search(self.question.lower()))

    @cached_property
    def asks_place(self) -> bool:
        """Whether the question asks where."""
        return bool(self.question and _ASKS_PLACE.search(self.question.lower()))

    @cached_property
    def of_persons(self) -> bool:
        """Whether coarser levels describe a person: "a French composer"."""
        return any(
            level > 0 and references.is_description(name) and folded[-1] in word_lists.OCCUPATIONS
            for level, name, folded in self.tiers
        )

    @cached_property
    def asked(self) -> frozenset[str]:
        """The words of the question: repeating them claims nothing."""
        return frozenset(key(self.question)) if self.question else frozenset()

    @cached_property
    def cased(self) -> bool:
        """Whether capitals tell names here: there are some, and the answer is not all in capitals."""
        return self.text != self.text.lower() and self.text != self.text.upper()

    @cached_property
    def tiers(self) -> tuple[references.Tier, ...]:
        """(level from 0, name, its folded words) of every name that has any word."""
        return references.tiers(self.levels)

    @cached_property
    def loose_tiers(self) -> tuple[tuple[references.Tier, tuple[str, ...]], ...]:
        """Every tier with the further folds of its name."""
        return tuple(zip(self.tiers, references.loose_keys(self.levels), strict=True))

    @cached_property
    def keys(self) -> frozenset[tuple[str, ...]]:
        """The folded words of every name."""
        return frozenset(folded for _, _, folded in self.tiers)

    @cached_property
    def of_places(self) -> bool:
        """Whether coarser levels bear names, as places do, and neither they nor the question tell of a person."""
        return references.of_places(self.levels) and not self.asks_person and not self.of_persons

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """Every mention that no longer mention contains, finest level first, then from left to right."""
        texts = self.texts
        mention_at: dict[tuple[int, int, int], Mention] = {}
        for level, name, folded in self.tiers:
            if not self.present.issuperset(folded):
                continue
            size = len(folded)
            delicate = is_delicate(folded) or self.is_function_word(folded)
            for start in occurrences(texts, folded):
                if self.is_marked(start, start + size) or self.is_a_common_noun(name, start):
                    continue
                if not (delicate and not self.is_meant(name, folded, start)):
                    mention_at.setdefault((level, start, start + size), Mention(level, name, start, start + size))
        longest: list[Mention] = []
        reached = -1  # the furthest end of the mentions that begin earlier, or here and are longer
        for mention in sorted(mention_at.values(), key=lambda mention: (mention.start, -mention.end)):
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
        if len(starts) < 2 or any(set(word.gap) & SENTENCE_END - {"."} for word in words):
            return None
        parts = pairwise([*starts, len(words)])
        if any(end - start > _CHAIN_WORDS for start, end in parts):
            return None
        prose = _PROSE | _SUBJECTS if self.cased else _PROSE
        if any(word.text in prose and not self.is_mentioned(i, i + 1) for i, word in enumerate(words)):
            return None
        if words[starts[1] - 1].text in word_lists.CONTINENTS:  # somewhere in Asia, China: from the coarsest
            return None
        return starts[1] if self.is_claim(0, starts[1]) else None

    def is_meant(self, name: str, folded: tuple[str, ...], start: int) -> bool:
        """Whether the words from `start` are the short `name` and not ordinary words that are spelt like it.

        Only in the name's own case: IT is not It, US is not us. Capitals that a whole text or the beginning
        of a sentence has anyway tell nothing. An article before it (the uk) does.
        """
        end = start + len(folded)
        if start == 0 and (end == len(self.words) or folded in (("yes",), ("no",))):
            return True
        if self.has_article(start):
            return True
        if self.is_function_word(folded) and not self._is_written_as_code(name, folded, start):
            return False
        ordinary = word_lists.ORDINARY.issuperset(folded)
        if ordinary and len(name) == 2 and not self._may_be_a_code(start):
            return False
        name_letters, (letters, starts) = _letters(name), self._spelt
        spelling = letters[starts[start] : starts[end]]
        if self.text == self.text.upper():
            return not ordinary
        if name_letters != spelling:
            return False
        before = self.text[: self.words[start].start].rstrip()
        return not (ordinary and spelling[1:].islower() and (not before or before[-1] in '.!?:;"“'))

    def is_a_common_noun(self, name: str, start: int) -> bool:
        """Whether a name in capitals stands in small letters behind a function word: del ecuador is not Ecuador."""
        if not self.cased or not start or self.words[start].capital or not name[:1].isupper():
            return False
        return " " not in name and self.texts[start - 1] in _WITH_ARTICLE & references.function_words(self.code)

    def is_function_word(self, folded: tuple[str, ...]) -> bool:
        """Whether a word is a function word of the answer's language, where that is another than English."""
        return len(folded) == 1 and folded[0] in references.function_words(self.code)

    def _is_written_as_code(self, name: str, folded: tuple[str, ...], start: int) -> bool:
        """Whether a name of three letters or more stands in capitals of its own: USA, which `usa` is not."""
        written = self.quote(start, start + 1)
        return len(folded[0]) >= DELICATE and name.isupper() and written.isupper() and self.text != self.text.upper()

    def _may_be_a_code(self, start: int) -> bool:
        """Whether a code may stand at word `start`: Norman, OK; born in ME."""
        before = self.words[start - 1] if start else None
        if before is None:
            return False
        return (before.capital and "," in self.words[start].gap) or before.text in ("in", "of", "from", "at")

    @cached_property
    def _spelt(self) -> tuple[str, tuple[int, ...]]:
        """The letters and digits of the words in their case, and where those of each begin, and end at last."""
        spelt = ["".join(filter(str.isalnum, self.text[word.start : word.end])) for word in self.words]
        return "".join(spelt), (0, *accumulate(map(len, spelt)))

    def is_marked(self, start: int, end: int) -> bool:
        """Whether a mark that tells another thing is attached to the words [start, end): -5, C#, 42 %."""
        words = self.words
        if words[start].gap == "-" and start and words[start].text[0].isdigit() and words[start - 1].text.isalpha():
            return True  # B-23
        if end < len(words) and is_mark(words, end, self.text):
            return True
        before = start - 1
        return start > 0 and words[before].text in ("minus", "below", "above") and is_mark(words, before, self.text)

    def has_another_mark(self, mention: Mention) -> bool:
        """Whether a mark stands among a mention's words that its name does not have: `C sharp minor` for C minor."""
        own = key(mention.name)
        marks = [index for index in range(mention.start, mention.end) if is_mark(self.words, index, self.text)]
        return any(self.texts[index] not in own and self.texts[index - 1] in own for index in marks if index)

    def has_article(self, index: int) -> bool:
        """Whether "the" stands before word `index`."""
        before = self.text[: self.words[index].start].rstrip()[-4:].lower()
        return before.endswith("the") and not before[:-3].strip()

    def quote(self, start: int, end: int) -> str:
        """The answer's own text of the words [start, end)."""
        return self.text[self.words[start].start : self.words[end - 1].end]

    def says_another(self, mention: Mention) -> bool:
        """Whether all that a mention in other words says belongs to longer or coarser names of tiers.

        The longest name counts, and a coarser tier's own name is no finer one's: America in North America, New York
        for New York City.
        """
        indices = range(mention.start, mention.end)
        others = [
            other
            for other in self.mentions
            if other.start < mention.end
            and mention.start < other.end
            and (
                other.level > mention.level
                or (
                    other.start <= mention.start and mention.end <= other.end and other.end - other.start > len(indices)
                )
            )
        ]
        if not others:
            return False
        others_say = bytearray(len(self.words))
        for other in others:
            others_say[other.start : other.end] = b"\1" * (other.end - other.start)
        return all(
            others_say[index] or self.texts[index] in word_lists.FUNCTION or self.texts[index] in self.asked
            for index in indices
        )

    def is_inflected(self, mention: Mention) -> bool:
        """Whether a name stands in a form of its language (Roms Altstadt): then it is no beginning of a longer name."""
        written = self.texts[mention.start : mention.end]
        return bool(references.function_words(self.code)) and key(mention.name) != written

    def is_mentioned(self, start: int, end: int) -> bool:
        """Whether any word of [start, end) belongs to a mention of a tier."""
        return any(self.mentioned[start:end])

    def is_claim(self, start: int, end: int) -> bool:
        """Whether [start, end) says more than tiers, words of the question, titles and kinds of place."""
        if start >= end or self.is_mentioned(start, end):
            return False
        claims = any(
            word.text not in self.asked
            and word.text not in word_lists.NO_CLAIM
            and not self.is_function_word((word.text,))
            for word in self.words[start:end]
        )
        if not claims or not self.countries:
            return claims
        qids = country_ids(self.texts[start:end])
        return not qids or not qids <= self.countries  # USA is no claim where a tier is the United States

    @cached_property
    def countries(self) -> frozenset[str]:
        """The ids of the countries that tiers name."""
        return frozenset().union(*(country_ids(folded) for _, _, folded in self.tiers))

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
        if word.capital and word.text not in word_lists.FUNCTION and not self.is_function_word((word.text,)):
            return True
        return word.text in _IN_NAMES
