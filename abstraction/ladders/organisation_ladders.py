"""Organisations asked for as owner, maker, label or founder: parents, then kind with nationality and place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from abstraction.descriptions.organisation_grammar import OrganisationDescription, parse_organisation
from abstraction.evidence import from_description, from_statement, joined
from abstraction.ladders.kind_chains import KindChain, described_kind, stated_kinds
from abstraction.ladders.nations import Nation, nations, speaks_english
from abstraction.ladders.parents import LOCATED, belonging, parents
from abstraction.language.phrases import Lattice, definite, indefinite, listed, short
from abstraction.linking.gazetteer import Place
from abstraction.proposals import ANSWER, LadderCase, Proposal
from abstraction.tiers import Condition, Evidence
from kg.model import Statement
from kg.terms import normalise

FAMILY = "organisation"
PLACES = 4  # steps of a place chain
MADE = 2  # products told of a maker
_INTERNATIONAL = re.compile(
    r"\b(?:international|intergovernmental|supranational|multilateral|speciali[sz]ed agency|United Nations|regional "
    r"(?:organi[sz]ation|development bank))\b",
    re.I,
)


def organisations(case: LadderCase) -> list[Proposal]:
    """An owner's parents first, then "a public university in Cheney, Washington" and what is coarser.

    Who owns the owner owns the thing. Who owns a maker or a label has not made or released it: there the tier is
    "a subsidiary of General Dynamics", and only where it was one at the question's date or is made to be one.
    """
    above = parents(case) if case.relation.asks == "owner" else belonging(case)
    if not speaks_english(case):
        return above
    phrases = kinds(case)
    if _is_owned(case):
        return [*above, *phrases]
    # What is said of the nearest parent as well follows from naming the parent, and stands a level below it.
    nearest = [p.key for p in above if p.parents == (ANSWER,) and p.qid]
    told = {key: {p.text for p in kinds(replace(case, answer=key))} for key in nearest}
    return [
        *above,
        *(replace(p, parents=(*p.parents, *(k for k in nearest if p.text in told[k]))) for p in phrases),
    ]


def kinds(case: LadderCase) -> list[Proposal]:
    """What kind of organisation it is, whose and where, in phrases."""
    return _Kinds(case).proposals((ANSWER,))


def _is_owned(case: LadderCase) -> bool:
    """Whether the description tells the parent as an owner: then kind and owner stand side by side."""
    text = case.graph.description(case.answer)
    return text is not None and any(owner.owns for owner in parse_organisation(text, case.vocabulary).owners)


class _Kinds:
    def __init__(self, case: LadderCase) -> None:
        self.case = case
        self.lattice = Lattice()
        self.order = 0
        self.states: set[str] = set()  # features of the sovereign states among the places
        text = case.graph.description(case.answer)
        self.described = parse_organisation(text, case.vocabulary, FAMILY) if text else None

    def proposals(self, under: tuple[str, ...]) -> list[Proposal]:
        case, described = self.case, self.described
        kind = described.kind if described is not None else None
        chains = [described_kind(case, kind, FAMILY)] if kind is not None else stated_kinds(case, FAMILY)
        general = all(normalise(t) in listed("general_kinds") for chain in chains for t in chain.texts)
        found = self.nations(described)
        steps = self.steps(described)
        for chain in (self.made(chains) if general else []) or chains:
            self.add(chain, found, steps)
        return self.lattice.proposals(under=under)

    def nations(self, described: OrganisationDescription | None) -> list[Nation]:
        """Nationality by the description, P17 or country of origin; else the country of the seat."""
        national = None
        if described is not None and described.kind is not None:
            national = described.kind.nationality
            if national is None and self.is_international():
                return []
            national = national or described.land
        elif self.is_international():
            return []
        found = nations(self.case, national, ("P17", "P495"))
        if found or (described is not None and described.placed):
            return found
        seats = [s for s in self.case.graph.current(self.case.answer, "P159") if s.target]
        out: list[Nation] = []
        for seat in seats[:1]:
            for statement in self.case.graph.current(seat.target or "", "P17")[:1]:
                adjective = self.case.vocabulary.adjective(statement.target or "")
                if adjective is not None:
                    proof = (from_statement(self.case.graph, seat), from_statement(self.case.graph, statement))
                    condition = Condition(property="P17", value=statement.target or "")
                    features = frozenset({f"n:{adjective}"})
                    out.append(
                        Nation(text=adjective, features=features, evidence=proof, conditions=frozenset({condition}))
                    )
        return out

    def is_international(self) -> bool:
        """Whether it is of several countries, so that the seat tells no nationality."""
        graph = self.case.graph
        classes = [graph.label(c) or "" for c in graph.classes(self.case.answer)]
        return any(_INTERNATIONAL.search(text) for text in (*classes, graph.description(self.case.answer) or ""))

    def steps(self, described: OrganisationDescription | None) -> list[tuple[Place, ...]]:
        """Where the description says it is, finest first, up to the country."""
        if described is None or described.kind is None or not described.placed:
            return []
        if described.land is not None:
            return []
        chain = list(self.case.gazetteer.chain(self.case.answer))[:PLACES]
        if not chain or all(place.qid is None for step in chain for place in step):
            return []
        named = [place.qid for step in chain for place in step if place.qid]
        if not all(LOCATED & self.case.gazetteer.classes(qid) for qid in named):
            return []  # "in the State Legislature" is no place
        last = chain[-1][0].qid
        if last is not None and not self._is_country(last) and len(chain[-1]) == 1:
            above = self.case.gazetteer.chain(last)
            chain.extend([step for step in above if any(self._is_country(place.qid) for place in step)][:1])
        return chain[: PLACES + 1]

    def _is_country(self, qid: str | None) -> bool:
        return qid is not None and "country" in self.case.gazetteer.classes(qid)

    def made(self, general_kinds: Sequence[KindChain]) -> list[KindChain]:
        """By product or trade, where nothing better is known: "a car manufacturer", "a video game company".

        `general_kinds` show that it is a company at all.
        """
        general = _called_company(general_kinds)
        found: list[tuple[str, Statement]] = []
        products = self.case.graph.current(self.case.answer, "P1056") if self.case.relation.id == "P176" else []
        for statement in products:
            label = self.case.graph.label(statement.target or "")
            if label is not None and label.islower() and len(label.split()) < 3 and not label.endswith("s"):
                noun = "company" if label in listed("mass_products") else "manufacturer"
                if general or noun == "manufacturer":
                    found.append((f"{label} {noun}", statement))
        for statement in self.case.graph.current(self.case.answer, "P452"):
            label = self.case.graph.label(statement.target or "")
            if general and label is not None and label.islower() and label.endswith(" industry"):
                found.append((f"{label.removesuffix(' industry')} company", statement))
        chains: list[KindChain] = []
        for text, statement in found[:MADE]:
            condition = Condition(property=statement.property, value=statement.target or "")
            chains.append(
                KindChain(
                    texts=(text,),
                    features=(frozenset({f"o:{text}"}),),
                    proofs=((from_statement(self.case.graph, statement), *general),),
                    conditions=(frozenset({condition}),),
                )
            )
        return chains

    def add(self, chain: KindChain, found: Sequence[Nation], steps: Sequence[tuple[Place, ...]]) -> None:
        """Every wording with nationality, with place, and alone."""
        placed = self.placed(steps)
        land = frozenset[str]().union(*(n.features for n in found))
        lands = frozenset[Condition]().union(*(n.conditions for n in found))
        for index, text in enumerate(chain.texts):
            self.order += 1
            features, proof, conditions = chain.features[index], chain.proofs[index], chain.conditions[index]
            if placed and found and found[0].stated:
                self.add_places(chain, index, placed, land, lands)
            for nation in found if index >= chain.tied else ():
                for each in (nation, *nation.broader):
                    if text.startswith(f"{each.text} "):
                        continue  # "an American American football league"
                    self.lattice.add(
                        indefinite(f"{each.text} {text}"),
                        features | each.features,
                        evidence=(*each.evidence, *proof),
                        conditions=conditions | each.conditions,
                        order=self.order,
                    )
            self.add_places(chain, index, placed, land, lands)
            self.lattice.add(
                indefinite(text),
                features,
                evidence=proof,
                conditions=conditions,
                order=self.order,
            )

    def add_places(
        self,
        chain: KindChain,
        index: int,
        placed: Sequence[Placed],
        land: frozenset[str],
        lands: frozenset[Condition],
    ) -> None:
        """All places with the whole phrase, the widest with the shortened ones as well."""
        for at, (where, own, evidence, condition) in enumerate(placed):
            if index == 0 or at + 1 == len(placed):
                # What lies inside the nation's land is of the nation; its state as a whole need not be.
                states = own & self.states
                inside = not states or (states != own and not states.isdisjoint(land))
                self.lattice.add(
                    indefinite(f"{chain.texts[index]} in {where}"),
                    chain.features[index] | own | (land if inside else frozenset()),
                    evidence=(*chain.proofs[index], *evidence),
                    conditions=chain.conditions[index] | condition | (lands if inside else frozenset()),
                    order=self.order,
                )

    def placed(self, steps: Sequence[tuple[Place, ...]]) -> list[Placed]:
        """Each step of a place chain as words, features, evidence and conditions."""
        out: list[Placed] = []
        features: list[frozenset[str]] = []
        for step in steps:
            features.append(frozenset(self._feature(place) for place in step))
        for at, step in enumerate(steps):
            own = frozenset[str]().union(*features[at:])
            where = " and ".join(definite(short(place.text)) for place in step)
            last = at + 1 >= len(steps) or any(self._is_country(place.qid) for place in steps[at + 1])
            finer = [place for before in reversed(steps[:at]) for place in before]
            evidence = joined(self._shown(place, finer) for place in step)
            if at == 0 and not last and len(steps[1]) == 1:
                # The first place is told with the next: there is a Kent in Ohio and one in England.
                where = f"{where}, {short(steps[1][0].text)}"
                evidence = joined((evidence, self._shown(steps[1][0], step)))
            condition = frozenset(
                Condition(property="P17" if self._is_country(place.qid) else "P131", value=place.key)
                for later in steps[at:]
                for place in later
            )
            out.append((where, own, evidence, condition))
        return out

    def _feature(self, place: Place) -> str:
        """A country is the same feature as its nationality."""
        adjective = self.case.vocabulary.adjective(place.qid) if place.qid and self._is_country(place.qid) else None
        feature = f"n:{adjective}" if adjective else f"p:{place.key}"
        if place.qid and self.case.gazetteer.is_state(place.qid):
            self.states.add(feature)
        return feature

    def _shown(self, place: Place, finer: Sequence[Place]) -> tuple[Evidence, ...]:
        """The words that name the place; where none do, what puts a finer place of the chain there."""
        graph = self.case.graph
        shown = from_description(graph, self.case.answer, place.written or place.text)
        if shown.span is None:
            for at, inner in enumerate(finer):
                if step := self._between(inner, place):
                    return joined((self._shown(inner, finer[at + 1 :]), (step,)))
        return (replace(shown, labels={**shown.labels, **({place.qid: place.text} if place.qid else {})}),)

    def _between(self, inner: Place, outer: Place) -> Evidence | None:
        """What says that one place lies in the other."""
        graph = self.case.graph
        if inner.qid is None:
            return None
        for prop in ("P131", "P17"):
            for statement in graph.current(inner.qid, prop):
                if statement.target == outer.qid:
                    return from_statement(graph, statement)
        for step in self.case.gazetteer.chain(inner.qid):
            for place in step:
                if place.key == outer.key:
                    return from_description(graph, inner.qid, place.written or place.text)
        return None


def _called_company(chains: Sequence[KindChain]) -> tuple[Evidence, ...]:
    """What calls it a company, with the rule that a corporation or business is one; empty where nothing does."""
    for chain in chains:
        for kind, proof in zip(chain.texts, chain.proofs, strict=True):
            if kind.endswith("company"):
                return proof
            if normalise(kind) in listed("companies"):
                return (*proof, Evidence(kind="rule", text=f"{indefinite(kind)} is a company"))
    return ()


Placed = tuple[str, frozenset[str], tuple[Evidence, ...], frozenset[Condition]]
