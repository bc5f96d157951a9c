"""The names of a ladder, computed once for all predictions, and an answer with every mention of them in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate, chain, pairwise

from abstraction.text.language.amounts import amount_of_whole_text, may_be_amount
from abstraction.text.language.date_finder import IntervalClaim, date_of_whole_text, may_be_date
from abstraction.text.language.languages import language
from granola.matching import word_lists
from granola.matching.countries import country_adjectives, country_ids
from granola.matching.tokens import (
    MATCHING,
    FoldedWord,
    is_mark,
    key,
    loose_folds_of_key,
    loose_folds_of_words,
    loose_key,
    occurrences,
    root,
    stem,
    words,
)
from granola.replies.plain_text import fold_case_and_accents

Names = tuple[tuple[str, ...], ...]
"""Acceptable names by level, finest first."""
Tier = tuple[int, str, tuple[str, ...]]
"""A name of a level: the level from 0, the name, its folded words."""
_remember_names = MATCHING.memoize(1 << 14)
LONGEST = 500  # characters at most of a name that rules search for; gold answers have up to 200


@_remember_names
def searchable_names(levels: Names) -> Names:
    """The names that rules search for in answers, not only compare with the whole prediction.

    That is names of up to LONGEST characters, and the names that follow a description in them (`author Rudyard
    Kipling`).
    """
    if max(map(len, chain.from_iterable(levels)), default=0) > LONGEST:
        levels = tuple(tuple([name for name in names if len(name) <= LONGEST]) for names in levels)
    bare = [
        [bearer for name in names if (bearer := name_after_description(name)) and bearer not in names]
        for names in levels
    ]
    return tuple((*names, *more) for names, more in zip(levels, bare, strict=True)) if any(bare) else levels


@_remember_names
def without_names_like_function_words(levels: Names, code: str) -> Names:
    """The names without those that are function words of the answer's language ("de" for Germany, "au" for Australia).

    A code of three capitals is kept: where it occurs, its capitals distinguish USA from *usa*.
    """
    function, numbers = function_words_unless_english(code), language(code).number_words
    if not function:
        return levels
    return tuple(
        tuple(
            name
            for name in names
            if (len(name) == _CODE and name.isupper())
            or fold_case_and_accents(name) not in function
            or numbers.get(name.lower(), 1) != 1
            or any(map(str.isdigit, name))
        )
        for names in levels
    )


_CODE = 3  # letters of a code that its capitals distinguish from a word


@lru_cache(maxsize=256)  # bounded, since codes may come from requests
def function_words_unless_english(code: str) -> frozenset[str]:
    """The folded function words of a language; empty for English, whose function words the rules list themselves."""
    return frozenset(map(fold_case_and_accents, language(code).function_words))


def name_after_description(name: str) -> str:
    """The name after a description, as in `English author Rudyard Kipling`; "" where there is none."""
    if not name[name.rfind(" ") + 1 :][:1].isupper() or _INTRODUCING.isdisjoint(name_words := name.split()):
        return ""
    for place in range(len(name_words) - 2, 0, -1):
        kind = name_words[place].lower()
        bearer = name_words[place + 1 :]
        if not all(word[0].isupper() or word == "the" or word in word_lists.PARTICLES for word in bearer):
            return ""
        if kind in word_lists.TITLES and len(bearer) > 1 and bearer[0] != "the":
            return " ".join(bearer)
        if name_words[place] in _KINDS and len("".join(bearer)) > _SHORTEST:
            return " ".join(bearer)
    return ""


# words that may precede a name as its description; "of" leads to another name
_KINDS = (word_lists.CLASSES | word_lists.OCCUPATIONS) - {"of"}
_INTRODUCING = _KINDS | word_lists.TITLES | {title.capitalize() for title in word_lists.TITLES}
_SHORTEST = 4  # a name after a description has more letters than this


@_remember_names
def tiers(levels: Names) -> tuple[Tier, ...]:
    """Every name that has at least one word, in the order of the levels."""
    return tuple(
        [(level, name, folded) for level, names in enumerate(levels) for name in names if (folded := key(name))]
    )


@_remember_names
def loose_tiers(levels: Names) -> tuple[tuple[Tier, tuple[str, ...]], ...]:
    """Each tier with the loose folds of its name."""
    return tuple([(tier, loose_folds_of_key(tier[1], tier[2])) for tier in tiers(levels)])


@_remember_names
def has_coarser_proper_name(levels: Names) -> bool:
    """Whether a coarser level has a proper name, as those of places do, and not only descriptions ("a composer")."""
    return any(level > 0 and name[:1].isupper() and not is_description(name) for level, name, _ in tiers(levels))


def is_description(name: str) -> bool:
    """Whether a name is a description: `a composer`, `American playwright`; its last word has no capital."""
    last = name.split()[-1] if name.split() else ""
    return name.startswith(("a ", "an ", "A ", "An ")) or last[:1].islower()


@_remember_names
def claims_of_kind_if_finest_has_any(levels: Names, kind: str, code: str) -> tuple[tuple[IntervalClaim, ...], ...]:
    """The names of each level that are dates or amounts, as claims; () where the finest level has none."""
    read, may_be = (date_of_whole_text, may_be_date) if kind == "date" else (amount_of_whole_text, may_be_amount)
    if not levels or not may_be("\n".join(levels[0]), code):
        return ()
    claims_of_levels: list[tuple[IntervalClaim, ...]] = []
    for names in levels:
        named_claims = [(claim, name) for name in names if may_be(name, code) and (claim := read(name, code))]
        # the text of a claim is the whole name
        claims = [claim if claim.text == name else replace(claim, text=name) for claim, name in named_claims]
        claims_of_levels.append(tuple(claims))
        if not claims_of_levels[0]:
            return ()
    return tuple(claims_of_levels)


@_remember_names
def names_of_other_kinds(levels: Names, kind: str, code: str) -> Names:
    """The names of each level that are no values of that kind, "date" or "amount"."""
    if not (claims := claims_of_kind_if_finest_has_any(levels, kind, code)):
        return levels
    values_of_levels = [{claim.text for claim in level} for level in claims]
    return tuple(
        [
            tuple([name for name in names if name not in texts])
            for names, texts in zip(levels, values_of_levels, strict=True)
        ]
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
_PROSE = frozenset({"is", "was", "were", "are", "and", "or"})  # words that make a part prose, no place
_SUBJECTS = frozenset({"i", "we", "he", "she", "they", "it"})  # no places
DELICATE = 3  # letters at most of a name that is as likely an ordinary word or a code
_IN_NAMES = frozenset({"of", "de", "von", "van"})  # words in small letters inside names
_WITH_ARTICLE = frozenset(
    ("el", "del", "al", "la", "las", "los", "le", "les", "du", "des", "il", "lo", "gli", "o", "os", "as")
)  # articles, and prepositions with one
_CHAIN_WORDS = 6  # words of a part between commas at most; a longer part is prose, not a place


@dataclass(frozen=True, slots=True)
class Mention:
    """A tier's name in an answer: level from 0, the name, and its words [start, end)."""

    level: int
    name: str
    start: int
    end: int


Mentions = Iterator[Mention]


def may_be_ordinary_words(folded: tuple[str, ...]) -> bool:
    """Whether a name could be ordinary words: function words, or up to three letters (IN, US, ME, Ali)."""
    return word_lists.ORDINARY.issuperset(folded) or (
        len(folded) == 1 and len(folded[0]) <= DELICATE and folded[0].isalpha()
    )


@MATCHING.memoize(1 << 12)
def _letters_and_digits(text: str) -> str:
    """The letters and digits of a text in their case, without its articles: `the U.S.` -> `US`."""
    name_words = words(text)
    return "".join(c for word in name_words for c in text[word.start : word.end] if c.isalnum())


@dataclass(frozen=True)
class AnswerText:
    """An answer as words without articles, with the words of its question and all mentions of tiers."""

    text: str
    levels: Names
    question: str | None = None
    code: str = "en"

    @cached_property
    def words(self) -> tuple[FoldedWord, ...]:
        """The answer's words in order."""
        return words(self.text)

    @cached_property
    def word_texts(self) -> tuple[str, ...]:
        """The texts of the folded words of the answer, in order."""
        return tuple([word.text for word in self.words])

    @cached_property
    def word_set(self) -> frozenset[str]:
        """The set of the folded words of the answer."""
        return frozenset(self.word_texts)

    @cached_property
    def loose_folds(self) -> tuple[str, ...]:
        """The answer's words folded so that number and spelling make no difference
        (`granola.matching.tokens.loose_fold`).
        """
        return loose_folds_of_words(self.words)

    @cached_property
    def loose_fold_set(self) -> frozenset[str]:
        """The set of `loose_folds`."""
        return frozenset(self.loose_folds)

    @cached_property
    def loose_folds_of_question(self) -> frozenset[str]:
        """The loose folds of the question's words, and of the adjectives of the countries that it names."""
        if not self.question:
            return frozenset()
        asked = loose_key(self.question)
        adjectives = (adjective for word in asked for adjective in country_adjectives((word,)))
        return frozenset((*asked, *(word for adjective in adjectives for word in adjective)))

    @cached_property
    def joined_loose_folds(self) -> str:
        """The `loose_folds` of the answer joined without blanks."""
        return "".join(self.loose_folds)

    @cached_property
    def stem_set(self) -> frozenset[str]:
        """The stems of the answer's words."""
        return frozenset(map(stem, self.loose_folds))

    @cached_property
    def root_set(self) -> frozenset[str]:
        """The roots of the answer's words."""
        return frozenset(map(root, self.loose_folds))

    @cached_property
    def content_folds_beyond_question(self) -> tuple[str, ...]:
        """The loose folds of the answer's words that are neither function words nor in the question."""
        return tuple(
            folded
            for word, folded in zip(self.word_texts, self.loose_folds, strict=True)
            if word not in word_lists.FUNCTION and folded not in self.loose_folds_of_question
        )

    @cached_property
    def content_words(self) -> tuple[str, ...]:
        """The folded words of the answer that are no function words."""
        return tuple(word for word in self.word_texts if word not in word_lists.FUNCTION)

    @cached_property
    def tiers_sharing_a_word(self) -> tuple[Tier, ...]:
        """The tiers that have a word in common with the answer; singular and plural, and spellings of one word, count
        as one word.
        """
        present_folds = self.loose_fold_set
        return tuple([tier for tier, folds in self.loose_tiers if not present_folds.isdisjoint(folds)])

    @cached_property
    def possible_acronyms(self) -> list[tuple[int, str]]:
        """(index, letters) of each word that may be an acronym: two capitals or more, or the only word."""
        alone = len(self.words) == 1
        if not alone and self.text.isascii() and not _ACRONYM.search(self.text):
            return []  # most answers have none; this search is faster
        # an acronym may be written with points: U.S.A.
        spellings = ((index, self.quote(index, index + 1).replace(".", "")) for index in range(len(self.words)))
        return [
            # longer words in capitals are no acronyms
            (index, letters)
            for index, letters in spellings
            if 1 < len(letters) < 9 and (alone or letters.isupper())
        ]

    @cached_property
    def has_negation(self) -> bool:
        """Whether any word of the answer negates."""
        return not word_lists.NEGATIONS.isdisjoint(self.word_set)

    @cached_property
    def question_asks_person(self) -> bool:
        """Whether the question asks who."""
        return bool(self.question and _ASKS_PERSON.search(self.question.lower()))

    @cached_property
    def question_asks_place(self) -> bool:
        """Whether the question asks where."""
        return bool(self.question and _ASKS_PLACE.search(self.question.lower()))

    @cached_property
    def levels_describe_persons(self) -> bool:
        """Whether coarser levels describe a person: "a French composer"."""
        return any(
            level > 0 and is_description(name) and folded[-1] in word_lists.OCCUPATIONS
            for level, name, folded in self.tiers
        )

    @cached_property
    def question_words(self) -> frozenset[str]:
        """The folded words of the question; an answer that repeats them claims nothing by that."""
        return frozenset(key(self.question)) if self.question else frozenset()

    @cached_property
    def has_case(self) -> bool:
        """Whether capitals distinguish names in the answer: it has some, and is not all in capitals."""
        return self.text != self.text.lower() and self.text != self.text.upper()

    @cached_property
    def tiers(self) -> tuple[Tier, ...]:
        """Every name that has at least one word, as (level from 0, name, its folded words)."""
        return tiers(self.levels)

    @cached_property
    def loose_tiers(self) -> tuple[tuple[Tier, tuple[str, ...]], ...]:
        """Every tier with the loose folds of its name."""
        return loose_tiers(self.levels)

    @cached_property
    def keys_of_tiers(self) -> frozenset[tuple[str, ...]]:
        """The folded words of each tier's name."""
        return frozenset(folded for _, _, folded in self.tiers)

    @cached_property
    def is_about_places(self) -> bool:
        """Whether the ladder is about places: a coarser level is a proper name, and neither the levels nor the
        question refer to a person.
        """
        refers_to_person = self.question_asks_person or self.levels_describe_persons
        return not refers_to_person and has_coarser_proper_name(self.levels)

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """Every mention that is not inside a longer one, by level from the finest, then from left to right."""
        texts = self.word_texts
        mention_at: dict[tuple[int, int, int], Mention] = {}
        for level, name, folded in self.tiers:
            if not self.word_set.issuperset(folded):
                continue
            size = len(folded)
            delicate = may_be_ordinary_words(folded) or self.is_non_english_function_word(folded)
            for start in occurrences(texts, folded):
                if self.has_mark_attached(start, start + size) or self.is_common_noun_after_article(name, start):
                    continue
                if not (delicate and not self.is_name_not_word(name, folded, start)):
                    mention_at.setdefault((level, start, start + size), Mention(level, name, start, start + size))
        longest: list[Mention] = []  # York within New York is no mention of its own
        reached = -1  # the furthest end of the mentions that begin earlier, or here and are longer
        for mention in sorted(mention_at.values(), key=lambda mention: (mention.start, -mention.end)):
            if mention.end > reached or (longest and longest[-1].start == mention.start and mention.end == reached):
                longest.append(mention)
            reached = max(reached, mention.end)
        return tuple(sorted(longest, key=lambda mention: (mention.level, mention.start)))

    @cached_property
    def mention_mask(self) -> bytearray:
        """A mask of the words: 1 for a word of a mention of a tier."""
        marks = bytearray(len(self.words))
        for mention in self.mentions:
            marks[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
        return marks

    @cached_property
    def mentions_by_end(self) -> dict[int, list[Mention]]:
        """The mentions by the index of the word after them, in order."""
        ends: dict[int, list[Mention]] = {}
        for mention in self.mentions:
            ends.setdefault(mention.end, []).append(mention)
        return ends

    @cached_property
    def end_of_unknown_first_part(self) -> int | None:
        """The index of the word after the first of several short parts between commas (`Lyon, France`), if that part
        states something that no tier does; else None.
        """
        words = self.words
        starts = [0, *(i for i, word in enumerate(words) if i and "," in word.gap)]
        if len(starts) < 2 or any(set(word.gap) & SENTENCE_END - {"."} for word in words):
            return None
        parts = pairwise([*starts, len(words)])
        if any(end - start > _CHAIN_WORDS for start, end in parts):
            return None
        prose = _PROSE | _SUBJECTS if self.has_case else _PROSE
        if any(word.text in prose and not self.overlaps_mention(i, i + 1) for i, word in enumerate(words)):
            return None
        if words[starts[1] - 1].text in word_lists.CONTINENTS:  # somewhere in Asia, China: from the coarsest
            return None
        return starts[1] if self.claims_beyond_tiers(0, starts[1]) else None

    def is_name_not_word(self, name: str, folded: tuple[str, ...], start: int) -> bool:
        """Whether the words from `start` are the short `name` and not ordinary words spelt like it.

        The case must be that of the name: IT is not It, US is not us. Capitals of a text in capitals or at the
        beginning of a sentence are no evidence. "the" before the words (the uk) is evidence of a name.
        """
        end = start + len(folded)
        if start == 0 and (end == len(self.words) or folded in (("yes",), ("no",))):
            return True
        if self.has_definite_article_before(start):
            return True
        if self.is_non_english_function_word(folded):
            return False
        ordinary = word_lists.ORDINARY.issuperset(folded)
        if ordinary and len(name) == 2:  # a code occurs as in "Norman, OK" and "born in ME"
            before = self.words[start - 1] if start else None
            is_after_place = before is not None and before.capital and "," in self.words[start].gap
            if before is None or not (is_after_place or before.text in ("in", "of", "from", "at")):
                return False
        name_letters, (letters, starts) = _letters_and_digits(name), self._letters_and_offsets
        spelling = letters[starts[start] : starts[end]]
        if self.text == self.text.upper():  # in a text in capitals case decides nothing
            return not ordinary
        if name_letters != spelling:
            return False
        text_before = self.text[: self.words[start].start].rstrip()
        return not (ordinary and spelling[1:].islower() and (not text_before or text_before[-1] in '.!?:;"“'))

    def is_common_noun_after_article(self, name: str, start: int) -> bool:
        """Whether a capitalised name occurs in small letters after an article: "del ecuador" (of the equator) is not
        Ecuador.
        """
        if not self.has_case or not start or self.words[start].capital or not name[:1].isupper():
            return False
        return " " not in name and self.word_texts[start - 1] in _WITH_ARTICLE & function_words_unless_english(
            self.code
        )

    def is_non_english_function_word(self, folded: tuple[str, ...]) -> bool:
        """Whether `folded` is one word, a function word of the answer's language; always False for answers in English.
        """
        return len(folded) == 1 and folded[0] in function_words_unless_english(self.code)

    @cached_property
    def _letters_and_offsets(self) -> tuple[str, tuple[int, ...]]:
        """The letters and digits of all words in their case, and the offset of each word, with the end offset."""
        spelt = ["".join(filter(str.isalnum, self.text[word.start : word.end])) for word in self.words]
        return "".join(spelt), (0, *accumulate(map(len, spelt)))

    def has_mark_attached(self, start: int, end: int) -> bool:
        """Whether a mark that changes the meaning is attached to the words [start, end): -5, C#, 42 %."""
        words = self.words
        if words[start].gap == "-" and start and words[start].text[0].isdigit() and words[start - 1].text.isalpha():
            return True  # B-23
        if end < len(words) and is_mark(words, end, self.text):
            return True
        before = start - 1
        return start > 0 and words[before].text in ("minus", "below", "above") and is_mark(words, before, self.text)

    def contains_mark_absent_from_name(self, mention: Mention) -> bool:
        """Whether a mention contains a mark that its name does not have: `C sharp minor` for C minor."""
        own = key(mention.name)
        marks = [index for index in range(mention.start, mention.end) if is_mark(self.words, index, self.text)]
        return any(self.word_texts[index] not in own and self.word_texts[index - 1] in own for index in marks if index)

    def index_of_word_at(self, position: int) -> int:
        """The index of the word at a character of the text, or of the next word."""
        return bisect_right(self.words, position, key=lambda word: word.end)

    def has_definite_article_before(self, index: int) -> bool:
        """Whether "the" precedes word `index`."""
        before = self.text[: self.words[index].start].rstrip()[-4:].lower()
        return before.endswith("the") and not before[:-3].strip()

    def quote(self, start: int, end: int) -> str:
        """The source text of the words [start, end)."""
        return self.text[self.words[start].start : self.words[end - 1].end]

    def repeats_only_other_tiers(self, mention: Mention) -> bool:
        """Whether all content words of a mention in other words belong to longer names or names of coarser tiers.

        The longest name counts, and the name of a coarser tier is no mention of a finer one: America in North America,
        New York for New York City.
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
        covered = {index for other in others for index in range(other.start, other.end)}
        return all(
            index in covered
            or self.word_texts[index] in word_lists.FUNCTION
            or self.word_texts[index] in self.question_words
            for index in indices
        )

    def overlaps_mention(self, start: int, end: int) -> bool:
        """Whether any word of [start, end) belongs to a mention of a tier."""
        return any(self.mention_mask[start:end])

    def claims_beyond_tiers(self, start: int, end: int) -> bool:
        """Whether the words [start, end) claim something that no tier states: at least one is no word of a tier, of
        the question, a title or a kind of place.
        """
        if start >= end or self.overlaps_mention(start, end):
            return False
        claims = any(
            word.text not in self.question_words
            and word.text not in word_lists.NO_CLAIM
            and not self.is_non_english_function_word((word.text,))
            for word in self.words[start:end]
        )
        if not claims or not self.country_ids_of_tiers:
            return claims
        qids = country_ids(self.word_texts[start:end])
        return not qids or not qids <= self.country_ids_of_tiers  # USA is no claim where a tier is the United States

    @cached_property
    def country_ids_of_tiers(self) -> frozenset[str]:
        """The ids of the countries that tiers name."""
        return frozenset().union(*(country_ids(folded) for _, _, folded in self.tiers))

    def start_of_capitalised_run_before(self, end: int) -> int:
        """Start of the run of capitalised words that ends before word `end`; `end` where there is none."""
        start = end
        while start > 0 and (start == end or not self.words[start].gap.strip("'’.-")):
            word = self.words[start - 1]
            is_function = word.text in word_lists.FUNCTION or self.is_non_english_function_word((word.text,))
            if not (word.capital and not is_function) and word.text not in _IN_NAMES:
                break
            start -= 1
        while start < end and not self.words[start].capital:
            start += 1
        return start
