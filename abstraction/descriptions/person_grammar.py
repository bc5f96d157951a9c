"""Descriptions of persons: nationality, occupations, offices and kinship, each with the words that say it.

    person   := [ERA] [NATIONALITY] [X-born] OCCUPATION { ("," | ";" | "and" | "&" | "/") OCCUPATION } [OFFICE | KIN]

A conjunct without a head borrows that of the next ("film and television director"); a leading modifier is
never carried rightwards. What the grammar does not know it leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from abstraction.descriptions.attested_words import Vocabulary
from abstraction.descriptions.nationality import (
    Nationality,
    is_birth,
    is_descent,
    is_era,
    is_era_adjective,
    is_regional,
    read_language,
    read_nationality,
)
from abstraction.descriptions.occupation_grammar import Occupation, OccupationReader
from abstraction.descriptions.office_grammar import Kin, Office, is_ordinal, is_title, read_kin, read_office
from abstraction.descriptions.spelling import is_joint
from abstraction.descriptions.words import DescriptionWord, split, words
from abstraction.language.phrases import listed
from kg.bounded_cache import bounded_cache

MOST_OCCUPATIONS = 5
_CLAUSE_ENDS = frozenset(";|:")


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonDescription:
    """What a description tells of a person, each kind in the order of the text."""

    nationality: Nationality | None
    occupations: tuple[Occupation, ...]
    offices: tuple[Office, ...]
    kin: tuple[Kin, ...]


@dataclass(frozen=True, slots=True)
class _Opening:
    """What stands before an occupation, in `size` words; `lead` goes into its phrases ("19th-century")."""

    former: bool
    lead: tuple[DescriptionWord, ...]
    nationality: Nationality | None
    size: int


@bounded_cache(entries=1 << 12, longest=250)  # 60 MB at most
def parse_person(description: str, vocabulary: Vocabulary) -> PersonDescription:
    """Read a person's description. What is not understood is left out, never guessed."""
    return _DescriptionReader(vocabulary).read(description)


class _DescriptionReader:
    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.phrases = OccupationReader(vocabulary)
        self.nationality: Nationality | None = None
        self.pending = False  # the last conjunct was a nationality alone: "Austrian and British economist"
        self.occupations: list[Occupation] = []
        self.offices: list[Office] = []
        self.kin: list[Kin] = []

    def read(self, description: str) -> PersonDescription:
        for clause in split(words(description), _CLAUSE_ENDS):
            self.read_clause(clause)
        if self.nationality is None:
            self.nationality = self._origin(words(description))
        return PersonDescription(
            nationality=self.nationality,
            occupations=tuple(self.occupations[:MOST_OCCUPATIONS]),
            offices=tuple(self.offices),
            kin=tuple(self.kin),
        )

    def _origin(self, sequence: Sequence[DescriptionWord]) -> Nationality | None:
        """ "from the United States" behind the occupations."""
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
        clause = _before_break(clause)
        fragments: list[list[DescriptionWord]] = []
        tailed = False
        at = 0
        while at < len(clause):
            end = _next_joint(clause, at)
            taken = self.read_title(clause[at:]) if end > at else 0
            if taken:
                at = _past_joints(clause, at + taken)
                fragments, tailed = [], True
                continue
            conjunct = clause[at:end]
            nominal = _nominal(conjunct)
            if nominal:
                headless = self.read_conjunct(
                    conjunct[:nominal], fragments, loose=not tailed, tail=nominal < len(conjunct)
                )
                fragments = [] if headless is None else [*fragments, headless]
                tailed = (tailed and headless is not None) or nominal < len(conjunct)
            at = max(_past_joints(clause, end), at + 1)

    def read_title(self, sequence: Sequence[DescriptionWord]) -> int:
        """Read an office or kinship at the start of the words; how many words it took."""
        is_end = (word.separator or word.text in listed("prepositions") for word in sequence)
        nominal = next((index for index, ends in enumerate(is_end) if ends), len(sequence))
        head = sequence[:nominal]
        if not head or any(_parts_titles(head, index) for index in range(nominal)):
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
        return _next_joint(sequence, sequence.index(office.complement_words[-1]) + 1)

    def read_conjunct(
        self, nominal: list[DescriptionWord], fragments: list[list[DescriptionWord]], *, loose: bool, tail: bool
    ) -> list[DescriptionWord] | None:
        """Read one conjunct; its words come back where it has no head of its own."""
        opening = self._opening(nominal)
        national, phrase = opening.nationality, nominal[opening.size :]
        if national is not None and self.nationality is None:
            self.nationality = national
        elif national and self.nationality and self.pending and national.text != self.nationality.text:
            self.nationality = national = _joined(self.nationality, national)
        self.pending = national is not None and not phrase
        if not phrase or (
            phrase[0].text.islower() and len(phrase[0].text) > 5 and self.vocabulary.nations(phrase[0].text)
        ):
            return None
        occupations = self.phrases.read(
            phrase,
            nationality=national or self.nationality,
            lead=opening.lead,
            former=opening.former,
            tail=tail,
            names_nation=national is not None,
        )
        if not occupations:
            plain = not tail and not opening.former and len(phrase) <= 3 and all(self.phrases.common(w) for w in phrase)
            return phrase if plain else []
        for fragment in fragments:
            self._keep(self.phrases.borrow(fragment, phrase, occupations[0], loose=loose))
        self._keep(occupations)
        return None

    def _keep(self, occupations: Sequence[Occupation]) -> None:
        known = {o.texts[0].casefold() for o in self.occupations}
        self.occupations.extend(o for o in occupations if o.texts[0].casefold() not in known)

    def _opening(self, nominal: Sequence[DescriptionWord]) -> _Opening:
        """What stands before an occupation."""
        former, at = False, 0
        lead: Sequence[DescriptionWord] = ()
        nationality: Nationality | None = None
        while at < len(nominal):
            key = nominal[at].key
            is_former = key in listed("former")
            is_dropped = key in listed("skipped") or key in listed("ordinals")
            if is_former or is_dropped or (key in listed("dropped_modifiers") and not nationality):
                former, at = former or is_former, at + 1
                continue
            size, leading = _time_or_birth(nominal, at, self.vocabulary)
            if size:
                lead, at = leading or lead, at + size
                continue
            national = self._national(nominal[at:])
            if national is None or (nationality and not _may_follow(national[0])):
                break
            nationality = _joined(nationality, national[0]) if nationality else national[0]
            at += national[1]
        return _Opening(former, tuple(lead), nationality, at)

    def _national(self, sequence: Sequence[DescriptionWord]) -> tuple[Nationality, int] | None:
        """A nationality here, or behind at most two plain words ("award-winning American actor"); where it ends."""
        if self.nationality is not None and not self.pending:
            again = read_nationality(sequence, self.vocabulary)
            return (again, len(again.words)) if again and again.text == self.nationality.text else None
        language = read_language(sequence)
        if language is not None and len(language.words) < len(sequence):
            return language, len(language.words)
        for skip, word in enumerate(sequence[:3]):
            nationality = read_nationality(sequence[skip:], self.vocabulary)
            if nationality is not None:
                end = skip + len(nationality.words)
                return (nationality, end) if self._is_of_person(nationality, sequence[:skip], sequence[end:]) else None
            if is_title([word]):
                return None
        return None

    def _is_of_person(
        self, nationality: Nationality, before: Sequence[DescriptionWord], behind: Sequence[DescriptionWord]
    ) -> bool:
        """Whether a nationality is a person's: of no language or church, and behind words that say little."""
        after = behind[0].key if behind else ""
        if after in {"language", "orthodox", "empire"} or after.endswith("-born"):
            return False
        if after == "catholic" and nationality.words[-1].key == "roman":
            return False
        if not before:
            return True
        if is_title(before) or is_regional(before[-1]) or self.vocabulary.is_occupation(before[-1].text):
            return False
        return all((self.phrases.common(w) or is_descent(w)) and not w.key.endswith(("'s", "’s")) for w in before)


def _may_follow(second: Nationality) -> bool:
    """Whether it is read behind another nationality; a language there is part of what the person does."""
    return not second.of_language and second.parts[-1] in listed("second_nationalities")


def _before_break(clause: list[DescriptionWord]) -> list[DescriptionWord]:
    """The words up to one that begins a statement: "known for", "who", "best remembered as"."""
    for index, word in enumerate(clause):
        behind = clause[index + 1].text if index + 1 < len(clause) else ""
        leads = word.text in {"best", "well", "most", "also"} and behind in listed("breaks")
        if leads or word.text in listed("breaks"):
            return clause[:index]
    return clause


def _next_joint(words: Sequence[DescriptionWord], at: int) -> int:
    return next((index for index in range(at, len(words)) if is_joint(words, index)), len(words))


def _past_joints(clause: Sequence[DescriptionWord], at: int) -> int:
    while at < len(clause) and (clause[at].key in listed("joints") or clause[at].separator):
        at += 1
    return at


def _nominal(conjunct: Sequence[DescriptionWord]) -> int:
    """How many words of a conjunct stand before its preposition, and before the adverbs there."""
    for index, word in enumerate(conjunct):
        if word.text in listed("prepositions") and index:
            end = index
            while end > 1 and conjunct[end - 1].text.endswith("ly"):
                end -= 1
            return end
    return len(conjunct) if not conjunct or conjunct[0].text not in listed("prepositions") else 0


def _parts_titles(words: Sequence[DescriptionWord], at: int) -> bool:
    """Whether a conjunction parts words that are no one title; "1st and former President" is one."""
    if words[at].text != "and":
        return words[at].text in listed("joints")
    return not is_title(words[:at]) and not is_ordinal(words[at - 1])


def _time_or_birth(
    words: Sequence[DescriptionWord], at: int, vocabulary: Vocabulary
) -> tuple[int, Sequence[DescriptionWord]]:
    """How many words tell a time or a birthplace, and which go into a phrase: "19th-century", "Paris-born"."""
    word, behind = words[at], words[at + 1] if at + 1 < len(words) else None
    if is_era(word):
        return 1, words[at : at + 1] if "century" in word.key else ()
    if word.key == "century" and at:
        return 1, words[at - 1 : at + 1] if words[at - 1].text[:1].isdigit() else ()
    if is_birth(word):
        return 1, words[at : at + 1]
    if behind is None:
        return 0, ()
    if word.key in {"early", "mid", "late"} and is_era(behind):
        return 1, ()
    if is_birth(behind) and word.capital:
        return 2, words[at : at + 2]
    is_old = is_era_adjective(word) and read_nationality(words[at:], vocabulary) is None
    return (1, words[at : at + 1]) if is_old and read_nationality(words[at + 1 :], vocabulary) else (0, ())


def _joined(first: Nationality, second: Nationality) -> Nationality:
    """Two adjectives side by side: "Korean American", "French and American"."""
    return Nationality(
        text=f"{first.text}-{second.text}",
        parts=(*first.parts, *second.parts),
        countries=(*first.countries, *second.countries),
        words=(*first.words, *second.words),
    )
