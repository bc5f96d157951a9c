"""Nationalities as features of phrases: from the description, else from statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from abstraction.base.evidence import from_span, from_statement
from abstraction.base.tiers import Evidence
from abstraction.ladders.lattice import Lattice
from abstraction.ladders.phrase_parts import Wording, add_phrase, states
from abstraction.ladders.proposals import LadderCase
from abstraction.text.descriptions.attested_words import DescriptionWord, spans
from abstraction.text.descriptions.nationality import Nationality
from abstraction.text.language.phrases import listed
from kg.base.model import Rank, Statement
from kg.graph.graph import Graph
from kg.graph.ranks import valid_values as all_stated

MOST = 2  # alternates from statements
UNITED_KINGDOM = "Q145"
# England, Scotland, Wales: their people are stated as citizens of the United Kingdom.
_PARTS_OF_BRITAIN = frozenset({"Q21", "Q22", "Q25"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Nation(Wording):
    """A nationality as a part of phrases: `features` are its own and those that it entails ("British").

    `broader` are the nationalities that it entails: either one of a compound, or the wider one. A language that a
    person writes in is used like a nationality, but `person` is false: it gives no phrase by itself.
    """

    broader: tuple[Nation, ...] = ()
    person: bool = True

    @property
    def stated(self) -> bool:
        """Whether it comes from statements alone."""
        return self.evidence[0].kind == "statement"


def current_or_ended(graph: Graph, entity_id: str, prop: str) -> list[Statement]:
    """The present statements, or all former ones where all have ended."""
    if today := graph.current(entity_id, prop):
        return today
    once = all_stated(graph.statements(entity_id, prop))
    return [s for s in once if s.rank is Rank.PREFERRED] or once


def word_evidence(case: LadderCase, used: Sequence[DescriptionWord]) -> tuple[Evidence, ...]:
    """Words of the description of the answer as evidence, one step for each contiguous span."""
    return tuple(from_span(case.graph, case.answer, span) for span in spans(used))


def nations(case: LadderCase, national: Nationality | None, properties: Sequence[str]) -> list[Nation]:
    """The nationality in the description, else those of the first of `properties` with values.

    Where all values have ended (citizenship of the dead, country of dissolved organisations), the ended ones are used.
    """
    by_property = ([s for s in current_or_ended(case.graph, case.answer, prop) if s.target] for prop in properties)
    stated = next(filter(None, by_property), [])
    if national is not None and national.of_language:
        words = word_evidence(case, national.words)
        return [replace(nation_of(national.text, "text", f"mod:{national.text}", words), person=False)]
    described = _nation_in_description(case, national, stated, properties[0]) if national is not None else None
    if described is not None:
        return [described]
    out: dict[str, Nation] = {}
    for statement in stated:
        country = statement.target or ""
        adjective = case.vocabulary.adjective(country)
        if adjective is not None and adjective not in out:
            proof = (from_statement(case.graph, statement),)
            out[adjective] = nation_of(adjective, statement.property, country, proof)
    return list(out.values())[:MOST]


def nation_of_place(case: LadderCase, place: str, prop: str) -> list[Nation]:
    """The country of the place where the answer has its seat or was formed (property `place`), as a nationality for
    `prop`.
    """
    for seat in [s for s in case.graph.current(case.answer, place) if s.target][:1]:
        for statement in case.graph.current(seat.target or "", "P17")[:1]:
            adjective = case.vocabulary.adjective(statement.target or "")
            if adjective is not None:
                proof = (from_statement(case.graph, seat), from_statement(case.graph, statement))
                return [nation_of(adjective, prop, statement.target or "", proof)]
    return []


def add_national(lattice: Lattice, wording: Wording, nations: Sequence[Nation], order: int) -> None:
    """Add the wording with each nationality before it, and with the broader ones that those entail."""
    for nation in nations:
        for each in (nation, *nation.broader):
            if not wording.text.startswith(f"{each.text} "):  # "an American American football league"
                add_phrase(lattice, f"{each.text} {wording.text}", (each, wording), order=order)


def nation_of(adjective: str, prop: str, value: str, evidence: tuple[Evidence, ...]) -> Nation:
    """A nationality by its adjective, as the value of a property."""
    return Nation(
        text=adjective, features=frozenset({f"n:{adjective}"}), evidence=evidence, conditions=states(prop, value)
    )


def _nation_in_description(
    case: LadderCase, national: Nationality, stated: Sequence[Statement], prop: str
) -> Nation | None:
    """The nationality by the words of the description, and by the statements that bear them out."""
    words = word_evidence(case, national.words)
    parts: list[Nation] = []
    for text, countries in zip(national.parts, national.countries, strict=True):
        backing = [s for s in stated if s.target in countries or case.vocabulary.adjective(s.target or "") == text]
        if len(countries) > 1 and stated and not backing and text not in listed("unambiguous_nations"):
            return None  # "Dominican" of which country, or of the order?
        country = next((s.target for s in backing if s.target in countries), None) or countries[0]
        part = nation_of(text, prop, country, (*words, *(from_statement(case.graph, s) for s in backing[:1])))
        parts.append(_as_british(case, part, stated, prop) if country in _PARTS_OF_BRITAIN else part)
    return parts[0] if len(parts) == 1 else _compound(national.text, words, parts)


def _compound(text: str, words: tuple[Evidence, ...], parts: Sequence[Nation]) -> Nation:
    """Both adjectives together; one alone only where a statement bears it out, else the last."""
    broader = [p for p in parts if len(p.evidence) > len(words)] or parts[-1:]
    return Nation(
        text=text,
        features=frozenset({f"n:{text}"}).union(*(p.features for p in broader)),
        evidence=words,
        conditions=frozenset().union(*(p.conditions for p in parts)),
        broader=tuple(broader),
    )


def _as_british(case: LadderCase, part: Nation, stated: Sequence[Statement], prop: str) -> Nation:
    """The nationality with "British" above it, where the citizenship is stated of the whole."""
    united = next((s for s in stated if s.target == UNITED_KINGDOM), None)
    british = case.vocabulary.adjective(UNITED_KINGDOM)
    if united is None or not british:
        return part
    whole = nation_of(british, prop, UNITED_KINGDOM, (from_statement(case.graph, united),))
    # The description names the part, so the nationality of the part is a condition as well.
    conditions = whole.conditions | states("text", f"nation:{part.text}")
    return replace(part, features=part.features | whole.features, conditions=conditions, broader=(whole,))
