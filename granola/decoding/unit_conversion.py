"""Amounts in different units meet: 1.8 m, 180 cm and 5 ft 11 in are one height.

All amounts of a dimension are read in the unit of the roundest one, each to the digits that it was given with, and
have the roundings that they have there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import localcontext

from abstraction.information.literal_bits import with_quantity_bits
from abstraction.ladders.quantities import quantity_ladder, round_to
from abstraction.language.amount_reader import ParsedQuantity
from abstraction.tiers import Level
from kg.model import entity_number
from kg.terms import normalise

FEWEST_DIGITS = 2  # what a converted amount keeps: 7,000 miles are 11,000 km rather than 10,000


def aligned(
    amounts: Mapping[int, ParsedQuantity], levels: Sequence[tuple[Level, ...]], relation: str
) -> dict[int, tuple[Level, ...]]:
    """New levels of the responses that are to be read in another unit, by their place.

    `amounts` are those with a unit among the responses, by the response's place in `levels`.
    """
    by_dimension: dict[str, dict[str, list[int]]] = {}
    for place, parsed in amounts.items():
        if parsed.unit is not None:
            by_dimension.setdefault(parsed.unit.dimension, {}).setdefault(parsed.unit.qid, []).append(place)
    out = {}
    for places in by_dimension.values():
        if len(places) < 2:
            continue
        common = min(places, key=lambda qid: (max(amounts[p].digits for p in places[qid]), entity_number(qid)))
        there = min((amounts[p] for p in places[common]), key=lambda parsed: (parsed.sign, parsed.unit_text))
        for qid, own in places.items():
            for place in own if qid != common else ():
                out[place] = _in_unit(amounts[place], there, levels[place], relation)
    return out


def _in_unit(
    parsed: ParsedQuantity, like: ParsedQuantity, levels: tuple[Level, ...], relation: str
) -> tuple[Level, ...]:
    """The levels of an amount, told in the unit of another and as that writes it."""
    assert parsed.unit is not None
    assert like.unit is not None
    digits = max(parsed.digits, FEWEST_DIGITS)
    with localcontext(prec=40):
        amount = round_to(parsed.unit.convert(parsed.amount, like.unit), digits)
        bound = None if parsed.bound is None else parsed.bound * parsed.unit.factor / like.unit.factor
    there = replace(
        parsed, text="", amount=amount, digits=digits, unit=like.unit, unit_text=like.unit_text, sign=like.sign,
        bound=bound,
    )  # fmt: skip
    made = with_quantity_bits(there, quantity_ladder(there), relation)
    tier = levels[0].tiers[0]
    known = {normalise(name) for name in tier.names()}
    more = (name for name in made[0].tiers[0].names() if name and normalise(name) not in known)
    return Level(tiers=(replace(tier, aliases=(*tier.aliases, *more)),)), *made[1:]
