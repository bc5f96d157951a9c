"""Taxa: the genus, family, order and class above a species; else what the description calls it."""

from __future__ import annotations

import re

from abstraction.descriptions.trimming import first_segment
from abstraction.evidence import from_description, from_statement
from abstraction.ladders.nations import speaks_english
from abstraction.language.phrases import indefinite
from abstraction.proposals import ANSWER, LadderCase, Proposal
from abstraction.tiers import Condition, Evidence
from kg.terms import normalise

# Ranks (P105) that readers know; what lies between is climbed through.
RANKS = frozenset({"Q7432", "Q34740", "Q35409", "Q36602", "Q37517"})  # species, genus, family, order, class
STEPS = 60  # full lineages have some forty ranked and unranked steps
_KIND_OF = re.compile(
    r"^(?:an?\s+|the\s+)?(?:(?:extinct|fossil|large|small|medium-sized)\s+)*(?P<rank>sub-?species|species|breed|genus|family|order|variety|cultivar)\s+of\s+"
    r"(?P<x>[a-z][a-z-]*(?:\s[a-z-]+){0,2}?)(?=$|[,;(]|\s+(?:in|of|from|that|which|native|endemic|belonging|found|with)\b)"
)


def taxa(case: LadderCase) -> list[Proposal]:
    """The taxa above the answer by P171, those of the usual ranks; below them nothing, above them the description."""
    graph = case.graph
    out: list[Proposal] = []
    below, trail, at = ANSWER, (), case.answer
    seen = {at}
    steps: tuple[Evidence, ...] = trail
    for _ in range(STEPS):
        parents = [s for s in graph.current(at, "P171") if s.target and s.target not in seen]
        if not parents:
            break
        statement = parents[0]
        at = statement.target or ""
        seen.add(at)
        steps = (*steps, from_statement(graph, statement))
        label = graph.label(at)
        if label is None or RANKS.isdisjoint(graph.targets(at, "P105")):
            continue
        names = tuple(name for name in graph.names(at) if name != label)
        condition = frozenset({Condition(property="P171", value=at)})
        out.append(
            Proposal(key=at, text=label, qid=at, parents=(below,), aliases=names, evidence=steps, conditions=condition)
        )
        below, steps = at, ()
    return [*out, *_described(case)]


def _described(case: LadderCase) -> list[Proposal]:
    """ "a species of bird", where the description says so."""
    text = case.graph.description(case.answer)
    found = _KIND_OF.match(first_segment(text)) if text and speaks_english(case) else None
    if found is None:
        return []
    words = f"{found['rank']} of {found['x']}"
    return [
        Proposal(
            key=indefinite(words),
            text=indefinite(words),
            aliases=(indefinite(found["x"]),) if found["rank"].endswith(("species", "breed", "variety")) else (),
            evidence=(from_description(case.graph, case.answer, words),),
            conditions=frozenset({Condition(property="text", value=f"kind:{normalise(words)}")}),
        )
    ]
