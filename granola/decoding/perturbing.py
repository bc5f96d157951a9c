"""Questions that ask for less: "In what year ..." from "When ...", with the ladder cut to match.

A system that knows what it knows answers both; one that guesses exact dates loses the easier question as well. The
ladder of the new question begins at the level that is asked for. What is finer still answers it, since it entails it,
and becomes other names of level 1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from abstraction.ladders.date_ladders import parse_date
from abstraction.rows import TieredRow
from abstraction.tiers import Level, Tier
from kg.terms import normalise

_WHEN = re.compile(r"\A(?P<lead>\W*)when (?P<verb>was|were|is|are|did|does|do|had|has) (?P<rest>.+)\Z", re.IGNORECASE)


class AskedUnit(StrEnum):
    """What the new question asks for."""

    MONTH = "month"
    YEAR = "year"
    DECADE = "decade"
    CENTURY = "century"


# How the question begins, and the precision of a date of the unit (as in WikiData's time values).
_ASKS = {
    AskedUnit.MONTH: ("In which month and year", 10),
    AskedUnit.YEAR: ("In what year", 9),
    AskedUnit.DECADE: ("In which decade", 8),
    AskedUnit.CENTURY: ("In which century", 7),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """A row that cannot be asked so, and why."""

    row: TieredRow
    reason: str


def perturbed(row: TieredRow, unit: AskedUnit) -> TieredRow | Kept:
    """The row asking for a unit of time, under the id `ID-UNIT`; or why it cannot.

    Of an answer in several levels the one is taken whose tiers are dates of the unit's precision.
    """
    asks, precision = _ASKS[unit]
    match = _WHEN.match(row.question)
    if match is None:
        return Kept(row=row, reason="no question with when")
    depth = next((n for n, level in enumerate(row.levels) if _has(level, precision)), None)
    if depth is None:
        return Kept(row=row, reason=f"no level is a {unit}")
    if depth == 0:
        return Kept(row=row, reason=f"its answer is a {unit} already")
    answer = _answer(row, depth, precision)
    levels = (Level(tiers=(answer,)), *row.levels[depth + 1 :])
    return replace(
        row,
        id=f"{row.id}-{unit}",
        question=f"{match['lead']}{asks} {match['verb'].lower()} {match['rest']}",
        answers=(answer.text,),
        levels=levels,
        abstained=None if len(levels) > 1 else row.abstained or "only-trivial-left",
        extra={**row.extra, "perturbed_from": row.id},
    )


def _answer(row: TieredRow, depth: int, precision: int) -> Tier:
    """The first date of the precision in the level, under its names and all that entail it."""
    # Of two years, say of two calendars, each is as good an answer as the other.
    chosen, *alternatives = [tier for tier in row.levels[depth].tiers if _precision(tier.text) == precision]
    coarser = {normalise(name) for level in row.levels[depth + 1 :] for name in level.names()}
    finer = [name for level in row.levels[:depth] for name in level.names() if normalise(name) not in coarser]
    known = {normalise(name) for name in chosen.names()}
    others = [name for tier in alternatives for name in tier.names()]
    more = [name for name in dict.fromkeys((*others, *finer)) if normalise(name) not in known]
    return replace(chosen, aliases=(*chosen.aliases, *more))


def _has(level: Level, precision: int) -> bool:
    return any(_precision(tier.text) == precision for tier in level.tiers)


def _precision(text: str) -> int | None:
    """The precision of a date of one unit; None for what is none, a range, an estimate or a part of a unit."""
    parsed = parse_date(text)
    if parsed is None or parsed.last is not None or parsed.circa or parsed.part:
        return None
    return parsed.first.precision
