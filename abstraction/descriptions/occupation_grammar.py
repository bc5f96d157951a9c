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
        phrase: list[DescriptionWord],
        *,
        nationality: Nationality | None,
        lead: tuple[DescriptionWord, ...] = (),
        former: bool = False,
        tail: bool = False,
        names_nation: bool = False,
    ) -> list[Occupation]:
        """The occupation that a noun phrase names; two where a comma is missing, none where it names no person.

        `tail` says that a preposition follows, `names_nation` that the nationality stands in this very phrase.
        """
        phrase = self._core(phrase)
        if not phrase or any(w.text[:1].isdigit() for w in phrase) or (tail and phrase[-1].key in listed("degrees")):
            return []
        if any(w.key.endswith(_POSSESSIVE) and w.capital and not self.common(w) for w in phrase[:-1]):
            return []
        alone = title_alone(phrase)
        if alone is not None and alone[0] != alone[1] and (names_nation or not needs_nation(alone[0])):
            if alone[0] in listed("ambiguous_titles"):
                return []
            title = Occupation(
                texts=(alone[0],),
                used=(tuple(phrase),),
                nationality=nationality,
                lead=lead,
                former=former,
                lift=alone[1],
            )
            return [title]
        if not self.is_person(phrase):
            return []
        cut = self._missing_comma(phrase)
        out = []
        for piece in (phrase[:cut], phrase[cut:]) if cut else (phrase,):
            texts, used = self._wordings(piece)
            tied = int(begins_with_nation(piece, self.vocabulary))
            out.append(Occupation(texts=texts, used=used, nationality=nationality, lead=lead, former=former, tied=tied))
        return out

    def borrow(
        self, fragment: list[DescriptionWord], phrase: list[DescriptionWord], lender: Occupation, *, loose: bool
    ) -> list[Occupation]:
        """ "film" before "television director" as a film director: attested, or parallel in build (`loose`)."""
        if not fragment or lender.lift or lender.former:
            return []
        head = phrase[1:] if len(phrase) > 2 and self._named(phrase[1:]) and not self._named(phrase) else phrase[-1:]
        whole = [*fragment, *head]
        text = self.spell(whole)
        if not self.vocabulary.attests(text):
            agent = _AGENT.search(fragment[-1].key) and fragment[-1].key not in listed("no_agents")
            parallel = loose and len(phrase) > 1 and len(fragment) <= 2
            if not parallel or agent or is_opaque(text, self.spell(head)):
                return []
        return self.read(whole, nationality=lender.nationality)

    def common(self, word: DescriptionWord) -> bool:
        """Whether the word is a common noun or adjective."""
        return is_common(word, self.vocabulary)

    def spell(self, sequence: Sequence[DescriptionWord]) -> str:
        """The words with common nouns in lower case."""
        return spell(sequence, self.vocabulary, self.vocabulary.is_occupation)

    def is_person(self, phrase: Sequence[DescriptionWord]) -> bool:
        """Whether the words name what a person is or does."""
        last = phrase[-1]
        plain = not last.capital or last.text.isupper()
        if not plain and len(phrase) > 1 and not lowers(last, self.vocabulary):
            return False
        for start in range(len(phrase)):
            if self.vocabulary.is_occupation(" ".join(w.text for w in phrase[start:])):
                if start == len(phrase) - 1 and not may_stand(last.text):
                    break
                return True
        if last.key in listed("person_heads"):
            return len(phrase) > 1
        says_enough = len(phrase) > 1 or may_stand(last.text)
        return says_enough and last.text.islower() and bool(_OCCUPATIONAL.search(last.key)) and len(last.key) > 6

    @staticmethod
    def _core(phrase: list[DescriptionWord]) -> list[DescriptionWord]:
        for index in range(len(phrase) - 1, -1, -1):
            if phrase[index].key.endswith(("winning", "nominated")):
                phrase = phrase[index + 1 :]
                break
        while phrase and phrase[0].key in listed("dropped_modifiers"):
            phrase = phrase[1:]
        return phrase[-LONGEST:]

    def _wordings(
        self, phrase: Sequence[DescriptionWord]
    ) -> tuple[tuple[str, ...], tuple[tuple[DescriptionWord, ...], ...]]:
        texts = [self.spell(phrase)]
        used = [tuple(phrase)]
        for start in range(1, len(phrase)):
            shorter = self.spell(phrase[start:])
            if may_shorten(texts[0], shorter, self.vocabulary):
                texts.append(shorter)
                used.append(tuple(phrase[start:]))
        return tuple(texts), tuple(used)

    def _missing_comma(self, phrase: Sequence[DescriptionWord]) -> int:
        """Where "record producer dancer" falls apart, or 0."""
        if len(phrase) < 2 or self._named(phrase):
            return 0
        for cut in range(len(phrase) - 1, 0, -1):
            before = phrase[cut - 1]
            agent = before.text.islower() and before.key.endswith(("er", "or", "ist", "man"))
            if agent and self._named(phrase[:cut]) and self._named(phrase[cut:]):
                return cut
        return 0

    def _named(self, phrase: Sequence[DescriptionWord]) -> bool:
        text = " ".join(w.text for w in phrase)
        return may_stand(text) and self.vocabulary.is_occupation(text)
