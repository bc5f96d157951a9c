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

    localised: Localised
    nodes: Graph
    doubted: frozenset[str]


class Proposing:
    """Builds proposals, or finds them: most questions of a dataset share their answer with others."""

    def __init__(self) -> None:
        self._proposed: SizedDict[Key, Proposed] = SizedDict(
            KEPT, lambda _, proposed: PER_TIER * (1 + len(proposed.nodes))
        )

    def of(
        self,
        case: LadderCase,
        build: Callable[[LadderCase], list[Proposal]],
        kinds: Collection[str],
        row_proposals: Sequence[Proposal] = (),
    ) -> Proposed:
        """What `build` proposes, and what the row itself tells; kept where only the date of the question is read."""
        if row_proposals or _reads_question(case, kinds):
            return _proposed_in_language(case, [*build(case), *row_proposals])
        alike = case.relation.asks in _PLACED and case.graph.shown_in == case.graph.language
        relation = "" if alike else case.relation.id
        key = (case.answer, relation, case.relation.asks, case.at)
        proposed = self._proposed.get(key)
        if proposed is None:
            proposed = self._proposed[key] = _proposed_in_language(case, build(case))
        return proposed


def _proposed_in_language(case: LadderCase, proposals: list[Proposal]) -> Proposed:
    in_language = localised(proposals, case.graph, trivial=lambda p: is_trivial(p, case.relation))
    return Proposed(in_language, as_graph(in_language.proposals), frozenset(case.doubted))


def _reads_question(case: LadderCase, kinds: Collection[str]) -> bool:
    if looks_at_subject(case.relation.asks, kinds):
        return True
    return "person" in kinds and may_name_subject(case.graph, case.vocabulary, case.answer)
