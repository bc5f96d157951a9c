"""What kind of dependent territory a place is, in words: "a British overseas territory"."""

from __future__ import annotations

import re

from abstraction.ladders.entity_values import current_values
from abstraction.language.phrases import indefinite
from abstraction.proposals import ANSWER, LadderCase, Proposal
from kg.terms import normalise

_DEPENDENCY = re.compile(r"\b(?:territor(?:y|ies)|dependency|collectivity)\b", re.I)
_NAMED = re.compile(r"[A-Z]")  # it tells whose it is


def dependency(case: LadderCase, key: str) -> list[Proposal]:
    """The tier that says so of the answer, or of the place `key` that holds it; at most one."""
    qid = case.answer if key == ANSWER else key
    if not case.gazetteer.dependency(qid):
        return []
    kinds = [
        v for v in current_values(case.graph, qid, "P31") if _NAMED.search(v.label) and _DEPENDENCY.search(v.label)
    ]
    if not kinds:
        return []
    kind = min(kinds, key=lambda value: (len(value.label), value.label))
    text = indefinite(_singular(kind.label))
    evidence = (kind.evidence,)
    return [Proposal(key=normalise(text), text=text, parents=(key,), evidence=evidence, conditions=kind.conditions)]


def _singular(label: str) -> str:
    """ "British Overseas Territories" -> "British overseas territory"; a name behind "of" stays as it is."""
    kind, of, name = label.partition(" of ")
    first, *rest = kind.replace("Territories", "territory").replace("territories", "territory").split()
    return " ".join([first, *(word.lower() for word in rest)]) + of + name
