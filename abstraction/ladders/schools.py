"""Educational institutions asked by "where educated": the parent institution, then where they stand."""

from __future__ import annotations

import re

from abstraction.ladders.entity_values import named_values
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
                then = graph.held_at(entity_id, prop, case.at) if case.at is not None else []
                for value in named_values(graph, [*graph.current(entity_id, prop), *then]):
                    if value.qid in parents or value.qid == case.answer or _LOOSE.search(value.label):
                        continue
                    if "school" in case.gazetteer.classes(value.qid):
                        parents[value.qid] = (key, value.evidence)
                        above.append((value.qid, value.qid))
        layer = above
    return Climb(case).beyond(parents)
