"""The organisations that an organisation belongs to, and where that may be said of it."""

from __future__ import annotations

import re

from abstraction.descriptions.organisation_grammar import Owner, parse_organisation
from abstraction.evidence import from_description, from_statement
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
            found = _parents_of(case, child)
            if step and len(found) > 1:
                continue  # further up, several are a history without dates
            for qid, evidence, conditions in found:
                if qid == case.answer or qid == case.subject:
                    continue
                label = case.graph.label(qid)
                if label is None:
                    continue
                old = out.get(qid)
                if old is None:
                    names = case.graph.names(qid)
                    out[qid] = Proposal(
                        key=qid,
                        text=label,
                        qid=qid,
                        parents=(key,),
                        aliases=tuple(n for n in names if n != label),
                        evidence=evidence,
                        conditions=conditions,
                        order=step - PARENTS,
                    )
                    above.append((qid, qid))
        layer = above
    return list(out.values())


def belonging(case: LadderCase) -> list[Proposal]:
    """ "a record label of Universal Music Group" by P749 at the question's date, else the description's own words."""
    noun = "record label" if case.relation.asks == "label" else "subsidiary"
    graph, found = case.graph, list[tuple[str, str, tuple[Evidence, ...]]]()
    if case.at is not None:
        for statement in graph.held_at(case.answer, "P749", case.at):
            name = graph.label(statement.target or "")
            if name is not None and _is_parent(case, case.answer, statement):
                found.append((f"{noun} of {name}", statement.target or "", (from_statement(graph, statement),)))
    text = graph.description(case.answer)
    for owner in parse_organisation(text, case.vocabulary).owners if text and not found else ():
        said = text[slice(*owner.span)] if text else ""
        if noun == "record label" and _SUBSIDIARY.match(said) and (qid := _named(case, case.answer, owner)):
            found.append((said, qid, (from_description(graph, case.answer, said),)))
    return [
        Proposal(
            key=normalise(indefinite(said)),
            text=indefinite(said),
            evidence=evidence,
            conditions=frozenset({Condition(property="P749", value=qid)}),
            order=-1,
        )
        for said, qid, evidence in found[:1]
    ]


def _parents_of(case: LadderCase, child: str) -> list[tuple[str, tuple[Evidence, ...], frozenset[Condition]]]:
    graph = case.graph
    for prop in ("P749", "P127", "P361"):
        statements = [s for s in graph.current(child, prop) if s.target]
        graph.fetch(s.target for s in statements if s.target)
        fitting = [s for s in statements if _is_parent(case, child, s) and _lasts(case, child, s)][: TOGETHER + 1]
        if prop == "P127" and len(statements) > 1:
            fitting = [s for s in fitting if _majority(s)]
        fitting = list({s.target: s for s in fitting}.values())
        if fitting:
            if len(statements) > TOGETHER and prop != "P361":
                return []
            return [
                (
                    s.target or "",
                    (from_statement(graph, s),),
                    frozenset({Condition(property=s.property, value=s.target or "")}),
                )
                for s in fitting
            ]
    return _described_parents(case, child)


def _is_parent(case: LadderCase, child: str, statement: Statement) -> bool:
    target = statement.target or ""
    if target == child or not ORGANISED & case.gazetteer.classes(target):
        return False
    if "person" in case.gazetteer.classes(target) or LOCATED & case.gazetteer.classes(target):
        return False
    classes = [case.graph.label(c) or "" for c in case.graph.classes(target)]
    words = " ".join((case.graph.label(target) or "", *classes)).casefold()
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


def _described_parents(case: LadderCase, child: str) -> list[tuple[str, tuple[Evidence, ...], frozenset[Condition]]]:
    text = case.graph.description(child)
    if text is None:
        return []
    for owner in parse_organisation(text, case.vocabulary).owners:
        qid = _named(case, child, owner)
        if qid is not None:
            label = case.graph.label(child)
            evidence = Evidence(
                kind="description",
                subject=child,
                language=case.graph.language,
                text=text,
                span=owner.span,
                labels={i: n for i, n in ((child, label), (qid, case.graph.label(qid))) if n},
            )
            return [(qid, (evidence,), frozenset({Condition(property="P749", value=qid)}))]
    return []


def _named(case: LadderCase, child: str, owner: Owner) -> str | None:
    """The one organisation that a description names as owner, or None."""
    found = [m.id for m in case.graph.find(owner.name) if m.id != child]
    case.graph.fetch(found)
    fitting = [
        i
        for i in dict.fromkeys(found)
        if ORGANISED & case.gazetteer.classes(i) and not LOCATED & case.gazetteer.classes(i)
    ]
    return fitting[0] if len(fitting) == 1 else None
