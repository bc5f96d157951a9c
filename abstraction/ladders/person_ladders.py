"""Persons: nationality, occupations, offices, kinship; and figures of fiction by the work they are in.

Description first: it lists what a person is known for, in order. Statements fill what it leaves out and stand
beside it as evidence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from abstraction.ladders.characters import characters
from abstraction.ladders.nations import Nation, nations, speaks_english
from abstraction.ladders.occupation_chains import (
    OccupationWording,
    described_occupations,
    noble_titles,
    stated_occupations,
)
from abstraction.ladders.office_phrases import add_kin, add_offices
from abstraction.ladders.portrait import Portrait
from abstraction.language.phrases import indefinite
from abstraction.proposals import LadderCase, Proposal
from abstraction.tiers import Condition, Evidence

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
        found = nations(self.case, national, ("P27",))
        offices = add_offices(self.case, self.portrait, found)
        if described is not None:
            add_kin(self.case, self.lattice, described.kin)
        occupations: list[OccupationWording] = []
        if described is not None and described.occupations:
            occupations = described_occupations(self.case, self.portrait, described)
        if not occupations and not offices:
            occupations = noble_titles(self.case) + stated_occupations(self.case)
        listed = {w.texts[0] for w in occupations}
        for wording in occupations:
            self.add(wording, found, listed)
        for nation in found:
            told = not self.lattice.nodes or any(nation.features <= features for features in self.lattice.nodes)
            if nation.person and told:
                self.person(nation)
        return self.lattice.proposals()

    def add(self, wording: OccupationWording, nations: Sequence[Nation], listed: set[str]) -> None:
        """Every shortening of an occupation, with each nationality and without."""
        chain = [*wording.texts, *(t for t in wording.lifted if t not in listed)]
        features = [frozenset(f"o:{t}" for t in chain[i:]) for i in range(len(chain))]
        for index, text in enumerate(chain):
            self.portrait.order += 1
            evidence, conditions = wording.support(index)
            other = wording.other(index)
            lifted = index >= len(wording.texts)
            for nation in nations if index >= wording.tied else ():
                self.portrait.order += 1
                if not (lifted and nation.compound) and not (text[:1].isupper() and not wording.national):
                    self.national(text, other, features[index], nation, evidence, conditions)
                for broader in nation.broader:
                    self.national(text, other, features[index], broader, evidence, conditions)
            if index == 0 and wording.lead:
                self.leading(wording, text, features[0], nations)
            self.lattice.add(
                indefinite(text), features[index], evidence=evidence, conditions=conditions, order=self.portrait.order,
                aliases=(indefinite(other),) if other else (),
            )  # fmt: skip

    def national(
        self, text: str, other: str | None, features: frozenset[str], nation: Nation, evidence: Sequence[Evidence],
        conditions: frozenset[Condition],
    ) -> None:  # fmt: skip
        """The phrase with a nationality before it."""
        self.lattice.add(
            indefinite(f"{nation.text} {text}"), features | nation.features,
            evidence=(*nation.evidence, *evidence), conditions=conditions | nation.conditions,
            order=self.portrait.order,
            aliases=(indefinite(f"{nation.text} {other}"),) if other else (),
        )  # fmt: skip

    def leading(
        self, wording: OccupationWording, text: str, features: frozenset[str], nations: Sequence[Nation]
    ) -> None:
        """The whole phrase with the era or birthplace before it."""
        nation = nations[0] if nations and not wording.tied else None
        if nation is not None and nation.stated:
            return  # "German-born" beside a nationality that the description does not give
        lead = " ".join(w.text for w in wording.lead)
        lead = lead if wording.lead[0].text[:1].isdigit() or "born" in lead else lead.lower()
        evidence, conditions = wording.support(0)
        self.lattice.add(
            indefinite(" ".join([lead, *([nation.text] if nation else []), text])),
            features | {f"lead:{lead}"} | (nation.features if nation else frozenset()),
            evidence=(*self.portrait.spans(wording.lead), *(nation.evidence if nation else ()), *evidence),
            conditions=conditions
            | {Condition(property="text", value=f"mod:{lead}")}
            | (nation.conditions if nation else frozenset()),
            order=self.portrait.order,
        )

    def person(self, nation: Nation) -> None:
        """ "an American", "a French person": beside the broadest occupations."""
        said = [indefinite(f"{nation.text} person")]
        if _IS_A_NOUN.search(nation.text):
            said.insert(0, indefinite(nation.text))
        self.lattice.add(
            said[0],
            nation.features,
            evidence=nation.evidence,
            conditions=nation.conditions,
            order=900,
            aliases=tuple(said[1:]),
        )
        for broader in nation.broader:
            self.person(broader)
