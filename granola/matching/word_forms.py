"""Names in the word forms of languages other than English: number, gender, case, nationality, halves of a label.

`Schauspielerin` for Schauspieler, `Roms Altstadt` for Rom, `acteur` for acteur ou actrice, `Elle est française` for
France. Endings, adjectives of countries and words without content are the language's data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from abstraction.text.language.cldr import codes_of_scripts, territory_names
from abstraction.text.language.language_data import Language, folded
from abstraction.text.language.languages import bundled_demonyms, language
from granola.matching import word_lists
from granola.matching.mentions import AnswerText, Mention, Tier
from granola.matching.tokens import MATCHING, key, occurrences
from granola.replies.plain_text import plain
from kg.base.model import normalise

_WORD = re.compile(r"[^\W_]+")
_ELIDED = re.compile(r"\A\w{1,4}['’]")  # l'acteur, dell'arte
_SHORTEST = 3  # letters of a stem at least that is searched for in longer answers
_LONG = 5  # letters at least that a place and its adjective share

Stems = tuple[str, ...]


def mentions_by_word_form(answer: AnswerText, tier: Tier) -> Iterator[Mention]:
    """Mentions with other endings, half of a label ("acteur ou actrice"), a place by its adjective or inhabitant."""
    words = language(answer.code)
    # the stems of the words that are no function words, with their indices
    written = (_ELIDED.sub("", answer.quote(index, index + 1)) for index in range(len(answer.words)))
    found = [(index, _stem(word, words)) for index, word in enumerate(written) if not _is_function(word, words)]
    for form in _stems_of_forms(tier[1], words):
        for start, end in _stem_runs(found, form):
            # "roman" is not from Roman
            same_case = not answer.has_case or answer.words[start].capital or not tier[1][:1].isupper()
            if same_case or _has_no_more_content(answer, found, start, end, words):
                yield Mention(tier[0], tier[1], start, end)
    country = _country_of_name(tier[1], words)
    for form in (*country.names, *country.nationals):
        letters = ((at, at + len(form)) for at in occurrences(answer.texts, form))  # in scripts without spaces
        runs = _stem_runs(found, form) if words.separates_words_by_spaces else letters
        for start, end in runs:
            is_name = form in country.names and (answer.words[start].capital or not words.separates_words_by_spaces)
            if is_name or len(answer.levels) == 1 or _has_no_more_content(answer, found, start, end, words):
                yield Mention(tier[0], tier[1], start, end)
    base = _base_shared_with_adjective(tier[1], words)
    for index, stem in found if base else ():
        if _strip_derivation(stem, words) == base and _has_no_more_content(answer, found, index, index + 1, words):
            yield Mention(tier[0], tier[1], index, index + 1)
    for short in _names_without_kind(tier[1], words):  # scripts without spaces
        for start in occurrences(answer.texts, short):
            yield Mention(tier[0], tier[1], start, start + len(short))


def candidate_tiers_by_word_form(answer: AnswerText) -> Sequence[Tier]:
    """The tiers without digits: "millas" is no "6.4 milla"."""
    return [tier for tier in answer.tiers if not any(map(str.isdigit, tier[1]))]


def _is_function(word: str, words: Language) -> bool:
    return folded(word) in words.function_words or plain(word) in word_lists.FUNCTION


@MATCHING.memoize(1 << 14)
def _stem(word: str, words: Language) -> str:
    return words.stem(word)


def _stem_runs(stems_at: list[tuple[int, str]], form: Stems) -> Iterator[tuple[int, int]]:
    """The words [start, end) that have the stems of a form, function words between them ignored."""
    stems = [stem for _, stem in stems_at]
    whole = stems == list(form)
    if not whole and len("".join(form)) < _SHORTEST:  # short stems occur by chance
        return
    for at in occurrences(stems, form):
        yield stems_at[at][0], stems_at[at + len(form) - 1][0] + 1


def _has_no_more_content(
    answer: AnswerText, stems_at: list[tuple[int, str]], start: int, end: int, words: Language
) -> bool:
    """Whether an answer has no content except the words [start, end), its question and words for nationality."""
    asked = _stems_of_text(answer.question or "", words)
    return all(start <= index < end or stem in words.nationality_stems or stem in asked for index, stem in stems_at)


@MATCHING.memoize(1 << 12)
def _stems_of_text(text: str, words: Language) -> frozenset[str]:
    return frozenset(words.stem(word) for word in _WORD.findall(text))


@MATCHING.memoize(1 << 14)
def _stems_of_forms(name: str, words: Language) -> tuple[Stems, ...]:
    """The stems of a name, and of its halves where it has both genders."""
    if all(word in words.powers or _is_function(word, words) for word in name.lower().split()):
        return ()  # "des millions" has no content
    return tuple(dict.fromkeys(stems for half in words.gendered_forms(name) if (stems := _name_stems(half, words))))


def _name_stems(name: str, words: Language) -> Stems:
    """The stems of the content words of a name, or of all its words where it has none."""
    if not words.separates_words_by_spaces and not name.isascii():
        return key(name)
    parts = [word for part in name.split() for word in _WORD.findall(_ELIDED.sub("", part))]
    content = [word for word in parts if not _is_function(word, words)]
    return tuple(words.stem(word) for word in content or parts)


@dataclass(frozen=True, slots=True)
class _Country:
    """The stems of a country's names, and of its adjectives and inhabitants, in a language and in English."""

    names: tuple[Stems, ...] = ()
    nationals: tuple[Stems, ...] = ()


@MATCHING.memoize(1 << 14)
def _country_of_name(name: str, words: Language) -> _Country:
    """The country of a name, or of a former state by its adjective: "Russisches Kaiserreich" is Russia's."""
    if name[:1].islower():
        return _Country()
    stems = _name_stems(name, words)
    bare = tuple(stem for stem in stems if stem not in words.nationality_stems) or stems
    table = _country_by_stems(words)
    return table.get(stems) or table.get(bare) or _Country()


@cache
def _country_by_stems(words: Language) -> Mapping[Stems, _Country]:
    """Each country of CLDR or the language's data by the stems of its names and adjectives."""
    in_scripts = [territory_names(code) for code in codes_of_scripts(words.code)]
    in_english, english = territory_names("en"), bundled_demonyms()
    table: dict[Stems, _Country] = {}
    for place in dict.fromkeys([*words.demonyms, *territory_names(words.code)]):
        demonym = words.demonyms.get(place)
        qids = english.names.get(normalise(in_english.get(place, place)), ())
        english_names = [name for name, known in english.names.items() if not set(known).isdisjoint(qids)]
        adjectives = [word for qid in qids[:1] for word in (english.adjectives[qid], *english.variants.get(qid, ()))]
        own_names = [names.get(place, place) for names in in_scripts]
        names, nationals = (
            tuple(dict.fromkeys(stems for text in texts if text and (stems := _name_stems(text, words))))
            for texts in (
                (*own_names, *(demonym.names if demonym else ()), *english_names),
                (*(demonym.adjectives if demonym else ()), *adjectives),
            )
        )
        for stems in (*names, *nationals):
            table.setdefault(stems, _Country(names, nationals))
    return table


def _base_shared_with_adjective(name: str, words: Language) -> str:
    """The beginning that a place and its adjective share: "kaliforn"; "" where the language has no rule."""
    if not words.derived or not name[:1].isupper() or " " in name:
        return ""
    base = _strip_derivation(_stem(name, words), words)
    return base if len(base) >= _LONG else ""


@MATCHING.memoize(1 << 14)
def _strip_derivation(stem: str, words: Language) -> str:
    """A stem without the endings that form adjectives of places in the language, or a name without its kind."""
    for pattern, replacement in words.derived:
        stem = pattern.sub(replacement, stem)
    return stem


@MATCHING.memoize(1 << 14)
def _names_without_kind(name: str, words: Language) -> tuple[Stems, ...]:
    """The characters of a name without a final word for its kind (カリフォルニア州), in scripts without spaces."""
    if not words.derived or name[:1].isascii() or " " in name:
        return ()
    short = _strip_derivation(name, words)
    return (key(short),) if short != name and len(key(short)) > 1 and len(key(name)) == len(name) else ()
