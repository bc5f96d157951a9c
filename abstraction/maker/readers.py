"""The readers of one graph, kept together, so that all see the same state of the snapshot; and the proposals for its
answers, kept for the next question with the same answer.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace

from abstraction.base.relations import Classifier
from abstraction.base.tiers import Ladder
from abstraction.ladders.assembly.filters import is_trivial
from abstraction.ladders.assembly.levels import Graph as ProposalGraph
from abstraction.ladders.assembly.levels import as_graph
from abstraction.ladders.assembly.place_wording import PlaceNames
from abstraction.ladders.assembly.translation import Localised, is_woman, localise
from abstraction.ladders.builders import looks_at_subject
from abstraction.ladders.offices import may_name_subject
from abstraction.ladders.organisation_ladders import organisations
from abstraction.ladders.proposals import Builder, LadderCase, Proposal
from abstraction.linking.candidates import Priors
from abstraction.linking.gazetteer import Gazetteer
from abstraction.linking.linker import Linker
from kg.base.bounded_cache import SizedDict
from kg.base.model import Entity, TimeValue
from kg.graph.graph import Graph

KEPT = 60_000_000  # bytes, as estimated
PER_TIER = 4_000  # estimated bytes of memory per proposal
_PLACED = frozenset({"place", "school"})  # the location of a thing is the same for all relations
Key = tuple[str, str, str, Builder, TimeValue | None, bool, str | None]


@dataclass(frozen=True, slots=True)
class LocalisedProposals:
    """The proposals of an answer in the language of the ladder, also as a graph, and the ids that builders doubted.

    `key` is the key of the cache; None for proposals that are not kept.
    """

    localised: Localised
    nodes: ProposalGraph
    doubted: frozenset[str]
    key: Key | None = None


class ProposalCache:
    """Builds proposals or returns kept ones: in most datasets many questions share an answer.

    `ladders` keeps finished ladders by everything that they depend on.
    """

    def __init__(self) -> None:
        self._proposed: SizedDict[Key, LocalisedProposals] = SizedDict(
            KEPT, lambda _, proposed: PER_TIER * (1 + len(proposed.nodes))
        )
        self.ladders: SizedDict[Hashable, Ladder] = SizedDict(
            KEPT // 2, lambda _, ladder: PER_TIER // 2 * sum(1 + len(level.tiers) for level in ladder.levels)
        )

    def proposals(
        self,
        case: LadderCase,
        build: Builder,
        kinds: Collection[str],
        row_proposals: Sequence[Proposal] = (),
    ) -> LocalisedProposals:
        """The proposals of `build` and those of the row; kept where the builder uses only the date of the question."""
        if (
            row_proposals
            or (build is not organisations and looks_at_subject(case.relation.asks, kinds))
            or ("person" in kinds and may_name_subject(case.graph, case.vocabulary, case.answer))
        ):
            return _proposed_in_language(case, [*build(case), *row_proposals])
        alike = case.relation.asks in _PLACED and case.graph.shown_in == case.graph.language
        relation = "" if alike else case.relation.id
        woman = is_woman(case.graph, case.answer, case.subject)
        subject = case.subject if build is organisations else None  # which is no owner of its own company
        key = (case.answer, relation, case.relation.asks, build, case.at, woman, subject)
        proposed = self._proposed.get(key)
        if proposed is None:
            proposed = self._proposed[key] = replace(_proposed_in_language(case, build(case)), key=key)
        return proposed


def _proposed_in_language(case: LadderCase, proposals: list[Proposal]) -> LocalisedProposals:
    in_language = localise(
        proposals,
        case.graph,
        trivial=lambda p: is_trivial(p, case.relation),
        feminine=is_woman(case.graph, case.answer, case.subject),
        of_citizens=case.relation.asks_citizenship,
    )
    return LocalisedProposals(in_language, as_graph(in_language.proposals), frozenset(case.doubted))


class GraphReaders:
    """The readers of one graph, each with a cache. `method` is the linking method for answers without an id."""

    def __init__(self, graph: Graph, *, method: str, priors: Priors) -> None:
        self.graph, self._method, self._priors = graph, method, priors
        self.classes = Classifier(graph)
        self.gazetteer = Gazetteer(graph, self.classes)
        self.linker = Linker(graph, self.gazetteer, method=method, priors=priors)
        self.place_names = PlaceNames(graph, self.gazetteer)
        self.proposal_cache = ProposalCache()

    def afresh(self, entity: Entity | None = None) -> GraphReaders:
        """New readers with empty caches; `entity` replaces the one of the snapshot, for them alone."""
        graph = self.graph if entity is None else self.graph.with_entity(entity)
        return GraphReaders(graph, method=self._method, priors=self._priors)
