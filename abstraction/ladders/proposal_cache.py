"""What may be said of an answer before the question strikes any of it, kept for the next question with that answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from abstraction.assembly.filters import is_trivial
from abstraction.assembly.levels import Graph, as_graph
from abstraction.assembly.translation import Localised, localised
from abstraction.ladders.builders import looks_at_subject
from abstraction.ladders.office_phrases import may_name_subject
from abstraction.proposals import LadderCase, Proposal
from kg.bounded_cache import SizedDict
from kg.model import TimeValue

KEPT = 60_000_000  # bytes, as estimated
PER_TIER = 4_000

_PLACED = frozenset({"place", "school"})  # where something is does not depend on why it is asked

Key = tuple[str, str, str, TimeValue | None]


@dataclass(frozen=True, slots=True)
class Proposed:
    """The proposals of an answer in the language of the ladder and as a graph, and the ids that builders doubted."""

    told: Localised
    nodes: Graph
    doubted: frozenset[str]


class Proposing:
    """Builds proposals, or finds them: most questions of a dataset share their answer with others."""

    def __init__(self) -> None:
        self._kept: SizedDict[Key, Proposed] = SizedDict(KEPT, lambda _, made: PER_TIER * (1 + len(made.nodes)))

    def of(
        self,
        case: LadderCase,
        build: Callable[[LadderCase], list[Proposal]],
        kinds: Collection[str],
        told_by_row: Sequence[Proposal] = (),
    ) -> Proposed:
        """What `build` proposes, with what the row itself tells; kept where of the question only its date is read."""
        if told_by_row or _reads_question(case, kinds):
            return _made(case, [*build(case), *told_by_row])
        alike = case.relation.asks in _PLACED and case.graph.shown_in == case.graph.language
        relation = "" if alike else case.relation.id
        key = (case.answer, relation, case.relation.asks, case.at)
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = _made(case, build(case))
        return found


def _made(case: LadderCase, found: list[Proposal]) -> Proposed:
    told = localised(found, case.graph, trivial=lambda p: is_trivial(p, case.relation))
    return Proposed(told, as_graph(told.proposals), frozenset(case.doubted))


def _reads_question(case: LadderCase, kinds: Collection[str]) -> bool:
    if looks_at_subject(case.relation.asks, kinds):
        return True
    return "person" in kinds and may_name_subject(case.graph, case.vocabulary, case.answer)
