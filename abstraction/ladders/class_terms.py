"""Occupations as answers, and what every class-valued answer shares: the classes that its description names."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from abstraction.assembly.levels import as_graph
from abstraction.descriptions.trimming import first_segment
from abstraction.evidence import from_description
from abstraction.ladders.class_hierarchy import (
    Climbing,
    add_with_classes_above,
    climb,
    stop_classes,
    used_as_value,
)
from abstraction.ladders.entity_values import entity_proposal
from abstraction.ladders.phrase_parts import states
from abstraction.language.phrases import may_stand
from abstraction.proposals import LadderCase, Proposal

_HYPERNYM = re.compile(
    r"^(?:an?\s+|the\s+)?(?P<x>[A-Za-z][\w' -]*?)(?<!\s)\s++(?:who|whom|speciali[sz]ing|specialist|specialized|that|of"
    r"|in|with|working|writing)\b"
)

_NOT = re.compile(r"\b(?:non[\s-]+|not\s+(?:an?\s+)?)$", re.IGNORECASE)


def terms(case: LadderCase) -> list[Proposal]:
    """ "actor › performing artist › artist": only classes that enough persons have as occupation."""
    graph = case.graph
    used = used_as_value(graph, "P106")
    how = Climbing(properties=("P279",), depth=2, keep=used, doubting=True)
    proposals = climb(graph, case.answer, how, condition="P106")
    for proposal in described_classes(case, _HYPERNYM, "P106", lambda q: q not in stop_classes() and used(q)):
        if proposal.key not in proposals:
            add_with_classes_above(proposals, proposal, graph, replace(how, depth=1), condition="P106")
    # Doubtful steps are taken where there are no others.
    proposals = proposals or climb(graph, case.answer, replace(how, doubting=False), condition="P106")
    return list(as_graph(proposals.values()).values())


def described_classes(
    case: LadderCase,
    pattern: re.Pattern[str],
    prop: str,
    keep: Callable[[str], bool],
    *,
    names: Callable[[str], list[str]] = lambda written: [written],
) -> list[Proposal]:
    """Classes that the answer's description names, canonicalised to an entity that `keep` lets stand."""
    graph = case.graph
    description = graph.description(case.answer)
    if not description:
        return []
    out = []
    segment = first_segment(description)
    for match in pattern.finditer(segment):
        group = "x" if match["x"] else "y"
        written = match[group].strip()
        if not may_stand(written) or _NOT.search(segment[: match.start(group)]):
            continue  # "officer" may mean many things; a "non-Indo-European language" is no such language
        fitting = ((name, m.id) for name in names(written) for m in graph.find(name))
        name, qid = next(((n, q) for n, q in fitting if q != case.answer and keep(q)), ("", ""))
        if qid:
            evidence = (from_description(graph, case.answer, written),)
            node = entity_proposal(graph, qid, graph.label(qid) or written, evidence, states(prop, qid))
            aliases = node.aliases if name == node.text else (*node.aliases, name)
            out.append(replace(node, aliases=aliases))
    return out
