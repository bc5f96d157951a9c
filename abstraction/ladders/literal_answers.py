"""Answers that are not entities (dates, quantities, ages), read from their text, with the statement of the subject as
evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from abstraction.base.relations import table
from abstraction.base.tiers import Condition, Evidence, Level, Tier, from_statement
from abstraction.ladders.literal_ladders import AMOUNT, date_ladder, quantity_ladder, read_amount
from abstraction.ladders.weighing import with_date_bits, with_quantity_bits
from abstraction.text.language.amount_reader import ParsedQuantity, parse_quantity
from abstraction.text.language.date_reader import parse_date
from abstraction.text.language.languages import is_known
from kg.base.model import QuantityValue, TimeValue, Value
from kg.graph.graph import Graph, time_key

# Ages of people: the years, then the decade of life ("in their thirties").

_YEAR = "Q577"
# Ages of the teens, whose decade has a name of its own and begins at 13.
_TEENS = range(13, 20)


def age_ladder(parsed: ParsedQuantity) -> list[Level]:
    """The age itself, then the decade of life; the age alone below 13 and from 100 on, and where it is no whole number.

    An age in another unit ("3 months") has the ladder of an amount.
    """
    if parsed.unit is not None and parsed.unit.qid != _YEAR:
        return quantity_ladder(parsed)
    noun = parsed.language.units.get(_YEAR, ("",))[0]
    first = quantity_ladder(replace(parsed, unit=None, unit_text="", noun=noun))[0]
    years = int(parsed.amount) if parsed.amount == parsed.amount.to_integral_value() else -1
    if parsed.approximate or not _TEENS.start <= years < 100:
        return [first]
    words = parsed.language
    low, high = (years // 10 * 10, years // 10 * 10 + 9) if years not in _TEENS else (_TEENS.start, _TEENS.stop - 1)
    text, *names = (words.fill_templates("teens") if years in _TEENS else ()) or words.fill_templates(
        "age", first=low, last=high, word=words.spoken_decades.get(low, "")
    )
    conditions = frozenset({Condition(property=AMOUNT, value=f"{low} to {high + 1}")})
    rule = Evidence(kind="rule", text=f"{years} years is {text}")
    return [first, Level(tiers=(Tier(text=text, aliases=tuple(names), evidence=(rule,), conditions=conditions),))]


# Dates and quantities, read from the text of the answer.


# A number that is a thousand or a fraction, depending on the language.
_THOUSANDS = re.compile(r"\d[.,]\d{3}(?!\d)")
# An age in brackets after a date, which is not part of the date.
_AGED = re.compile(r"(?<!\s)\s*+\((?:aged?|at age|age at death) [^()]{1,30}\)\s*+\Z", re.IGNORECASE)


def date_levels(text: str, *, graph: Graph, subject: str | None, relation: str) -> tuple[Level, ...] | None:
    """The levels of a date in the language that the graph shows, the answer first; None where the text is no date.

    Where the subject has the date as a statement of the relation, the statement is the evidence.
    """
    parsed = parse_date(text, code=graph.shown_in) or parse_date(_AGED.sub("", text), code=graph.shown_in)
    if parsed is None:
        return None
    first, last = time_key(parsed.first), time_key(parsed.last or parsed.first, late=True)

    # A statement at least as precise as the answer: its days lie within those of the answer.
    evidence = _supporting_evidence(
        graph, subject, relation,
        lambda day: isinstance(day, TimeValue) and first <= time_key(day) and time_key(day, late=True) <= last,
    )  # fmt: skip
    return with_date_bits(parsed, date_ladder(parsed, subject_evidence=evidence), relation)


def _supporting_evidence(
    graph: Graph, subject: str | None, relation: str, fits: Callable[[Value | None], bool]
) -> Evidence | None:
    """The first of the subject's statements of the relation whose value fits."""
    stated = graph.current(subject, relation) if subject is not None and relation else ()
    return next((from_statement(graph, statement) for statement in stated if fits(statement.value)), None)


def quantity_levels(text: str, *, graph: Graph, subject: str | None, relation: str) -> tuple[Level, ...] | None:
    """The levels of a quantity, the answer first; None where the text is no quantity."""
    parsed = read_amount(text, code=graph.shown_in, is_temperature=not relation or relation not in table())
    if parsed is None:
        return None
    if not is_known(graph.shown_in) and _THOUSANDS.search(text):
        return None  # "3.718 metros": without rules for the language this may be thousands or a fraction
    evidence = _supporting_evidence(
        graph, subject, relation, lambda value: isinstance(value, QuantityValue) and value.amount == parsed.amount
    )
    return with_quantity_bits(parsed, quantity_ladder(parsed, subject_evidence=evidence), relation)


# "300 (acceptable range: 270-330)": the form in which datasets accept a range of amounts.
_RANGE = re.compile(
    r"(?P<amount>[^()]{1,60}) \(acceptable range:? (?:anything )?(?:between |from )?"
    r"(?P<low>[^()–]{1,40}?)(?: (?:to|and) |–)(?P<high>[^()–]{1,40})\)\.?"
)


def with_range(text: str, *, code: str = "en") -> tuple[Level, ...] | None:
    """The levels of an amount that is given with the range of amounts that are accepted; None for any other text.

    "150 (acceptable range: 148 to 152)" is 150 give or take 2: the range is a name of level 1.
    """
    match = _RANGE.fullmatch(" ".join(text[:200].split()))
    if match is None:
        return None
    amount, low, high = (parse_quantity(match[name], code=code) for name in ("amount", "low", "high"))
    if amount is None or low is None or high is None:
        return None
    bound = max(abs(amount.amount - low.amount), abs(high.amount - amount.amount)) or None
    first, *coarser = quantity_ladder(replace(amount, bound=bound))
    names = (match["amount"], f"between {match['low']} and {match['high']}", f"{match['low']} to {match['high']}")
    tier = replace(first.tiers[0], text=text, aliases=tuple(dict.fromkeys((*names, *first.tiers[0].aliases))))
    return with_quantity_bits(replace(amount, bound=bound), [Level(tiers=(tier,)), *coarser], "")


def age_levels(text: str, *, graph: Graph) -> tuple[Level, ...] | None:
    """The levels of an age of somebody; None where the text is no amount."""
    parsed = parse_quantity(text, code=graph.shown_in)
    return None if parsed is None else with_quantity_bits(parsed, age_ladder(parsed), "")


def measured_levels(text: str, *, graph: Graph, subject: str | None, relation: str) -> tuple[Level, ...] | None:
    """The levels of an amount that only its unit shows to be one: "45.3%", "-195.8 °C".

    None for bare numbers and counted things, which may be names, and for units in title case ("127 Hours").
    """
    parsed = read_amount(text, code=graph.shown_in)
    if parsed is None or parsed.unit is None or not (parsed.sign or parsed.unit_text in parsed.unit.spellings):
        return None
    return quantity_levels(text, graph=graph, subject=subject, relation=relation)
