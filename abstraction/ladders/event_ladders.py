"""Events: the larger event they belong to, then kind, year and place: "a 1943 battle in Tunisia"."""

from __future__ import annotations

from collections.abc import Sequence

from abstraction.evidence import from_statement
from abstraction.ladders.things import Detail, ThingRecipe, things
from abstraction.language.phrases import definite
from abstraction.proposals import LadderCase, Proposal
from abstraction.tiers import Condition
from kg.model import Statement, TimeValue

YEAR, DECADE = 9, 10  # precision of a year, years of a decade


def events(case: LadderCase) -> list[Proposal]:
    """ "World War II | a 1943 battle in Tunisia › a battle in Tunisia | a 1943 battle › a battle"."""
    return things(case, _RECIPE)


def _time(case: LadderCase) -> Detail | None:
    """The year, or the decade that start and end share."""
    start, end = _first(case, "P580"), _first(case, "P582")
    point = _first(case, "P585")
    if point is not None and start is None and end is None and len(case.graph.statements(case.answer, "P585")) == 1:
        return _told(case, str(_year(point)), (point,))
    if start is None or end is None:
        return None
    first, last = _year(start), _year(end)
    if first == last:
        return _told(case, str(first), (start, end))
    if first // DECADE == last // DECADE:
        return _told(case, f"{first // DECADE * DECADE}s", (start, end))
    return None


def _told(case: LadderCase, text: str, statements: Sequence[Statement]) -> Detail:
    proof = tuple(from_statement(case.graph, s) for s in statements)
    return Detail(text=text, evidence=proof, conditions=frozenset({Condition(property="P585", value=text)}))


def _first(case: LadderCase, prop: str) -> Statement | None:
    for statement in case.graph.statements(case.answer, prop):
        value = statement.value
        if (
            isinstance(value, TimeValue)
            and value.precision >= YEAR
            and value.year > 0
            and statement.rank != "deprecated"
        ):
            return statement
    return None


def _year(statement: Statement) -> int:
    assert isinstance(statement.value, TimeValue)
    return statement.value.year


def _places(case: LadderCase) -> Sequence[Detail]:
    """The one place or country where it happened."""
    graph = case.graph
    for prop in ("P276", "P17"):
        statements = [s for s in graph.current(case.answer, prop) if s.target]
        if len(statements) != 1:
            continue
        target = statements[0].target or ""
        label = graph.label(target)
        if label is None or {"place", "country"}.isdisjoint(case.gazetteer.classes(target)):
            continue
        condition = Condition(property=prop, value=target)
        proof = (from_statement(graph, statements[0]),)
        return [Detail(text=f"in {definite(label)}", evidence=proof, conditions=frozenset({condition}))]
    return []


_RECIPE = ThingRecipe(
    family="event",
    noun="event",
    wholes=("P361",),
    within=frozenset({"event"}),
    before=_time,
    behind=_places,
)
