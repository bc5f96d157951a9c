"""Posts as answers: offices, ranks and titles, by the broader post and the land they are of."""

from __future__ import annotations

from dataclasses import replace

from abstraction.ladders.class_hierarchy import Climbing, climb, stop_classes
from abstraction.ladders.nations import nations, speaks_english
from abstraction.ladders.office_phrases import office_labelled
from abstraction.ladders.phrase_parts import states
from abstraction.language.phrases import indefinite, listed
from abstraction.proposals import ANSWER, LadderCase, Proposal
from abstraction.tiers import Evidence
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
    out = dict(above)
    for nation in nations(case, None, ("P1001", "P17")) if speaks_english(case) else ():
        for key, node in above.items():
            if node.parents == (ANSWER,):
                text = f"{nation.text} {node.text}"
                evidence = (*nation.evidence, *node.evidence)
                conditions = node.conditions | nation.conditions
                out[text] = Proposal(key=text, text=text, evidence=evidence, conditions=conditions, order=-1)
                out[key] = replace(out[key], parents=(*(p for p in out[key].parents if p != ANSWER), text))
    return list(out.values())


def _titled(case: LadderCase) -> dict[str, Proposal]:
    """ "mayor" for "Mayor of Chicago", where no statement tells the broader post."""
    label = case.graph.label(case.answer)
    office = office_labelled(label) if label is not None and speaks_english(case) else None
    if label is None or office is None or (title := office.title.lower()) in listed("general_posts"):
        return {}
    text = f"{indefinite(label)} is {indefinite(title)}"
    rule = Evidence(kind="rule", text=text, subject=case.answer, labels={case.answer: label})
    return {title: Proposal(key=title, text=title, evidence=(rule,), conditions=states("text", f"post:{title}"))}
