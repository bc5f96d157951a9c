"""Answers that are classes of any other kind: a religion, a sport, an instrument, a field of work."""

from __future__ import annotations

import re

from abstraction.ladders.class_hierarchy import Climbing, climb, stop_classes, used_as_value
from abstraction.ladders.nations import speaks_english
from abstraction.proposals import LadderCase, Proposal
from kg.terms import normalise

STEPS = 3
# Classes of classes, which no answer is called by.
_OF_KINDS = re.compile(r"\b(?:sets?|class(?:es)?|types?|kinds?|groups?|classification) of\b")


def concepts(case: LadderCase) -> list[Proposal]:
    """ "Lutheranism › Protestantism › Christianity", "boxing › combat sport".

    Superclasses that are answers to the relation themselves, or that are called what the relation asks for with a
    word before it. Empty without a relation: nothing then tells where a climb leaves what was asked ("jazz ›
    knowledge").
    """
    if not case.relation.id:
        return []
    used = used_as_value(case.graph, case.relation.id, minimum=1)
    noun = _noun(case)

    def keep(qid: str) -> bool:
        label = normalise(case.graph.label(qid) or "")
        if qid in stop_classes() or _OF_KINDS.search(label) or label == noun:
            return False
        return used(qid) or bool(noun and label.endswith(f" {noun}"))

    how = Climbing(properties=("P279",), first=("P31",), depth=STEPS, keep=keep, doubting=True)
    return list(climb(case.graph, case.answer, how, condition=case.relation.id).values())


def _noun(case: LadderCase) -> str | None:
    """The noun of the relation's own name: "religion", "sport", "instrument"."""
    label = case.graph.label(case.relation.id)
    return normalise(label).split(" of ")[0].split(" ")[-1] if label and speaks_english(case) else None
