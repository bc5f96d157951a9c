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
from abstraction.descriptions.words import DescriptionWord, words
from abstraction.language.phrases import listed
from kg.bounded_cache import bounded_cache

MOST_OCCUPATIONS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonDescription:
    """What a description tells of a person, each kind in the order of the text."""

    nationality: Nationality | None
    occupations: tuple[Occupation, ...]
    offices: tuple[Office, ...]
    kin: tuple[Kin, ...]


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
        clause: list[DescriptionWord] = []
        for word in words(description):
            if word.separator and word.text in ";|:":
                self.clause(clause)
                clause = []
            else:
                clause.append(word)
        self.clause(clause)
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
                found = read_nationality(behind, self.vocabulary)
                last = len(behind) == len(found.words) if found else False
                if found is not None and len(found.parts) == 1 and (last or behind[len(found.words)].separator):
                    return found
        return None

    def clause(self, clause: list[DescriptionWord]) -> None:
        for index, word in enumerate(clause):
            behind = clause[index + 1].text if index + 1 < len(clause) else ""
            leads = word.text in {"best", "well", "most", "also"} and behind in listed("breaks")
            if leads or word.text in listed("breaks"):
                clause = clause[:index]
                break
        fragments: list[list[DescriptionWord]] = []
        tailed = False
        at = 0
        while at < len(clause):
            end = at
            while end < len(clause) and not is_joint(clause, end):
                end += 1
            item = clause[at:end]
            after = end
            while after < len(clause) and (clause[after].key in listed("joints") or clause[after].separator):
                after += 1
            if item:
                taken = self.title(clause[at:])
                if taken:
                    at += taken
                    while at < len(clause) and (clause[at].key in listed("joints") or clause[at].separator):
                        at += 1
                    fragments, tailed = [], True
                    continue
                nominal = self._nominal(item)
                if nominal:
                    more = self.item(item[:nominal], fragments, loose=not tailed, tail=nominal < len(item))
                    fragments = [] if more is None else [*fragments, more]
                    tailed = (tailed and more is not None) or nominal < len(item)
            at = max(after, at + 1)

    @staticmethod
    def _nominal(item: Sequence[DescriptionWord]) -> int:
        for index, word in enumerate(item):
            if word.text in listed("prepositions") and index:
                end = index
                while end > 1 and item[end - 1].text.endswith("ly"):
                    end -= 1
                return end
        return len(item) if not item or item[0].text not in listed("prepositions") else 0

    def title(self, rest: Sequence[DescriptionWord]) -> int:
        """Read an office or kinship at the start of the words; how many words it took."""
        nominal = 0
        while nominal < len(rest) and not rest[nominal].separator and rest[nominal].text not in listed("prepositions"):
            if rest[nominal].text in listed("joints") and rest[nominal].text != "and":
                return 0
            nominal += 1
        if not nominal:
            return 0
        start = 0
        for index in range(nominal):
            if rest[index].text == "and" and not is_title(rest[:index]) and not is_ordinal(rest[index - 1]):
                return 0
        nationality = read_nationality(rest[:nominal], self.vocabulary)
        if nationality is not None and len(nationality.words) < nominal and rest[len(nationality.words)].text != "and":
            start = len(nationality.words)
            while start < nominal and rest[start].text in {"-", "/"}:
                start += 1
        kin = read_kin(rest[start:], nominal - start)
        if kin is not None:
            if kin.of:
                self.kin.append(kin)
            return max(nominal, rest.index(kin.words[-1]) + 1)
        office = read_office(rest[start:], nominal - start)
        if office is None:
            return 0
        if nationality is not None and self.nationality is None:
            self.nationality = nationality
        self.offices.append(office)
        taken = rest.index(office.complement_words[-1]) + 1
        while taken < len(rest) and not is_joint(rest, taken):
            taken += 1
        return taken

    def item(
        self, nominal: list[DescriptionWord], fragments: list[list[DescriptionWord]], *, loose: bool, tail: bool
    ) -> list[DescriptionWord] | None:
        """Read one conjunct; its words come back where it has no head of its own."""
        former, lead, own, rest = self._strip(nominal)
        if own is not None and self.nationality is None:
            self.nationality = own
        elif own is not None and self.pending and self.nationality is not None and own.text != self.nationality.text:
            self.nationality = own = _joined(self.nationality, own)
        self.pending = own is not None and not rest
        if not rest or (rest[0].text.islower() and len(rest[0].text) > 5 and self.vocabulary.nations(rest[0].text)):
            return None
        found = self.phrases.read(
            rest, nationality=own or self.nationality, lead=lead, former=former, tail=tail, own=own is not None
        )
        if not found:
            plain = not tail and not former and len(rest) <= 3 and all(self.phrases.common(w) for w in rest)
            return rest if plain else []
        for fragment in fragments:
            self._keep(self.phrases.borrow(fragment, rest, found[0], loose=loose))
        self._keep(found)
        return None

    def _keep(self, occupations: Sequence[Occupation]) -> None:
        known = {o.texts[0].casefold() for o in self.occupations}
        self.occupations.extend(o for o in occupations if o.texts[0].casefold() not in known)

    def _strip(
        self, nominal: list[DescriptionWord]
    ) -> tuple[bool, tuple[DescriptionWord, ...], Nationality | None, list[DescriptionWord]]:
        former, own = False, None
        lead: list[DescriptionWord] = []
        at = 0
        while at < len(nominal):
            word = nominal[at]
            if word.key in listed("former"):
                former = True
            elif (
                word.key in listed("skipped")
                or word.key in listed("ordinals")
                or (word.key in listed("dropped_modifiers") and not own)
            ):
                pass
            elif is_era(word):
                if "century" in word.key:
                    lead = [word]
            elif word.key == "century" and at and not nominal[at - 1].separator:
                lead = [nominal[at - 1], word] if nominal[at - 1].text[:1].isdigit() else lead
            elif word.key in {"early", "mid", "late"} and at + 1 < len(nominal) and is_era(nominal[at + 1]):
                pass
            elif is_birth(word):
                lead = [word]
            elif at + 1 < len(nominal) and is_birth(nominal[at + 1]) and word.capital:
                lead = [word, nominal[at + 1]]
                at += 1
            else:
                if is_era_adjective(word) and at + 1 < len(nominal):
                    whole = read_nationality(nominal[at:], self.vocabulary)
                    if whole is None and read_nationality(nominal[at + 1 :], self.vocabulary):
                        lead = [word]
                        at += 1
                        continue
                found = self._national(nominal, at)
                if found is None:
                    break
                national, end = found
                if own is not None and national.parts[-1] not in listed("second_nationalities"):
                    break
                own = national if own is None else _joined(own, national)
                at = end
                continue
            at += 1
        return former, tuple(lead), own, nominal[at:]

    def _national(self, nominal: list[DescriptionWord], at: int) -> tuple[Nationality, int] | None:
        """A nationality here, or behind at most two plain words ("award-winning American actor"); where it ends."""
        if self.nationality is not None and not self.pending:
            again = read_nationality(nominal[at:], self.vocabulary)
            same = again is not None and again.text == self.nationality.text
            return (again, at + len(again.words)) if again is not None and same else None
        language = read_language(nominal[at:])
        if language is not None and len(language.words) < len(nominal) - at:
            return language, at + len(language.words)
        for skip in range(3):
            if at + skip >= len(nominal):
                return None
            here = nominal[at + skip :]
            found = read_nationality(here, self.vocabulary)
            if found is not None:
                before = nominal[at : at + skip]
                size = len(found.words)
                after = here[size].key if len(here) > size else ""
                if after in {"language", "orthodox", "empire"} or after.endswith("-born"):
                    return None
                if after == "catholic" and found.words[-1].key == "roman":
                    return None
                if skip and (
                    not all(self.phrases.common(w) or is_descent(w) for w in before)
                    or is_title(before)
                    or is_regional(before[-1])
                    or self.vocabulary.is_occupation(before[-1].text)
                ):
                    return None
                if any(w.key.endswith(("'s", "’s")) for w in before):
                    return None
                return found, at + skip + size
            if is_title([here[0]]) or here[0].separator:
                return None
        return None


def _joined(first: Nationality, second: Nationality) -> Nationality:
    """Two adjectives side by side: "Korean American", "French and American"."""
    return Nationality(
        text=f"{first.text}-{second.text}",
        parts=(*first.parts, *second.parts),
        countries=(*first.countries, *second.countries),
        words=(*first.words, *second.words),
    )
