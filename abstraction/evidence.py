"""Making evidence: one step of reasoning, with readable names for the ids in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from abstraction.descriptions.trimming import span_of
from abstraction.tiers import Evidence, Ladder, Level, Tier
from kg.model import QuantityValue, Statement, TextValue, TimeValue
from kg.terms import normalise
from kg.walks.graph import Graph


def from_statement(graph: Graph, statement: Statement) -> Evidence:
    """The statement as evidence; its value as a QID, or literally where it is no entity."""
    ids = [statement.subject, statement.property, *([statement.target] if statement.target else [])]
    labels = {i: shown[0] for i in ids if (shown := graph.shown_label(i))}
    return Evidence(
        kind="statement",
        subject=statement.subject,
        property=statement.property,
        value=statement.target or literal(statement),
        statement=statement.id,
        labels=labels,
    )


def from_description(graph: Graph, entity_id: str, words: str) -> Evidence:
    """The words of an entity's description that were used, as they stand there.

    No span only where the words are not the description's, whatever cleaning did to them.
    """
    text = graph.description(entity_id) or ""
    return from_span(graph, entity_id, span_of(text, words) or _span_of_cleaned(text, words))


def from_span(graph: Graph, entity_id: str, span: tuple[int, int] | None) -> Evidence:
    """[start, end) of an entity's description as evidence."""
    label = graph.label(entity_id)
    return Evidence(
        kind="description",
        subject=entity_id,
        language=graph.language,
        text=graph.description(entity_id) or "",
        span=span,
        labels={entity_id: label} if label else {},
    )


# Names that cleaning writes out, and how descriptions write them.
_WRITTEN = {
    "united states of america": r"U\.? ?S\.?(?: ?A\b\.?)?",
    "united states": r"U\.? ?S\.?(?: ?A\b\.?)?",
    "united kingdom": r"U\.? ?K\b\.?",
    "united arab emirates": r"U\.? ?A\.? ?E\b\.?",
    "washington d.c": r"Washington,? ?D\.? ?C\b\.?",
}
_GAP = r"(?:\s|\([^()]*\)|\[[^\]]*\])+"  # brackets are cut away before any grammar looks
# "Nash County" of "Edgecombe and Nash counties".
_KINDS = {"county": "counties", "parish": "parishes", "city": "cities", "territory": "territories"}


def _span_of_cleaned(text: str, words: str) -> tuple[int, int] | None:
    """[start, end) of words that cleaning made of the text: abbreviations written out, brackets cut, plurals parted."""
    key = words.casefold().replace(",", "").rstrip(".")
    forms = [_WRITTEN[key]] if key in _WRITTEN else []
    parts = [re.escape(part) for part in words.split()]
    forms.append(_GAP.join(parts))
    head, _, kind = words.rpartition(" ")
    if head:
        plural = _KINDS.get(kind.casefold(), f"{kind}s")
        forms.append(rf"{re.escape(head)}(?=[\w\s,]*\b{re.escape(plural)}\b)")
    for form in forms:
        if found := re.search(rf"(?<!\w)(?:{form})(?!\w)", text, re.I):
            return found.span()
    return None


def joined(groups: Iterable[Sequence[Evidence]]) -> tuple[Evidence, ...]:
    """All the evidence of several paths, each step once, in order."""
    out: list[Evidence] = []
    for group in groups:
        out += [step for step in group if step not in out]
    return tuple(out)


def completed(ladder: Ladder, *, more: Sequence[Evidence] = ()) -> Ladder:
    """The ladder with every tier's steps leading all the way from the answer or from the entity of a finer tier.

    A step that starts at what no finer tier is ("Manitoba is a province of Canada" for "a city in Canada") gets the
    steps before it from the finer tiers' evidence, or from `more`: steps of tiers that are not there any more.
    """
    known = {tier.qid for tier in ladder.levels[0].tiers if tier.qid}
    meant = bool(known)  # of an ambiguous answer every candidate's way is needed
    before = list(more)
    levels = [ladder.levels[0]]
    for level in ladder.levels[1:]:
        before += [step for tier in level.tiers for step in tier.evidence if step not in before]
        tiers = tuple(_completed(tier, known, before, meant=meant) for tier in level.tiers) if known else level.tiers
        levels.append(Level(tiers=tiers))
        known |= {tier.qid for tier in tiers if tier.qid}
    return Ladder(levels=tuple(levels), abstained=ladder.abstained)


def _completed(tier: Tier, known: Collection[str], before: Sequence[Evidence], *, meant: bool) -> Tier:
    evidence = tier.evidence
    for _ in range(len(before)):
        led = {step.value for step in evidence if step.kind == "statement"}
        opening = next((s for s in evidence if s.subject and s.subject not in known and s.subject not in led), None)
        if opening is None:
            break
        leading = next((s for s in before if s not in evidence and leads_to(s, opening)), None)
        rest = tuple(s for s in evidence if s is not opening)
        if leading is not None:
            evidence = (leading, *evidence)
        elif meant and tier.qid and any(s.value == tier.qid for s in rest):
            evidence = rest  # one of several ways, through what is no tier any more
        else:
            break
    return tier if evidence is tier.evidence else replace(tier, evidence=evidence)


def leads_to(step: Evidence, following: Evidence) -> bool:
    """Whether a step ends at what another starts from: by its value, or by the name in its words."""
    if step.kind == "statement":
        return step.value == following.subject
    name = following.labels.get(following.subject or "")
    if step.kind != "description" or not name or not step.span or not step.text:
        return False
    said = normalise(step.text[step.span[0] : step.span[1]])
    return normalise(name) in said or said in normalise(name)


def value_of(statement: Statement) -> str | None:
    """A statement's value as evidence writes it."""
    return statement.target or literal(statement)


def literal(statement: Statement) -> str | None:
    """A value that is no entity, in plain text: ISO-like dates at their precision, amounts with their unit."""
    value = statement.value
    if isinstance(value, TextValue):
        return value.text
    if isinstance(value, TimeValue):
        sign = "-" if value.year < 0 else ""
        parts = [f"{sign}{abs(value.year):04d}"]
        if value.month is not None:
            parts.append(f"{value.month:02d}")
            if value.day is not None:
                parts.append(f"{value.day:02d}")
        return "-".join(parts)
    if isinstance(value, QuantityValue):
        return f"{value.amount}" + (f" {value.unit}" if value.unit else "")
    return None
