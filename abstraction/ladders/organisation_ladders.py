"""Organisations asked for as owner, maker, label or founder: parents, kind, nationality and place; schools; and bands
and other performing groups, by kind, country and genre, never by their members.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from abstraction.base.tiers import (
    Condition,
    Evidence,
    evidence_from_description_span,
    from_description,
    from_statement,
    join_evidence,
)
from abstraction.ladders.phrase_parts import (
    KindChain,
    Nation,
    PhraseLattice,
    Wording,
    add_with_nationalities,
    described_kind,
    find_nationalities,
    join_wordings,
    nationality_by_seat,
    stated_kinds,
    worded,
)
from abstraction.ladders.place_ladders import ContainerClimb
from abstraction.ladders.proposals import (
    ANSWER,
    LadderCase,
    NamedStep,
    NamedValue,
    Proposal,
    current_values,
    entities_above_answer,
    named_values,
    one_condition,
    phrase_proposal,
)
from abstraction.linking.gazetteer import Place
from abstraction.text.descriptions.attested_words import Vocabulary, shortenings
from abstraction.text.descriptions.kind_grammar import Owner, parse_organisation
from abstraction.text.language.phrases import definite, indefinite, is_informative, short_place_name, word_list
from kg.base.model import normalise

GROUP = "group"
# Genres (P136) used per group, in the order of the statements.
MOST_GENRES = 2
# Nouns for groups of a certain size; every one is also "a group".
SMALL = frozenset({"duo", "trio", "quartet", "quintet", "sextet", "septet", "octet", "supergroup"})
# Nouns that can follow a genre: "funk band".
_NOUNS = SMALL | {"band", "group", "ensemble", "orchestra", "choir"}


def group_tiers(case: LadderCase) -> list[Proposal]:
    """ "an English rock band › a rock band | an English band", from the description or from P31, P136 and P495."""
    described = parse_organisation(case.description, case.vocabulary, GROUP)
    kind = described.kind
    chains = [described_kind(case, kind, GROUP)] if kind is not None else stated_kinds(case, GROUP)
    wordings = [text for chain in chains for text in chain.texts]
    if not any(" " in text and not text.startswith(("musical ", "music ")) for text in wordings):
        chains = _kinds_by_genre(case, chains) or chains  # the kind alone is only "group"
    national = (kind.nationality or described.land) if kind is not None else None
    nationalities = find_nationalities(case, national, ("P495", "P17")) or nationality_by_seat(case, "P740", "P495")
    lattice = PhraseLattice()
    order = 0
    for chain in chains:
        for index, wording in enumerate(chain.wordings):
            order += 1
            _add_with_and_without_nationality(lattice, wording, nationalities if index >= chain.tied else (), order)
        order = _add_group_for_each_duo_or_trio(lattice, chain, nationalities, order, case.vocabulary)
        if chain.wordings:
            _add_group_of_country(lattice, chain.wordings[-1], nationalities, order + 50)
    return lattice.proposals()


def _add_with_and_without_nationality(
    lattice: PhraseLattice, wording: Wording, nationalities: Sequence[Nation], order: int
) -> None:
    add_with_nationalities(lattice, wording, nationalities, order)
    lattice.add(wording.text, (wording,), order=order)


def _add_group_for_each_duo_or_trio(
    lattice: PhraseLattice, chain: KindChain, nationalities: Sequence[Nation], order: int, vocabulary: Vocabulary
) -> int:
    """Add "a vocal group" for "a vocal quartet"; returns the display order of the last phrase."""
    finer: list[tuple[int, Wording, str]] = []
    for index, wording in enumerate(chain.wordings):
        before, _, last = wording.text.rpartition(" ")
        if last in SMALL and before and vocabulary.attests(f"{before} group"):
            finer.append((index, wording, f"{before} group"))
    proofs = [(*small.evidence, _evidence_that_is_group(small.text.rsplit(" ", 1)[-1])) for _, small, _ in finer]
    groups_of = KindChain.from_texts([text for _, _, text in finer], proofs).wordings
    for (index, small, _), large in zip(finer, groups_of, strict=True):
        order += 1
        _add_features_to_phrases(lattice, f"o:{normalise(small.text)}", large.features)
        _add_with_and_without_nationality(lattice, large, nationalities if index >= chain.tied else (), order)
    return order


def _add_group_of_country(
    lattice: PhraseLattice, broadest: Wording, nationalities: Sequence[Nation], order: int
) -> None:
    """Add "an American group": the noun "group" is informative only with a nationality."""
    noun = broadest.text.rsplit(" ", 1)[-1]
    rule = (_evidence_that_is_group(noun),) if noun in SMALL else ()
    noun = "group" if noun in SMALL else noun
    if noun not in _NOUNS or noun == broadest.text:
        return
    group = KindChain.from_texts((noun,), ((*broadest.evidence, *rule),)).wordings[0]
    _add_features_to_phrases(lattice, "", group.features)
    add_with_nationalities(lattice, group, nationalities, order)


def _add_features_to_phrases(lattice: PhraseLattice, feature: str, more: frozenset[str]) -> None:
    """Add the features `more` to all phrases that have `feature`, or to all phrases where it is ""."""
    for key, node in list(lattice.nodes.items()):
        if not feature or feature in key:
            del lattice.nodes[key]
            lattice.nodes[key | more] = node


def _evidence_that_is_group(small: str) -> Evidence:
    return Evidence(kind="rule", text=f"{indefinite(small)} is a group")


def _kinds_by_genre(case: LadderCase, kinds: Sequence[KindChain]) -> list[KindChain]:
    """Kinds with a genre ("funk band"), for groups whose kind alone is uninformative; empty where the kind takes no
    genre.
    """
    kind = next((chain.wordings[0] for chain in kinds[:1] if chain.wordings), None)
    noun = kind.text.rsplit(" ", 1)[-1] if kind is not None else "group"
    if noun not in _NOUNS:
        return []
    chains: list[KindChain] = []
    for genre in current_values(case.graph, case.answer, "P136"):
        if genre.label[:1].islower() and len(chains) < MOST_GENRES:
            phrase = f"{genre.label.removesuffix(' music')} {noun}"
            texts = [t for t in shortenings(phrase, case.vocabulary) if is_informative(t)] or [phrase]
            proof = (genre.evidence, *(kind.evidence if kind is not None else ()))
            conditions = [genre.conditions, *(one_condition("text", f"kind:{text}") for text in texts[1:])]
            chains.append(KindChain.from_texts(texts, [proof] * len(texts), conditions))
    return chains


# Parent organisations, and the conditions under which they are tiers.

PARENTS = 3  # steps up
TOGETHER = 2  # most parents at one step: more are shareholders or former owners without dates
# Answer classes that can be a parent organisation.
ORGANISED = frozenset({"company", "organisation", "label", "school", "club", "group"})
LOCATED = frozenset({"place", "country"})
# Words for lasting relations to a parent organisation, unlike "owned by" and "part of".
_SUBSIDIARY = re.compile(r"(?:subsidiary|division|imprint|sub-?label|business unit|brand) of ")


def parent_organisations(case: LadderCase) -> list[Proposal]:
    """Organisations that the answer belongs to, nearest first: P749, else P127, else P361, else the description."""
    above = entities_above_answer(
        case, lambda child: (one for one in _parents_one_step_up(case, child) if one[0] != case.subject), steps=PARENTS
    )
    return list(above.values())


def subsidiary_phrases(case: LadderCase) -> list[Proposal]:
    """ "a record label of Universal Music Group" by P749 at the question's date, else the description's own words."""
    graph = case.graph
    noun = "record label" if case.relation.asks == "label" else "subsidiary"
    held = graph.statements_valid_at(case.answer, "P749", case.at) if case.at is not None else []
    holders = [value for value in named_values(graph, held) if _may_be_parent(case, case.answer, value.qid)]
    phrases = [(f"{noun} of {value.label}", value.qid, value.evidence) for value in holders]
    if noun == "record label" and not phrases:
        for owner in parse_organisation(case.description, case.vocabulary).owners:
            words = case.description[slice(*owner.span)]
            if _SUBSIDIARY.match(words) and (qid := _find_described_owner(case, case.answer, owner)):
                phrases.append((words, qid, from_description(graph, case.answer, words)))
    return [
        replace(phrase_proposal(phrase, (evidence,), one_condition("P749", qid)), order=-1)
        for phrase, qid, evidence in phrases[:1]
    ]


def _parents_one_step_up(case: LadderCase, child: str) -> list[NamedStep]:
    for prop in ("P749", "P127", "P361"):
        statements = [s for s in case.graph.current(child, prop) if s.target]
        fitting = [s for s in statements if _may_be_parent(case, child, s.target or "")]
        if "company" in case.gazetteer.classes(child):  # companies are sold, so only dated statements count
            fitting = [s for s in fitting if s.qualifier("P580")]
        fitting = fitting[: TOGETHER + 1]
        if fitting and not (prop == "P127" and len(statements) > 1):  # several owners are shareholders
            if len(statements) > TOGETHER and prop != "P361":
                return []
            by_target = {s.target or "": s for s in fitting}
            return [(qid, from_statement(case.graph, s), one_condition(prop, qid)) for qid, s in by_target.items()]
    return _described_parents(case, child)


def _may_be_parent(case: LadderCase, child: str, qid: str) -> bool:
    """Whether the entity is a separate organisation, and no shell company."""
    kinds = case.gazetteer.classes(qid)
    if qid == child or not ORGANISED & kinds or "person" in kinds or LOCATED & kinds:
        return False
    words = " ".join(case.graph.label(i) or "" for i in (qid, *case.graph.classes(qid))).casefold()
    return not any(re.search(rf"\b{re.escape(shell)}\b", words) for shell in word_list("shells"))


def _described_parents(case: LadderCase, child: str) -> list[NamedStep]:
    for owner in parse_organisation(case.graph.description(child) or "", case.vocabulary).owners:
        if qid := _find_described_owner(case, child, owner):
            labels = {i: label for i in (child, qid) if (label := case.graph.label(i))}
            evidence = replace(evidence_from_description_span(case.graph, child, owner.span), labels=labels)
            return [(qid, evidence, one_condition("P749", qid))]
    return []


def _find_described_owner(case: LadderCase, child: str, owner: Owner) -> str | None:
    """The one organisation that a description names as owner, or None."""
    carriers = [m.id for m in case.graph.find(owner.name) if m.id != child]
    case.graph.fetch(carriers)
    classes = case.gazetteer.classes
    fitting = [i for i in dict.fromkeys(carriers) if ORGANISED & classes(i) and not LOCATED & classes(i)]
    return fitting[0] if len(fitting) == 1 else None


# Answers to "where educated": the parent institution, then the places.

_SCHOOL_STEPS = 2  # steps up
# Leagues and consortia have universities as members, not as parts.
_LOOSE = re.compile(
    r"\b(?:association|league|consortium|network|alliance|union|group|conference|federation|council)\b", re.I
)


def school_tiers(case: LadderCase) -> list[Proposal]:
    """Parent institutions (P749, P361, while current), each with its own places, then the answer's places."""
    graph = case.graph

    def institutions(entity_id: str) -> Iterator[NamedStep]:
        for prop in ("P749", "P361"):
            then = graph.statements_valid_at(entity_id, prop, case.at) if case.at is not None else []
            for value in named_values(graph, [*graph.current(entity_id, prop), *then]):
                if not _LOOSE.search(value.label) and "school" in case.gazetteer.classes(value.qid):
                    yield value.qid, value.evidence, value.conditions

    return ContainerClimb(case).proposals_of_parents_and_containers(
        entities_above_answer(case, institutions, steps=_SCHOOL_STEPS)
    )


ORGANISATION = "organisation"
PLACES = 4  # steps of a place chain
PRODUCTS = 2  # products used per maker
MAKER = "P176"
# Words for organisations of several countries, in classes and descriptions.
_INTERNATIONAL = re.compile(
    r"\b(?:international|intergovernmental|supranational|multilateral|speciali[sz]ed agency|United Nations|regional "
    r"(?:organi[sz]ation|development bank))\b",
    re.I,
)


def organisation_tiers(case: LadderCase) -> list[Proposal]:
    """The parents of an owner first, then phrases from "a public university in Cheney, Washington" to coarser ones.

    The owner of an owner owns the thing as well. The owner of a maker or label has not made or released it: there the
    tier is "a subsidiary of General Dynamics", only where it was one at the date of the question or the description
    calls it one.
    """
    above = parent_organisations(case) if case.relation.asks == "owner" else subsidiary_phrases(case)
    phrases = _OrganisationPhrases(case).proposals()
    if any(owner.owns for owner in parse_organisation(case.description, case.vocabulary).owners):
        return [*above, *phrases]  # the description names the parent as owner: kind and owner are on one level
    # A phrase that is true of the nearest parent too follows from its name, and is one level coarser.
    nearest = [p.key for p in above if p.parents == (ANSWER,) and p.qid]
    texts_of = {key: {p.text for p in _OrganisationPhrases(replace(case, answer=key)).proposals()} for key in nearest}
    return [
        *above,
        *(replace(p, parents=(*p.parents, *(k for k in nearest if p.text in texts_of[k]))) for p in phrases),
    ]


class _OrganisationPhrases:
    """Phrases for the kind, nationality and place of an organisation."""

    def __init__(self, case: LadderCase) -> None:
        self.case = case
        self.lattice = PhraseLattice()
        self.order = 0
        self.states: set[str] = set()  # features of the sovereign states among the places
        self.described = parse_organisation(case.description, case.vocabulary, ORGANISATION)

    def proposals(self) -> list[Proposal]:
        case, kind = self.case, self.described.kind
        chains = [described_kind(case, kind, ORGANISATION)] if kind is not None else stated_kinds(case, ORGANISATION)
        general = all(normalise(t) in word_list("general_kinds") for chain in chains for t in chain.texts)
        nationalities, places = self.find_nationalities(), self.place_wordings(self.place_steps())
        for chain in (self.kinds_by_product(chains) if general else []) or chains:
            self.add_kind_phrases(chain, nationalities, places)
        return self.lattice.proposals()

    def find_nationalities(self) -> list[Nation]:
        """Nationality by the description, P17 or country of origin; else by the country of the seat."""
        kind, graph = self.described.kind, self.case.graph
        national = kind.nationality if kind is not None else None
        kinds = (graph.label(c) or "" for c in graph.classes(self.case.answer))
        if national is None and any(map(_INTERNATIONAL.search, (*kinds, self.case.description))):
            return []  # its seat gives no nationality
        if national is None and kind is not None:
            national = self.described.land
        nationalities = find_nationalities(self.case, national, ("P17", "P495"))
        if nationalities or self.described.placed:
            return nationalities
        return nationality_by_seat(self.case, "P159", "P17")

    def place_steps(self) -> list[tuple[Place, ...]]:
        """The places in the description, finest first, up to the country."""
        described, gazetteer = self.described, self.case.gazetteer
        if described.kind is None or not described.placed or described.land is not None:
            return []
        chain = list(gazetteer.description_chain(self.case.answer))[:PLACES]
        known = [place.qid for step in chain for place in step if place.qid]
        if not known or not all(LOCATED & gazetteer.classes(qid) for qid in known):
            return []  # "in the State Legislature" is no place
        last = chain[-1][0].qid
        if last is not None and not self._is_country(last) and len(chain[-1]) == 1:
            above = gazetteer.description_chain(last)
            chain.extend([step for step in above if any(self._is_country(place.qid) for place in step)][:1])
        if self.case.relation.id == MAKER:  # its present seat may differ from that at the time of making
            chain = [step for step in chain if all(p.qid and gazetteer.is_state(p.qid) for p in step)]
        return chain[: PLACES + 1]

    def _is_country(self, qid: str | None) -> bool:
        return qid is not None and "country" in self.case.gazetteer.classes(qid)

    def kinds_by_product(self, general_kinds: Sequence[KindChain]) -> list[KindChain]:
        """Kinds by product or trade, where no better one is known: "a car manufacturer", "a video game company".

        `general_kinds` show whether it is a company at all.
        """
        company = _evidence_of_company(general_kinds)
        graph, answer = self.case.graph, self.case.answer
        phrases: list[tuple[str, NamedValue]] = []
        trades = current_values(graph, answer, "P452") if company else []
        for product in current_values(graph, answer, "P1056") if self.case.relation.id == MAKER else ():
            label, mass = product.label, product.label in word_list("mass_products")
            plain = label.islower() and len(label.split()) < 3 and not label.endswith("s")
            if plain and not mass:
                phrases.append((f"{label} manufacturer", product))
            elif plain and company and not trades:  # who makes software may be known for its computers
                phrases.append((f"{label} company", product))
        for trade in trades:
            if trade.label.islower() and trade.label.endswith(" industry"):
                phrases.append((f"{trade.label.removesuffix(' industry')} company", trade))
        return [
            KindChain.from_texts((text,), ((v.evidence, *company),), (v.conditions,)) for text, v in phrases[:PRODUCTS]
        ]

    def add_kind_phrases(self, chain: KindChain, nationalities: Sequence[Nation], places: Sequence[Wording]) -> None:
        """Add every wording with nationality, with place, and alone."""
        land = replace(join_wordings(*nationalities), text="", evidence=())
        for index, wording in enumerate(chain.wordings):
            self.order += 1
            national = nationalities if index >= chain.tied else ()
            # All places with the whole phrase, the widest with the shortened ones as well.
            around = places if index == 0 else places[-1:]
            # The first of two equivalent phrases is the text of the tier; phrases from the description are preferred.
            if nationalities and nationalities[0].is_from_statement:
                self.add_place_phrases(wording, around, land)
                add_with_nationalities(self.lattice, wording, national, self.order)
            else:
                add_with_nationalities(self.lattice, wording, national, self.order)
                self.add_place_phrases(wording, around, land)
            self.lattice.add(wording.text, (wording,), order=self.order)

    def add_place_phrases(self, wording: Wording, places: Sequence[Wording], land: Wording) -> None:
        """Add the wording followed by "in" and each place."""
        for place in places:
            # A place within the country entails the nationality; the state as a whole may not.
            states = place.features & self.states
            inside = not states or (states != place.features and not states.isdisjoint(land.features))
            parts = (wording, place, land) if inside else (wording, place)
            self.lattice.add(f"{wording.text} in {place.text}", parts, order=self.order)

    def place_wordings(self, place_steps: Sequence[tuple[Place, ...]]) -> list[Wording]:
        """The wording of each step, with the features of all places that contain it."""
        out: list[Wording] = []
        features = [frozenset(map(self._feature_of_place, step)) for step in place_steps]
        for at, step in enumerate(place_steps):
            where = " and ".join(definite(short_place_name(place.text)) for place in step)
            finer = [place for before in reversed(place_steps[:at]) for place in before]
            evidence = join_evidence(self._evidence_of_place(place, finer) for place in step)
            above = place_steps[1] if at == 0 and len(place_steps) > 1 else ()
            if len(above) == 1 and not self._is_country(above[0].qid):
                # The finest place is written with the next one ("Kent, Ohio"), since towns have namesakes.
                where = f"{where}, {short_place_name(above[0].text)}"
                evidence = join_evidence((evidence, self._evidence_of_place(above[0], step)))
            conditions = frozenset(
                Condition(property="P17" if self._is_country(place.qid) else "P131", value=place.key)
                for later in place_steps[at:]
                for place in later
            )
            out.append(worded(where, frozenset[str]().union(*features[at:]), evidence, conditions))
        return out

    def _feature_of_place(self, place: Place) -> str:
        """The feature of a place; for a country that of its nationality."""
        adjective = (
            self.case.vocabulary.adjective_of_country(place.qid) if place.qid and self._is_country(place.qid) else None
        )
        feature = f"n:{adjective}" if adjective else f"p:{place.key}"
        if place.qid and self.case.gazetteer.is_state(place.qid):
            self.states.add(feature)
        return feature

    def _evidence_of_place(self, place: Place, finer: Sequence[Place]) -> tuple[Evidence, ...]:
        """Evidence for a place: the words that name it, else the statement that links a finer place to it."""
        graph = self.case.graph
        shown = from_description(graph, self.case.answer, place.written or place.text)
        if shown.span is None:
            for at, inner in enumerate(finer):
                if step := self._evidence_of_containment(inner, place):
                    return join_evidence((self._evidence_of_place(inner, finer[at + 1 :]), (step,)))
        return (replace(shown, labels={**shown.labels, **({place.qid: place.text} if place.qid else {})}),)

    def _evidence_of_containment(self, inner: Place, outer: Place) -> Evidence | None:
        """The statement or description by which `inner` lies in `outer`, as evidence, or None."""
        graph = self.case.graph
        if inner.qid is None:
            return None
        for prop in ("P131", "P17"):
            for statement in graph.current(inner.qid, prop):
                if statement.target == outer.qid:
                    return from_statement(graph, statement)
        for step in self.case.gazetteer.description_chain(inner.qid):
            for place in step:
                if place.key == outer.key:
                    return from_description(graph, inner.qid, place.written or place.text)
        return None


def _evidence_of_company(chains: Sequence[KindChain]) -> tuple[Evidence, ...]:
    """The evidence that one of the kinds is a company, with the rule that a corporation is one; empty without
    evidence.
    """
    for wording in (wording for chain in chains for wording in chain.wordings):
        if wording.text.endswith("company"):
            return wording.evidence
        if normalise(wording.text) in word_list("companies"):
            return (*wording.evidence, Evidence(kind="rule", text=f"{indefinite(wording.text)} is a company"))
    return ()
