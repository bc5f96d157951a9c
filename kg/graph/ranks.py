"""Which statements count: rank, time and disputes, decided in one place.

"Best rank" is not "current" in WikiData: outdated values often keep normal rank with an end time, or with
no end time at all but a dissolved target. See `current`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import cache
from types import MappingProxyType

from kg.base.model import Rank, SnakKind, Statement, TimeValue

CONTINENT = "P30"
START, END, POINT = "P580", "P582", "P585"
APPLIES_TO_PART, DISPUTED_BY, SOURCING, NATURE = "P518", "P1310", "P1480", "P5102"
# Qualifiers that limit a statement to a time, a part or an opinion, with the reason. Continents are exempt from
# "applies to part" in `current`: callers choose between a country's continents.
LIMITS: Mapping[str, str] = MappingProxyType(
    {
        END: "it has ended, unless the end is yet to come",
        START: "it has not begun, where the start is yet to come",
        APPLIES_TO_PART: "it holds of the parts named alone",
        DISPUTED_BY: "somebody denies it",
        SOURCING: "it is an estimate or a presumption",
        NATURE: "it is hedged",
    }
)


def time_key(value: TimeValue, *, late: bool = False) -> tuple[int, int, int]:
    """A sortable key of the first (or, with `late`, the last) day that the value may mean."""
    span = {8: 10, 7: 100, 6: 1000}.get(value.precision, 1 if value.precision >= 9 else 10 ** (9 - value.precision))
    year = value.year
    if span > 1:
        # Decades begin with the year ending in 0, longer spans with the one ending in 1; BCE mirrors both.
        count = abs(year)
        first = count // span * span if value.precision == 8 else (count - 1) // span * span + 1
        year = first + span - 1 if late == (year > 0) else first
        year = max(year, 1) * (1 if value.year > 0 else -1)
    if late:
        return (year, value.month or 12, value.day or 31)
    return (year, value.month or 1, value.day or 1)


def _qualifier_times(statement: Statement, prop: str) -> list[TimeValue]:
    return [snak.value for snak in statement.qualifier(prop) if isinstance(snak.value, TimeValue)]


@cache
def today() -> TimeValue:
    """The day on which the program runs."""
    day = date.today()
    return TimeValue(year=day.year, month=day.month, day=day.day, precision=11)


def is_to_come(value: TimeValue) -> bool:
    """Whether a time lies wholly in the future."""
    return time_key(value) > time_key(today())


def has_ended(statement: Statement) -> bool:
    """Whether the statement carries an end time that is not yet to come (a somevalue end counts: it did end)."""
    ends = [snak for snak in statement.qualifier(END) if snak.kind is not SnakKind.NOVALUE]
    return any(not (isinstance(snak.value, TimeValue) and is_to_come(snak.value)) for snak in ends)


def has_begun(statement: Statement) -> bool:
    """Whether the statement has begun: it has no start, or its start is not in the future."""
    starts = _qualifier_times(statement, START)
    return not starts or not all(map(is_to_come, starts))


def valid_at(statement: Statement, at: TimeValue) -> bool | None:
    """Whether the statement was valid at `at`; None where it has no times."""
    starts, ends = _qualifier_times(statement, START), _qualifier_times(statement, END)
    if not starts and not ends:
        points = _qualifier_times(statement, POINT)
        if not points:
            return None
        return any(time_key(p) <= time_key(at, late=True) and time_key(at) <= time_key(p, late=True) for p in points)
    if starts and min(time_key(s) for s in starts) > time_key(at, late=True):
        return False
    return not (ends and max(time_key(e, late=True) for e in ends) < time_key(at))


def valid_values(statements: Iterable[Statement]) -> list[Statement]:
    """The statements with a value, not deprecated, and not hedged by a sourcing circumstance."""
    return [
        s
        for s in statements
        if s.kind is SnakKind.VALUE
        and s.rank is not Rank.DEPRECATED
        and not s.qualifier(SOURCING)
        and not s.qualifier(NATURE)
    ]


def current(
    statements: Sequence[Statement],
    *,
    historical: Callable[[str], bool] | None = None,
) -> list[Statement]:
    """The statements that are valid today, in source order.

    Deprecated, unknown and hedged values never count. If there are statements of preferred rank, only they count. Then
    are dropped: statements that have ended or are yet to begin; those that apply to a part only; disputed ones; and
    those whose target is `historical`, that is, no longer exists. Each of these steps is taken only as long as another
    value remains. Returns an empty list where every value has ended.
    """
    chosen = valid_values(statements)
    preferred = [s for s in chosen if s.rank is Rank.PREFERRED and has_begun(s)]
    chosen = preferred or chosen
    chosen = [s for s in chosen if not has_ended(s) and has_begun(s)]
    doubts: tuple[Callable[[Statement], bool], ...] = (
        # A country on two continents has both: each is valid for a part.
        lambda s: s.property != CONTINENT and bool(s.qualifier(APPLIES_TO_PART)),
        lambda s: bool(s.qualifier(DISPUTED_BY)),
        lambda s: historical is not None and s.target is not None and historical(s.target),
    )
    for doubtful in doubts:
        rest = [s for s in chosen if not doubtful(s)]
        chosen = rest or chosen
    return chosen


def held_at(statements: Sequence[Statement], at: TimeValue) -> list[Statement]:
    """The statements whose own start and end (or point in time) cover `at`, in source order."""
    return [s for s in valid_values(statements) if valid_at(s, at)]
