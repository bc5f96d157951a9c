"""Kinds of things as chains of ever shorter wordings, with what backs each: for organisations, groups and works."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from abstraction.descriptions.attested_words import common_types
from abstraction.descriptions.kind_grammar import DescribedKind, heads, is_plural
from abstraction.descriptions.spelling import shortenings
from abstraction.evidence import from_statement
from abstraction.ladders.class_hierarchy import stop_classes
from abstraction.ladders.nations import word_evidence
from abstraction.language.phrases import listed, may_stand
from abstraction.proposals import LadderCase
from abstraction.tiers import Condition, Evidence
from kg.terms import normalise
from kg.walks.graph import Graph

STATED = 2  # kinds taken from P31
STEPS = 2  # of P279 to a usual kind


@dataclass(frozen=True, kw_only=True, slots=True)
class KindChain:
    """A kind in all its wordings, finest first, with the features, evidence and conditions of each.

    `tied` counts the first wordings that take no nationality before them.
    """

    texts: tuple[str, ...]
    features: tuple[frozenset[str], ...]
    proofs: tuple[tuple[Evidence, ...], ...]
    conditions: tuple[frozenset[Condition], ...]
    tied: int = 0


def described_kind(case: LadderCase, kind: DescribedKind, family: str) -> KindChain:
    """The kind that a description tells, backed by P31 too where a wording is the label of a stated class."""
    classes = {normalise(case.graph.label(s.target or "") or ""): s for s in case.graph.current(case.answer, "P31")}
    proofs = []
    qids: list[str | None] = []
    for text, used in zip(kind.texts, kind.used, strict=True):
        statement = classes.get(normalise(text))
        proof = word_evidence(case, used)
        proofs.append((*proof, from_statement(case.graph, statement)) if statement is not None else proof)
        qids.append(statement.target if statement is not None else None)
    return _chain(case, kind.texts, qids, proofs, family, kind.tied)


def stated_kinds(case: LadderCase, family: str) -> list[KindChain]:
    """The kinds that P31 gives, general ones only where there is nothing else."""
    found: list[tuple[str, str, Evidence]] = []
    statements = [s for s in case.graph.current(case.answer, "P31") if s.target]
    case.graph.fetch(s.target for s in statements if s.target)
    for statement in statements:
        label = case.graph.label(statement.target or "")
        if label is None or not label[:1].islower() or any(w[:1].isupper() for w in label.split()):
            continue
        last = label.split()[-1]
        if last not in heads(family) or is_plural(last) or len(label.split()) > 4:
            continue
        found.append((label, statement.target or "", from_statement(case.graph, statement)))
    special = [f for f in found if normalise(f[0]) not in listed("general_kinds")] or found
    out: list[KindChain] = []
    for label, qid, evidence in special:
        texts = shortenings(label, case.vocabulary)
        if len(out) == STATED or any(label in chain.texts for chain in out):
            continue
        out.append(_chain(case, texts, [qid, *(None for _ in texts[1:])], [(evidence,) for _ in texts], family, 0))
    return [c for c in out if not any(o is not c and set(c.texts) < set(o.texts) for o in out)]


def _chain(
    case: LadderCase,
    texts: Sequence[str],
    qids: Sequence[str | None],
    proofs: Sequence[tuple[Evidence, ...]],
    family: str,
    tied: int,
) -> KindChain:
    whole = list(texts)
    evidence = list(proofs)
    conditions = [
        frozenset(
            {
                Condition(property="P31", value=qid)
                if qid
                else Condition(property="text", value=f"kind:{normalise(text)}")
            }
        )
        for text, qid in zip(texts, qids, strict=True)
    ]
    features = [frozenset(f"o:{normalise(t)}" for t in texts[i:]) for i in range(len(texts))]
    for source in range(len(texts) - 1, -1, -1) if family == "organisation" else ():
        lifted = broader_kind(case, texts[source], qids[source], family)
        if lifted is None or normalise(lifted[1]) in {normalise(t) for t in texts}:
            continue
        qid, label, path = lifted
        feature = f"o:{normalise(label)}"
        features = [f | {feature} if i <= source else f for i, f in enumerate(features)]
        whole.append(label)
        features.append(frozenset({feature}))
        evidence.append((*proofs[source], *path))
        conditions.append(frozenset({Condition(property="P31", value=qid)}))
        break
    kept = [i for i, text in enumerate(whole) if may_stand(text)]
    return KindChain(
        texts=tuple(whole[i] for i in kept),
        features=tuple(features[i] for i in kept),
        proofs=tuple(evidence[i] for i in kept),
        conditions=tuple(conditions[i] for i in kept),
        tied=sum(1 for i in kept if i < tied),
    )


_BROADER: WeakKeyDictionary[Graph, dict[tuple[str, str], tuple[str, str, tuple[Evidence, ...]] | None]]
_BROADER = WeakKeyDictionary()


def broader_kind(
    case: LadderCase, text: str, qid: str | None, family: str
) -> tuple[str, str, tuple[Evidence, ...]] | None:
    """The nearest usual and telling kind above the class that a wording names: (QID, label, P279 steps)."""
    if normalise(text) in listed("general_kinds"):
        return None
    memory = _BROADER.setdefault(case.graph, {})
    key = (qid or normalise(text), family)
    if key not in memory:
        start = qid or _class_named(case.graph, text)
        memory[key] = _climb(case.graph, start, family) if start else None
    return memory[key]


def _class_named(graph: Graph, text: str) -> str | None:
    """The one class with this label, or None where there are several or none."""
    found = [m.id for m in graph.find(text) if m.kind == "label"]
    graph.fetch(found)
    classes = [i for i in dict.fromkeys(found) if graph.targets(i, "P279")]
    return classes[0] if len(classes) == 1 else None


def _climb(graph: Graph, start: str, family: str) -> tuple[str, str, tuple[Evidence, ...]] | None:
    usual = common_types(family)
    layer: list[tuple[str, tuple[Evidence, ...]]] = [(start, ())]
    seen = {start}
    for _ in range(STEPS):
        above: list[tuple[str, tuple[Evidence, ...]]] = []
        for below, trail in layer:
            for statement in graph.current(below, "P279"):
                target = statement.target
                if target is None or target in seen or target in stop_classes():
                    continue
                seen.add(target)
                label = graph.label(target)
                if label is None:
                    continue
                path = (*trail, from_statement(graph, statement))
                key = normalise(label)
                if key in usual and key not in listed("general_kinds") and may_stand(label):
                    return target, label, path
                above.append((target, path))
        layer = above if len(above) == 1 else []
    return None
