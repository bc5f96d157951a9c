"""Positions of players: the side and the sport, and broader positions in use."""

from __future__ import annotations

import re
from dataclasses import replace

from abstraction.descriptions.trimming import first_segment
from abstraction.evidence import from_description, from_statement
from abstraction.ladders.class_hierarchy import Climbing, climb, stop_classes, used_as_value
from abstraction.language.phrases import indefinite
from abstraction.proposals import ANSWER, LadderCase, Proposal
from abstraction.tiers import Condition, Evidence
from kg.terms import normalise

_SIDE_IN_SPORT = re.compile(
    r"\b(?:(?P<side>offensive|defensive|attacking|infield|outfield|backcourt"
    r"|frontcourt)\s+)?(?:playing\s+)?position\b(?:\s++\w++)?\s++in\s++"
    r"(?P<sport>(?:the\s+sport\s+of\s+)?[\w' -]{1,250}?)(?=$|[,;.])"
    r"|^(?P<sport2>[a-z][\w' -]*?)(?<!\s)\s++(?:playing\s+)?position\b"
)


def positions(case: LadderCase) -> list[Proposal]:
    """ "a defensive position in American football › a position in American football"."""
    graph = case.graph
    out: list[Proposal] = []
    description = graph.description(case.answer)
    found = _SIDE_IN_SPORT.search(first_segment(description)) if description else None
    sports = graph.current(case.answer, "P641")
    named: list[tuple[str, str | None, tuple[Evidence, ...]]] = []
    for statement in sports:
        if statement.target and (label := graph.label(statement.target)):
            named.append((label, statement.target, (from_statement(graph, statement),)))
    side = None
    if found and description:
        sport = (found.group("sport") or found.group("sport2") or "").removeprefix("the sport of ").strip()
        side = found.group("side")
        known = next((m.id for m in graph.find(sport)), None) if sport else None
        if sport and known and not any(normalise(sport) == normalise(n) for n, _, _ in named):
            named.insert(0, (sport, known, (from_description(graph, case.answer, found.group().strip()),)))
    for name, qid, evidence in named[:2]:
        text = f"a position in {name}"
        below = ANSWER
        if side and description and found:
            fine = indefinite(f"{side} position in {name}")
            out.append(
                Proposal(
                    key=fine,
                    text=fine,
                    aliases=(f"{side} position in {name}", f"{name} {side} position"),
                    evidence=(from_description(graph, case.answer, found.group().strip()),),
                    conditions=frozenset(
                        {
                            Condition(property="P641", value=qid or name),
                            Condition(property="text", value=side),
                        }
                    ),
                )
            )
            below = fine
        out.append(
            Proposal(
                key=text,
                text=text,
                parents=(below,),
                aliases=(f"{name} position", f"position in {name}"),
                evidence=evidence,
                conditions=frozenset({Condition(property="P641", value=qid or name)}),
            )
        )
    used = used_as_value(graph, "P413", minimum=1)
    how = Climbing(properties=("P279",), depth=2, keep=lambda q: used(q) and q not in stop_classes())
    broader = climb(graph, case.answer, how, condition="P413")
    heads = [key for key, node in broader.items() if node.parents]
    if heads:
        last = [key for key in heads if not any(key in other.parents for other in broader.values())]
        out = [replace(p, parents=tuple(last)) if p.parents == (ANSWER,) and last else p for p in out]
    return [*broader.values(), *out]
