"""Ladders of dates and quantities.

A date has each calendar unit that contains it, from the next coarser one to the century. No tier is finer than the
given precision. A part of a unit ("the early 1960s") starts from the whole unit; a range starts from the smallest unit
that contains both ends. An approximate year skips the decade, since it may belong to the next one, and states its
century only where all years that "circa" may mean (`circa_tolerance`) lie in it, else both centuries. Dates before 1
CE also have a millennium.

A quantity is rounded to 3, 2 and 1 significant digits. "About X" means: wrong by at most one unit of the last digit
kept. Under that reading each rounding entails the next. A rounding that is off by more than a tenth is misleading and
left out; powers of ten are no tiers, since they fit nearly any answer. Rounding begins where the bounds of the amount
justify it. Counts below twenty have no tier, since any rounding of them has little information.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal, localcontext

from abstraction.base.tiers import MAX_LEVELS, Condition, Evidence, Level, Tier
from abstraction.ladders.proposals import other_names
from abstraction.text.language.amounts import ParsedQuantity, parse_quantity
from abstraction.text.language.calendar_dates import (
    GREGORIAN_REFORM,
    KINDS,
    OF_PRECISION,
    CalendarUnit,
    Era,
    Kind,
    ParsedDate,
    calendar_unit_of,
    circa_tolerance,
    era_marks_of_century,
    julian_to_gregorian,
    names_of_unit,
)
from abstraction.text.language.languages import Language, language
from abstraction.text.language.units import MeasureUnit, units_by_qid
from kg.base.model import TimeValue, normalise

AMOUNT = "amount"  # property of conditions on amounts; followed by the unit, if any
# Counts of things below this have no coarser tier: "about 10" for 12 has little information.
SMALL = 20
# Significant digits of the tiers, finest first.
ROUNDINGS = (3, 2, 1)
# A rounding that is off by more than this fraction of the amount is left out.
MISLEADS = Decimal("0.1")
PERCENT = "Q11229"
# "26.2 miles (42.2 km)": an amount and the same in another unit.
_CONVERTED = re.compile(r"(?P<amount>[^()]{1,60}?) \((?P<other>[^()]{1,60})\)\.?")


def read_amount(text: str, *, code: str = "en", is_temperature: bool = True) -> ParsedQuantity | None:
    """The amount in a text, as `parse_quantity` reads it; the same amount in another unit may follow: "26.2 miles
    (42.2 km)".
    """
    parsed = parse_quantity(text, code=code, is_temperature=is_temperature)
    match = _CONVERTED.fullmatch(text.strip()) if parsed is None else None
    if match is None:
        return parsed
    amount, other = (parse_quantity(match[name], code=code) for name in ("amount", "other"))
    if amount is None or other is None or amount.unit is None or other.unit is None:
        return None
    return replace(amount, text=text.strip()) if amount.unit.dimension == other.unit.dimension else None


def quantity_ladder(parsed: ParsedQuantity, *, subject_evidence: Evidence | None = None) -> list[Level]:
    """The levels of an amount, the text itself first, finest to coarsest.

    `subject_evidence` is the statement that gives the amount, where the graph has it; it is the first evidence of
    every tier. A single level means that no rounding is useful.
    """
    evidence = () if subject_evidence is None else (subject_evidence,)
    answer = Tier(text=parsed.text, aliases=other_names(parsed.text, _answer_names(parsed)), evidence=evidence)
    levels = [Level(tiers=(answer,))]
    is_whole = parsed.amount == parsed.amount.to_integral_value()
    is_small = is_whole and 0 <= parsed.amount < SMALL and parsed.unit is None and not parsed.approximate
    if is_small or parsed.amount == 0:
        return levels
    prop = AMOUNT if parsed.unit is None else f"{AMOUNT} in {parsed.unit.qid}"
    roundings = _coarser_roundings(parsed)
    stated = [Condition(property=prop, value=f"{_format_number(number)} to {d} digits") for d, number in roundings]
    # A finer tier may have an alias already: 29,000 ft is 29,032 ft to three digits and to two.
    seen = {normalise(name) for name in answer.names()}
    whole = _with_unit_or_noun(_format_number(parsed.amount, parsed.language), parsed)
    for at, (digits, amount) in enumerate(roundings):
        names = _names_of_amount(amount, parsed)
        text, *others = (f"{word}{parsed.language.word_separator}{names[0]}" for word in parsed.language.about)
        aliases = other_names(text, [names[0], *others, *names[1:], *_amounts_in_other_units(parsed, digits)])
        rule = f"{whole} to {digits} significant digit{'s' * (digits > 1)} is {names[0]}"
        tier = Tier(
            text=text,
            aliases=tuple(name for name in aliases if normalise(name) not in seen),
            evidence=(*evidence, Evidence(kind="rule", text=rule)),
            conditions=frozenset(stated[at:]),
        )
        seen |= {normalise(name) for name in tier.names()}
        levels.append(Level(tiers=(tier,)))
    return levels


def round_to_digits(amount: Decimal, digits: int) -> Decimal:
    """The amount to the number of significant digits, halves away from zero."""
    if amount == 0:
        return amount
    with localcontext(prec=60):
        return amount.quantize(Decimal(1).scaleb(amount.adjusted() - digits + 1), rounding=ROUND_HALF_UP)


def _coarser_roundings(parsed: ParsedQuantity) -> list[tuple[int, Decimal]]:
    """(digits, amount), finest first: roundings coarser than the given amount, each different from the one before."""
    roundings: list[tuple[int, Decimal]] = []
    last = parsed.amount
    for digits in ROUNDINGS:
        step = Decimal(1).scaleb(parsed.amount.adjusted() - digits + 1)
        if digits >= parsed.digits or (parsed.bound is not None and step < parsed.bound):
            continue
        amount = round_to_digits(parsed.amount, digits)
        size = abs(parsed.amount)
        if parsed.unit is not None and parsed.unit.qid == PERCENT and size <= 100:
            size = min(size, 100 - size)  # the error counts against the nearer end: 95 % are not about 100 %
        if amount == last or abs(amount - parsed.amount) > MISLEADS * size:
            continue
        roundings.append((digits, amount))
        last = amount
    return roundings


def _answer_names(parsed: ParsedQuantity) -> list[str]:
    names = _names_of_amount(round_to_digits(parsed.amount, max(parsed.digits, 3)), parsed)
    if parsed.approximate:
        names = [*(f"{word}{parsed.language.word_separator}{names[0]}" for word in parsed.language.about), *names]
    return names + _amounts_in_other_units(parsed, max(parsed.digits, 3))


def _names_of_amount(amount: Decimal, parsed: ParsedQuantity) -> list[str]:
    """The amount in the unit of the text, then in other spellings, then without unit for counted things."""
    words = parsed.language
    numbers = _number_spellings(amount, parsed)
    out = [_with_unit_or_noun(number, parsed) for number in numbers]
    if parsed.unit is not None:
        after = (*_spellings_to_show(parsed.unit), *(parsed.unit.before if words.signs_after else ()))
        out += [words.number_with_noun(numbers[0], spelling) for spelling in after]
        before = () if words.signs_after else parsed.unit.before
        out += [f"{sign}{' ' if sign.isalpha() else ''}{numbers[0]}" for sign in before]
    if parsed.noun:
        out += numbers
    return list(dict.fromkeys(out))


def _spellings_to_show(unit: MeasureUnit) -> list[str]:
    """The spellings to show: a second one-letter symbol is only accepted when reading."""
    return [s for s in unit.spellings if len(s) > 1 or s == unit.spellings[0]]


def _amounts_in_other_units(parsed: ParsedQuantity, digits: int) -> list[str]:
    """The amount in other units, to the same number of digits, by symbol and by name."""
    out: list[str] = []
    if parsed.unit is None:
        return out
    for qid in parsed.unit.also:
        other = units_by_qid(parsed.code)[qid]
        with localcontext(prec=40):
            amount = parsed.unit.convert(parsed.amount, other)
        whole = amount.to_integral_value(rounding=ROUND_HALF_UP)
        amounts = [round_to_digits(amount, digits)]
        if whole.adjusted() >= 2 and digits > whole.adjusted() + 1:
            amounts.append(whole)
        for rounded in amounts:
            number = _number_spellings(rounded, parsed)[0]
            out += [parsed.language.number_with_noun(number, spelling) for spelling in _spellings_to_show(other)[:3]]
    return out


def _with_unit_or_noun(number: str, parsed: ParsedQuantity) -> str:
    if parsed.sign:
        return f"{parsed.sign}{' ' if parsed.sign.isalpha() else ''}{number}"
    what = parsed.unit_text if parsed.unit is not None else parsed.noun
    return parsed.language.number_with_noun(number, what) if what else number


def _number_spellings(amount: Decimal, parsed: ParsedQuantity) -> list[str]:
    """Spellings of a number, in words first where the text has words or the number is long."""
    words = parsed.language
    plain, worded = _format_number(amount, words), _number_with_scale_word_if_long(amount, words)
    forms = [worded, plain] if parsed.words or amount.copy_abs() >= 10**6 else [plain, worded]
    return list(dict.fromkeys([*forms, plain.replace(words.group, "")]))


def _format_number(amount: Decimal, words: Language | None = None) -> str:
    """The number with separators and without trailing zeros: "8,848.86", "8.848,86"; English by default."""
    text = f"{amount:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return (words or language("en")).formatted_number(text)


def _number_with_scale_word_if_long(amount: Decimal, words: Language) -> str:
    """ "1.4 billion" from a million on, where that takes no more than 6 digits; else as `_format_number`."""
    for scale in words.scales:
        if scale.singular and scale.power >= 6 and amount.copy_abs() >= Decimal(10) ** scale.power:
            scaled = amount.scaleb(-scale.power).normalize()
            if len(scaled.as_tuple().digits) <= 6:
                return words.with_scale_word(f"{scaled:f}", scale)
    return _format_number(amount, words)


TIME = "time"  # the property of a condition on the calendar

_YEAR = 9  # precision of a year
# A year without a day, as WikiData often writes it: 414 of 2,654 births are on 1 January, where 7 are expected.
_FIRST_DAY = re.compile(r"[+-]?\d{1,6}-01-01(?:T.*)?")

# Precision of TimeValue by calendar unit.
_PRECISION: dict[Kind, int] = {kind: precision for precision, kind in OF_PRECISION.items()}


def date_ladder(parsed: ParsedDate, *, subject_evidence: Evidence | None = None) -> list[Level]:
    """The levels of a date, the text itself first, finest to coarsest; at most 5 after it.

    `subject_evidence` is the statement that gives the date, where the graph has it; it is the first evidence of every
    tier. A single level means that no named unit contains the date.
    """
    evidence = () if subject_evidence is None else (subject_evidence,)
    unit = calendar_unit_of(parsed.first)
    # Other ways to write the answer, including its day in the other calendar.
    forms = _written_forms(unit, parsed) if unit is not None and not parsed.part else ()
    answer = Tier(text=parsed.text, aliases=other_names(parsed.text, forms), evidence=evidence)
    rungs = _tiers_of_approximate_date(parsed) if parsed.circa else _coarser_tiers_of_certain_date(parsed)
    levels = [Level(tiers=(answer,))]
    for level in rungs[:MAX_LEVELS]:
        levels.append(Level(tiers=tuple(replace(tier, evidence=(*evidence, *tier.evidence)) for tier in level)))
    return levels


def _coarser_tiers_of_certain_date(parsed: ParsedDate) -> list[list[Tier]]:
    """The rungs of a date that is no estimate."""
    first, last = parsed.first, parsed.last or parsed.first
    start = max(KINDS.index(OF_PRECISION.get(value.precision, "deep")) for value in (first, last))
    if parsed.last is None and not parsed.part:
        start += 1
    other = julian_to_gregorian(first) if parsed.last is None else None
    if other and (other.year, other.month or 0, other.day or 0) < GREGORIAN_REFORM:
        other = None
    levels: list[list[Tier]] = []
    for kind in KINDS[start:-1]:
        unit = calendar_unit_of(first, kind)
        if kind == "month" and _FIRST_DAY.fullmatch(parsed.text.strip()):
            continue
        if unit is None or unit != calendar_unit_of(last, kind) or not _is_useful_unit(unit, parsed.era):
            continue
        if kind == "decade" and calendar_unit_of(first, "century") != calendar_unit_of(last, "century"):
            first = last = TimeValue(year=unit.number, precision=8)  # 1900-1905: the century of the decade
        levels.append(_tiers_of_unit(unit, first, other, parsed.era))
    return levels


def _tiers_of_unit(unit: CalendarUnit, value: TimeValue, other: TimeValue | None, era: Era) -> list[Tier]:
    """The unit as a tier for a value in it, and alternates: the century edge that it leaves out, the unit of the
    `other` calendar.
    """
    rungs = [_tier_of_unit(unit, era)]
    if unit.kind == "decade":
        century = calendar_unit_of(value, "century")
        if century and century != calendar_unit_of(TimeValue(year=unit.number, precision=8), "century"):
            # 1900 is in the 1900s, but not in the 20th century; 1000 is in the 1000s, but not in the second millennium.
            rungs = [_decade_tier_of_year(value.year, unit, era), _century_end_tier(century, era)]
    if other and (also := calendar_unit_of(other, unit.kind)) and also != unit:
        rungs.append(_decade_tier_of_year(other.year, also, era) if unit.kind == "decade" else _tier_of_unit(also, era))
    return rungs


def _decade_tier_of_year(year: int, decade: CalendarUnit, era: Era) -> Tier:
    """The decade of one year; it does not state a century or millennium that the year lies outside."""
    rung = _tier_of_unit(decade, era)
    stated = _keys_of_containing_units(CalendarUnit("year", year)) | {decade.key()}
    return replace(rung, conditions=frozenset(c for c in rung.conditions if c.value in stated))


def _tiers_of_approximate_date(parsed: ParsedDate) -> list[list[Tier]]:
    """The rungs of an approximate date: the year of an approximate day or month is taken as right, a year is not."""
    first, last = parsed.first, parsed.last or parsed.first
    if parsed.last is None and first.precision > _YEAR:
        year = TimeValue(year=first.year, precision=_YEAR)
        units = filter(None, (calendar_unit_of(year, kind) for kind in KINDS[KINDS.index("year") : -1]))
        return [[_tier_of_unit(unit, parsed.era)] for unit in units if _is_useful_unit(unit, parsed.era)]
    begin, end = calendar_unit_of(first), calendar_unit_of(last)
    if not begin or not end or {begin.kind, end.kind} & {"millennium", "deep"}:
        return []
    if not parsed.era.language.has_words_for("century"):
        return []
    early = TimeValue(year=_shift_year(begin.first_year(), -_possible_error_in_years(first)), precision=9)
    late = TimeValue(year=_shift_year(end.last_year(), _possible_error_in_years(last)), precision=9)
    levels: list[list[Tier]] = []
    early_century, late_century = calendar_unit_of(early, "century"), calendar_unit_of(late, "century")
    if early_century and early_century == late_century:
        levels.append([_tier_of_unit(early_century, parsed.era)])
    elif (
        early_century
        and late_century
        and parsed.last is None
        and first.precision == _YEAR
        and early.year * late.year > 0
    ):
        levels.append([_turn_of_centuries_tier(early_century, late_century, parsed.era)])
    millennium = calendar_unit_of(early, "millennium")
    if millennium and millennium == calendar_unit_of(late, "millennium") and _is_useful_unit(millennium, parsed.era):
        levels.append([_tier_of_unit(millennium, parsed.era)])
    return levels


def _possible_error_in_years(value: TimeValue) -> int:
    """The number of years by which an approximate date of this precision may be wrong."""
    return {8: 10, 7: 100}.get(value.precision) or circa_tolerance(value.year)


def _is_useful_unit(unit: CalendarUnit, era: Era) -> bool:
    """Whether the language has a word for the unit; millennia are used only for years BCE."""
    return era.language.has_words_for(unit.kind) and (unit.kind != "millennium" or unit.number < 0)


def _shift_year(year: int, by: int) -> int:
    """The year `by` years later, or earlier if negative, without a year 0."""
    moved = year + by
    if year < 0 <= moved:
        return moved + 1
    return moved - 1 if moved <= 0 < year else moved


def _tier_of_unit(unit: CalendarUnit, era: Era) -> Tier:
    texts = names_of_unit(unit, era=era)
    return _date_tier(texts, _keys_of_containing_units(unit), _calendar_rule_text(unit, texts[0], era))


def _date_tier(texts: Sequence[str], unit_keys: Collection[str], rule: str) -> Tier:
    """A tier with its names, the calendar units that it states, and the text of the calendar rule."""
    conditions = frozenset(Condition(property=TIME, value=state) for state in unit_keys)
    evidence = (Evidence(kind="rule", text=rule),)
    return Tier(text=texts[0], aliases=tuple(texts[1:]), evidence=evidence, conditions=conditions)


def _keys_of_containing_units(unit: CalendarUnit) -> frozenset[str]:
    """The keys of the unit and of every coarser unit that contains it."""
    year = unit.first_year() if unit.kind != "decade" else unit.number
    value = TimeValue(year=year, month=unit.month or None, day=unit.day or None, precision=_PRECISION[unit.kind])
    coarser = (calendar_unit_of(value, kind) for kind in KINDS[KINDS.index(unit.kind) : -1])
    states = {holder.key() for holder in coarser if holder}
    century = calendar_unit_of(value, "century")
    if unit.kind in ("day", "month", "year") and century:
        edge = century.last_year() if century.number > 0 else century.first_year()
        if year == edge:
            states |= {f"{'end' if century.number > 0 else 'beginning'} of {century.key()}"}
    return frozenset(states)


def _calendar_rule_text(unit: CalendarUnit, text: str, era: Era) -> str:
    if unit.kind == "month":
        return f"the day is one of {text}"
    if unit.kind == "year":
        return f"the date is in the year {text}"
    first, last = unit.first_year(), unit.last_year()
    years = f"{first}–{last}" if first > 0 else f"{-first}–{-last} {era.before}"
    return f"{text} {'are' if unit.kind == 'decade' else 'is'} the years {years}"


def _century_end_tier(century: CalendarUnit, era: Era) -> Tier:
    """The end of a century, for its last year (1900), which the decade leaves out; the beginning for years BCE."""
    place = "end" if century.number > 0 else "beginning"
    year = names_of_unit(
        CalendarUnit("year", century.last_year() if century.number > 0 else century.first_year()), era=era
    )[0]
    texts = [
        text
        for mark in era_marks_of_century(century, era)
        for count in era.language.ordinals(abs(century.number))
        for text in era.language.fill_templates(f"century_{place}", count=count, mark=mark)
    ]
    return _date_tier(
        tuple(dict.fromkeys(texts)),
        _keys_of_containing_units(century) | {f"{place} of {century.key()}"},
        f"{year} is the {'last' if place == 'end' else 'first'} year of {names_of_unit(century, era=era)[0]}",
    )


def _turn_of_centuries_tier(early: CalendarUnit, late: CalendarUnit, era: Era) -> Tier:
    """The turn of two centuries, where an approximate date lies at their border."""
    old, new = (era.language.ordinals(abs(unit.number))[0] for unit in (early, late))
    mark = f" {era.before}" if early.number < 0 else ""
    return _date_tier(
        era.language.fill_templates("turn", old=old, new=new, mark=mark),
        frozenset({f"{early.key()} or {late.key()}"}),
        f"an estimate may be off by some years, over the border of {names_of_unit(early, era=era)[0]} and the next",
    )


def _written_forms(unit: CalendarUnit, parsed: ParsedDate) -> tuple[str, ...]:
    """The ways to write a date that begins with this unit; of ranges only those of plain years."""
    forms, words = names_of_unit(unit, era=parsed.era, style=parsed.style), parsed.era.language
    if parsed.last is not None:
        end = calendar_unit_of(parsed.last)
        if parsed.circa or end is None or {unit.kind, end.kind} != {"year"}:
            return ()
        begin = str(-unit.number) if unit.number < 0 and end.number < 0 else forms[0]
        return words.fill_templates("range", first=begin, last=names_of_unit(end, era=parsed.era)[0])
    if parsed.circa:
        plain = tuple(words.without_article(form) if unit.kind != "day" else form for form in forms[:2])
        return (*(text for form in plain for text in words.fill_templates("circa", date=form)), *forms)
    other = julian_to_gregorian(parsed.first)
    also = calendar_unit_of(other) if other else None
    return forms + names_of_unit(also, era=parsed.era, style=parsed.style) if also else forms
