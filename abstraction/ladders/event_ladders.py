"""Events: the larger event they belong to, then kind, year and place: "a 1943 battle in Tunisia"."""

from __future__ import annotations

from collections.abc import Sequence

from abstraction.evidence import from_statement
from abstraction.ladders.entity_values import current_values
from abstraction.ladders.phrase_parts import Wording, states
from abstraction.ladders.things import ThingRecipe, things
from abstraction.language.phrases import definite
from abstraction.proposals import LadderCase, Proposal
from kg.model import Rank, Statement, TimeValue

YEAR, DECADE = 9, 10  # precision of a year, years of a decade


def events(case: LadderCase) -> list[Proposal]:
    """ "World War II | a 1943 battle in Tunisia › a battle in Tunisia | a 1943 battle › a battle"."""
    return things(case, _RECIPE)


def _time(case: LadderCase) -> Wording | None:
    """The year, or the decade that start and end share."""
    start, end = _first(case, "P580"), _first(case, "P582")
    point = _first(case, "P585")
    if point is not None and start is None and end is None and len(case.graph.statements(case.answer, "P585")) == 1:
        return _dated(case, str(_year(point)), (point,))
    if start is None or end is None:
        return None
    first, last = _year(start), _year(end)
    if first == last:
        return _dated(case, str(first), (start, end))
    if first // DECADE == last // DECADE:
        return _dated(case, f"{first // DECADE * DECADE}s", (start, end))
    return None


def _dated(case: LadderCase, text: str, statements: Sequence[Statement]) -> Wording:
    evidence = tuple(from_statement(case.graph, s) for s in statements)
    return Wording(text=text, features=frozenset({f"y:{text}"}), evidence=evidence, conditions=states("P585", text))


def _first(case: LadderCase, prop: str) -> Statement | None:
    """The first statement that gives a year CE or a finer date."""
    for statement in case.graph.statements(case.answer, prop):
        value = statement.value
        is_year = isinstance(value, TimeValue) and value.precision >= YEAR and value.year > 0
        if is_year and statement.rank is not Rank.DEPRECATED:
            return statement
    return None


def _year(statement: Statement) -> int:
    assert isinstance(statement.value, TimeValue)
    return statement.value.year


def _places(case: LadderCase) -> Sequence[Wording]:
    """The one place or country where it happened."""
    for prop in ("P276", "P17"):
        if len(case.graph.targets(case.answer, prop)) != 1:
            continue
        for value in current_values(case.graph, case.answer, prop):
            if not case.gazetteer.classes(value.qid).isdisjoint({"place", "country"}):
                text, features = f"in {definite(value.label)}", frozenset({f"d:{value.qid}"})
                return [Wording(text=text, features=features, evidence=(value.evidence,), conditions=value.conditions)]
    return []


_RECIPE = ThingRecipe(
    family="event",
    noun="event",
    wholes=("P361",),
    within=frozenset({"event"}),
    before=_time,
    behind=_places,
)
