"""Nationalities as features of phrases: from the description, else from statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from abstraction.descriptions.nationality import Nationality
from abstraction.descriptions.words import DescriptionWord, spans
from abstraction.evidence import from_statement
from abstraction.language.phrases import listed
from abstraction.proposals import LadderCase
from abstraction.tiers import Condition, Evidence
from kg.model import Rank, Statement
from kg.walks.graph import Graph
from kg.walks.ranks import stated as all_stated

MOST = 2  # alternates from statements
UNITED_KINGDOM = "Q145"
_PARTS_OF_BRITAIN = frozenset({"Q21", "Q22", "Q25"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Nation:
    """A nationality as a feature of phrases: `features` holds itself and what it entails ("British").

    `broader` are the nationalities that it entails: one of two that stand together, or the wider one. A
    language someone writes in is told like a nationality but makes no `person`.
    """

    text: str
    features: frozenset[str]
    evidence: tuple[Evidence, ...]
    conditions: frozenset[Condition]
    broader: tuple[Nation, ...] = ()
    person: bool = True

    @property
    def compound(self) -> bool:
        """Whether two nationalities stand together: "German-South African"."""
        return "-" in self.text and len(self.broader) > 0

    @property
    def stated(self) -> bool:
        """Whether it comes from statements alone."""
        return self.evidence[0].kind == "statement"


def speaks_english(case: LadderCase) -> bool:
    """Whether descriptions and phrases are English, the one language whose grammar is here."""
    return all(code.split("-")[0] == "en" for code in (case.graph.language, case.vocabulary.language))


def ever(graph: Graph, entity_id: str, prop: str) -> list[Statement]:
    """The statements that hold today, or, where all have ended, those that once did."""
    return graph.current(entity_id, prop) or _best(all_stated(graph.statements(entity_id, prop)))


def _best(statements: list[Statement]) -> list[Statement]:
    preferred = [s for s in statements if s.rank is Rank.PREFERRED]
    return preferred or statements


def word_evidence(case: LadderCase, used: Sequence[DescriptionWord]) -> tuple[Evidence, ...]:
    """Words of the answer's description as evidence, one step for each unbroken stretch."""
    label = case.graph.label(case.answer)
    labels = {case.answer: label} if label else {}
    text = case.graph.description(case.answer)
    return tuple(
        Evidence(
            kind="description",
            subject=case.answer,
            language=case.graph.language,
            text=text,
            span=stretch,
            labels=labels,
        )
        for stretch in spans(used)
    )


def nations(case: LadderCase, national: Nationality | None, properties: Sequence[str]) -> list[Nation]:
    """The nationality that a description tells, else those of the first of `properties` that has values.

    Where all values have ended (a citizenship of the dead, the country of what is dissolved), those count.
    """
    stated: list[Statement] = []
    for prop in properties:
        stated = [s for s in ever(case.graph, case.answer, prop) if s.target]
        if stated:
            break
    if national is not None and national.of_language:
        condition = Condition(property="text", value=f"mod:{national.text}")
        return [
            Nation(
                text=national.text,
                features=frozenset({f"n:{national.text}"}),
                evidence=word_evidence(case, national.words),
                conditions=frozenset({condition}),
                person=False,
            )
        ]
    if national is not None:
        found = _described(case, national, stated, properties[0])
        if found is not None:
            return [found]
    out: dict[str, Nation] = {}
    for statement in stated:
        country = statement.target
        adjective = case.vocabulary.adjective(country) if country else None
        if country is not None and adjective is not None and adjective not in out:
            proof = (from_statement(case.graph, statement),)
            out[adjective] = _nation(adjective, country, proof, statement.property)
    return list(out.values())[:MOST]


def _nation(
    adjective: str, country: str, evidence: tuple[Evidence, ...], prop: str, broader: tuple[Nation, ...] = ()
) -> Nation:
    return Nation(
        text=adjective,
        features=frozenset({f"n:{adjective}"}).union(*(b.features for b in broader)),
        evidence=evidence,
        conditions=frozenset({Condition(property=prop, value=country)}),
        broader=broader,
    )


def _described(case: LadderCase, national: Nationality, stated: Sequence[Statement], prop: str) -> Nation | None:
    words = word_evidence(case, national.words)
    adjective_of = case.vocabulary.adjective
    parts: list[Nation] = []
    for text, countries in zip(national.parts, national.countries, strict=True):
        support = [s for s in stated if s.target in countries or adjective_of(s.target or "") == text]
        if len(countries) > 1 and stated and not support and text not in listed("unambiguous_nations"):
            return None  # "Dominican" of which country, or of the order?
        country = next((s.target for s in support if s.target in countries), None) or countries[0]
        proof = (*words, *(from_statement(case.graph, s) for s in support[:1]))
        broader: tuple[Nation, ...] = ()
        united = [s for s in stated if s.target == UNITED_KINGDOM] if country in _PARTS_OF_BRITAIN else []
        british = adjective_of(UNITED_KINGDOM)
        if united and british:
            wider = _nation(british, UNITED_KINGDOM, (from_statement(case.graph, united[0]),), prop)
            broader = (wider,)
        part = _nation(text, country, proof, prop, broader)
        if broader:
            # Citizenship is stated of the whole; the part is what the words say.
            told = Condition(property="text", value=f"nation:{text}")
            part = replace(part, conditions=broader[0].conditions | {told})
        parts.append(part)
    if len(parts) == 1:
        return parts[0]
    # Both adjectives stand together; one alone only where a statement bears it out, else the last.
    kept = [p for p in parts if len(p.evidence) > len(words)] or parts[-1:]
    return Nation(
        text=national.text,
        features=frozenset({f"n:{national.text}"}).union(*(p.features for p in kept)),
        evidence=words,
        conditions=frozenset().union(*(p.conditions for p in parts)),
        broader=tuple(kept),
    )
