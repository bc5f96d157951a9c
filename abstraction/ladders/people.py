"""Persons: nationality, occupations, offices, kinship; and figures of fiction by the work they are in.

Description first: it lists what a person is known for, in order. Statements fill what it leaves out and stand
beside it as evidence (design note on ladders, 3.4 C).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from abstraction.descriptions.nationality import Nationality
from abstraction.descriptions.people import PersonDescription, parse_person
from abstraction.descriptions.words import Word, spans
from abstraction.evidence import from_statement
from abstraction.ladders.base import Case, Proposal
from abstraction.ladders.characters import characters
from abstraction.ladders.occupations import Wording, described_occupations, stated_occupations
from abstraction.ladders.offices import add_kin, add_offices
from abstraction.phrases import Lattice, indefinite, listed
from abstraction.tiers import Condition, Evidence
from kg.model import Statement

LANGUAGE = "en"  # the grammar of phrases is English
NATIONALITIES = 2  # alternates from P27
UNITED_KINGDOM = "Q145"
_PARTS_OF_BRITAIN = frozenset({"Q21", "Q22", "Q25"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Nation:
    """A nationality as a feature of phrases: `features` holds itself and what it entails ("British")."""

    text: str
    features: frozenset[str]
    evidence: tuple[Evidence, ...]
    conditions: frozenset[Condition]
    broader: tuple[Nation, ...] = ()

    @property
    def compound(self) -> bool:
        """Whether two nationalities stand together: "German-South African"."""
        return len(self.broader) > 0 and len(self.conditions) > 1

    @property
    def stated(self) -> bool:
        """Whether it comes from statements alone."""
        return self.evidence[0].kind == "statement"


def people(case: Case) -> list[Proposal]:
    """Occupations, offices and nationality of a person, from "the 15th Prime Minister of Canada" to "a politician"."""
    if case.graph.language != LANGUAGE or case.vocabulary.language != LANGUAGE:
        return []
    if "fictional" in case.gazetteer.classes(case.answer):
        return characters(case)
    return _Person(case).proposals()


class _Person:
    def __init__(self, case: Case) -> None:
        self.case = case
        self.graph = case.graph
        self.lattice = Lattice()
        text = self.graph.description(case.answer)
        self.text = text or ""
        self.described: PersonDescription | None = parse_person(text, case.vocabulary) if text else None
        label = self.graph.label(case.answer)
        self.labels = {case.answer: label} if label else {}
        self.order = 0

    def proposals(self) -> list[Proposal]:
        nations = self.nations()
        offices = add_offices(self.case, self, nations)
        if self.described is not None:
            add_kin(self.case, self, self.described.kin)
        occupations: list[Wording] = []
        if self.described is not None and self.described.occupations:
            occupations = described_occupations(self.case, self, self.described)
        if not occupations and not offices:
            occupations = stated_occupations(self.case)
        listed = {w.texts[0] for w in occupations}
        for wording in occupations:
            self.add(wording, nations, listed)
        for nation in nations:
            self.person(nation)
        return self.lattice.proposals()

    def add(self, wording: Wording, nations: Sequence[Nation], listed: set[str]) -> None:
        """Every shortening of an occupation, with each nationality and without."""
        chain = [*wording.texts, *(t for t in wording.lifted if t not in listed)]
        features = [frozenset(f"o:{t}" for t in chain[i:]) for i in range(len(chain))]
        for index, text in enumerate(chain):
            self.order += 1
            evidence, conditions = wording.support(index)
            other = wording.other(index)
            lifted = index >= len(wording.texts)
            for nation in nations if index >= wording.tied else ():
                if not (lifted and nation.compound) and not (text[:1].isupper() and not wording.national):
                    self.national(text, other, features[index], nation, evidence, conditions)
                for broader in nation.broader:
                    self.national(text, other, features[index], broader, evidence, conditions)
            if index == 0 and wording.lead:
                self.leading(wording, text, features[0], nations)
            self.lattice.add(
                indefinite(text), features[index], evidence=evidence, conditions=conditions, order=self.order,
                aliases=(indefinite(other),) if other else (), bare=index >= len(wording.texts) - 1,
            )  # fmt: skip

    def national(
        self, text: str, other: str | None, features: frozenset[str], nation: Nation, evidence: Sequence[Evidence],
        conditions: frozenset[Condition],
    ) -> None:  # fmt: skip
        """The phrase with a nationality before it."""
        self.lattice.add(
            indefinite(f"{nation.text} {text}"), features | nation.features,
            evidence=(*nation.evidence, *evidence), conditions=conditions | nation.conditions, order=self.order,
            aliases=(indefinite(f"{nation.text} {other}"),) if other else (),
        )  # fmt: skip

    def leading(self, wording: Wording, text: str, features: frozenset[str], nations: Sequence[Nation]) -> None:
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
            evidence=(*self.spans(wording.lead), *(nation.evidence if nation else ()), *evidence),
            conditions=conditions
            | {Condition(property="text", value=f"mod:{lead}")}
            | (nation.conditions if nation else frozenset()),
            order=self.order,
        )

    def person(self, nation: Nation) -> None:
        """ "a French person": beside the broadest occupations."""
        noun = f"{nation.text} person"
        one = (indefinite(nation.text),) if nation.text.endswith("an") and " " not in nation.text else ()
        self.lattice.add(
            indefinite(noun),
            nation.features,
            evidence=nation.evidence,
            conditions=nation.conditions,
            order=900,
            aliases=one,
        )
        for broader in nation.broader:
            self.person(broader)

    def spans(self, used: Sequence[Word]) -> tuple[Evidence, ...]:
        """The words of the description as evidence, one step an unbroken stretch."""
        return tuple(
            Evidence(
                kind="description", subject=self.case.answer, language=self.graph.language, text=self.text,
                span=stretch, labels=self.labels,
            )
            for stretch in spans(used)
        )  # fmt: skip

    def nations(self) -> list[Nation]:
        """Nationality by the description, else by current citizenship: alternates where there are several."""
        stated = [s for s in self.graph.current(self.case.answer, "P27") if s.target]
        national = self.described.nationality if self.described is not None else None
        if national is not None:
            found = self._described_nation(national, stated)
            if found is not None:
                return [found]
        out: dict[str, Nation] = {}
        for statement in stated:
            country = statement.target
            adjective = self.case.vocabulary.adjective(country) if country else None
            if country is None or adjective is None or adjective in out:
                continue
            out[adjective] = self._nation(adjective, country, (from_statement(self.graph, statement),))
        return list(out.values())[:NATIONALITIES]

    def _nation(
        self, adjective: str, country: str, evidence: tuple[Evidence, ...], broader: tuple[Nation, ...] = ()
    ) -> Nation:
        features = {f"n:{adjective}"}.union(*(b.features for b in broader))
        return Nation(
            text=adjective, features=frozenset(features), evidence=evidence,
            conditions=frozenset({Condition(property="P27", value=country)}), broader=broader,
        )  # fmt: skip

    def _described_nation(self, national: Nationality, stated: Sequence[Statement]) -> Nation | None:
        words = self.spans(national.words)
        adjective_of = self.case.vocabulary.adjective
        parts: list[Nation] = []
        for text, countries in zip(national.parts, national.countries, strict=True):
            support = [s for s in stated if s.target in countries or adjective_of(s.target or "") == text]
            if len(countries) > 1 and stated and not support and text not in listed("unambiguous_nations"):
                return None  # "Dominican" of which country, or of the order?
            country = next((s.target for s in support if s.target in countries), None) or countries[0]
            proof = (*words, *(from_statement(self.graph, s) for s in support[:1]))
            broader: tuple[Nation, ...] = ()
            if country in _PARTS_OF_BRITAIN:
                united = [s for s in stated if s.target == UNITED_KINGDOM]
                british = adjective_of(UNITED_KINGDOM)
                if united and british:
                    broader = (self._nation(british, UNITED_KINGDOM, (from_statement(self.graph, united[0]),)),)
            parts.append(self._nation(text, country, proof, broader))
        if len(parts) == 1:
            return parts[0]
        # Both adjectives stand together; one alone only where a citizenship bears it out, else the last.
        kept = [p for p in parts if len(p.evidence) > len(words)] or parts[-1:]
        return Nation(
            text=national.text,
            features=frozenset({f"n:{national.text}"}).union(*(p.features for p in kept)),
            evidence=words,
            conditions=frozenset().union(*(p.conditions for p in parts)),
            broader=tuple(kept),
        )
