"""Parts of phrases with their evidence: nationalities, and kinds of things as chains of shorter and shorter wordings;
and phrases made of several parts, in a lattice of which entail which.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from abstraction.base.tiers import Condition, Evidence, evidence_from_description_span, from_statement
from abstraction.ladders.class_terms import ClassAbove, class_layers_above
from abstraction.ladders.proposals import ANSWER, LadderCase, Proposal, cached_per_source, current_values, one_condition
from abstraction.text.descriptions.attested_words import (
    DescriptionWord,
    common_type_names,
    shortenings,
    spans_of_contiguous_words,
)
from abstraction.text.descriptions.kind_grammar import DescribedKind, Nationality, head_nouns_of_family, is_plural
from abstraction.text.language.phrases import indefinite, is_informative, word_list
from kg.base.model import Rank, Statement, normalise
from kg.graph.graph import Graph, asserted_statements


@dataclass
class PhraseLattice:
    """Phrases by their features: a phrase with more features entails one with some of them.

    Phrases with the same features are synonyms: the first is the text, the others become its aliases.
    """

    nodes: dict[frozenset[str], Proposal] = field(default_factory=dict)

    def add(
        self, phrase: str, parts: Sequence[Wording], *, order: int = 0, aliases: Sequence[str] = (), the: bool = False
    ) -> None:
        """Add "a PHRASE" or "the PHRASE" with the features and conditions of all its parts, and their evidence.

        The features contain every feature that the phrase entails, not only those in its words.
        """
        text, whole = f"the {phrase}" if the else indefinite(phrase), join_wordings(*parts)
        old = self.nodes.get(whole.features)
        if old is not None:
            if normalise(old.text) != normalise(text) and text not in old.aliases:
                names = dict.fromkeys((*old.aliases, text, *aliases))
                self.nodes[whole.features] = replace(old, aliases=tuple(names))
            return
        self.nodes[whole.features] = Proposal(
            key=normalise(text),
            text=text,
            aliases=tuple(aliases),
            evidence=distinct(whole.evidence),
            conditions=whole.conditions,
            order=order,
        )

    def proposals(self) -> list[Proposal]:
        """All phrases with their parents; phrases that no other entails have the answer as parent."""
        sets = sorted(self.nodes, key=len)  # so that the smallest supersets of a set come first
        out: list[Proposal] = []
        taken: set[str] = set()
        for index, small in enumerate(sets):
            node = self.nodes[small]
            if node.key in taken:
                continue
            taken.add(node.key)
            above: list[frozenset[str]] = []
            for large in sets[index + 1 :]:
                if len(large) > len(small) and small < large and not any(mid < large for mid in above):
                    above.append(large)
            out.append(replace(node, parents=tuple(self.nodes[s].key for s in above) or (ANSWER,)))
        return out


def distinct(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The steps of evidence without duplicates, in order."""
    if len(evidence) < 2:
        return tuple(evidence)
    out = {(e.kind, e.subject, e.statement, e.property, e.value, e.span, e.text): e for e in reversed(evidence)}
    return tuple(reversed(out.values()))


@dataclass(frozen=True, kw_only=True, slots=True)
class Wording:
    """Words of a phrase or of a part of one, with the features that they entail, evidence and conditions."""

    text: str
    features: frozenset[str]
    evidence: tuple[Evidence, ...]
    conditions: frozenset[Condition]


def worded(
    text: str, features: Iterable[str], evidence: Sequence[Evidence], conditions: frozenset[Condition]
) -> Wording:
    """A `Wording` made from any iterables of features and evidence."""
    return Wording(text=text, features=frozenset(features), evidence=tuple(evidence), conditions=conditions)


def join_wordings(*parts: Wording) -> Wording:
    """Several parts as one wording: their words in order, and all their features, evidence and conditions."""
    return Wording(
        text=" ".join(part.text for part in parts),
        features=frozenset[str]().union(*(part.features for part in parts)),
        evidence=tuple(step for part in parts for step in part.evidence),
        conditions=frozenset[Condition]().union(*(part.conditions for part in parts)),
    )


MOST = 2  # most nationalities that are read from statements
UNITED_KINGDOM = "Q145"
# England, Scotland, Wales: their people are stated as citizens of the United Kingdom.
_PARTS_OF_BRITAIN = frozenset({"Q21", "Q22", "Q25"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Nation(Wording):
    """A nationality as a part of phrases: `features` are its own and those that it entails ("British").

    `broader` are the nationalities that it entails: either one of a compound, or the wider one. A language that a
    person writes in is used like a nationality, but with `person` false, since it gives no phrase by itself.
    """

    broader: tuple[Nation, ...] = ()
    person: bool = True

    @property
    def is_from_statement(self) -> bool:
        """Whether the nationality is known from statements alone, not from the description."""
        return self.evidence[0].kind == "statement"


def current_or_ended_statements(graph: Graph, entity_id: str, prop: str) -> list[Statement]:
    """The present statements; where all have ended, the ended ones, of preferred rank if any is."""
    if today := graph.current(entity_id, prop):
        return today
    once = asserted_statements(graph.statements(entity_id, prop))
    return [s for s in once if s.rank is Rank.PREFERRED] or once


def word_evidence(case: LadderCase, used: Sequence[DescriptionWord]) -> tuple[Evidence, ...]:
    """The words of the answer's description as evidence, one step for each contiguous span."""
    return tuple(
        evidence_from_description_span(case.graph, case.answer, span) for span in spans_of_contiguous_words(used)
    )


def find_nationalities(case: LadderCase, national: Nationality | None, properties: Sequence[str]) -> list[Nation]:
    """The nationality in the description, else those of the first of `properties` with values.

    Where all values have ended (citizenship of the dead, country of dissolved organisations), the ended ones are used.
    """
    by_property = (
        [s for s in current_or_ended_statements(case.graph, case.answer, prop) if s.target] for prop in properties
    )
    stated = next(filter(None, by_property), [])
    if national is not None and not national.countries:  # a language
        words = word_evidence(case, national.words)
        return [replace(nation_from_adjective(national.text, "text", f"mod:{national.text}", words), person=False)]
    described = (
        _described_nation_if_unambiguous(case, national, stated, properties[0]) if national is not None else None
    )
    if described is not None:
        return [described]
    out: dict[str, Nation] = {}
    for statement in stated:
        country = statement.target or ""
        adjective = case.vocabulary.adjective_of_country(country)
        if adjective is not None and adjective not in out:
            proof = (from_statement(case.graph, statement),)
            out[adjective] = nation_from_adjective(adjective, statement.property, country, proof)
    return list(out.values())[:MOST]


def nationality_by_seat(case: LadderCase, seat_property: str, nation_property: str) -> list[Nation]:
    """The country of the answer's place of seat or formation (the value of `seat_property`), as a nationality by
    `nation_property`; a list of one, or empty.
    """
    for seat in [s for s in case.graph.current(case.answer, seat_property) if s.target][:1]:
        for statement in case.graph.current(seat.target or "", "P17")[:1]:
            adjective = case.vocabulary.adjective_of_country(statement.target or "")
            if adjective is not None:
                proof = (from_statement(case.graph, seat), from_statement(case.graph, statement))
                return [nation_from_adjective(adjective, nation_property, statement.target or "", proof)]
    return []


def add_with_nationalities(lattice: PhraseLattice, wording: Wording, nations: Sequence[Nation], order: int) -> None:
    """Add the wording with each nationality before it, and with the broader ones that those entail."""
    for nation in nations:
        for each in (nation, *nation.broader):
            if not wording.text.startswith(f"{each.text} "):  # "an American American football league"
                lattice.add(f"{each.text} {wording.text}", (each, wording), order=order)


def nation_from_adjective(adjective: str, prop: str, value: str, evidence: tuple[Evidence, ...]) -> Nation:
    """A nationality by its adjective, as the value of a property."""
    return Nation(
        text=adjective, features=frozenset({f"n:{adjective}"}), evidence=evidence, conditions=one_condition(prop, value)
    )


def _described_nation_if_unambiguous(
    case: LadderCase, national: Nationality, stated: Sequence[Statement], prop: str
) -> Nation | None:
    """The nationality in the description, with the statements that confirm it; None where the word is ambiguous."""
    words = word_evidence(case, national.words)
    parts: list[Nation] = []
    for text, countries in zip(national.parts, national.countries, strict=True):
        backing = [
            s for s in stated if s.target in countries or case.vocabulary.adjective_of_country(s.target or "") == text
        ]
        if len(countries) > 1 and stated and not backing and text not in word_list("unambiguous_nations"):
            return None  # "Dominican" of which country, or of the order?
        country = next((s.target for s in backing if s.target in countries), None) or countries[0]
        part = nation_from_adjective(
            text, prop, country, (*words, *(from_statement(case.graph, s) for s in backing[:1]))
        )
        parts.append(_with_british_above_if_stated(case, part, stated, prop) if country in _PARTS_OF_BRITAIN else part)
    if len(parts) == 1:
        return parts[0]
    # Both adjectives together; one alone only where a statement bears it out, else the last.
    broader = [p for p in parts if len(p.evidence) > len(words)] or parts[-1:]
    return Nation(
        text=national.text,
        features=frozenset({f"n:{national.text}"}).union(*(p.features for p in broader)),
        evidence=words,
        conditions=frozenset().union(*(p.conditions for p in parts)),
        broader=tuple(broader),
    )


def _with_british_above_if_stated(case: LadderCase, part: Nation, stated: Sequence[Statement], prop: str) -> Nation:
    """The nationality (English, Scottish, Welsh) with "British" above it, where the stated country is the United
    Kingdom.
    """
    # Citizenship (P27) of the English, Scots and Welsh is that of the United Kingdom.
    united = next((s for s in stated if s.target == UNITED_KINGDOM), None)
    british = case.vocabulary.adjective_of_country(UNITED_KINGDOM)
    if united is None or not british:
        return part
    whole = nation_from_adjective(british, prop, UNITED_KINGDOM, (from_statement(case.graph, united),))
    # The description names a part of the United Kingdom ("Scottish"): that is a condition of "British" too.
    conditions = whole.conditions | one_condition("text", f"nation:{part.text}")
    return replace(part, features=part.features | whole.features, conditions=conditions, broader=(whole,))


STATED = 2  # most kinds that are read from P31
STEPS = 2  # P279 steps to a usual kind


@dataclass(frozen=True, kw_only=True, slots=True)
class KindChain:
    """A kind in all its wordings, finest first. No nationality is put before the first `tied` wordings."""

    wordings: tuple[Wording, ...]
    tied: int = 0

    @classmethod
    def from_texts(
        cls,
        texts: Sequence[str],
        proofs: Sequence[tuple[Evidence, ...]],
        conditions: Sequence[frozenset[Condition]] | None = None,
        *,
        tied: int = 0,
    ) -> KindChain:
        """A chain in which each wording entails the later ones; without `conditions` each wording is its own
        condition.
        """
        features = [f"o:{normalise(text)}" for text in texts]
        stated = conditions or [one_condition("text", f"kind:{normalise(text)}") for text in texts]
        wordings = (worded(text, features[at:], proofs[at], stated[at]) for at, text in enumerate(texts))
        return cls(wordings=tuple(wordings), tied=tied)

    @property
    def texts(self) -> list[str]:
        """The wordings' words."""
        return [wording.text for wording in self.wordings]

    def filtered(self, keep: Callable[[str], bool]) -> KindChain:
        """The chain with the wordings that pass `keep`."""
        indices = [at for at, wording in enumerate(self.wordings) if keep(wording.text)]
        return KindChain(
            wordings=tuple(self.wordings[at] for at in indices), tied=sum(at < self.tied for at in indices)
        )


_DOUBLED = re.compile(r"(?<=\bconglomerate) (?:corporation|company|group)\Z")  # "conglomerate company" repeats itself


def described_kind(case: LadderCase, kind: DescribedKind, family: str) -> KindChain:
    """The kind in a description; a wording that is the label of a stated class has its P31 statement as evidence."""
    classes = {normalise(case.graph.label(s.target or "") or ""): s for s in case.graph.current(case.answer, "P31")}
    proofs: list[tuple[Evidence, ...]] = []
    qids: list[str | None] = []
    for text, used in zip(kind.texts, kind.used, strict=True):
        statement = classes.get(normalise(text))
        backing = () if statement is None else (from_statement(case.graph, statement),)
        proofs.append((*word_evidence(case, used), *backing))
        qids.append(None if statement is None else statement.target)
    texts = tuple(_DOUBLED.sub("", text) for text in kind.texts)
    return _kind_chain(case, texts, qids, proofs, family, kind.tied)


def stated_kinds(case: LadderCase, family: str) -> list[KindChain]:
    """The kinds that P31 gives, general ones only where there is nothing else."""
    classes = []
    for value in current_values(case.graph, case.answer, "P31"):
        # A short common noun phrase for one thing of the family, without names.
        words = value.label.split()
        is_common = len(words) <= 4 and value.label[:1].islower() and not any(word[:1].isupper() for word in words)
        if is_common and words[-1] in head_nouns_of_family(family) and not is_plural(words[-1]):
            classes.append(value)
    special = [v for v in classes if normalise(v.label) not in word_list("general_kinds")] or classes
    chains: list[KindChain] = []
    for value in special:
        if len(chains) < STATED and not any(value.label in chain.texts for chain in chains):
            texts = shortenings(value.label, case.vocabulary)
            qids = [value.qid, *(None for _ in texts[1:])]
            chains.append(_kind_chain(case, texts, qids, [(value.evidence,)] * len(texts), family))
    return [c for c in chains if not any(c is not other and set(c.texts) < set(other.texts) for other in chains)]


def _kind_chain(
    case: LadderCase,
    texts: Sequence[str],
    qids: Sequence[str | None],
    proofs: Sequence[tuple[Evidence, ...]],
    family: str,
    tied: int = 0,
) -> KindChain:
    conditions = [
        one_condition("P31", qid) if qid else one_condition("text", f"kind:{normalise(text)}")
        for text, qid in zip(texts, qids, strict=True)
    ]
    chain = KindChain.from_texts(texts, proofs, conditions, tied=tied).filtered(
        _non_synonym_test(case.graph, texts, qids)
    )
    return (_with_broader_kind(case, chain, qids, family) if family == "organisation" else chain).filtered(
        is_informative
    )


def _non_synonym_test(graph: Graph, texts: Sequence[str], qids: Sequence[str | None]) -> Callable[[str], bool]:
    """A test of wordings: False for one that is only another name of a class that an earlier wording in `texts` names.
    """
    names: dict[str, int] = {}
    for at, text in enumerate(texts[:-1]):
        qid = qids[at] or _only_class_with_label(graph, text)
        for name in graph.names(qid) if qid else ():
            names.setdefault(normalise(name), at)
    index = {text: at for at, text in enumerate(texts)}
    return lambda text: names.get(normalise(text), index[text]) >= index[text]


def _with_broader_kind(case: LadderCase, chain: KindChain, qids: Sequence[str | None], family: str) -> KindChain:
    """The chain, followed by the broader kind of its shortest wording that has one; the finer wordings entail it."""
    known = {normalise(text) for text in chain.texts}
    for at in reversed(range(len(chain.wordings))):
        source = chain.wordings[at]
        is_general = normalise(source.text) in word_list("general_kinds")
        start = None if is_general else qids[at] or _only_class_with_label(case.graph, source.text)
        above = _usual_class_above(case.graph, start, family) if start else None
        if above is None or normalise(above.label) in known:
            continue
        broader_features = frozenset({f"o:{normalise(above.label)}"})
        finer = (replace(wording, features=wording.features | broader_features) for wording in chain.wordings[: at + 1])
        evidence = (*source.evidence, *above.path)
        broader = worded(above.label, broader_features, evidence, one_condition("P31", above.qid))
        return replace(chain, wordings=(*finer, *chain.wordings[at + 1 :], broader))
    return chain


@cached_per_source
def _only_class_with_label(graph: Graph, text: str) -> str | None:
    """The one class with this label, or None where there are several or none."""
    entity_ids = [m.id for m in graph.find(text) if m.kind == "label"]
    graph.fetch(entity_ids)
    classes = [i for i in dict.fromkeys(entity_ids) if graph.targets(i, "P279")]
    return classes[0] if len(classes) == 1 else None


@cached_per_source
def _usual_class_above(graph: Graph, start: str, family: str) -> ClassAbove | None:
    usual = common_type_names(family) - word_list("general_kinds") - set(map(normalise, graph.names(start)))
    for layer in class_layers_above(graph, start, steps=STEPS):
        for above in layer:
            if normalise(above.label) in usual and is_informative(above.label):
                return above
        if len(layer) != 1:  # several superclasses: none is the usual one
            return None
    return None
