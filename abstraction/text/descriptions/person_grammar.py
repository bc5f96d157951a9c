"""Descriptions of persons: nationality, occupations, offices and kinship, each with its words in the text.

person := [ERA] [NATIONALITY] [X-born] OCCUPATION { ("," | ";" | "and" | "&" | "/") OCCUPATION } [OFFICE | KIN]

A conjunct without a head takes that of the next ("film and television director"); a leading modifier is never applied
to later conjuncts. Words that the grammar does not cover are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from abstraction.text.descriptions.attested_words import (
    DescriptionWord,
    Vocabulary,
    description_words,
    is_capital_by_position,
    is_lower_case_or_common_word,
    lowercase_common_nouns,
    separates_conjuncts,
    split_at,
)
from abstraction.text.descriptions.kind_grammar import (
    DESCENT,
    ERA_WORDS,
    REGIONAL,
    Nationality,
    begins_with_nation,
    is_birthplace_word,
    is_era,
    phrase_and_shortenings,
    read_language_as_nationality,
    read_nationality,
)
from abstraction.text.descriptions.office_grammar import (
    Kin,
    Office,
    bare_title_and_its_holders_occupation,
    ends_in_title_or_kin_word,
    is_ordinal,
    office_data,
    read_kin,
    read_office,
)
from abstraction.text.language.phrases import is_informative, shortening_changes_meaning, word_list
from kg.base.bounded_cache import bounded_cache

# Occupations: one noun phrase, its shortenings, and the heads that conjuncts share.

LONGEST = 6  # words of an occupation; a longer phrase is cut at the front
# Endings of nouns for persons. Such a conjunct takes no head from the next: "check forger, impostor and escape artist".
_AGENT = re.compile(r"(?:er|or|ist|ian|m[ae]n|wom[ae]n|ess|ine|eer|yst|ete|ial|ant|ive|ic)$")
# Endings that only occupations have, for nouns that no vocabulary contains.
_OCCUPATIONAL = re.compile(
    r"(?:ician|smith|onaut)$|(?:olog|iatr|[^aeiou]an|ion|ar|or|ur|em|in|[cgmn])ist$|grapher$|monger$|wright$"
)
_POSSESSIVE = ("'s", "’s", "s'", "s’")


@dataclass(frozen=True, kw_only=True, slots=True)
class Occupation:
    """An occupation in a description.

    `texts` are the wordings from the whole phrase to its shortest informative form, each entailing the next; `used`
    the words of each. `tied` is the number of first wordings that contain a nationality of their own and take none
    before them. `lift` is the occupation of every holder of a title.
    """

    texts: tuple[str, ...]
    used: tuple[tuple[DescriptionWord, ...], ...]
    nationality: Nationality | None
    lead: tuple[DescriptionWord, ...] = ()
    former: bool = False
    tied: int = 0
    lift: str | None = None


MOST_OCCUPATIONS = 5  # the first occupations of a description, which are kept
_CLAUSE_ENDS = frozenset(";|:")


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonDescription:
    """The parsed description of a person, each part in the order of the text."""

    nationality: Nationality | None
    occupations: tuple[Occupation, ...]
    offices: tuple[Office, ...]
    kin: tuple[Kin, ...]


@bounded_cache(entries=1 << 12, longest=250)  # 60 MB at most
def parse_person(description: str, vocabulary: Vocabulary) -> PersonDescription:
    """Parse a person's description. Parts outside the grammar are left out, never guessed."""
    return _PersonDescriptionReader(vocabulary).read(description)


class _PersonDescriptionReader:
    """Parses one description; its conjuncts are noun phrases, read as occupations by the words of a vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.nationality: Nationality | None = None
        self.pending = False  # whether the last conjunct was a nationality alone: "Austrian and British economist"
        self.occupations: list[Occupation] = []
        self.offices: list[Office] = []
        self.kin: list[Kin] = []

    def read(self, description: str) -> PersonDescription:
        for clause in split_at(description_words(description), _CLAUSE_ENDS):
            self.read_clause(clause)
        if self.nationality is None:
            self.nationality = self._nationality_after_from(description_words(description))
        return PersonDescription(
            nationality=self.nationality,
            occupations=tuple(self.occupations[:MOST_OCCUPATIONS]),
            offices=tuple(self.offices),
            kin=tuple(self.kin),
        )

    def _nationality_after_from(self, sequence: Sequence[DescriptionWord]) -> Nationality | None:
        """The nationality after the occupations: "from the United States"."""
        for index, word in enumerate(sequence[:-1]):
            if word.text == "from" and index and self.occupations:
                behind = sequence[index + 1 :]
                behind = behind[1:] if behind[0].text == "the" else behind
                origin = read_nationality(behind, self.vocabulary)
                last = len(behind) == len(origin.words) if origin else False
                if origin is not None and len(origin.parts) == 1 and (last or behind[len(origin.words)].separator):
                    return origin
        return None

    def read_clause(self, clause: list[DescriptionWord]) -> None:
        # A subordinate statement ends the clause: "known for", "who", "best remembered as".
        breaks = word_list("breaks")
        for index, word in enumerate(clause):
            leads = word.text in {"best", "well", "most", "also"} and index + 1 < len(clause)
            if word.text in breaks or (leads and clause[index + 1].text in breaks):
                clause = clause[:index]
                break
        fragments: list[list[DescriptionWord]] = []
        tailed = False
        at = 0
        while at < len(clause):
            end = _index_of_next_separator_or_end(clause, at)
            taken = self.read_office_or_kin(clause[at:]) if end > at else 0
            if taken:
                at = _index_after_conjunctions_and_separators(clause, at + taken)
                fragments, tailed = [], True
                continue
            conjunct = clause[at:end]
            nominal = _noun_phrase_size(conjunct)
            if nominal:
                headless = self.read_conjunct(
                    conjunct[:nominal],
                    fragments,
                    may_be_unattested=not tailed,
                    preposition_follows=nominal < len(conjunct),
                )
                fragments = [] if headless is None else [*fragments, headless]
                tailed = (tailed and headless is not None) or nominal < len(conjunct)
            at = max(_index_after_conjunctions_and_separators(clause, end), at + 1)

    def read_office_or_kin(self, sequence: Sequence[DescriptionWord]) -> int:
        """Read an office or kinship at the start of the words; returns the number of words read."""
        is_end = (word.separator or word.text in word_list("prepositions") for word in sequence)
        nominal = next((index for index, ends in enumerate(is_end) if ends), len(sequence))
        head = sequence[:nominal]
        # A conjunction separates words that are not one title; "1st and former President" is one title.
        joints = word_list("joints")
        is_separate = (
            not (ends_in_title_or_kin_word(head[:at]) or is_ordinal(head[at - 1]))
            if word.text == "and"
            else word.text in joints
            for at, word in enumerate(head)
        )
        if not head or any(is_separate):
            return 0
        nationality = read_nationality(head, self.vocabulary)
        start = len(nationality.words) if nationality is not None else 0
        if start == nominal or head[start].text == "and":
            start = 0
        kin = read_kin(sequence[start:], nominal - start)
        if kin is not None:
            if kin.of:
                self.kin.append(kin)
            return max(nominal, sequence.index(kin.words[-1]) + 1)
        office = read_office(sequence[start:], nominal - start)
        if office is None:
            return 0
        self.nationality = self.nationality or nationality
        self.offices.append(office)
        return _index_of_next_separator_or_end(sequence, sequence.index(office.complement_words[-1]) + 1)

    def read_conjunct(
        self,
        nominal: list[DescriptionWord],
        fragments: list[list[DescriptionWord]],
        *,
        may_be_unattested: bool,
        preposition_follows: bool,
    ) -> list[DescriptionWord] | None:
        """Read one conjunct; returns its words where it has no head of its own, else None."""
        former, lead, national, size = self._read_words_before_occupation(nominal)
        phrase = nominal[size:]
        if national is not None and self.nationality is None:
            self.nationality = national
        elif national and self.nationality and self.pending and national.text != self.nationality.text:
            self.nationality = national = _join_nationalities(self.nationality, national)
        self.pending = national is not None and not phrase
        if not phrase or (
            phrase[0].text.islower()
            and len(phrase[0].text) > 5
            and self.vocabulary.countries_of_adjective(phrase[0].text)
        ):
            return None
        occupations = self.read_occupations(
            phrase,
            nationality=national or self.nationality,
            lead=lead,
            former=former,
            preposition_follows=preposition_follows,
            names_nation=national is not None,
        )
        if not occupations:
            plain = (
                not preposition_follows
                and not former
                and len(phrase) <= 3
                and all(is_lower_case_or_common_word(w, self.vocabulary) for w in phrase)
            )
            return phrase if plain else []
        for fragment in fragments:
            self._add_new_occupations(
                self.occupations_of_fragment_with_lent_noun(
                    fragment, phrase, occupations[0], may_be_unattested=may_be_unattested
                )
            )
        self._add_new_occupations(occupations)
        return None

    def _add_new_occupations(self, occupations: Sequence[Occupation]) -> None:
        known = {o.texts[0].casefold() for o in self.occupations}
        self.occupations.extend(o for o in occupations if o.texts[0].casefold() not in known)

    def _read_words_before_occupation(
        self, nominal: Sequence[DescriptionWord]
    ) -> tuple[bool, tuple[DescriptionWord, ...], Nationality | None, int]:
        """Read the words before an occupation: whether it is a former one, the period or birthplace that its phrases
        use ("19th-century"), the nationality, and the number of all these words.
        """
        former, at = False, 0
        lead: Sequence[DescriptionWord] = ()
        nationality: Nationality | None = None
        while at < len(nominal):
            key = nominal[at].key
            is_former = key in word_list("former")
            is_dropped = key in word_list("skipped") or key in word_list("ordinals")
            if is_former or is_dropped or (key in word_list("dropped_modifiers") and not nationality):
                former, at = former or is_former, at + 1
                continue
            size, leading = _read_period_or_birthplace(nominal, at, self.vocabulary)
            if size:
                lead, at = leading or lead, at + size
                continue
            national = self._read_nationality_and_end(nominal[at:])
            if national is None:
                break
            # A language after a nationality belongs to the occupation.
            second = national[0].parts[-1:]
            if nationality and not (second and second[0] in word_list("second_nationalities")):
                break
            nationality = _join_nationalities(nationality, national[0]) if nationality else national[0]
            at += national[1]
        return former, tuple(lead), nationality, at

    def _read_nationality_and_end(self, sequence: Sequence[DescriptionWord]) -> tuple[Nationality, int] | None:
        """A nationality at the start, or after up to two plain words ("award-winning American actor"), and its end."""
        if self.nationality is not None and not self.pending:
            again = read_nationality(sequence, self.vocabulary)
            return (again, len(again.words)) if again and again.text == self.nationality.text else None
        language = read_language_as_nationality(sequence)
        if language is not None and len(language.words) < len(sequence):
            return language, len(language.words)
        for skip, word in enumerate(sequence[:3]):
            nationality = read_nationality(sequence[skip:], self.vocabulary)
            if nationality is not None:
                end = skip + len(nationality.words)
                return (
                    (nationality, end)
                    if self._is_nationality_of_person(nationality, sequence[:skip], sequence[end:])
                    else None
                )
            if ends_in_title_or_kin_word([word]):
                return None
        return None

    def _is_nationality_of_person(
        self, nationality: Nationality, before: Sequence[DescriptionWord], behind: Sequence[DescriptionWord]
    ) -> bool:
        """Whether a nationality is the person's, not that of a language or church, and only plain words precede it."""
        after = behind[0].key if behind else ""
        if after in {"language", "orthodox", "empire"} or after.endswith("-born"):
            return False
        if after == "catholic" and nationality.words[-1].key == "roman":
            return False
        if not before:
            return True
        if (
            ends_in_title_or_kin_word(before)
            or before[-1].key in REGIONAL
            or self.vocabulary.is_occupation(before[-1].text)
        ):
            return False
        owned = any(w.key.endswith(("'s", "’s")) for w in before)
        return not owned and all(is_lower_case_or_common_word(w, self.vocabulary) or w.key in DESCENT for w in before)

    # Noun phrases as occupations.

    def read_occupations(
        self,
        phrase: list[DescriptionWord],
        *,
        nationality: Nationality | None,
        lead: tuple[DescriptionWord, ...] = (),
        former: bool = False,
        preposition_follows: bool = False,
        names_nation: bool = False,
    ) -> list[Occupation]:
        """The occupation named by a noun phrase; two where a comma is missing, empty where it does not describe a
        person.

        `preposition_follows` the phrase; `names_nation`: whether the nationality is in this very phrase.
        """
        # Awards and the words before them are left out.
        won = (at + 1 for at, word in reversed([*enumerate(phrase)]) if word.key.endswith(("winning", "nominated")))
        phrase = phrase[next(won, 0) :]
        while phrase and phrase[0].key in word_list("dropped_modifiers"):
            phrase = phrase[1:]
        phrase = phrase[-LONGEST:]
        if (
            not phrase
            or any(w.text[:1].isdigit() for w in phrase)
            or (preposition_follows and phrase[-1].key in word_list("degrees"))
        ):
            return []
        if any(
            w.key.endswith(_POSSESSIVE) and w.is_capitalised and not is_lower_case_or_common_word(w, self.vocabulary)
            for w in phrase[:-1]
        ):
            return []
        occupation = partial(Occupation, nationality=nationality, lead=lead, former=former)
        alone = bare_title_and_its_holders_occupation(phrase)
        # Some titles without complement are informative only with a nationality: "an Ethiopian president".
        if alone is not None and alone[0] != alone[1] and (names_nation or alone[0] not in office_data()["not_alone"]):
            if alone[0] in word_list("ambiguous_titles"):
                return []
            return [occupation(texts=(alone[0],), used=(tuple(phrase),), lift=alone[1])]
        if not self.describes_person(phrase):
            return []
        cut = self._index_of_missing_comma(phrase)
        out = []
        for piece in (phrase[:cut], phrase[cut:]) if cut else (phrase,):
            texts, used = phrase_and_shortenings(
                piece, self.vocabulary, is_name=self.vocabulary.is_occupation, free=frozenset()
            )
            out.append(occupation(texts=texts, used=used, tied=int(begins_with_nation(piece, self.vocabulary))))
        return out

    def occupations_of_fragment_with_lent_noun(
        self,
        fragment: list[DescriptionWord],
        phrase: list[DescriptionWord],
        lender: Occupation,
        *,
        may_be_unattested: bool,
    ) -> list[Occupation]:
        """The occupation of a fragment with the noun of the next phrase: "film director" before "television director";
        none unless it is attested, or parallel to that phrase where it `may_be_unattested`.
        """
        if not fragment or lender.lift or lender.former:
            return []
        is_longer = (
            len(phrase) > 2
            and self._is_informative_occupation(phrase[1:])
            and not self._is_informative_occupation(phrase)
        )
        head = phrase[1:] if is_longer else phrase[-1:]
        whole = [*fragment, *head]
        is_name = self.vocabulary.is_occupation
        text = lowercase_common_nouns(whole, self.vocabulary, is_name)
        if not self.vocabulary.attests(text):
            agent = _AGENT.search(fragment[-1].key) and fragment[-1].key not in word_list("no_agents")
            parallel = may_be_unattested and len(phrase) > 1 and len(fragment) <= 2
            if (
                not parallel
                or agent
                or shortening_changes_meaning(text, lowercase_common_nouns(head, self.vocabulary, is_name))
            ):
                return []
        return self.read_occupations(whole, nationality=lender.nationality)

    def describes_person(self, phrase: Sequence[DescriptionWord]) -> bool:
        """Whether the words describe a person by occupation or role."""
        last = phrase[-1]
        plain = not last.is_capitalised or last.text.isupper()
        if not plain and len(phrase) > 1 and not is_capital_by_position(last, self.vocabulary):
            return False
        for start in range(len(phrase)):
            if self.vocabulary.is_occupation(" ".join(w.text for w in phrase[start:])):
                if start == len(phrase) - 1 and not is_informative(last.text):
                    break
                return True
        if last.key in word_list("person_heads"):
            return len(phrase) > 1
        says_enough = len(phrase) > 1 or is_informative(last.text)
        return says_enough and last.text.islower() and bool(_OCCUPATIONAL.search(last.key)) and len(last.key) > 6

    def _index_of_missing_comma(self, phrase: Sequence[DescriptionWord]) -> int:
        """The index where a comma is missing ("record producer dancer"), or 0."""
        if len(phrase) < 2 or self._is_informative_occupation(phrase):
            return 0
        for cut in range(len(phrase) - 1, 0, -1):
            before = phrase[cut - 1]
            agent = before.text.islower() and before.key.endswith(("er", "or", "ist", "man"))
            if (
                agent
                and self._is_informative_occupation(phrase[:cut])
                and self._is_informative_occupation(phrase[cut:])
            ):
                return cut
        return 0

    def _is_informative_occupation(self, phrase: Sequence[DescriptionWord]) -> bool:
        text = " ".join(w.text for w in phrase)
        return is_informative(text) and self.vocabulary.is_occupation(text)


def _index_of_next_separator_or_end(words: Sequence[DescriptionWord], at: int) -> int:
    return next((index for index in range(at, len(words)) if separates_conjuncts(words, index)), len(words))


def _index_after_conjunctions_and_separators(clause: Sequence[DescriptionWord], at: int) -> int:
    while at < len(clause) and (clause[at].key in word_list("joints") or clause[at].separator):
        at += 1
    return at


def _noun_phrase_size(conjunct: Sequence[DescriptionWord]) -> int:
    """The number of words of a conjunct before its preposition and the adverbs of the preposition."""
    for index, word in enumerate(conjunct):
        if word.text in word_list("prepositions") and index:
            end = index
            while end > 1 and conjunct[end - 1].text.endswith("ly"):
                end -= 1
            return end
    return len(conjunct) if not conjunct or conjunct[0].text not in word_list("prepositions") else 0


def _read_period_or_birthplace(
    words: Sequence[DescriptionWord], at: int, vocabulary: Vocabulary
) -> tuple[int, Sequence[DescriptionWord]]:
    """The number of words of a period or birthplace, and those used in a phrase: "19th-century", "Paris-born"."""
    word, behind = words[at], words[at + 1] if at + 1 < len(words) else None
    if is_era(word):
        return 1, words[at : at + 1] if "century" in word.key else ()
    if word.key == "century" and at:
        return 1, words[at - 1 : at + 1] if words[at - 1].text[:1].isdigit() else ()
    if is_birthplace_word(word):
        return 1, words[at : at + 1]
    if behind is None:
        return 0, ()
    if word.key in {"early", "mid", "late"} and is_era(behind):
        return 1, ()
    if is_birthplace_word(behind) and word.is_capitalised:
        return 2, words[at : at + 2]
    is_old = word.key in ERA_WORDS and read_nationality(words[at:], vocabulary) is None
    return (1, words[at : at + 1]) if is_old and read_nationality(words[at + 1 :], vocabulary) else (0, ())


def _join_nationalities(first: Nationality, second: Nationality) -> Nationality:
    """Two adjectives in sequence as one nationality: "Korean American", "French and American"."""
    return Nationality(
        text=f"{first.text}-{second.text}",
        parts=(*first.parts, *second.parts),
        countries=(*first.countries, *second.countries),
        words=(*first.words, *second.words),
    )
