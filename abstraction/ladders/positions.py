"""Positions as answers: positions of players, by side and sport; offices, ranks and titles, by the broader post."""

from __future__ import annotations

import re
from dataclasses import replace

from abstraction.base.classes import stop_classes
from abstraction.base.evidence import from_description
from abstraction.base.tiers import Condition, Evidence
from abstraction.base.trimming import first_segment
from abstraction.ladders.class_hierarchy import Climbing, climb, used_as_value
from abstraction.ladders.entity_values import current_values
from abstraction.ladders.nations import nations
from abstraction.ladders.office_phrases import office_from_label
from abstraction.ladders.phrase_parts import Wording, states
from abstraction.ladders.proposals import ANSWER, LadderCase, Proposal
from abstraction.text.language.phrases import indefinite, listed
from kg.base.terms import normalise

# Posts as answers: offices, ranks and titles, by the broader post and their country.

# The most P279 steps to a broader post.
STEPS = 2
# Answer classes that a broader post may have.
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
    above = climb(graph, case.answer, how, condition="P279") or _post_in_title(case)
    out = dict(above)
    for nation in nations(case, None, ("P1001", "P17")):
        for key, node in above.items():
            if node.parents == (ANSWER,):
                text = f"{nation.text} {node.text}"
                evidence = (*nation.evidence, *node.evidence)
                conditions = node.conditions | nation.conditions
                out[text] = Proposal(key=text, text=text, evidence=evidence, conditions=conditions, order=-1)
                out[key] = replace(out[key], parents=(*(p for p in out[key].parents if p != ANSWER), text))
    return list(out.values())


def _post_in_title(case: LadderCase) -> dict[str, Proposal]:
    """The post at the beginning of a label, where no broader post is stated: "mayor" for "Mayor of Chicago"."""
    label = case.graph.label(case.answer)
    office = office_from_label(label) if label is not None else None
    if label is None or office is None or (title := office.title.lower()) in listed("general_posts"):
        return {}
    text = f"{indefinite(label)} is {indefinite(title)}"
    rule = Evidence(kind="rule", text=text, subject=case.answer, labels={case.answer: label})
    return {title: Proposal(key=title, text=title, evidence=(rule,), conditions=states("text", f"post:{title}"))}


# Positions of players.


# "defensive position in American football", "ice hockey position".
_SIDE_IN_SPORT = re.compile(
    r"\b(?:(?P<side>offensive|defensive|attacking|infield|outfield|backcourt"
    r"|frontcourt)\s+)?(?:playing\s+)?position\b(?:\s++\w++)?\s++in\s++"
    r"(?P<sport>(?:the\s+sport\s+of\s+)?[\w' -]{1,250}?)(?=$|[,;.])"
    r"|^(?P<sport2>[a-z][\w' -]*?)(?<!\s)\s++(?:playing\s+)?position\b"
)


def positions(case: LadderCase) -> list[Proposal]:
    """ "a defensive position in American football › a position in American football"."""
    graph = case.graph
    match = _SIDE_IN_SPORT.search(first_segment(graph.description(case.answer) or ""))
    side = None  # the side of the field, where the description names it
    if match and match["side"]:
        evidence = from_description(graph, case.answer, match.group().strip())
        side = _wording(match["side"], evidence, states("text", match["side"]))
    phrases = [p for sport in _sports(case, match)[:2] for p in _positions_in_sport(sport, side)]
    used = used_as_value(graph, "P413", minimum=1)
    how = Climbing(properties=("P279",), depth=2, keep=lambda q: used(q) and q not in stop_classes())
    broader = climb(graph, case.answer, how, condition="P413")
    tops = tuple(key for key in broader if not any(key in node.parents for node in broader.values()))
    if tops:
        phrases = [replace(p, parents=tops) if p.parents == (ANSWER,) else p for p in phrases]
    return [*broader.values(), *phrases]


def _sports(case: LadderCase, match: re.Match[str] | None) -> list[Wording]:
    """The sports of statements, and before them one that only the description names."""
    graph = case.graph
    sports = [_wording(v.label, v.evidence, v.conditions) for v in current_values(graph, case.answer, "P641")]
    name = (match["sport"] or match["sport2"] or "").removeprefix("the sport of ").strip() if match else ""
    qid = next((m.id for m in graph.find(name)), None) if name else None
    if match and qid and normalise(name) not in {normalise(sport.text) for sport in sports}:
        evidence = from_description(graph, case.answer, match.group().strip())
        sports.insert(0, _wording(name, evidence, states("P641", qid)))
    return sports


def _wording(text: str, evidence: Evidence, conditions: frozenset[Condition]) -> Wording:
    return Wording(text=text, features=frozenset(), evidence=(evidence,), conditions=conditions)


def _positions_in_sport(sport: Wording, side: Wording | None) -> list[Proposal]:
    """A position in the sport, and before it one on that side."""
    text = f"position in {sport.text}"
    whole = Proposal(
        key=indefinite(text),
        text=indefinite(text),
        aliases=(f"{sport.text} position", text),
        evidence=sport.evidence,
        conditions=sport.conditions,
    )
    if side is None:
        return [whole]
    finer = Proposal(
        key=indefinite(f"{side.text} {text}"),
        text=indefinite(f"{side.text} {text}"),
        aliases=(f"{side.text} {text}", f"{sport.text} {side.text} position"),
        evidence=side.evidence,
        conditions=sport.conditions | side.conditions,
    )
    return [finer, replace(whole, parents=(finer.key,))]
