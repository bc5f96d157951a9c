"""Evidence: single steps of reasoning, with readable names for the ids in them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from abstraction.base.tiers import Evidence, Ladder, Level, Tier
from abstraction.base.trimming import span_of
from kg.base.model import QuantityValue, Statement, TextValue, TimeValue
from kg.base.terms import normalise
from kg.graph.graph import Graph


def from_statement(graph: Graph, statement: Statement) -> Evidence:
    """The statement as evidence; its value as a QID, or as plain text where the value is no entity."""
    ids = [statement.subject, statement.property, *([statement.target] if statement.target else [])]
    labels = {i: shown[0] for i in ids if (shown := graph.shown_label(i))}
    return Evidence(
        kind="statement",
        subject=statement.subject,
        property=statement.property,
        value=value_of(statement),
        statement=statement.id,
        labels=labels,
    )


def from_description(graph: Graph, entity_id: str, words: str) -> Evidence:
    """The used words of an entity's description as evidence, with their span in the description.

    The span is None only where the words do not occur in the description, even before cleaning.
    """
    text = graph.description(entity_id) or ""
    return from_span(graph, entity_id, span_of(text, words) or _find_cleaned_span(text, words))


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


# Names that cleaning writes out in full, with patterns of their abbreviations in descriptions.
_ABBREVIATIONS = {
    "united states of america": r"U\.? ?S\.?(?: ?A\b\.?)?",
    "united states": r"U\.? ?S\.?(?: ?A\b\.?)?",
    "united kingdom": r"U\.? ?K\b\.?",
    "united arab emirates": r"U\.? ?A\.? ?E\b\.?",
    "washington d.c": r"Washington,? ?D\.? ?C\b\.?",
}
_GAP = r"(?:\s|\([^()]*\)|\[[^\]]*\])+"  # cleaning removes brackets before any grammar reads the text
# Kinds of places whose plural closes a list: "Nash County" in "Edgecombe and Nash counties".
_PLURALS = {"county": "counties", "parish": "parishes", "city": "cities", "territory": "territories"}


def _find_cleaned_span(text: str, words: str) -> tuple[int, int] | None:
    """The [start, end) of words that cleaning changed: abbreviations written out, brackets removed, plurals split."""
    key = words.casefold().replace(",", "").rstrip(".")
    forms = [_ABBREVIATIONS[key]] if key in _ABBREVIATIONS else []
    parts = [re.escape(part) for part in words.split()]
    forms.append(_GAP.join(parts))
    head, _, kind = words.rpartition(" ")
    if head:
        plural = _PLURALS.get(kind.casefold(), f"{kind}s")
        forms.append(rf"{re.escape(head)}(?=[\w\s,]*\b{re.escape(plural)}\b)")
    for form in forms:
        if found := re.search(rf"(?<!\w)(?:{form})(?!\w)", text, re.I):
            return found.span()
    return None


def join_evidence(groups: Iterable[Sequence[Evidence]]) -> tuple[Evidence, ...]:
    """The evidence of several paths in order, each step once."""
    out: list[Evidence] = []
    for group in groups:
        out += [step for step in group if step not in out]
    return tuple(out)


def complete_evidence(ladder: Ladder, *, more: Sequence[Evidence] = ()) -> Ladder:
    """The ladder with each tier's evidence extended to start from the answer or from the entity of a finer tier.

    A step from an entity that is no finer tier ("Manitoba is a province of Canada" for "a city in Canada") gets its
    preceding steps from the evidence of finer tiers, or from `more`: steps of tiers that were removed.
    """
    known = {tier.qid for tier in ladder.levels[0].tiers if tier.qid}
    meant = bool(known)  # an ambiguous answer needs the paths of all candidates
    before = list(more)
    levels = [ladder.levels[0]]
    for level in ladder.levels[1:]:
        before += [step for tier in level.tiers for step in tier.evidence if step not in before]
        tiers = (
            tuple(_complete_tier(tier, known, before, meant=meant) for tier in level.tiers) if known else level.tiers
        )
        levels.append(Level(tiers=tiers))
        known |= {tier.qid for tier in tiers if tier.qid}
    return Ladder(levels=tuple(levels), abstained=ladder.abstained)


def _complete_tier(tier: Tier, known: Collection[str], before: Sequence[Evidence], *, meant: bool) -> Tier:
    evidence = tier.evidence
    for _ in range(len(before)):  # each step is added at most once, so cycles end
        led = {step.value for step in evidence if step.kind == "statement"}
        opening = next((s for s in evidence if s.subject and s.subject not in known and s.subject not in led), None)
        if opening is None:
            break
        leading = next((s for s in before if s not in evidence and leads_to(s, opening)), None)
        rest = tuple(s for s in evidence if s is not opening)
        if leading is not None:
            evidence = (leading, *evidence)
        elif meant and tier.qid and any(s.value == tier.qid for s in rest):
            evidence = rest  # one of several paths, through a tier that was removed
        else:
            break
    return tier if evidence is tier.evidence else replace(tier, evidence=evidence)


def leads_to(step: Evidence, following: Evidence) -> bool:
    """Whether a step ends at the entity that another starts from: by its value, or by the name in its words."""
    if step.kind == "statement":
        return step.value == following.subject
    name = following.labels.get(following.subject or "")
    if step.kind != "description" or not name or not step.span or not step.text:
        return False
    said = normalise(step.text[step.span[0] : step.span[1]])
    return normalise(name) in said or said in normalise(name)


def value_of(statement: Statement) -> str | None:
    """The value of a statement in the form that evidence has."""
    return statement.target or literal(statement)


def literal(statement: Statement) -> str | None:
    """A value other than an entity as plain text: dates ISO-like at their precision, amounts with their unit."""
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
