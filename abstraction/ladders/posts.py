"""Posts as answers: offices, ranks and titles, by the broader post and the land they are of."""

from __future__ import annotations

from dataclasses import replace

from abstraction.descriptions.office_grammar import read_office
from abstraction.descriptions.words import words
from abstraction.ladders.class_hierarchy import Climbing, climb, stop_classes
from abstraction.ladders.nations import nations, speaks_english
from abstraction.language.phrases import indefinite, listed
from abstraction.proposals import ANSWER, LadderCase, Proposal
from abstraction.tiers import Condition, Evidence
from kg.terms import normalise

STEPS = 2
_POSTS = frozenset({"office", "occupation"})


def posts(case: LadderCase) -> list[Proposal]:
    """ "American secretary of state › secretary of state": P279 to posts that are no mere "position"."""
    graph = case.graph

    def keep(qid: str) -> bool:
        label = graph.label(qid) or ""
        return (
            qid not in stop_classes()
            and label[:1].islower()
            and normalise(label) not in listed("general_posts")
            and not _POSTS.isdisjoint(case.gazetteer.classes(qid))
        )

    how = Climbing(properties=("P279",), depth=STEPS, keep=keep, doubting=True)
    above = climb(graph, case.answer, how, condition="P279") or _titled(case)
    if not speaks_english(case):
        return list(above.values())
    out = dict(above)
    for nation in nations(case, None, ("P1001", "P17")):
        for key, node in above.items():
            if node.parents != (ANSWER,):
                continue
            text = f"{nation.text} {node.text}"
            out[text] = Proposal(
                key=text,
                text=text,
                evidence=(*nation.evidence, *node.evidence),
                conditions=node.conditions | nation.conditions,
                order=-1,
            )
            own = out[key]
            out[key] = replace(own, parents=(*(p for p in own.parents if p != ANSWER), text))
    return list(out.values())


def _titled(case: LadderCase) -> dict[str, Proposal]:
    """ "mayor" for "Mayor of Chicago", where no statement tells the broader post."""
    label = case.graph.label(case.answer)
    if label is None or not speaks_english(case):
        return {}
    sequence = words(label)
    nominal = next((i for i, w in enumerate(sequence) if w.key in {"of", "for", "to"}), 0)
    office = read_office(sequence, nominal) if nominal else None
    if office is None:
        return {}
    title = office.title.lower()
    if title in listed("general_posts"):
        return {}
    rule = Evidence(
        kind="rule",
        text=f"{indefinite(label)} is {indefinite(title)}",
        subject=case.answer,
        labels={case.answer: label},
    )
    condition = Condition(property="text", value=f"post:{title}")
    return {title: Proposal(key=title, text=title, evidence=(rule,), conditions=frozenset({condition}))}
