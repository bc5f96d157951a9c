"""Answers that are not entities (dates, quantities, ages), read from their text: their ladders, with the statement of
the subject as evidence, and bits.

A date is drawn from the days of its relation's years. A date outside of them is drawn from the common era up to the
same last year, or else from a span of a power of ten of years, at least ten thousand. A quantity lies anywhere on a
logarithmic scale of its relation's powers of ten, so that the bits of an interval depend on its relative width alone;
counts below twenty, including zero, lie on the same scale shifted by one. See `abstraction.ladders.weighing`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from abstraction.base.properties import package_data
from abstraction.base.relations import relations_by_id
from abstraction.base.tiers import Condition, Evidence, Level, Tier, from_statement
from abstraction.ladders.literal_ladders import AMOUNT, date_ladder, quantity_ladder, read_amount
from abstraction.ladders.weighing import year_span
from abstraction.text.language.amounts import ParsedQuantity, parse_quantity
from abstraction.text.language.calendar_dates import ParsedDate, circa_tolerance, parse_date
from abstraction.text.language.languages import is_supported_language
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
    """The first of the subject's statements of the relation whose value fits, as evidence; None for none."""
    stated = graph.current(subject, relation) if subject is not None and relation else ()
    return next((from_statement(graph, statement) for statement in stated if fits(statement.value)), None)


def quantity_levels(text: str, *, graph: Graph, subject: str | None, relation: str) -> tuple[Level, ...] | None:
    """The levels of a quantity, the answer first; None where the text is no quantity."""
    parsed = read_amount(text, code=graph.shown_in, is_temperature=not relation or relation not in relations_by_id())
    if parsed is None:
        return None
    if not is_supported_language(graph.shown_in) and _THOUSANDS.search(text):
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


def amount_with_range_levels(text: str, *, code: str = "en") -> tuple[Level, ...] | None:
    """The levels of an amount with the range of accepted amounts after it; None for any other text.

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
    """The levels of a person's age; None where the text is no amount."""
    parsed = parse_quantity(text, code=graph.shown_in)
    return None if parsed is None else with_quantity_bits(parsed, age_ladder(parsed), "")


def amount_with_unit_levels(text: str, *, graph: Graph, subject: str | None, relation: str) -> tuple[Level, ...] | None:
    """The levels of an amount that is recognised by its unit: "45.3%", "-195.8 °C".

    None for bare numbers and counted things, which may be names, and for units in title case ("127 Hours").
    """
    parsed = read_amount(text, code=graph.shown_in)
    if parsed is None or parsed.unit is None or not (parsed.sign or parsed.unit_text in parsed.unit.spellings):
        return None
    return quantity_levels(text, graph=graph, subject=subject, relation=relation)


# Bits of dates and amounts.

ANCIENT = 10_000  # years: the least span from which the bits of a date before the common era are computed
YEAR = 365.2425  # days, the mean of the Gregorian calendar
_UNITS = {"decade": 10, "century": 100, "millennium": 1000}  # years
_EDGE = 10  # years of the beginning or the end of a century
_DATE = re.compile(r"-?\d+(?:-\d\d){0,2}")
# Values of the conditions of rounded amounts, as `quantity_ladder` and `age_ladder` write them.
_ROUNDED = re.compile(r"(?P<amount>-?[\d.]+) to (?P<digits>\d+) digits")
_BETWEEN = re.compile(r"(?P<low>-?[\d.]+) to (?P<high>-?[\d.]+)")
_SMALL = 20  # counts below this are on the scale shifted by one, which has a place for zero


def with_date_bits(parsed: ParsedDate, levels: Sequence[Level], relation: str) -> tuple[Level, ...]:
    """The levels of a date, the answer first, with bits: log2 of the days it is drawn from over the days it covers."""
    return _with_bits(
        levels, _number_of_years_drawn_from(parsed, relation) * YEAR, _days_of_answer(parsed), _days_of_condition
    )


def with_quantity_bits(parsed: ParsedQuantity, levels: Sequence[Level], relation: str) -> tuple[Level, ...]:
    """The levels of an amount, the answer first, with bits: log2 of the scale's width over the interval's."""
    decades_of = package_data("spreads.json")["decades"]
    decades = decades_of.get(relation, decades_of["default"])
    small = parsed.unit is None and 0 <= parsed.amount < _SMALL and parsed.amount == parsed.amount.to_integral_value()
    if small:
        # A count n covers n - 0.5 to n + 0.5, on the scale shifted by one.
        answer_width = math.log10(float(parsed.amount) + 1.5) - math.log10(float(parsed.amount) + 0.5)
    else:
        # The uncertainty of the answer: its bound, else half a unit of its last digit, a whole one if approximate.
        unit = Decimal(1).scaleb(parsed.amount.adjusted() - max(parsed.digits, 1) + 1)
        bound = parsed.bound or (unit if parsed.approximate else unit / 2)
        answer_width = _powers_of_ten_between(parsed.amount - bound, parsed.amount + bound, decades)
    return _with_bits(levels, decades, answer_width, lambda state: _scale_width_of_condition(state, decades))


def _with_bits(
    levels: Sequence[Level], whole_width: float, answer_width: float, width: Callable[[str], float | None]
) -> tuple[Level, ...]:
    def in_bits(part: float | None) -> float | None:
        return None if not part else max(0.0, math.log2(whole_width / part))

    def narrowest_width(conditions: Iterable[Condition]) -> float | None:
        """The narrowest width that the conditions state.

        It is at least that of the answer, since a mean decade may be some hours shorter than ten real years.
        """
        widths = (width(condition.value) for condition in conditions)
        part = min((stated for stated in widths if stated is not None), default=None)
        return max(part, answer_width) if part else part

    first = Level(tiers=tuple(replace(tier, bits=in_bits(answer_width)) for tier in levels[0].tiers))
    return (
        first,
        *(
            Level(tiers=tuple(replace(tier, bits=in_bits(narrowest_width(tier.conditions))) for tier in level.tiers))
            for level in levels[1:]
        ),
    )


def _number_of_years_drawn_from(parsed: ParsedDate, relation: str) -> int:
    """The number of years that the date is drawn from."""
    years = [value.year for value in (parsed.first, parsed.last) if value is not None]
    first, last = year_span(relation)
    if first <= min(years) and max(years) <= last:
        return last - first + 1
    if min(years) >= 1 and max(years) <= last:
        return last
    age = ANCIENT
    while age < max(map(abs, years)):  # the next power of ten
        age *= 10
    return age


def _days_of_answer(parsed: ParsedDate) -> float:
    """The number of days that the answer itself covers."""
    first, last = parsed.first, parsed.last
    if last is not None:
        days = _day_number(time_key(last, late=True)) - _day_number(time_key(first)) + 1
        return days + (2 * circa_tolerance(first.year) * YEAR if parsed.circa else 0)
    if parsed.circa:
        if first.precision > 9:
            return YEAR
        around = {8: 10, 7: 100}.get(first.precision) or circa_tolerance(
            first.year
        )  # years, by precision: decade, century
        return _days_of_precision(first) + 2 * around * YEAR
    return _days_of_precision(first) / (3 if parsed.part else 1)  # early, mid or late: a third of the unit


def _days_of_precision(value: TimeValue) -> float:
    if value.precision >= 11:
        return 1.0
    # Precision 11 is a day, 10 a month, 9 a year, 8 a decade.
    return YEAR / 12 if value.precision == 10 else YEAR * 10 ** (9 - value.precision)


def _day_number(key: tuple[int, int, int]) -> float:
    year, month, day = key
    return (year if year > 0 else year + 1) * YEAR + (month - 1) * YEAR / 12 + day  # there is no year 0


def _days_of_condition(condition_value: str) -> float | None:
    if _DATE.fullmatch(condition_value):
        return (YEAR, YEAR / 12, 1.0)[condition_value.lstrip("-").count("-")]
    if " of " in condition_value:
        return _EDGE * YEAR
    sizes = [_UNITS.get(unit.split(" ")[0]) for unit in condition_value.split(" or ")]
    known = [size for size in sizes if size is not None]
    return sum(known) * YEAR if len(known) == len(sizes) else None


def _powers_of_ten_between(low: Decimal, high: Decimal, whole_scale: float) -> float:
    """Powers of ten between two amounts of one sign; an interval that reaches zero begins at half its middle."""
    if high < 0:
        low, high = -high, -low
    middle = (low + high) / 2
    return math.log10(high) - math.log10(low if low > 0 else middle / 2) if middle > 0 else whole_scale


def _scale_width_of_condition(condition_value: str, whole_scale: float) -> float | None:
    condition_value = condition_value.replace(",", "")
    if match := _ROUNDED.fullmatch(condition_value):
        amount = Decimal(match["amount"])
        unit = Decimal(1).scaleb(amount.adjusted() - int(match["digits"]) + 1)
        return _powers_of_ten_between(amount - unit, amount + unit, whole_scale)
    if match := _BETWEEN.fullmatch(condition_value):
        return _powers_of_ten_between(Decimal(match["low"]), Decimal(match["high"]), whole_scale)
    return None
