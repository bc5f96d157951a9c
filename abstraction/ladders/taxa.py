"""Taxa: the genus, family, order and class above a species; else what the description calls it."""

from __future__ import annotations

import re

from abstraction.descriptions.trimming import first_segment
from abstraction.evidence import from_description, from_statement
from abstraction.ladders.entity_values import entity_proposal
from abstraction.ladders.nations import speaks_english
from abstraction.ladders.phrase_parts import states
from abstraction.language.phrases import indefinite
from abstraction.proposals import ANSWER, LadderCase, Proposal
from abstraction.tiers import Evidence
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
    below, at, seen = ANSWER, case.answer, {case.answer}
    steps: tuple[Evidence, ...] = ()
    for _ in range(STEPS):
        statement = next((s for s in graph.current(at, "P171") if s.target and s.target not in seen), None)
        if statement is None:
            break
        at = statement.target or ""
        seen.add(at)
        steps = (*steps, from_statement(graph, statement))
        label = graph.label(at)
        if label is not None and not RANKS.isdisjoint(graph.targets(at, "P105")):
            out.append(entity_proposal(graph, at, label, steps, states("P171", at), parents=(below,)))
            below, steps = at, ()
    return [*out, *_described(case)]


def _described(case: LadderCase) -> list[Proposal]:
    """ "a species of bird", where the description says so."""
    text = case.graph.description(case.answer)
    match = _KIND_OF.match(first_segment(text)) if text and speaks_english(case) else None
    if match is None:
        return []
    words = f"{match['rank']} of {match['x']}"
    return [
        Proposal(
            key=indefinite(words),
            text=indefinite(words),
            aliases=(indefinite(match["x"]),) if match["rank"].endswith(("species", "breed", "variety")) else (),
            evidence=(from_description(case.graph, case.answer, words),),
            conditions=states("text", f"kind:{normalise(words)}"),
        )
    ]
