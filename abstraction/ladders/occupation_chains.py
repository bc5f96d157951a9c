"""Occupations as chains of shorter and shorter wordings, and the broader class of each in the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from abstraction.base.evidence import from_statement
from abstraction.base.tiers import Condition, Evidence
from abstraction.ladders.class_hierarchy import ClassAbove, denied_lifts, layers_above, used_as_value
from abstraction.ladders.entity_values import current_values
from abstraction.ladders.kept_results import kept_with_source
from abstraction.ladders.nations import word_evidence
from abstraction.ladders.phrase_parts import states
from abstraction.ladders.proposals import LadderCase
from abstraction.text.descriptions.attested_words import DescriptionWord, shortenings
from abstraction.text.descriptions.person_grammar import PersonDescription
from abstraction.text.language.phrases import indefinite, may_stand
from kg.base.model import Statement
from kg.base.terms import normalise
from kg.graph.graph import Graph

STATED = 4  # occupations taken from P106
LOOKED_AT = 20  # P106 values that are considered per person
SAME_STEM = 3  # letters at the beginning that "actress" and "actor" must share
PASSED_THROUGH = 2  # P279 steps to a class in use as an occupation


@dataclass(frozen=True, kw_only=True, slots=True)
class OccupationWording:
    """One wording of an occupation: the entity of the occupation, if any, and its evidence.

    `other` is the label of the occupation where the description has another word: "actor" for "actress". `lifted`: the
    wording is the broader class of those before it.
    """

    text: str
    qid: str | None
    evidence: tuple[Evidence, ...]
    conditions: frozenset[Condition]
    other: str | None = None
    lifted: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class OccupationChain:
    """An occupation in all its wordings: as given, shortened, then as a broader class.

    The first `tied` take no nationality before them; `lead` are words before the whole phrase. `national`: the
    description has a nationality before the occupation.
    """

    wordings: tuple[OccupationWording, ...]
    lead: tuple[DescriptionWord, ...] = ()
    tied: int = 0
    national: bool = False

    @property
    def text(self) -> str:
        """The occupation as given."""
        return self.wordings[0].text


Stated = Mapping[str, Statement]  # P106 statements by the QID of the occupation


def described_occupations(case: LadderCase, described: PersonDescription) -> list[OccupationChain]:
    """The occupations of a description, in its order; former ones only where there are no others."""
    stated = _occupation_statements(case)
    out = []
    for occupation in described.occupations:
        if occupation.former:
            continue
        texts = occupation.texts
        proofs = [
            (*word_evidence(case, used), *_supporting_statement(case, text, stated))
            for text, used in zip(texts, occupation.used, strict=True)
        ]
        chain = _wordings_with_conditions(case, texts, [_find_occupation(case, text, stated) for text in texts], proofs)
        if occupation.lift is not None and occupation.lift != texts[-1]:
            rule = Evidence(kind="rule", text=f"{indefinite(texts[-1])} is {indefinite(occupation.lift)}")
            qid = _find_occupation(case, occupation.lift, stated)
            lifts = [_broader_wording(occupation.lift, qid or "", (*proofs[-1], rule))]
        else:
            lifts = _broader_wordings(case, chain)
        is_national = occupation.nationality is not None
        wordings = (*chain, *lifts)
        out.append(OccupationChain(wordings=wordings, lead=occupation.lead, tied=occupation.tied, national=is_national))
    return _asked_occupations(case, out)


def _occupation_statements(case: LadderCase) -> Stated:
    return {s.target: s for s in case.graph.current(case.answer, "P106") if s.target}


def _asked_occupations(case: LadderCase, chains: list[OccupationChain]) -> list[OccupationChain]:
    """The occupations that the relation asks about; all where none matches or the relation has no facets."""
    facets = case.relation.facets
    if facets is None:
        return chains

    def is_asked(chain: OccupationChain) -> bool:
        if chain.text.rsplit(" ", 1)[-1] in facets.heads:
            return True
        ids = [wording.qid for wording in chain.wordings if wording.qid]
        return any(i in facets.kinds or not facets.kinds.isdisjoint(case.graph.superclasses(i)) for i in ids)

    return [chain for chain in chains if is_asked(chain)] or chains


def stated_occupations(case: LadderCase) -> list[OccupationChain]:
    """The occupations that statements give: best rank first."""
    stated = _occupation_statements(case)
    values = current_values(case.graph, case.answer, "P106")
    out: list[OccupationChain] = []
    for value in [v for v in values if case.vocabulary.is_occupation(v.label)][:LOOKED_AT]:
        texts = shortenings(value.label, case.vocabulary)
        qids = [value.qid, *(_find_occupation(case, text, stated) for text in texts[1:])]
        chain = _wordings_with_conditions(case, texts, qids, [(value.evidence,)] * len(texts))
        out.append(OccupationChain(wordings=(*chain, *_broader_wordings(case, chain))))
    return _asked_occupations(case, out)[:STATED]


def _wordings_with_conditions(
    case: LadderCase, texts: Sequence[str], qids: Sequence[str | None], proofs: Sequence[tuple[Evidence, ...]]
) -> list[OccupationWording]:
    """The wordings as given, each with the conditions that it states."""
    out: list[OccupationWording] = []
    for at, (text, qid, evidence) in enumerate(zip(texts, qids, proofs, strict=True)):
        behind = next((i for i in range(at, len(texts)) if qids[i] is not None), None)
        if behind is None:
            conditions = states("text", f"occupation:{normalise(text)}")
        else:
            conditions = states("P106", qids[behind] or "")
            if behind > at:
                before = text[: len(text) - len(texts[behind])].strip()
                conditions |= states("text", f"mod:{normalise(before)}")
        label = case.graph.label(qid) if qid else None
        is_same = label is None or f" {normalise(label)}".endswith(f" {normalise(text)}")
        other = None if is_same else label
        out.append(OccupationWording(text=text, qid=qid, evidence=evidence, conditions=conditions, other=other))
    return out


def _find_occupation(case: LadderCase, text: str, stated: Stated) -> str | None:
    """The occupation that a wording names: by its label, else by an alias of an occupation that is stated for the
    person.

    Labels come first: "director" is an alias of film director, but not its meaning. An alias of a single occupation
    counts where it is a form of the word in the label.
    """
    key = normalise(text)
    labelled = case.vocabulary.labelled.get(key, ())
    owners = labelled or case.vocabulary.occupations.get(key, ())
    for qid in owners:
        if qid in stated:
            return qid
    if labelled:
        return labelled[0]
    # "actress" is the only occupation of that name, and begins as its label does: another form of the word.
    label = case.graph.label(owners[0]) if len(owners) == 1 else None
    return owners[0] if label is not None and normalise(label)[:SAME_STEM] == key[:SAME_STEM] else None


def _supporting_statement(case: LadderCase, text: str, stated: Stated) -> tuple[Evidence, ...]:
    """The P106 statement whose occupation carries the wording as label or alias."""
    for qid in case.vocabulary.occupations.get(normalise(text), ()):
        if qid in stated:
            return (from_statement(case.graph, stated[qid]),)
    return ()


def _broader_wordings(case: LadderCase, chain: Sequence[OccupationWording]) -> list[OccupationWording]:
    """The broader class of the shortest wording that names an occupation, in its own wordings."""
    for source in reversed(chain):
        above = broader_class(case.graph, source.qid) if source.qid is not None else None
        if above is None:
            continue
        texts = shortenings(above.label, case.vocabulary)
        owners = (above.qid, *(_find_occupation(case, text, {}) for text in texts[1:]))
        known = {normalise(wording.text) for wording in chain}
        return [
            _broader_wording(text, owner or above.qid, (*source.evidence, *above.path))
            for text, owner in zip(texts, owners, strict=True)
            if normalise(text) not in known and may_stand(text) and (above.qid, owner) not in denied_lifts()
        ]
    return []


def _broader_wording(text: str, qid: str, evidence: tuple[Evidence, ...]) -> OccupationWording:
    return OccupationWording(text=text, qid=qid, evidence=evidence, conditions=states("P106", qid), lifted=True)


@kept_with_source
def _used_as_occupation(graph: Graph) -> Callable[[str], bool]:
    return used_as_value(graph, "P106")


@kept_with_source
def broader_class(graph: Graph, qid: str) -> ClassAbove | None:
    """The nearest class above an occupation that enough persons have as occupation.

    Synonyms and rare classes are passed through; stop classes and denied pairs end the climb. Of several classes the
    most frequent is used.
    """
    used = _used_as_occupation(graph)
    names = {normalise(n) for n in graph.names(qid)}

    def rank(above: ClassAbove) -> tuple[int, int]:
        pair = ("P106", above.qid)
        return -graph.store.value_counts([pair]).get(pair, 0), int(above.qid[1:])

    for layer in layers_above(graph, qid, steps=PASSED_THROUGH, denied=denied_lifts()):
        plain = [a for a in layer if normalise(a.label) not in names and may_stand(a.label) and a.label[:1].islower()]
        if fitting := [above for above in plain if used(above.qid)]:
            return min(fitting, key=rank)
    return None
