"""Which statements count: rank, time and disputes, decided in one place.

"Best rank" is not "current" in WikiData: outdated values often keep normal rank with an end time, or with
no end time at all but a dissolved target. See `current`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum

from kg.model import Rank, SnakKind, Statement, TimeValue

CONTINENT = "P30"
START, END, POINT = "P580", "P582", "P585"
APPLIES_TO_PART, DISPUTED_BY, SOURCING, NATURE = "P518", "P1310", "P1480", "P5102"


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


def _times(statement: Statement, prop: str) -> list[TimeValue]:
    return [snak.value for snak in statement.qualifier(prop) if isinstance(snak.value, TimeValue)]


def has_ended(statement: Statement) -> bool:
    """Whether the statement carries an end time (a somevalue end counts: it did end)."""
    return any(snak.kind is not SnakKind.NOVALUE for snak in statement.qualifier(END))


def valid_at(statement: Statement, at: TimeValue) -> bool | None:
    """Whether the statement held at `at`; None where it says nothing about time."""
    starts, ends = _times(statement, START), _times(statement, END)
    if not starts and not ends:
        points = _times(statement, POINT)
        if not points:
            return None
        return any(time_key(p) <= time_key(at, late=True) and time_key(at) <= time_key(p, late=True) for p in points)
    if starts and min(time_key(s) for s in starts) > time_key(at, late=True):
        return False
    return not (ends and max(time_key(e, late=True) for e in ends) < time_key(at))


def stated(statements: Iterable[Statement]) -> list[Statement]:
    """Those with a value, not deprecated, and not hedged by a sourcing circumstance."""
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
    """The statements that hold today, in source order.

    Deprecated, unknown and hedged values never count. Preferred rank, where there is any, decides; ended
    statements fall out; then those that apply to a part only, disputed ones, and those whose target `historical`
    says no longer exists, each only as long as another value remains. Returns an empty list where every value
    has ended.
    """
    chosen = stated(statements)
    preferred = [s for s in chosen if s.rank is Rank.PREFERRED]
    chosen = preferred or chosen
    chosen = [s for s in chosen if not has_ended(s)]
    doubts: tuple[Callable[[Statement], bool], ...] = (
        # Of a country on two continents each holds of a part.
        lambda s: s.property != CONTINENT and bool(s.qualifier(APPLIES_TO_PART)),
        lambda s: bool(s.qualifier(DISPUTED_BY)),
        lambda s: historical is not None and s.target is not None and historical(s.target),
    )
    for doubtful in doubts:
        rest = [s for s in chosen if not doubtful(s)]
        chosen = rest or chosen
    return chosen


class SetAside(StrEnum):
    """Why a statement is none of `current`."""

    DEPRECATED = "deprecated"
    NO_VALUE = "no-value"
    HEDGED = "hedged"
    ENDED = "ended"
    NOT_PREFERRED = "not-preferred"
    PART = "of-a-part"
    DISPUTED = "disputed"
    HISTORICAL = "historical"


def set_aside(
    statements: Sequence[Statement], *, historical: Callable[[str], bool] | None = None
) -> list[tuple[Statement, SetAside]]:
    """The statements that `current` leaves out, in source order, each with what says most of why."""
    holding = {id(s) for s in current(statements, historical=historical)}
    is_preferred = any(s.rank is Rank.PREFERRED for s in stated(statements))
    return [(s, _why_left_out(s, is_preferred=is_preferred)) for s in statements if id(s) not in holding]


def _why_left_out(statement: Statement, *, is_preferred: bool) -> SetAside:
    if statement.rank is Rank.DEPRECATED:
        return SetAside.DEPRECATED
    if statement.kind is not SnakKind.VALUE:
        return SetAside.NO_VALUE
    if statement.qualifier(SOURCING) or statement.qualifier(NATURE):
        return SetAside.HEDGED
    if has_ended(statement):
        return SetAside.ENDED
    if is_preferred and statement.rank is not Rank.PREFERRED:
        return SetAside.NOT_PREFERRED
    if statement.property != CONTINENT and statement.qualifier(APPLIES_TO_PART):
        return SetAside.PART
    return SetAside.DISPUTED if statement.qualifier(DISPUTED_BY) else SetAside.HISTORICAL


def held_at(statements: Sequence[Statement], at: TimeValue) -> list[Statement]:
    """The statements whose own start and end (or point in time) cover `at`, in source order."""
    return [s for s in stated(statements) if valid_at(s, at)]
