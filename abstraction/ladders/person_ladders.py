"""Persons: nationality, occupations, offices, kinship; and figures of fiction by the work they are in.

Description first: it lists what a person is known for, in order. Statements fill what it leaves out and stand
beside it as evidence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from abstraction.ladders.characters import characters
from abstraction.ladders.nations import Nation, nations, speaks_english, word_evidence
from abstraction.ladders.occupation_chains import (
    OccupationChain,
    described_occupations,
    stated_occupations,
)
from abstraction.ladders.office_phrases import add_kin, add_offices
from abstraction.ladders.phrase_parts import Wording, add_phrase, states
from abstraction.ladders.portrait import Portrait
from abstraction.language.phrases import indefinite
from abstraction.proposals import LadderCase, Proposal

# Words for a nationality that are also what one of that nationality is called.
_IS_A_NOUN = re.compile(
    r"\A(?:(?:South|North|East|West|Saudi) )?(?:Greek|Czech|Argentine|\S+(?:(?<!Vatic)(?<!om)an|i))\Z"
)


def people(case: LadderCase) -> list[Proposal]:
    """Occupations, offices and nationality of a person, from "the 15th Prime Minister of Canada" to "a politician"."""
    if not speaks_english(case):
        return []
    if "fictional" in case.gazetteer.classes(case.answer):
        return characters(case)
    return _Person(case).proposals()


class _Person:
    def __init__(self, case: LadderCase) -> None:
        self.case = case
        self.portrait = Portrait.of(case)
        self.lattice = self.portrait.lattice

    def proposals(self) -> list[Proposal]:
        described = self.portrait.described
        national = described.nationality if described is not None else None
        nationalities = nations(self.case, national, ("P27",))
        offices = add_offices(self.case, self.portrait, nationalities)
        occupations: list[OccupationChain] = []
        if described is not None:
            add_kin(self.case, self.lattice, described.kin)
            occupations = described_occupations(self.case, described)
        if not occupations and not offices:
            occupations = stated_occupations(self.case)
        listed = {chain.text for chain in occupations}
        for chain in occupations:
            self.add(chain, nationalities, listed)
        for nation in nationalities:
            is_entailed = not self.lattice.nodes or any(nation.features <= features for features in self.lattice.nodes)
            if nation.person and is_entailed:
                self.person(nation)
        return self.lattice.proposals()

    def add(self, chain: OccupationChain, nations: Sequence[Nation], listed: set[str]) -> None:
        """Every shortening of an occupation, with each nationality and without."""
        wordings = [wording for wording in chain.wordings if not (wording.lifted and wording.text in listed)]
        texts = [f"o:{wording.text}" for wording in wordings]
        for index, occupation in enumerate(wordings):
            self.portrait.order += 1
            wording = Wording(
                text=occupation.text,
                features=frozenset(texts[index:]),
                evidence=occupation.evidence,
                conditions=occupation.conditions,
            )
            for nation in nations if index >= chain.tied else ():
                self.portrait.order += 1
                is_name = wording.text[:1].isupper() and not chain.national
                if not is_name and not (occupation.lifted and nation.compound):
                    self.put((nation, wording), occupation.other)
                for broader in nation.broader:
                    self.put((broader, wording), occupation.other)
            if index == 0 and chain.lead:
                self.leading(chain, wording, nations)
            self.put((wording,), occupation.other)

    def put(self, parts: tuple[Wording, ...], other: str | None = None) -> None:
        """The parts as one phrase; `other` is another word for the last."""
        *before, _ = words = [part.text for part in parts]
        aliases = (indefinite(" ".join([*before, other])),) if other else ()
        add_phrase(self.lattice, " ".join(words), parts, order=self.portrait.order, aliases=aliases)

    def leading(self, chain: OccupationChain, wording: Wording, nations: Sequence[Nation]) -> None:
        """The whole phrase with the era or birthplace before it."""
        nation = nations[:1] if not chain.tied else ()
        if any(n.stated for n in nation):
            return  # "German-born" beside a nationality that the description does not give
        text = " ".join(w.text for w in chain.lead)
        text = text if chain.lead[0].text[:1].isdigit() or "born" in text else text.lower()
        lead = Wording(
            text=text,
            features=frozenset({f"lead:{text}"}),
            evidence=word_evidence(self.case, chain.lead),
            conditions=states("text", f"mod:{text}"),
        )
        self.put((lead, *nation, wording))

    def person(self, nation: Nation) -> None:
        """ "an American", "a French person": beside the broadest occupations."""
        phrases = [nation.text] if _IS_A_NOUN.search(nation.text) else []
        phrase, *others = [*phrases, f"{nation.text} person"]
        add_phrase(self.lattice, phrase, (nation,), order=900, aliases=[indefinite(other) for other in others])
        for broader in nation.broader:
            self.person(broader)
