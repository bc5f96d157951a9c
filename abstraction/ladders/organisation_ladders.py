"""Organisations asked for as owner, maker, label or founder: parents, kind, nationality and place; and schools."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from abstraction.descriptions.organisation_grammar import Owner, parse_organisation
from abstraction.evidence import from_description, from_span, from_statement, join_evidence
from abstraction.ladders.entity_values import NamedValue, current_values, entity_proposal, named_values
from abstraction.ladders.kind_chains import KindChain, described_kind, stated_kinds
from abstraction.ladders.nations import Nation, add_national, nation_of_place, nations
from abstraction.ladders.phrase_parts import Wording, add_phrase, states
from abstraction.ladders.place_ladders import Climb
from abstraction.language.phrases import Lattice, definite, indefinite, listed, short
from abstraction.linking.gazetteer import Place
from abstraction.proposals import ANSWER, LadderCase, Proposal
from abstraction.tiers import Condition, Evidence
from kg.model import Statement
from kg.terms import normalise

# The organisations that an organisation belongs to, and where that may be said of it.

PARENTS = 3  # steps up
TOGETHER = 2  # parents at one step: more are shareholders or a history without dates
ORGANISED = frozenset({"company", "organisation", "label", "school", "club", "group"})
LOCATED = frozenset({"place", "country"})
# What a thing is as long as it exists, unlike "owned by" and "part of".
_SUBSIDIARY = re.compile(r"(?:subsidiary|division|imprint|sub-?label|business unit|brand) of ")


def parents(case: LadderCase) -> list[Proposal]:
    """Organisations that the answer belongs to, nearest first: P749, else P127, else P361, else the description."""
    out: dict[str, Proposal] = {}
    layer: list[tuple[str, str]] = [(case.answer, ANSWER)]
    for step in range(PARENTS):
        above: list[tuple[str, str]] = []
        for child, key in layer:
            holders = _parents_of(case, child)
            if step and len(holders) > 1:
                continue  # further up, several are a history without dates
            for qid, evidence, conditions in holders:
                label = case.graph.label(qid)
                if label is not None and qid not in (case.answer, case.subject) and qid not in out:
                    order = step - PARENTS
                    out[qid] = entity_proposal(
                        case.graph, qid, label, (evidence,), conditions, parents=(key,), order=order
                    )
                    above.append((qid, qid))
        layer = above
    return list(out.values())


def belonging(case: LadderCase) -> list[Proposal]:
    """ "a record label of Universal Music Group" by P749 at the question's date, else the description's own words."""
    graph = case.graph
    noun = "record label" if case.relation.asks == "label" else "subsidiary"
    held = graph.held_at(case.answer, "P749", case.at) if case.at is not None else []
    holders = [value for value in named_values(graph, held) if _is_parent(case, case.answer, value.qid)]
    phrases = [(f"{noun} of {value.label}", value.qid, value.evidence) for value in holders]
    text = graph.description(case.answer)
    if noun == "record label" and not phrases and text:
        for owner in parse_organisation(text, case.vocabulary).owners:
            words = text[slice(*owner.span)]
            if _SUBSIDIARY.match(words) and (qid := _named(case, case.answer, owner)):
                phrases.append((words, qid, from_description(graph, case.answer, words)))
    return [
        Proposal(
            key=normalise(indefinite(phrase)),
            text=indefinite(phrase),
            evidence=(evidence,),
            conditions=states("P749", qid),
            order=-1,
        )
        for phrase, qid, evidence in phrases[:1]
    ]


_Parent = tuple[str, Evidence, frozenset[Condition]]  # its id, what tells of it, and what that states


def _parents_of(case: LadderCase, child: str) -> list[_Parent]:
    for prop in ("P749", "P127", "P361"):
        statements = [s for s in case.graph.current(child, prop) if s.target]
        fitting = [s for s in statements if _is_parent(case, child, s.target or "") and _lasts(case, child, s)]
        fitting = fitting[: TOGETHER + 1]
        if prop == "P127" and len(statements) > 1:
            fitting = [s for s in fitting if _majority(s)]
        if fitting:
            if len(statements) > TOGETHER and prop != "P361":
                return []
            by_target = {s.target or "": s for s in fitting}
            return [(qid, from_statement(case.graph, s), states(prop, qid)) for qid, s in by_target.items()]
    return _described_parents(case, child)


def _is_parent(case: LadderCase, child: str, qid: str) -> bool:
    """Whether it is an organisation of its own, and no shell."""
    kinds = case.gazetteer.classes(qid)
    if qid == child or not ORGANISED & kinds or "person" in kinds or LOCATED & kinds:
        return False
    words = " ".join(case.graph.label(i) or "" for i in (qid, *case.graph.classes(qid))).casefold()
    return not any(re.search(rf"\b{re.escape(shell)}\b", words) for shell in listed("shells"))


def _lasts(case: LadderCase, child: str, statement: Statement) -> bool:
    """Whether it may be said without a date: companies are sold, universities and agencies stay where they belong."""
    return "company" not in case.gazetteer.classes(child) or bool(statement.qualifier("P580"))


def _majority(statement: Statement) -> bool:
    """Whether a share of more than half is stated (P1107, a fraction)."""
    for snak in statement.qualifier("P1107"):
        amount = getattr(snak.value, "amount", None)
        if amount is not None and amount > 0.5:
            return True
    return False


def _described_parents(case: LadderCase, child: str) -> list[_Parent]:
    text = case.graph.description(child)
    for owner in parse_organisation(text, case.vocabulary).owners if text else ():
        if qid := _named(case, child, owner):
            labels = {i: label for i in (child, qid) if (label := case.graph.label(i))}
            evidence = replace(from_span(case.graph, child, owner.span), labels=labels)
            return [(qid, evidence, states("P749", qid))]
    return []


def _named(case: LadderCase, child: str, owner: Owner) -> str | None:
    """The one organisation that a description names as owner, or None."""
    carriers = [m.id for m in case.graph.find(owner.name) if m.id != child]
    case.graph.fetch(carriers)
    classes = case.gazetteer.classes
    fitting = [i for i in dict.fromkeys(carriers) if ORGANISED & classes(i) and not LOCATED & classes(i)]
    return fitting[0] if len(fitting) == 1 else None


# Educational institutions asked by "where educated": the parent institution, then where they stand.

_SCHOOL_STEPS = 2  # steps up
# Leagues and consortia have universities as members, not as parts.
_LOOSE = re.compile(
    r"\b(?:association|league|consortium|network|alliance|union|group|conference|federation|council)\b", re.I
)


def schools(case: LadderCase) -> list[Proposal]:
    """Parent institutions (P749, P361, while current), each with its own places, then the answer's places."""
    graph = case.graph
    parents: dict[str, tuple[str, Evidence]] = {}
    layer = [(case.answer, ANSWER)]
    for _ in range(_SCHOOL_STEPS):
        above = []
        for entity_id, key in layer:
            for prop in ("P749", "P361"):
                then = graph.held_at(entity_id, prop, case.at) if case.at is not None else []
                for value in named_values(graph, [*graph.current(entity_id, prop), *then]):
                    if value.qid in parents or value.qid == case.answer or _LOOSE.search(value.label):
                        continue
                    if "school" in case.gazetteer.classes(value.qid):
                        parents[value.qid] = (key, value.evidence)
                        above.append((value.qid, value.qid))
        layer = above
    return Climb(case).beyond(parents)


# Organisations: parents, then kind with nationality and place.


FAMILY = "organisation"
PLACES = 4  # steps of a place chain
PRODUCTS = 2  # products told of a maker
MAKER = "P176"
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
    phrases = kinds(case)
    text = case.graph.description(case.answer)
    if text is not None and any(owner.owns for owner in parse_organisation(text, case.vocabulary).owners):
        return [*above, *phrases]  # the description tells the parent as an owner: kind and owner stand side by side
    # What is said of the nearest parent as well follows from naming the parent, and stands a level below it.
    nearest = [p.key for p in above if p.parents == (ANSWER,) and p.qid]
    texts_of = {key: {p.text for p in kinds(replace(case, answer=key))} for key in nearest}
    return [
        *above,
        *(replace(p, parents=(*p.parents, *(k for k in nearest if p.text in texts_of[k]))) for p in phrases),
    ]


def kinds(case: LadderCase) -> list[Proposal]:
    """What kind of organisation it is, whose and where, in phrases."""
    return _Kinds(case).proposals()


class _Kinds:
    def __init__(self, case: LadderCase) -> None:
        self.case = case
        self.lattice = Lattice()
        self.order = 0
        self.states: set[str] = set()  # features of the sovereign states among the places
        text = case.graph.description(case.answer)
        self.described = parse_organisation(text, case.vocabulary, FAMILY) if text else None

    def proposals(self) -> list[Proposal]:
        case, described = self.case, self.described
        kind = described.kind if described is not None else None
        chains = [described_kind(case, kind, FAMILY)] if kind is not None else stated_kinds(case, FAMILY)
        general = all(normalise(t) in listed("general_kinds") for chain in chains for t in chain.texts)
        nationalities, places = self.nations(), self.place_wordings(self.steps())
        for chain in (self.by_product(chains) if general else []) or chains:
            self.add(chain, nationalities, places)
        return self.lattice.proposals()

    def nations(self) -> list[Nation]:
        """Nationality by the description, P17 or country of origin; else the country of the seat."""
        described = self.described if self.described is not None and self.described.kind is not None else None
        national = described.kind.nationality if described is not None and described.kind is not None else None
        if national is None and self.is_international():
            return []
        if national is None and described is not None:
            national = described.land
        nationalities = nations(self.case, national, ("P17", "P495"))
        if nationalities or (self.described is not None and self.described.placed):
            return nationalities
        return nation_of_place(self.case, "P159", "P17")

    def is_international(self) -> bool:
        """Whether it is of several countries, so that the seat tells no nationality."""
        graph = self.case.graph
        classes = [graph.label(c) or "" for c in graph.classes(self.case.answer)]
        return any(_INTERNATIONAL.search(text) for text in (*classes, graph.description(self.case.answer) or ""))

    def steps(self) -> list[tuple[Place, ...]]:
        """Where the description says it is, finest first, up to the country."""
        described, gazetteer = self.described, self.case.gazetteer
        if described is None or described.kind is None or not described.placed or described.land is not None:
            return []
        chain = list(gazetteer.chain(self.case.answer))[:PLACES]
        known = [place.qid for step in chain for place in step if place.qid]
        if not known or not all(LOCATED & gazetteer.classes(qid) for qid in known):
            return []  # "in the State Legislature" is no place
        last = chain[-1][0].qid
        if last is not None and not self._is_country(last) and len(chain[-1]) == 1:
            above = gazetteer.chain(last)
            chain.extend([step for step in above if any(self._is_country(place.qid) for place in step)][:1])
        if self.case.relation.id == MAKER:  # its seat of today need not be that of when the thing was made
            chain = [step for step in chain if all(p.qid and gazetteer.is_state(p.qid) for p in step)]
        return chain[: PLACES + 1]

    def _is_country(self, qid: str | None) -> bool:
        return qid is not None and "country" in self.case.gazetteer.classes(qid)

    def by_product(self, general_kinds: Sequence[KindChain]) -> list[KindChain]:
        """By product or trade, where nothing better is known: "a car manufacturer", "a video game company".

        `general_kinds` show that it is a company at all.
        """
        company = _called_company(general_kinds)
        graph, answer = self.case.graph, self.case.answer
        phrases: list[tuple[str, NamedValue]] = []
        trades = current_values(graph, answer, "P452") if company else []
        for product in current_values(graph, answer, "P1056") if self.case.relation.id == MAKER else ():
            label, mass = product.label, product.label in listed("mass_products")
            plain = label.islower() and len(label.split()) < 3 and not label.endswith("s")
            if plain and not mass:
                phrases.append((f"{label} manufacturer", product))
            elif plain and company and not trades:  # who makes software may be known for its computers
                phrases.append((f"{label} company", product))
        for trade in trades:
            if trade.label.islower() and trade.label.endswith(" industry"):
                phrases.append((f"{trade.label.removesuffix(' industry')} company", trade))
        return [KindChain.of((text,), ((v.evidence, *company),), (v.conditions,)) for text, v in phrases[:PRODUCTS]]

    def add(self, chain: KindChain, nationalities: Sequence[Nation], places: Sequence[Wording]) -> None:
        """Every wording with nationality, with place, and alone."""
        land = Wording(
            text="",
            features=frozenset[str]().union(*(n.features for n in nationalities)),
            evidence=(),
            conditions=frozenset[Condition]().union(*(n.conditions for n in nationalities)),
        )
        for index, wording in enumerate(chain.wordings):
            self.order += 1
            national = nationalities if index >= chain.tied else ()
            # All places with the whole phrase, the widest with the shortened ones as well.
            around = places if index == 0 else places[-1:]
            # Of two phrases that say the same the first is shown, and the description's own words are better.
            if nationalities and nationalities[0].stated:
                self.add_places(wording, around, land)
                add_national(self.lattice, wording, national, self.order)
            else:
                add_national(self.lattice, wording, national, self.order)
                self.add_places(wording, around, land)
            add_phrase(self.lattice, wording.text, (wording,), order=self.order)

    def add_places(self, wording: Wording, places: Sequence[Wording], land: Wording) -> None:
        """The wording in each of the places."""
        for place in places:
            # What lies inside the nation's land is of the nation; its state as a whole need not be.
            states = place.features & self.states
            inside = not states or (states != place.features and not states.isdisjoint(land.features))
            parts = (wording, place, land) if inside else (wording, place)
            add_phrase(self.lattice, f"{wording.text} in {place.text}", parts, order=self.order)

    def place_wordings(self, steps: Sequence[tuple[Place, ...]]) -> list[Wording]:
        """Each step of a place chain in words, with all that it lies in."""
        out: list[Wording] = []
        features = [frozenset(map(self._feature, step)) for step in steps]
        for at, step in enumerate(steps):
            where = " and ".join(definite(short(place.text)) for place in step)
            finer = [place for before in reversed(steps[:at]) for place in before]
            evidence = join_evidence(self._shown(place, finer) for place in step)
            above = steps[1] if at == 0 and len(steps) > 1 else ()
            if len(above) == 1 and not self._is_country(above[0].qid):
                # The first place is told with the next: there is a Kent in Ohio and one in England.
                where = f"{where}, {short(above[0].text)}"
                evidence = join_evidence((evidence, self._shown(above[0], step)))
            conditions = frozenset(
                Condition(property="P17" if self._is_country(place.qid) else "P131", value=place.key)
                for later in steps[at:]
                for place in later
            )
            out.append(
                Wording(
                    text=where,
                    features=frozenset[str]().union(*features[at:]),
                    evidence=evidence,
                    conditions=conditions,
                )
            )
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
                    return join_evidence((self._shown(inner, finer[at + 1 :]), (step,)))
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
    for wording in (wording for chain in chains for wording in chain.wordings):
        if wording.text.endswith("company"):
            return wording.evidence
        if normalise(wording.text) in listed("companies"):
            return (*wording.evidence, Evidence(kind="rule", text=f"{indefinite(wording.text)} is a company"))
    return ()
