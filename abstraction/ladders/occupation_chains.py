"""Occupations as chains of ever shorter wordings, and the broader class that the graph puts them in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakKeyDictionary

from abstraction.descriptions.office_grammar import title_alone
from abstraction.descriptions.person_grammar import PersonDescription
from abstraction.descriptions.spelling import shortenings
from abstraction.descriptions.words import DescriptionWord, words
from abstraction.evidence import from_statement
from abstraction.ladders.class_hierarchy import denied_lifts, stop_classes, used_as_value
from abstraction.language.phrases import indefinite, may_stand
from abstraction.proposals import LadderCase
from abstraction.tiers import Condition, Evidence
from kg.model import Statement
from kg.terms import normalise
from kg.walks.graph import Graph

STATED = 4  # occupations taken from P106
LOOKED_AT = 20  # of those stated
SAME_STEM = 3  # letters
PASSED_THROUGH = 2  # P279 steps to a class in use as an occupation


class Speaker(Protocol):
    """Who can show words of a description as evidence."""

    def spans(self, used: Sequence[DescriptionWord]) -> tuple[Evidence, ...]:
        """The words as evidence."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class OccupationWording:
    """An occupation in all its wordings: as given, shortened (`texts`), then lifted to a broader class.

    `qids` are the occupations that the `texts` name (None where none does), `proofs` their evidence,
    `lifted_qids` and `lifted_proofs` the same for `lifted`. `national`: the description has a nationality before it.
    """

    texts: tuple[str, ...]
    qids: tuple[str | None, ...]
    proofs: tuple[tuple[Evidence, ...], ...]
    lifted: tuple[str, ...] = ()
    lifted_qids: tuple[str, ...] = ()
    lifted_proofs: tuple[tuple[Evidence, ...], ...] = ()
    lead: tuple[DescriptionWord, ...] = ()
    tied: int = 0
    national: bool = False
    labels: tuple[str | None, ...] = ()

    def support(self, index: int) -> tuple[tuple[Evidence, ...], frozenset[Condition]]:
        """Evidence and conditions of the wording at `index`, counting through `texts` and then `lifted`."""
        if index >= len(self.texts):
            at = index - len(self.texts)
            return self.lifted_proofs[at], frozenset({Condition(property="P106", value=self.lifted_qids[at])})
        for behind in range(index, len(self.texts)):
            qid = self.qids[behind]
            if qid is not None:
                conditions = {Condition(property="P106", value=qid)}
                if behind > index:
                    before = self.texts[index][: len(self.texts[index]) - len(self.texts[behind])].strip()
                    conditions.add(Condition(property="text", value=f"mod:{normalise(before)}"))
                return self.proofs[index], frozenset(conditions)
        return self.proofs[index], frozenset(
            {Condition(property="text", value=f"occupation:{normalise(self.texts[index])}")}
        )

    def other(self, index: int) -> str | None:
        """The occupation's own label where the description words it differently: "actor" for "actress"."""
        label = self.labels[index] if index < len(self.labels) else None
        if label is None or f" {normalise(label)}".endswith(f" {normalise(self.texts[index])}"):
            return None
        return label


def described_occupations(case: LadderCase, speaker: Speaker, described: PersonDescription) -> list[OccupationWording]:
    """The occupations of a description, in its order; former ones only where it tells nothing else."""
    stated = {s.target: s for s in case.graph.current(case.answer, "P106") if s.target}
    out = []
    for occupation in described.occupations:
        if occupation.former:
            continue
        qids = tuple(_named(case, text, stated) for text in occupation.texts)
        proofs = []
        for text, used in zip(occupation.texts, occupation.used, strict=True):
            proofs.append((*speaker.spans(used), *_backing(case, text, stated)))
        lifted = _lifts(case, occupation.texts, qids, tuple(proofs), stated)
        if occupation.lift is not None and occupation.lift != occupation.texts[-1]:
            rule = Evidence(kind="rule", text=f"{indefinite(occupation.texts[-1])} is {indefinite(occupation.lift)}")
            owner = _named(case, occupation.lift, stated)
            lifted = [(occupation.lift, owner or "", (*proofs[-1], rule))]
        out.append(
            _wording(
                case,
                occupation.texts,
                qids,
                tuple(proofs),
                lifted,
                lead=occupation.lead,
                tied=occupation.tied,
                national=occupation.nationality is not None,
            )
        )
    return _facets(case, out)


def _facets(case: LadderCase, found: list[OccupationWording]) -> list[OccupationWording]:
    """Those of a person's occupations that the relation asks about; all where none is, or the relation has none."""
    facets = case.relation.facets
    if facets is None:
        return found

    def is_one(wording: OccupationWording) -> bool:
        if wording.texts[0].rsplit(" ", 1)[-1] in facets.heads:
            return True
        ids = [qid for qid in (*wording.qids, *wording.lifted_qids) if qid]
        return any(i in facets.kinds or not facets.kinds.isdisjoint(case.graph.superclasses(i)) for i in ids)

    return [wording for wording in found if is_one(wording)] or found


def stated_occupations(case: LadderCase) -> list[OccupationWording]:
    """The occupations that statements give: best rank first."""
    graph = case.graph
    statements = [s for s in graph.current(case.answer, "P106") if s.target]
    stated = {s.target: s for s in statements if s.target}
    out: list[OccupationWording] = []
    for statement in statements:
        label = graph.label(statement.target or "")
        if label is None or len(out) == LOOKED_AT or not case.vocabulary.is_occupation(label):
            continue
        texts = shortenings(label, case.vocabulary)
        qids = (statement.target, *(_named(case, text, stated) for text in texts[1:]))
        proof = (from_statement(graph, statement),)
        proofs = tuple(proof for _ in texts)
        out.append(_wording(case, texts, qids, proofs, _lifts(case, texts, qids, proofs, stated)))
    return _facets(case, out)[:STATED]


def noble_titles(case: LadderCase) -> list[OccupationWording]:
    """The titles that P97 gives, "count" and then "nobleman"; those with a land are read as offices are."""
    out: list[OccupationWording] = []
    for statement in case.graph.current(case.answer, "P97"):
        label = case.graph.label(statement.target or "")
        alone = title_alone(words(label)) if label else None
        owners = case.vocabulary.labelled.get(alone[1], ()) if alone is not None else ()
        if alone is None or alone[0] == alone[1] or len(out) == STATED:
            continue
        title, lift = alone
        proof = (from_statement(case.graph, statement),)
        rule = Evidence(kind="rule", text=f"{indefinite(title)} is {indefinite(lift)}")
        lifted = [(lift, owners[0], (*proof, rule))] if owners else []
        out.append(_wording(case, (title,), (None,), (proof,), lifted))
    return out


Lifted = Sequence[tuple[str, str, tuple[Evidence, ...]]]


def _wording(
    case: LadderCase,
    texts: tuple[str, ...],
    qids: tuple[str | None, ...],
    proofs: tuple[tuple[Evidence, ...], ...],
    lifted: Lifted,
    *,
    lead: tuple[DescriptionWord, ...] = (),
    tied: int = 0,
    national: bool = False,
) -> OccupationWording:
    return OccupationWording(
        texts=texts,
        qids=qids,
        proofs=proofs,
        lead=lead,
        tied=tied,
        national=national,
        lifted=tuple(text for text, _, _ in lifted),
        lifted_qids=tuple(qid for _, qid, _ in lifted),
        lifted_proofs=tuple(proof for _, _, proof in lifted),
        labels=tuple(case.graph.label(qid) if qid else None for qid in qids),
    )


Stated = Mapping[str, Statement] | Mapping[str | None, Statement]


def _named(case: LadderCase, text: str, stated: Stated) -> str | None:
    """The occupation that a wording names: by its label, else by an alias of one that the person is stated to have.

    A label comes first: "director" is no other name for a film director, though it is among its aliases. An alias
    of no one else counts where it is a form of the label's own word.
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


def _backing(case: LadderCase, text: str, stated: Stated) -> tuple[Evidence, ...]:
    """The P106 statement whose occupation carries the wording as label or alias."""
    for qid in case.vocabulary.occupations.get(normalise(text), ()):
        if qid in stated:
            return (from_statement(case.graph, stated[qid]),)
    return ()


def _lifts(
    case: LadderCase, texts: tuple[str, ...], qids: tuple[str | None, ...], proofs: tuple[tuple[Evidence, ...], ...],
    stated: Stated,
) -> list[tuple[str, str, tuple[Evidence, ...]]]:  # fmt: skip
    """The broader class of the shortest wording that names an occupation: (text, QID, evidence) for its wordings."""
    for index in range(len(texts) - 1, -1, -1):
        qid = qids[index]
        if qid is None:
            continue
        found = broader_class(case.graph, qid)
        if found is None:
            continue
        target, label, path = found
        wordings = shortenings(label, case.vocabulary)
        owners = (target, *(_named(case, w, {}) for w in wordings[1:]))
        known = {normalise(t) for t in texts}
        return [
            (text, owner or target, (*proofs[index], *path))
            for text, owner in zip(wordings, owners, strict=True)
            if normalise(text) not in known and may_stand(text) and (target, owner) not in denied_lifts()
        ]
    return []


_USED: WeakKeyDictionary[Graph, Callable[[str], bool]] = WeakKeyDictionary()
_BROADER: WeakKeyDictionary[Graph, dict[str, tuple[str, str, tuple[Evidence, ...]] | None]] = WeakKeyDictionary()


def broader_class(graph: Graph, qid: str) -> tuple[str, str, tuple[Evidence, ...]] | None:
    """The nearest class above an occupation that enough persons have as theirs: (QID, label, P279 steps).

    A class that is a mere synonym or too rare is passed through; stop classes and denied pairs end the climb.
    Of several classes the most used one is taken.
    """
    memory = _BROADER.setdefault(graph, {})
    if qid not in memory:
        memory[qid] = _climb(graph, qid)
    return memory[qid]


def _climb(graph: Graph, qid: str) -> tuple[str, str, tuple[Evidence, ...]] | None:
    used = _USED.get(graph)
    if used is None:
        used = _USED[graph] = used_as_value(graph, "P106")
    own = {normalise(n) for n in graph.names(qid)}
    stop, denied = stop_classes(), denied_lifts()
    layer: list[tuple[str, tuple[Evidence, ...]]] = [(qid, ())]
    seen = {qid}
    for _ in range(PASSED_THROUGH):
        found: list[tuple[int, int, str, str, tuple[Evidence, ...]]] = []
        above: list[tuple[str, tuple[Evidence, ...]]] = []
        for below, trail in layer:
            for statement in graph.current(below, "P279"):
                target = statement.target
                if target is None or target in seen or target in stop:
                    continue
                if (below, target) in denied or (qid, target) in denied:
                    continue
                seen.add(target)
                label = graph.label(target)
                path = (*trail, from_statement(graph, statement))
                if label is None:
                    continue
                if normalise(label) not in own and used(target) and may_stand(label) and label[:1].islower():
                    count = graph.store.value_counts([("P106", target)]).get(("P106", target), 0)
                    found.append((-count, int(target[1:]), target, label, path))
                else:
                    above.append((target, path))
        if found:
            _, _, target, label, path = min(found)
            return target, label, path
        layer = above
    return None
