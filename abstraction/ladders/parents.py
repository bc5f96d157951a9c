"""The organisations that an organisation belongs to, and where that may be said of it."""

from __future__ import annotations

import re

from abstraction.descriptions.organisation_grammar import Owner, parse_organisation
from abstraction.evidence import from_description, from_statement
from abstraction.ladders.entity_values import entity_proposal, named_values
from abstraction.ladders.phrase_parts import states
from abstraction.language.phrases import indefinite, listed
from abstraction.proposals import ANSWER, LadderCase, Proposal
from abstraction.tiers import Condition, Evidence
from kg.model import Statement
from kg.terms import normalise

PARENTS = 3  # steps up
TOGETHER = 2  # parents at one step: more are shareholders or a history without dates
ORGANISED = frozenset({"company", "organisation", "label", "school", "club", "group"})
LOCATED = frozenset({"place", "country"})
# What a thing is as long as it exists, unlike "owned by" and "part of".
_SUBSIDIARY = re.compile(r"(?:subsidiary|division|imprint|sub-?label|business unit|brand) of ")


def parents(case: LadderCase) -> list[Proposal]:
    """Organisations that the answer belongs to, nearest first: P749, else P127, else P361, else the description."""
    out: dict[str, Proposal] = {}
    layer: list[tuple[str, str]] = [(case.answer, ANSWER)]
    for step in range(PARENTS):
        above: list[tuple[str, str]] = []
        for child, key in layer:
            holders = _parents_of(case, child)
            if step and len(holders) > 1:
                continue  # further up, several are a history without dates
            for qid, evidence, conditions in holders:
                label = case.graph.label(qid)
                if label is not None and qid not in (case.answer, case.subject) and qid not in out:
                    order = step - PARENTS
                    out[qid] = entity_proposal(
                        case.graph, qid, label, (evidence,), conditions, parents=(key,), order=order
                    )
                    above.append((qid, qid))
        layer = above
    return list(out.values())


def belonging(case: LadderCase) -> list[Proposal]:
    """ "a record label of Universal Music Group" by P749 at the question's date, else the description's own words."""
    graph = case.graph
    noun = "record label" if case.relation.asks == "label" else "subsidiary"
    held = graph.held_at(case.answer, "P749", case.at) if case.at is not None else []
    holders = [value for value in named_values(graph, held) if _is_parent(case, case.answer, value.qid)]
    phrases = [(f"{noun} of {value.label}", value.qid, value.evidence) for value in holders]
    text = graph.description(case.answer)
    if noun == "record label" and not phrases and text:
        for owner in parse_organisation(text, case.vocabulary).owners:
            words = text[slice(*owner.span)]
            if _SUBSIDIARY.match(words) and (qid := _named(case, case.answer, owner)):
                phrases.append((words, qid, from_description(graph, case.answer, words)))
    return [
        Proposal(
            key=normalise(indefinite(phrase)),
            text=indefinite(phrase),
            evidence=(evidence,),
            conditions=states("P749", qid),
            order=-1,
        )
        for phrase, qid, evidence in phrases[:1]
    ]


_Parent = tuple[str, Evidence, frozenset[Condition]]  # its id, what tells of it, and what that states


def _parents_of(case: LadderCase, child: str) -> list[_Parent]:
    for prop in ("P749", "P127", "P361"):
        statements = [s for s in case.graph.current(child, prop) if s.target]
        fitting = [s for s in statements if _is_parent(case, child, s.target or "") and _lasts(case, child, s)]
        fitting = fitting[: TOGETHER + 1]
        if prop == "P127" and len(statements) > 1:
            fitting = [s for s in fitting if _majority(s)]
        if fitting:
            if len(statements) > TOGETHER and prop != "P361":
                return []
            by_target = {s.target or "": s for s in fitting}
            return [(qid, from_statement(case.graph, s), states(prop, qid)) for qid, s in by_target.items()]
    return _described_parents(case, child)


def _is_parent(case: LadderCase, child: str, qid: str) -> bool:
    """Whether it is an organisation of its own, and no shell."""
    kinds = case.gazetteer.classes(qid)
    if qid == child or not ORGANISED & kinds or "person" in kinds or LOCATED & kinds:
        return False
    words = " ".join(case.graph.label(i) or "" for i in (qid, *case.graph.classes(qid))).casefold()
    return not any(re.search(rf"\b{re.escape(shell)}\b", words) for shell in listed("shells"))


def _lasts(case: LadderCase, child: str, statement: Statement) -> bool:
    """Whether it may be said without a date: companies are sold, universities and agencies stay where they belong."""
    return "company" not in case.gazetteer.classes(child) or bool(statement.qualifier("P580"))


def _majority(statement: Statement) -> bool:
    """Whether a share of more than half is stated (P1107, a fraction)."""
    for snak in statement.qualifier("P1107"):
        amount = getattr(snak.value, "amount", None)
        if amount is not None and amount > 0.5:
            return True
    return False


def _described_parents(case: LadderCase, child: str) -> list[_Parent]:
    text = case.graph.description(child)
    for owner in parse_organisation(text, case.vocabulary).owners if text else ():
        if qid := _named(case, child, owner):
            evidence = Evidence(
                kind="description",
                subject=child,
                language=case.graph.language,
                text=text,
                span=owner.span,
                labels={i: label for i in (child, qid) if (label := case.graph.label(i))},
            )
            return [(qid, evidence, states("P749", qid))]
    return []


def _named(case: LadderCase, child: str, owner: Owner) -> str | None:
    """The one organisation that a description names as owner, or None."""
    carriers = [m.id for m in case.graph.find(owner.name) if m.id != child]
    case.graph.fetch(carriers)
    classes = case.gazetteer.classes
    fitting = [i for i in dict.fromkeys(carriers) if ORGANISED & classes(i) and not LOCATED & classes(i)]
    return fitting[0] if len(fitting) == 1 else None
