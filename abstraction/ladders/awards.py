"""Awards: the prize they are one of, then by whom they are given, of which country and of which kind."""

from __future__ import annotations

import re
from collections.abc import Sequence

from abstraction.descriptions.trimming import first_segment
from abstraction.evidence import from_description
from abstraction.ladders.entity_values import current_values
from abstraction.ladders.phrase_parts import Wording, states
from abstraction.ladders.things import ThingRecipe, things
from abstraction.proposals import LadderCase, Proposal
from abstraction.tiers import Condition, Evidence
from kg.terms import normalise

GIVERS = 1
_FOR = re.compile(
    r"\b(?:awards?|prizes?|medals?|honou?rs?)\s+(?:\w+ )?(?P<words>for\s+(?:the\s+)?(?P<x>[a-z][\w' -]{1,250}?))"
    r"(?=$|[,;.(]|(?<!\s)\s++(?:in the|in [A-Z]|by|given|since|that|which|presented|from)\b)"
)
_BY = re.compile(
    r"\b(?:given|presented|awarded|conferred|bestowed|granted)(?:\s+\w+ly)?\s+(?P<words>by\s+(?:the\s+)?"
    r"(?P<x>[A-Z][\w'’&.-]*(?:\s+(?:(?:of|and|for|the)\s+){0,2}[A-Z&][\w'’&.-]*)*))"
)


def awards(case: LadderCase) -> list[Proposal]:
    """ "Nobel Prize | a science award given by X › a Swedish science award › a science award"."""
    return things(case, _RECIPE)


def _details(case: LadderCase) -> Sequence[Wording]:
    """By whom it is given (P1027, else the description), and for what."""
    graph = case.graph
    givers = current_values(graph, case.answer, "P1027")[:GIVERS]
    details = [_detail(f"given by {_the(v.label)}", v.evidence, v.conditions) for v in givers]
    sentence = first_segment(graph.description(case.answer) or "")
    for pattern, verb in ((_FOR, ""),) if givers else ((_BY, "given "), (_FOR, "")):
        if match := pattern.search(sentence):
            evidence = from_description(graph, case.answer, match["words"])
            conditions = states("text", f"award:{normalise(match['words'])}")
            details.append(_detail(f"{verb}{match['words']}", evidence, conditions))
    return details


def _detail(text: str, evidence: Evidence, conditions: frozenset[Condition]) -> Wording:
    return Wording(text=text, features=frozenset({f"d:{text}"}), evidence=(evidence,), conditions=conditions)


_BODY = re.compile(
    r"\b(?:Academy|Association|Society|Institute|Foundation|Committee|Council|University of|President|King|Queen|"
    r"Government|Ministry|Federation|Union|Commission|Guild)\b"
)


def _the(label: str) -> str:
    return f"the {label}" if _BODY.search(label) and not label.lower().startswith("the ") else label


_RECIPE = ThingRecipe(
    family="award",
    noun="award",
    wholes=("P361", "P279", "P31"),
    within=frozenset({"award"}),
    lands=("P17",),
    behind=_details,
)
