"""Awards: the prize they are one of, then by whom they are given, of which country and of which kind."""

from __future__ import annotations

import re
from collections.abc import Sequence

from abstraction.descriptions.trimming import first_segment
from abstraction.evidence import from_description, from_statement
from abstraction.ladders.things import Detail, ThingRecipe, things
from abstraction.proposals import LadderCase, Proposal
from abstraction.tiers import Condition
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


def _details(case: LadderCase) -> Sequence[Detail]:
    """By whom it is given (P1027, else the description), and for what."""
    graph = case.graph
    out: list[Detail] = []
    for statement in graph.current(case.answer, "P1027"):
        label = graph.label(statement.target or "")
        if label is not None and len(out) < GIVERS:
            condition = Condition(property="P1027", value=statement.target or "")
            proof = (from_statement(graph, statement),)
            out.append(Detail(text=f"given by {_the(label)}", evidence=proof, conditions=frozenset({condition})))
    text = graph.description(case.answer)
    said = first_segment(text) if text else ""
    for pattern, verb in ((_BY, "given "), (_FOR, "")):
        found = pattern.search(said)
        if found is None or (verb and out):
            continue
        condition = Condition(property="text", value=f"award:{normalise(found['words'])}")
        proof = (from_description(graph, case.answer, found["words"]),)
        out.append(Detail(text=f"{verb}{found['words']}", evidence=proof, conditions=frozenset({condition})))
    return out


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
