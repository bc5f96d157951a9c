"""Kinds of things as chains of shorter and shorter wordings with evidence: for organisations, groups and works."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from abstraction.base.evidence import from_statement
from abstraction.base.tiers import Condition, Evidence
from abstraction.ladders.class_hierarchy import ClassAbove, layers_above
from abstraction.ladders.entity_values import current_values
from abstraction.ladders.kept_results import kept_with_source
from abstraction.ladders.nations import word_evidence
from abstraction.ladders.phrase_parts import Wording, states
from abstraction.ladders.proposals import LadderCase
from abstraction.text.descriptions.attested_words import common_types, shortenings
from abstraction.text.descriptions.kind_grammar import DescribedKind, heads, is_plural
from abstraction.text.language.phrases import listed, may_stand
from kg.base.terms import normalise
from kg.graph.graph import Graph

STATED = 2  # kinds taken from P31
STEPS = 2  # P279 steps to a usual kind


@dataclass(frozen=True, kw_only=True, slots=True)
class KindChain:
    """A kind in all its wordings, finest first. The first `tied` wordings take no nationality before them."""

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
        stated = conditions or [states("text", f"kind:{normalise(text)}") for text in texts]
        wordings = tuple(
            Wording(text=text, features=frozenset(features[at:]), evidence=proofs[at], conditions=stated[at])
            for at, text in enumerate(texts)
        )
        return cls(wordings=wordings, tied=tied)

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


_DOUBLED = re.compile(r"(?<=\bconglomerate) (?:corporation|company|group)\Z")  # a conglomerate is one


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
    return _chain(case, texts, qids, proofs, family, kind.tied)


def stated_kinds(case: LadderCase, family: str) -> list[KindChain]:
    """The kinds that P31 gives, general ones only where there is nothing else."""
    classes = [v for v in current_values(case.graph, case.answer, "P31") if _names_kind(v.label, family)]
    special = [v for v in classes if normalise(v.label) not in listed("general_kinds")] or classes
    chains: list[KindChain] = []
    for value in special:
        if len(chains) < STATED and not any(value.label in chain.texts for chain in chains):
            texts = shortenings(value.label, case.vocabulary)
            qids = [value.qid, *(None for _ in texts[1:])]
            chains.append(_chain(case, texts, qids, [(value.evidence,)] * len(texts), family))
    return [c for c in chains if not any(c is not other and set(c.texts) < set(other.texts) for other in chains)]


def _names_kind(label: str, family: str) -> bool:
    """Whether a label is a short common noun phrase for one thing of the family, without names."""
    words = label.split()
    plain = label[:1].islower() and not any(word[:1].isupper() for word in words)
    return plain and len(words) <= 4 and words[-1] in heads(family) and not is_plural(words[-1])


def _chain(
    case: LadderCase,
    texts: Sequence[str],
    qids: Sequence[str | None],
    proofs: Sequence[tuple[Evidence, ...]],
    family: str,
    tied: int = 0,
) -> KindChain:
    conditions = [
        states("P31", qid) if qid else states("text", f"kind:{normalise(text)}")
        for text, qid in zip(texts, qids, strict=True)
    ]
    chain = KindChain.from_texts(texts, proofs, conditions, tied=tied).filtered(_synonym_test(case.graph, texts, qids))
    return (_with_broader(case, chain, qids, family) if family == "organisation" else chain).filtered(may_stand)


def _synonym_test(graph: Graph, texts: Sequence[str], qids: Sequence[str | None]) -> Callable[[str], bool]:
    """A test whether a wording is less specific than those before it, rather than a synonym of one of them."""
    names: dict[str, int] = {}
    for at, text in enumerate(texts[:-1]):
        qid = qids[at] or _class_with_label(graph, text)
        for name in graph.names(qid) if qid else ():
            names.setdefault(normalise(name), at)
    index = {text: at for at, text in enumerate(texts)}
    return lambda text: names.get(normalise(text), index[text]) >= index[text]


def _with_broader(case: LadderCase, chain: KindChain, qids: Sequence[str | None], family: str) -> KindChain:
    """The chain, and after it the broader kind of its shortest wording that has one; the finer wordings entail it."""
    known = {normalise(text) for text in chain.texts}
    for at in reversed(range(len(chain.wordings))):
        source = chain.wordings[at]
        above = broader_kind(case, source.text, qids[at], family)
        if above is None or normalise(above.label) in known:
            continue
        broader_features = frozenset({f"o:{normalise(above.label)}"})
        finer = (replace(wording, features=wording.features | broader_features) for wording in chain.wordings[: at + 1])
        evidence = (*source.evidence, *above.path)
        broader = Wording(
            text=above.label, features=broader_features, evidence=evidence, conditions=states("P31", above.qid)
        )
        return replace(chain, wordings=(*finer, *chain.wordings[at + 1 :], broader))
    return chain


def broader_kind(case: LadderCase, text: str, qid: str | None, family: str) -> ClassAbove | None:
    """The nearest usual and specific kind above the class that a wording names."""
    if normalise(text) in listed("general_kinds"):
        return None
    start = qid or _class_with_label(case.graph, text)
    return _usual_class_above(case.graph, start, family) if start else None


@kept_with_source
def _class_with_label(graph: Graph, text: str) -> str | None:
    """The one class with this label, or None where there are several or none."""
    entity_ids = [m.id for m in graph.find(text) if m.kind == "label"]
    graph.fetch(entity_ids)
    classes = [i for i in dict.fromkeys(entity_ids) if graph.targets(i, "P279")]
    return classes[0] if len(classes) == 1 else None


@kept_with_source
def _usual_class_above(graph: Graph, start: str, family: str) -> ClassAbove | None:
    usual = common_types(family) - listed("general_kinds") - set(map(normalise, graph.names(start)))
    for layer in layers_above(graph, start, steps=STEPS):
        for above in layer:
            if normalise(above.label) in usual and may_stand(above.label):
                return above
        if len(layer) != 1:
            return None
    return None
