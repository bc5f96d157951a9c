"""Educational institutions asked by "where educated": the parent institution, then where they stand."""

from __future__ import annotations

import re

from abstraction.evidence import from_statement
from abstraction.ladders.place_ladders import Climb
from abstraction.proposals import ANSWER, LadderCase, Proposal
from abstraction.tiers import Evidence

PARENTS = 2  # steps up
# Leagues and consortia have universities as members, not as parts.
_LOOSE = re.compile(
    r"\b(?:association|league|consortium|network|alliance|union|group|conference|federation|council)\b", re.I
)


def schools(case: LadderCase) -> list[Proposal]:
    """Parent institutions (P749, P361, while current), each with its own places, then the answer's places."""
    graph = case.graph
    parents: dict[str, tuple[str, Evidence]] = {}
    layer = [(case.answer, ANSWER)]
    for _ in range(PARENTS):
        above = []
        for entity_id, key in layer:
            for prop in ("P749", "P361"):
                statements = list(graph.current(entity_id, prop))
                if case.at is not None:
                    statements += [s for s in graph.held_at(entity_id, prop, case.at) if s not in statements]
                for statement in statements:
                    target = statement.target
                    if target is None or target in parents or target == case.answer:
                        continue
                    label = graph.label(target)
                    if label is None or _LOOSE.search(label) or "school" not in case.gazetteer.classes(target):
                        continue
                    parents[target] = (key, from_statement(graph, statement))
                    above.append((target, target))
        layer = above
    return Climb(case).beyond(parents)
