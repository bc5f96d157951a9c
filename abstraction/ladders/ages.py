"""Ages of people: the years, then the decade of life ("in their thirties")."""

from __future__ import annotations

from dataclasses import replace

from abstraction.ladders.quantities import CONDITION, quantity_ladder
from abstraction.language.amount_reader import ParsedQuantity
from abstraction.tiers import Condition, Evidence, Level, Tier

_DECADES = ("twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties")
_YEAR = "Q577"
_TEENS = range(13, 20)


def age_ladder(parsed: ParsedQuantity) -> list[Level]:
    """The age itself, then the decade of life; the age alone below 13 and from 100 on, and where it is no whole number.

    An age in another unit ("3 months") has the ladder of an amount.
    """
    if parsed.unit is not None and parsed.unit.qid != _YEAR:
        return quantity_ladder(parsed)
    first = quantity_ladder(replace(parsed, unit=None, unit_text="", noun="years"))[0]
    years = int(parsed.amount) if parsed.amount == parsed.amount.to_integral_value() else -1
    if parsed.approximate or not _TEENS.start <= years < 100:
        return [first]
    return [first, Level(tiers=(_decade(years),))]


def _decade(years: int) -> Tier:
    if years in _TEENS:
        text, names, low, high = "a teenager", ["in their teens", "in his teens", "in her teens", "teens"], 13, 19
    else:
        word, low = _DECADES[years // 10 - 2], years // 10 * 10
        text, high = f"in their {word}", low + 9
        names = [f"in his {word}", f"in her {word}", word, f"{low}s", f"between {low} and {high}"]
    return Tier(
        text=text,
        aliases=tuple(names),
        evidence=(Evidence(kind="rule", text=f"{years} years is {text}"),),
        conditions=frozenset({Condition(property=CONDITION, value=f"{low} to {high + 1}")}),
    )
