"""Names in the word forms of languages other than English: number, gender, case, nationality, halves of a label.

`Schauspielerin` for Schauspieler, `Roms Altstadt` for Rom, `acteur` for acteur ou actrice, `Elle est française` for
France. Endings, adjectives of countries and words without content are the language's data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from abstraction.text.language.cldr import language_codes_by_script, territory_names
from abstraction.text.language.language_data import Language, folded
from abstraction.text.language.languages import bundled_demonyms, language
from granola.matching import word_lists
from granola.matching.mentions import AnswerText, Mention, Tier
from granola.matching.tokens import MATCHING, key, occurrences
from granola.replies.plain_text import fold_case_and_accents
from kg.base.model import normalise

_WORD = re.compile(r"[^\W_]+")
_ELIDED = re.compile(r"\A\w{1,4}['’]")  # l'acteur, dell'arte
_SHORTEST = 3  # letters of a stem at least that is searched for in longer answers
_LONG = 5  # letters that a place and its adjective share at least

Stems = tuple[str, ...]


def mentions_by_word_form(answer: AnswerText, tier: Tier) -> Iterator[Mention]:
    """Mentions with other endings, by half of a name ("acteur" of "acteur ou actrice"), or of a place by its adjective
    or inhabitants.
    """
    own_language = language(answer.code)
    # the stems of the words that are no function words, with their indices
    written = (_ELIDED.sub("", answer.quote(index, index + 1)) for index in range(len(answer.words)))
    found = [
        (index, _stem(word, own_language))
        for index, word in enumerate(written)
        if not _is_function_word(word, own_language)
    ]
    for form in _stems_of_gendered_forms(tier[1], own_language):
        for start, end in _runs_with_stems_of_form(found, form):
            # where capitals distinguish names, "roman" does not mention Roman
            same_case = not answer.has_case or answer.words[start].capital or not tier[1][:1].isupper()
            if same_case or _has_no_more_content(answer, found, start, end, own_language):
                yield Mention(tier[0], tier[1], start, end)
    country = _country_stems_of_name(tier[1], own_language)
    for form in (*country.names, *country.nationals):
        letters = ((at, at + len(form)) for at in occurrences(answer.word_texts, form))  # in scripts without spaces
        runs = _runs_with_stems_of_form(found, form) if own_language.separates_words_by_spaces else letters
        for start, end in runs:
            is_name = form in country.names and (
                answer.words[start].capital or not own_language.separates_words_by_spaces
            )
            if is_name or len(answer.levels) == 1 or _has_no_more_content(answer, found, start, end, own_language):
                yield Mention(tier[0], tier[1], start, end)
    base = _base_shared_with_adjective(tier[1], own_language)
    for index, stem in found if base else ():
        if _strip_derivation(stem, own_language) == base and _has_no_more_content(
            answer, found, index, index + 1, own_language
        ):
            yield Mention(tier[0], tier[1], index, index + 1)
    for short in _characters_without_kind(tier[1], own_language):  # scripts without spaces
        for start in occurrences(answer.word_texts, short):
            yield Mention(tier[0], tier[1], start, start + len(short))


def candidate_tiers_by_word_form(answer: AnswerText) -> Sequence[Tier]:
    """The tiers without digits: "millas" (miles) does not mention "6.4 millas"."""
    return [tier for tier in answer.tiers if not any(map(str.isdigit, tier[1]))]


def _is_function_word(word: str, own_language: Language) -> bool:
    return folded(word) in own_language.function_words or fold_case_and_accents(word) in word_lists.FUNCTION


@MATCHING.memoize(1 << 14)
def _stem(word: str, own_language: Language) -> str:
    return own_language.stem(word)


def _runs_with_stems_of_form(stems_at: list[tuple[int, str]], form: Stems) -> Iterator[tuple[int, int]]:
    """The words [start, end) that have the stems of a form, function words between them ignored."""
    stems = [stem for _, stem in stems_at]
    whole = stems == list(form)
    if not whole and len("".join(form)) < _SHORTEST:  # short stems occur by chance
        return
    for at in occurrences(stems, form):
        yield stems_at[at][0], stems_at[at + len(form) - 1][0] + 1


def _has_no_more_content(
    answer: AnswerText, stems_at: list[tuple[int, str]], start: int, end: int, own_language: Language
) -> bool:
    """Whether an answer has no content except the words [start, end), its question and words for nationality."""
    asked = _stems_of_text(answer.question or "", own_language)
    return all(
        start <= index < end or stem in own_language.nationality_stems or stem in asked for index, stem in stems_at
    )


@MATCHING.memoize(1 << 12)
def _stems_of_text(text: str, own_language: Language) -> frozenset[str]:
    return frozenset(own_language.stem(word) for word in _WORD.findall(text))


@MATCHING.memoize(1 << 14)
def _stems_of_gendered_forms(name: str, own_language: Language) -> tuple[Stems, ...]:
    """The stems of a name, and of its halves where it has both genders."""
    if all(word in own_language.powers or _is_function_word(word, own_language) for word in name.lower().split()):
        return ()  # "des millions" has no content word
    return tuple(
        dict.fromkeys(
            stems for half in own_language.gendered_forms(name) if (stems := _content_stems_or_all(half, own_language))
        )
    )


def _content_stems_or_all(name: str, own_language: Language) -> Stems:
    """The stems of the content words of a name, or of all its words where it has none."""
    if not own_language.separates_words_by_spaces and not name.isascii():
        return key(name)
    parts = [word for part in name.split() for word in _WORD.findall(_ELIDED.sub("", part))]
    content = [word for word in parts if not _is_function_word(word, own_language)]
    return tuple(own_language.stem(word) for word in content or parts)


@dataclass(frozen=True, slots=True)
class _Country:
    """The stems of a country's names, and of its adjectives and inhabitants, in a language and in English."""

    names: tuple[Stems, ...] = ()
    nationals: tuple[Stems, ...] = ()


@MATCHING.memoize(1 << 14)
def _country_stems_of_name(name: str, own_language: Language) -> _Country:
    """The stems of the country of a name, also of a former state by its adjective: for "Russisches Kaiserreich" those
    of Russia.
    """
    if name[:1].islower():
        return _Country()
    stems = _content_stems_or_all(name, own_language)
    bare = tuple(stem for stem in stems if stem not in own_language.nationality_stems) or stems
    table = _country_by_stems(own_language)
    return table.get(stems) or table.get(bare) or _Country()


@cache
def _country_by_stems(own_language: Language) -> Mapping[Stems, _Country]:
    """Each country of CLDR or the language's data by the stems of its names and adjectives."""
    in_scripts = [territory_names(code) for code in language_codes_by_script(own_language.code)]
    in_english, english = territory_names("en"), bundled_demonyms()
    table: dict[Stems, _Country] = {}
    for place in dict.fromkeys([*own_language.demonyms, *territory_names(own_language.code)]):
        demonym = own_language.demonyms.get(place)
        qids = english.names.get(normalise(in_english.get(place, place)), ())
        english_names = [name for name, known in english.names.items() if not set(known).isdisjoint(qids)]
        adjectives = [word for qid in qids[:1] for word in (english.adjectives[qid], *english.variants.get(qid, ()))]
        own_names = [names.get(place, place) for names in in_scripts]
        names, nationals = (
            tuple(
                dict.fromkeys(stems for text in texts if text and (stems := _content_stems_or_all(text, own_language)))
            )
            for texts in (
                (*own_names, *(demonym.names if demonym else ()), *english_names),
                (*(demonym.adjectives if demonym else ()), *adjectives),
            )
        )
        for stems in (*names, *nationals):
            table.setdefault(stems, _Country(names, nationals))
    return table


def _base_shared_with_adjective(name: str, own_language: Language) -> str:
    """The beginning that a place and its adjective share: "kaliforn"; "" where the language has no rule for such
    adjectives.
    """
    if not own_language.derived or not name[:1].isupper() or " " in name:
        return ""
    base = _strip_derivation(_stem(name, own_language), own_language)
    return base if len(base) >= _LONG else ""


@MATCHING.memoize(1 << 14)
def _strip_derivation(stem: str, own_language: Language) -> str:
    """A stem without the endings that form adjectives of places in the language, or a name without its kind."""
    for pattern, replacement in own_language.derived:
        stem = pattern.sub(replacement, stem)
    return stem


@MATCHING.memoize(1 << 14)
def _characters_without_kind(name: str, own_language: Language) -> tuple[Stems, ...]:
    """The characters of a name without a final word for its kind (カリフォルニア州), in scripts without spaces."""
    if not own_language.derived or name[:1].isascii() or " " in name:
        return ()
    short = _strip_derivation(name, own_language)
    return (key(short),) if short != name and len(key(short)) > 1 and len(key(name)) == len(name) else ()
