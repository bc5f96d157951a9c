"""Occupations in descriptions: one noun phrase, its shortenings, and the heads that conjuncts lend each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from abstraction.descriptions.attested_words import Vocabulary
from abstraction.descriptions.nationality import Nationality, begins_with_nation
from abstraction.descriptions.office_grammar import needs_nation, title_alone
from abstraction.descriptions.spelling import is_common, lowers, may_shorten, spell
from abstraction.descriptions.words import DescriptionWord
from abstraction.language.phrases import is_opaque, listed, may_stand

LONGEST = 6  # words
# A conjunct that names a person itself borrows no head, known or not: "check forger, impostor and escape artist".
_AGENT = re.compile(r"(?:er|or|ist|ian|m[ae]n|wom[ae]n|ess|ine|eer|yst|ete|ial|ant|ive|ic)$")
_OCCUPATIONAL = re.compile(
    r"(?:ician|smith|onaut)$|(?:olog|iatr|[^aeiou]an|ion|ar|or|ur|em|in|[cgmn])ist$|grapher$|monger$|wright$"
)
_POSSESSIVE = ("'s", "’s", "s'", "s’")


@dataclass(frozen=True, kw_only=True, slots=True)
class Occupation:
    """An occupation as the description words it.

    `texts` are the wordings from the whole phrase down to its shortest form that may stand alone, each
    entailing the next; `used` the words behind each. `tied` counts the first wordings that hold a nationality
    of their own and take none before them. `lift` is what every holder of a title is.
    """

    texts: tuple[str, ...]
    used: tuple[tuple[DescriptionWord, ...], ...]
    nationality: Nationality | None
    lead: tuple[DescriptionWord, ...] = ()
    former: bool = False
    tied: int = 0
    lift: str | None = None


class OccupationReader:
    """Reads noun phrases as occupations by the words that a vocabulary knows."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    def read(
        self,
        rest: list[DescriptionWord],
        *,
        nationality: Nationality | None,
        lead: tuple[DescriptionWord, ...] = (),
        former: bool = False,
        tail: bool = False,
        own: bool = False,
    ) -> list[Occupation]:
        """The occupation that a noun phrase names; two where a comma is missing, none where it names no person.

        `tail` says that a preposition follows, `own` that the nationality stands in this very phrase.
        """
        rest = self._core(rest)
        if not rest or any(w.text[:1].isdigit() for w in rest) or (tail and rest[-1].key in listed("degrees")):
            return []
        if any(w.key.endswith(_POSSESSIVE) and w.capital and not self.common(w) for w in rest[:-1]):
            return []
        alone = title_alone(rest)
        if alone is not None and alone[0] != alone[1] and (own or not needs_nation(alone[0])):
            if alone[0] in listed("ambiguous_titles"):
                return []
            title = Occupation(
                texts=(alone[0],), used=(tuple(rest),), nationality=nationality, lead=lead, former=former, lift=alone[1]
            )
            return [title]
        if not self.is_person(rest):
            return []
        cut = self._missing_comma(rest)
        out = []
        for piece in (rest[:cut], rest[cut:]) if cut else (rest,):
            texts, used = self._wordings(piece)
            tied = int(begins_with_nation(piece, self.vocabulary))
            out.append(Occupation(texts=texts, used=used, nationality=nationality, lead=lead, former=former, tied=tied))
        return out

    def borrow(
        self, fragment: list[DescriptionWord], rest: list[DescriptionWord], lender: Occupation, *, loose: bool
    ) -> list[Occupation]:
        """ "film" before "television director" as a film director: attested, or parallel in build (`loose`)."""
        if not fragment or lender.lift or lender.former:
            return []
        head = rest[1:] if len(rest) > 2 and self._named(rest[1:]) and not self._named(rest) else rest[-1:]
        whole = [*fragment, *head]
        text = self.spell(whole)
        if not self.vocabulary.attests(text):
            agent = _AGENT.search(fragment[-1].key) and fragment[-1].key not in listed("no_agents")
            parallel = loose and len(rest) > 1 and len(fragment) <= 2
            if not parallel or agent or is_opaque(text, self.spell(head)):
                return []
        return self.read(whole, nationality=lender.nationality)

    def common(self, word: DescriptionWord) -> bool:
        """Whether the word is a common noun or adjective."""
        return is_common(word, self.vocabulary)

    def spell(self, sequence: Sequence[DescriptionWord]) -> str:
        """The words with common nouns in lower case."""
        return spell(sequence, self.vocabulary, self.vocabulary.is_occupation)

    def is_person(self, rest: Sequence[DescriptionWord]) -> bool:
        """Whether the words name what a person is or does."""
        last = rest[-1]
        plain = not last.capital or last.text.isupper()
        if not plain and len(rest) > 1 and not lowers(last, self.vocabulary):
            return False
        for start in range(len(rest)):
            if self.vocabulary.is_occupation(" ".join(w.text for w in rest[start:])):
                if start == len(rest) - 1 and not may_stand(last.text):
                    break
                return True
        if last.key in listed("person_heads"):
            return len(rest) > 1
        says_enough = len(rest) > 1 or may_stand(last.text)
        return says_enough and last.text.islower() and bool(_OCCUPATIONAL.search(last.key)) and len(last.key) > 6

    @staticmethod
    def _core(rest: list[DescriptionWord]) -> list[DescriptionWord]:
        for index in range(len(rest) - 1, -1, -1):
            if rest[index].key.endswith(("winning", "nominated")):
                rest = rest[index + 1 :]
                break
        while rest and rest[0].key in listed("dropped_modifiers"):
            rest = rest[1:]
        return rest[-LONGEST:]

    def _wordings(
        self, rest: Sequence[DescriptionWord]
    ) -> tuple[tuple[str, ...], tuple[tuple[DescriptionWord, ...], ...]]:
        texts = [self.spell(rest)]
        used = [tuple(rest)]
        for start in range(1, len(rest)):
            shorter = self.spell(rest[start:])
            if may_shorten(texts[0], shorter, self.vocabulary):
                texts.append(shorter)
                used.append(tuple(rest[start:]))
        return tuple(texts), tuple(used)

    def _missing_comma(self, rest: Sequence[DescriptionWord]) -> int:
        """Where "record producer dancer" falls apart, or 0."""
        if len(rest) < 2 or self._named(rest):
            return 0
        for cut in range(len(rest) - 1, 0, -1):
            before = rest[cut - 1]
            agent = before.text.islower() and before.key.endswith(("er", "or", "ist", "man"))
            if agent and self._named(rest[:cut]) and self._named(rest[cut:]):
                return cut
        return 0

    def _named(self, rest: Sequence[DescriptionWord]) -> bool:
        text = " ".join(w.text for w in rest)
        return may_stand(text) and self.vocabulary.is_occupation(text)
