"""Answers that are classes of any other kind: a religion, a sport, an instrument, a field of work."""

from __future__ import annotations

from abstraction.hierarchy import Climbing, climb, stop_classes, used_as_value
from abstraction.ladders.base import Case, Proposal

STEPS = 3


def concepts(case: Case) -> list[Proposal]:
    """ "Lutheranism › Protestantism › Christianity": superclasses that are themselves answers to the relation.

    Empty without a relation: nothing then tells where a climb leaves what was asked ("jazz › knowledge").
    """
    if not case.relation.id:
        return []
    used = used_as_value(case.graph, case.relation.id, minimum=1)
    how = Climbing(properties=("P279",), depth=STEPS, keep=lambda qid: qid not in stop_classes() and used(qid))
    return list(climb(case.graph, case.answer, how, condition=case.relation.id).values())
