"""Quantities: the amount, rounded to 3, 2 and 1 significant digits.

"About X" means: wrong by at most one unit of the last digit kept. Under that reading each rounding entails the next. A
rounding that is off by more than a tenth is misleading and left out; powers of ten are no tiers, since they fit nearly
any answer. Rounding begins where the bounds of the amount justify it. Counts below twenty have no tier, since any
rounding of them has little information.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal, localcontext

from abstraction.base.tiers import Condition, Evidence, Level, Tier
from abstraction.text.language.amount_reader import ParsedQuantity, parse_quantity, significant_digits
from abstraction.text.language.languages import Language, language
from abstraction.text.language.units import MeasureUnit, units
from kg.base.model import QuantityValue
from kg.base.terms import normalise

__all__ = ["ParsedQuantity", "parse_quantity", "quantity_ladder", "quantity_value_ladder", "read_amount"]

CONDITION = "amount"  # property of conditions on amounts; followed by the unit, if any
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
    """See `parse_quantity`; the amount may be followed by the same in another unit: "26.2 miles (42.2 km)"."""
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
    answer = Tier(text=parsed.text, aliases=_distinct_aliases(parsed.text, _answer_names(parsed)), evidence=evidence)
    levels = [Level(tiers=(answer,))]
    is_whole = parsed.amount == parsed.amount.to_integral_value()
    is_small = is_whole and 0 <= parsed.amount < SMALL and parsed.unit is None and not parsed.approximate
    if is_small or parsed.amount == 0:
        return levels
    stated: list[Condition] = []
    coarser: list[Level] = []
    for digits, amount in reversed(_roundings(parsed)):
        stated = [Condition(property=_property(parsed), value=f"{_format_number(amount)} to {digits} digits"), *stated]
        coarser.insert(0, Level(tiers=(_rounded_tier(parsed, amount, digits, evidence, frozenset(stated)),)))
    return _without_repeated_aliases(levels + coarser)


def quantity_value_ladder(
    value: QuantityValue, *, subject_evidence: Evidence | None = None, code: str = "en"
) -> list[Level]:
    """The levels of a value of the graph, in a language; a unit that is not in the table is left out."""
    unit = units(language(code).code).get(value.unit or "")
    bound = None
    if value.lower is not None and value.upper is not None:
        bound = (value.upper - value.lower) / 2 or None
    number = _format_number(value.amount, language(code))
    parsed = ParsedQuantity(
        text="",
        amount=value.amount,
        digits=significant_digits(f"{value.amount:f}"),
        unit=unit,
        unit_text="" if unit is None else unit.spellings[0],
        bound=bound,
        code=language(code).code,
    )
    return quantity_ladder(replace(parsed, text=_with_unit(number, parsed)), subject_evidence=subject_evidence)


def _without_repeated_aliases(levels: list[Level]) -> list[Level]:
    """The levels without aliases that a finer tier already has: 29,000 ft is 29,032 ft to three digits and to two."""
    seen: set[str] = set()
    out = []
    for level in levels:
        tiers = []
        for tier in level.tiers:
            tiers.append(replace(tier, aliases=tuple(a for a in tier.aliases if normalise(a) not in seen)))
            seen |= {normalise(name) for name in tier.names()}
        out.append(Level(tiers=tuple(tiers)))
    return out


def round_to(amount: Decimal, digits: int) -> Decimal:
    """The amount to the number of significant digits, halves away from zero."""
    if amount == 0:
        return amount
    with localcontext(prec=60):
        return amount.quantize(Decimal(1).scaleb(amount.adjusted() - digits + 1), rounding=ROUND_HALF_UP)


def _roundings(parsed: ParsedQuantity) -> list[tuple[int, Decimal]]:
    """(digits, amount), finest first: coarser than the amount given, each different from the one before."""
    roundings: list[tuple[int, Decimal]] = []
    last = parsed.amount
    for digits in ROUNDINGS:
        step = Decimal(1).scaleb(parsed.amount.adjusted() - digits + 1)
        if digits >= parsed.digits or (parsed.bound is not None and step < parsed.bound):
            continue
        amount = round_to(parsed.amount, digits)
        size = abs(parsed.amount)
        if parsed.unit is not None and parsed.unit.qid == PERCENT and size <= 100:
            size = min(size, 100 - size)  # 95 % are not about 100
        if amount == last or abs(amount - parsed.amount) > MISLEADS * size:
            continue
        roundings.append((digits, amount))
        last = amount
    return roundings


def _rounded_tier(
    parsed: ParsedQuantity,
    amount: Decimal,
    digits: int,
    evidence: tuple[Evidence, ...],
    conditions: frozenset[Condition],
) -> Tier:
    names = _names(amount, parsed)
    text, *others = _amounts_with_about(names[0], parsed.language)
    whole = _with_unit(_format_number(parsed.amount, parsed.language), parsed)
    rule = f"{whole} to {digits} significant digit{'s' * (digits > 1)}"
    return Tier(
        text=text,
        aliases=_distinct_aliases(
            text,
            [names[0], *others, *names[1:], *_amounts_in_other_units(parsed, digits)],
        ),
        evidence=(*evidence, Evidence(kind="rule", text=f"{rule} is {names[0]}")),
        conditions=conditions,
    )


def _amounts_with_about(amount: str, words: Language) -> list[str]:
    """The amount after each word for "about"."""
    return [f"{word}{words.gap}{amount}" for word in words.about]


def _property(parsed: ParsedQuantity) -> str:
    return CONDITION if parsed.unit is None else f"{CONDITION} in {parsed.unit.qid}"


def _answer_names(parsed: ParsedQuantity) -> list[str]:
    names = _names(round_to(parsed.amount, max(parsed.digits, 3)), parsed)
    if parsed.approximate:
        names = [*_amounts_with_about(names[0], parsed.language), *names]
    return names + _amounts_in_other_units(parsed, max(parsed.digits, 3))


def _names(amount: Decimal, parsed: ParsedQuantity) -> list[str]:
    """The amount in the unit of the text, then in other spellings, then without unit for counted things."""
    words = parsed.language
    numbers = _number_spellings(amount, parsed)
    out = [_with_unit(number, parsed) for number in numbers]
    if parsed.unit is not None:
        out += [words.number_with_noun(numbers[0], spelling) for spelling in _shown_spellings(parsed.unit)]
        if words.signs_after:
            out += [words.number_with_noun(numbers[0], sign) for sign in parsed.unit.before]
        else:
            out += [f"{sign}{' ' if sign.isalpha() else ''}{numbers[0]}" for sign in parsed.unit.before]
    if parsed.noun:
        out += numbers
    return list(dict.fromkeys(out))


def _shown_spellings(unit: MeasureUnit) -> list[str]:
    """The spellings to show: a second one-letter symbol is only accepted when reading."""
    return [s for s in unit.spellings if len(s) > 1 or s == unit.spellings[0]]


def _amounts_in_other_units(parsed: ParsedQuantity, digits: int) -> list[str]:
    """The amount in other units, to the same number of digits, by symbol and by name."""
    out: list[str] = []
    if parsed.unit is None:
        return out
    for qid in parsed.unit.also:
        other = units(parsed.code)[qid]
        with localcontext(prec=40):
            amount = parsed.unit.convert(parsed.amount, other)
        whole = amount.to_integral_value(rounding=ROUND_HALF_UP)
        amounts = [round_to(amount, digits)]
        if whole.adjusted() >= 2 and digits > whole.adjusted() + 1:
            amounts.append(whole)
        for rounded in amounts:
            number = _number_spellings(rounded, parsed)[0]
            out += [parsed.language.number_with_noun(number, spelling) for spelling in _shown_spellings(other)[:3]]
    return out


def _with_unit(number: str, parsed: ParsedQuantity, *, joint: str = "") -> str:
    if parsed.sign:
        gap = " " if parsed.sign.isalpha() else ""
        return joint.join(f"{parsed.sign}{gap}{part}" for part in (number.split(joint) if joint else [number]))
    what = parsed.unit_text if parsed.unit is not None else parsed.noun
    return parsed.language.number_with_noun(number, what) if what else number


def _number_spellings(amount: Decimal, parsed: ParsedQuantity) -> list[str]:
    """Spellings of a number, in words first where the text has words or the number is long."""
    words = parsed.language
    plain, worded = _format_number(amount, words), _scaled_number(amount, words)
    forms = [worded, plain] if parsed.words or amount.copy_abs() >= 10**6 else [plain, worded]
    return list(dict.fromkeys([*forms, plain.replace(words.group, "")]))


def _format_number(amount: Decimal, words: Language | None = None) -> str:
    """The number with separators and without trailing zeros: "8,848.86", "8.848,86"; English by default."""
    text = f"{amount:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return (words or language("en")).number(text)


def _scaled_number(amount: Decimal, words: Language) -> str:
    """ "1.4 billion" from a million on, where that takes no more than 6 digits; else as `_format_number`."""
    for scale in words.scales:
        if scale.singular and scale.power >= 6 and amount.copy_abs() >= Decimal(10) ** scale.power:
            scaled = amount.scaleb(-scale.power).normalize()
            if len(scaled.as_tuple().digits) <= 6:
                return words.with_scale_word(f"{scaled:f}", scale)
    return _format_number(amount, words)


def _distinct_aliases(text: str, names: list[str]) -> tuple[str, ...]:
    """The names without repeats and without the text itself."""
    spellings: dict[str, str] = {}
    for name in names:
        spellings.setdefault(normalise(name), name)
    spellings.pop(normalise(text), None)
    return tuple(spellings.values())
