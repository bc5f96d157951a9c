"""What kind of dependent territory a place is, in words: "a British overseas territory"."""

from __future__ import annotations

import re

from abstraction.evidence import from_statement
from abstraction.language.phrases import indefinite
from abstraction.proposals import ANSWER, LadderCase, Proposal
from abstraction.tiers import Condition
from kg.terms import normalise

_TOLD = re.compile(r"\b(?:territor(?:y|ies)|dependency|collectivity)\b", re.I)
_NAMED = re.compile(r"[A-Z]")  # it tells whose it is


def dependency(case: LadderCase, key: str) -> list[Proposal]:
    """The tier that says so of the answer, or of the place `key` that holds it; at most one."""
    qid = case.answer if key == ANSWER else key
    if not case.gazetteer.dependency(qid):
        return []
    told = [(case.graph.label(s.target or "") or "", s) for s in case.graph.current(qid, "P31")]
    told = [(label, s) for label, s in told if _NAMED.search(label) and _TOLD.search(label)]
    if not told:
        return []
    label, statement = min(told, key=lambda one: (len(one[0]), one[0]))
    text = indefinite(_singular(label))
    return [
        Proposal(
            key=normalise(text),
            text=text,
            parents=(key,),
            evidence=(from_statement(case.graph, statement),),
            conditions=frozenset({Condition(property="P31", value=statement.target or "")}),
        )
    ]


def _singular(label: str) -> str:
    """ "British Overseas Territories" -> "British overseas territory"; a name behind "of" stays as it is."""
    kind, of, name = label.partition(" of ")
    first, *rest = kind.replace("Territories", "territory").replace("territories", "territory").split()
    return " ".join([first, *(word.lower() for word in rest)]) + of + name
