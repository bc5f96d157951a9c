"""Answers that are no entity, dates and quantities: read from their text, backed by the subject's statement."""

from __future__ import annotations

import re

from abstraction.evidence import from_statement
from abstraction.information.literals import with_date_bits, with_quantity_bits
from abstraction.ladders.dates import ParsedDate, date_ladder, parse_date
from abstraction.relations import table
from abstraction.tiers import Evidence, Level
from kg.graph import Graph
from kg.model import QuantityValue, TimeValue
from kg.selection import time_key

_THOUSANDS = re.compile(r"\d[.,]\d{3}(?!\d)")


def date_levels(text: str, *, graph: Graph, subject: str | None, relation: str) -> tuple[Level, ...] | None:
    """The levels of a date in the language that the graph shows, the answer first; None where the text is no date.

    Where the subject has the date as a statement of the relation, the statement is the evidence.
    """
    parsed = parse_date(text, code=graph.shown_in)
    if parsed is None:
        return None
    evidence = _date_evidence(parsed, graph, subject, relation)
    return with_date_bits(parsed, date_ladder(parsed, subject_evidence=evidence), relation)


def _date_evidence(parsed: ParsedDate, graph: Graph, subject: str | None, relation: str) -> Evidence | None:
    if subject is None or not relation:
        return None
    for statement in graph.current(subject, relation):
        value = statement.value
        if isinstance(value, TimeValue) and _agrees(value, parsed):
            return from_statement(graph, statement)
    return None


def _agrees(value: TimeValue, parsed: ParsedDate) -> bool:
    """Whether the statement says no less than the answer: its span of days lies inside the answer's."""
    first, last = parsed.first, parsed.last or parsed.first
    return time_key(first) <= time_key(value) and time_key(value, late=True) <= time_key(last, late=True)


def quantity_levels(text: str, *, graph: Graph, subject: str | None, relation: str) -> tuple[Level, ...] | None:
    """The levels of a quantity, the answer first; None where the text is no quantity."""
    from abstraction.ladders.quantities import parse_quantity, quantity_ladder

    parsed = parse_quantity(text, code=graph.shown_in, is_temperature=not relation or relation not in table())
    if parsed is None:
        return None
    if parsed.code != graph.shown_in.split("-")[0] and _THOUSANDS.search(text):
        return None  # "3.718 metros": no rules of the language tell a thousand from a thousandth
    evidence = None
    if subject is not None and relation:
        for statement in graph.current(subject, relation):
            value = statement.value
            if isinstance(value, QuantityValue) and value.amount == parsed.amount:
                evidence = from_statement(graph, statement)
                break
    return with_quantity_bits(parsed, quantity_ladder(parsed, subject_evidence=evidence), relation)


def measured_levels(text: str, *, graph: Graph, subject: str | None, relation: str) -> tuple[Level, ...] | None:
    """The levels of an amount that nothing but its own unit tells to be one: "45.3%", "-195.8 °C".

    None for bare numbers and counted things, which may be names, and where the unit is written as a title is
    ("127 Hours").
    """
    from abstraction.ladders.quantities import parse_quantity

    parsed = parse_quantity(text, code=graph.shown_in)
    if parsed is None or parsed.unit is None or not (parsed.sign or parsed.unit_text in parsed.unit.spellings):
        return None
    return quantity_levels(text, graph=graph, subject=subject, relation=relation)
