"""Dates: each calendar unit that contains the answer, from the next coarser one to the century.

No tier is finer than the given precision. A part of a unit ("the early 1960s") starts from the whole unit; a range
starts from the smallest unit that contains both ends. An approximate year skips the decade, since it may belong to the
next one, and states its century only where all years that "circa" may mean (`tolerance`) lie in it, else both
centuries. Dates before 1 CE also have a millennium.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from abstraction.base.tiers import MAX_LEVELS, Condition, Evidence, Level, Tier
from abstraction.text.language.calendar_units import (
    GREGORIAN_REFORM,
    KINDS,
    OF_PRECISION,
    CalendarUnit,
    Era,
    Kind,
    Style,
    century_marks,
    gregorian_of,
    names,
    tolerance,
    unit_of,
)
from abstraction.text.language.date_reader import ParsedDate, parse_date
from kg.base.model import TimeValue
from kg.base.terms import normalise

__all__ = ["ParsedDate", "date_ladder", "parse_date", "time_value_ladder", "tolerance"]

CONDITION = "time"  # the property of a condition on the calendar

_YEAR = 9  # precision of a year
# A year without a day, as WikiData often writes it: 414 of 2,654 births are on 1 January, where 7 are expected.
_FIRST_DAY = re.compile(r"[+-]?\d{1,6}-01-01(?:T.*)?")

# Precision of TimeValue by calendar unit.
_PRECISION: dict[Kind, int] = {kind: precision for precision, kind in OF_PRECISION.items()}


@dataclass(frozen=True, slots=True)
class _DateRung:
    """A tier under construction: its names, the calendar units that it states, and the text of the calendar rule."""

    texts: tuple[str, ...]
    states: frozenset[str]
    rule: str


def date_ladder(parsed: ParsedDate, *, subject_evidence: Evidence | None = None) -> list[Level]:
    """The levels of a date, the text itself first, finest to coarsest; at most 5 after it.

    `subject_evidence` is the statement that gives the date, where the graph has it; it is the first evidence of every
    tier. A single level means that no named unit contains the date.
    """
    evidence = () if subject_evidence is None else (subject_evidence,)
    answer = Tier(text=parsed.text, aliases=_answer_aliases(parsed), evidence=evidence)
    rungs = _rungs_of_approximate_date(parsed) if parsed.circa else _rungs_of_exact_date(parsed)
    levels = [Level(tiers=tuple(_tier(rung, evidence) for rung in level)) for level in rungs]
    return [Level(tiers=(answer,)), *levels[:MAX_LEVELS]]


def time_value_ladder(
    value: TimeValue,
    *,
    last: TimeValue | None = None,
    circa: bool = False,
    style: Style = "day-first",
    era: Era | None = None,
    subject_evidence: Evidence | None = None,
) -> list[Level]:
    """The levels of a value of the graph, or with `last` of the range between two; see `date_ladder`."""
    era = era or Era()
    text = _text(value, era, style)
    if last is not None:
        text = era.words.fill_templates("range", first=text, last=_text(last, era, style))[0]
    if circa:
        text = era.words.fill_templates("circa", date=text)[0]
    parsed = ParsedDate(text=text, first=value, last=last, circa=circa, style=style, era=era)
    return date_ladder(parsed, subject_evidence=subject_evidence)


def _text(value: TimeValue, era: Era, style: Style) -> str:
    unit = unit_of(value)
    if unit is None:  # a decade of a single digit, or a day or month that is not there
        mark = era.before if value.year < 0 else era.after
        if value.precision == 8 and era.words.has_words_for("decade"):
            return era.words.fill_templates("decade", n=0, mark=f" {mark}")[0]
        return names(CalendarUnit("year", value.year), era=era)[0]
    return names(unit, era=era, style=style)[0]


def _tier(rung: _DateRung, evidence: tuple[Evidence, ...]) -> Tier:
    return Tier(
        text=rung.texts[0],
        aliases=rung.texts[1:],
        evidence=(*evidence, Evidence(kind="rule", text=rung.rule)),
        conditions=frozenset(Condition(property=CONDITION, value=state) for state in rung.states),
    )


def _rungs_of_exact_date(parsed: ParsedDate) -> list[list[_DateRung]]:
    """The rungs of a date that is no estimate."""
    first, last = parsed.first, parsed.last or parsed.first
    start = max(KINDS.index(OF_PRECISION.get(value.precision, "deep")) for value in (first, last))
    if parsed.last is None and not parsed.part:
        start += 1
    other = gregorian_of(first) if parsed.last is None else None
    if other and (other.year, other.month or 0, other.day or 0) < GREGORIAN_REFORM:
        other = None
    levels: list[list[_DateRung]] = []
    for kind in KINDS[start:-1]:
        unit = unit_of(first, kind)
        if kind == "month" and _FIRST_DAY.fullmatch(parsed.text.strip()):
            continue
        if unit is None or unit != unit_of(last, kind) or not _is_worth_saying(unit, parsed.era):
            continue
        if kind == "decade" and unit_of(first, "century") != unit_of(last, "century"):
            first = last = TimeValue(year=unit.number, precision=8)  # 1900-1905: the century of the decade
        levels.append(_rungs(unit, first, other, parsed.era))
    return levels


def _rungs(unit: CalendarUnit, value: TimeValue, other: TimeValue | None, era: Era) -> list[_DateRung]:
    """The unit as a tier for a value in it, and alternates: the century edge that it leaves out, the unit of the
    `other` calendar.
    """
    rungs = [_rung(unit, era)]
    if unit.kind == "decade":
        century = unit_of(value, "century")
        if century and century != unit_of(TimeValue(year=unit.number, precision=8), "century"):
            # 1900 is in the 1900s, but not in the 20th century; 1000 is in the 1000s, but not in the second millennium.
            rungs = [_decade_of(value.year, unit, era), _century_edge(century, era)]
    if other and (also := unit_of(other, unit.kind)) and also != unit:
        rungs.append(_decade_of(other.year, also, era) if unit.kind == "decade" else _rung(also, era))
    return rungs


def _decade_of(year: int, decade: CalendarUnit, era: Era) -> _DateRung:
    """The decade of one year; it does not state a century or millennium that the year lies outside."""
    rung = _rung(decade, era)
    return replace(rung, states=rung.states & (_states(CalendarUnit("year", year)) | {decade.key()}))


def _rungs_of_approximate_date(parsed: ParsedDate) -> list[list[_DateRung]]:
    """The rungs of an approximate date: the year of an approximate day or month is taken as right, a year is not."""
    first, last = parsed.first, parsed.last or parsed.first
    if parsed.last is None and first.precision > _YEAR:
        year = TimeValue(year=first.year, precision=_YEAR)
        units = filter(None, (unit_of(year, kind) for kind in KINDS[KINDS.index("year") : -1]))
        return [[_rung(unit, parsed.era)] for unit in units if _is_worth_saying(unit, parsed.era)]
    begin, end = unit_of(first), unit_of(last)
    if not begin or not end or {begin.kind, end.kind} & {"millennium", "deep"}:
        return []
    if not parsed.era.words.has_words_for("century"):
        return []
    early = TimeValue(year=_shift_year(begin.first_year(), -_possible_error_in_years(first)), precision=9)
    late = TimeValue(year=_shift_year(end.last_year(), _possible_error_in_years(last)), precision=9)
    levels: list[list[_DateRung]] = []
    early_century, late_century = unit_of(early, "century"), unit_of(late, "century")
    if early_century and early_century == late_century:
        levels.append([_rung(early_century, parsed.era)])
    elif (
        early_century
        and late_century
        and parsed.last is None
        and first.precision == _YEAR
        and early.year * late.year > 0
    ):
        levels.append([_turn_of_centuries(early_century, late_century, parsed.era)])
    millennium = unit_of(early, "millennium")
    if millennium and millennium == unit_of(late, "millennium") and _is_worth_saying(millennium, parsed.era):
        levels.append([_rung(millennium, parsed.era)])
    return levels


def _possible_error_in_years(value: TimeValue) -> int:
    """The number of years by which an approximate date of this precision may be wrong."""
    return {8: 10, 7: 100}.get(value.precision) or tolerance(value.year)


def _is_worth_saying(unit: CalendarUnit, era: Era) -> bool:
    """Whether the language has a word for the unit; millennia are used only for years BCE."""
    return era.words.has_words_for(unit.kind) and (unit.kind != "millennium" or unit.number < 0)


def _shift_year(year: int, by: int) -> int:
    """The year `by` years later, or earlier if negative, without a year 0."""
    moved = year + by
    if year < 0 <= moved:
        return moved + 1
    return moved - 1 if moved <= 0 < year else moved


def _rung(unit: CalendarUnit, era: Era) -> _DateRung:
    texts = names(unit, era=era)
    return _DateRung(texts, _states(unit), _rule(unit, texts[0], era))


def _states(unit: CalendarUnit) -> frozenset[str]:
    """The keys of the unit and of every coarser unit that contains it."""
    year = unit.first_year() if unit.kind != "decade" else unit.number
    value = TimeValue(year=year, month=unit.month or None, day=unit.day or None, precision=_PRECISION[unit.kind])
    coarser = (unit_of(value, kind) for kind in KINDS[KINDS.index(unit.kind) : -1])
    states = {holder.key() for holder in coarser if holder}
    century = unit_of(value, "century")
    if unit.kind in ("day", "month", "year") and century:
        edge = century.last_year() if century.number > 0 else century.first_year()
        if year == edge:
            states |= {_edge_state(century)}
    return frozenset(states)


def _rule(unit: CalendarUnit, text: str, era: Era) -> str:
    if unit.kind == "month":
        return f"the day is one of {text}"
    if unit.kind == "year":
        return f"the date is in the year {text}"
    first, last = unit.first_year(), unit.last_year()
    years = f"{first}–{last}" if first > 0 else f"{-first}–{-last} {era.before}"
    return f"{text} {'are' if unit.kind == 'decade' else 'is'} the years {years}"


def _edge_state(century: CalendarUnit) -> str:
    return f"{'end' if century.number > 0 else 'beginning'} of {century.key()}"


def _century_edge(century: CalendarUnit, era: Era) -> _DateRung:
    """The end of a century, for its last year (1900), which the decade leaves out; the beginning for years BCE."""
    place = "end" if century.number > 0 else "beginning"
    year = names(CalendarUnit("year", century.last_year() if century.number > 0 else century.first_year()), era=era)[0]
    texts = [
        text
        for mark in century_marks(century, era)
        for count in era.words.ordinals(abs(century.number))
        for text in era.words.fill_templates(f"century_{place}", count=count, mark=mark)
    ]
    return _DateRung(
        tuple(dict.fromkeys(texts)),
        _states(century) | {_edge_state(century)},
        f"{year} is the {'last' if place == 'end' else 'first'} year of {names(century, era=era)[0]}",
    )


def _turn_of_centuries(early: CalendarUnit, late: CalendarUnit, era: Era) -> _DateRung:
    """The turn of two centuries, where an approximate date lies at their border."""
    old, new = (era.words.ordinals(abs(unit.number))[0] for unit in (early, late))
    mark = f" {era.before}" if early.number < 0 else ""
    return _DateRung(
        era.words.fill_templates("turn", old=old, new=new, mark=mark),
        frozenset({f"{early.key()} or {late.key()}"}),
        f"an estimate may be off by some years, over the border of {names(early, era=era)[0]} and the next",
    )


def _answer_aliases(parsed: ParsedDate) -> tuple[str, ...]:
    """Other ways to write the answer, with the day in the other calendar among them."""
    unit = unit_of(parsed.first)
    forms = _written_forms(unit, parsed) if unit is not None and not parsed.part else ()
    first_forms = {normalise(form): form for form in reversed(forms)}
    first_forms.pop(normalise(parsed.text), None)
    return tuple(form for form in dict.fromkeys(forms) if first_forms.get(normalise(form)) == form)


def _written_forms(unit: CalendarUnit, parsed: ParsedDate) -> tuple[str, ...]:
    """The ways to write a date that begins with this unit; of ranges only those of plain years."""
    forms, words = names(unit, era=parsed.era, style=parsed.style), parsed.era.words
    if parsed.last is not None:
        end = unit_of(parsed.last)
        if parsed.circa or end is None or {unit.kind, end.kind} != {"year"}:
            return ()
        begin = str(-unit.number) if unit.number < 0 and end.number < 0 else forms[0]
        return words.fill_templates("range", first=begin, last=names(end, era=parsed.era)[0])
    if parsed.circa:
        plain = tuple(words.without_article(form) if unit.kind != "day" else form for form in forms[:2])
        return (*(text for form in plain for text in words.fill_templates("circa", date=form)), *forms)
    other = gregorian_of(parsed.first)
    also = unit_of(other) if other else None
    return forms + names(also, era=parsed.era, style=parsed.style) if also else forms
