"""The readers of one graph, kept together, so that all see the same state of the snapshot."""

from __future__ import annotations

from dataclasses import dataclass

from abstraction.base.classes import Classifier
from abstraction.ladders.builders import ProposalCache
from abstraction.ladders.place_names import PlaceNames
from abstraction.linking.gazetteer import Gazetteer
from abstraction.linking.linker import Linker
from abstraction.linking.priors import Priors
from kg.base.model import Entity
from kg.graph.graph import Graph


@dataclass(frozen=True, slots=True)
class GraphReaders:
    """The readers of one graph, each with a cache. `method` is the linking method for answers without an id."""

    graph: Graph
    classes: Classifier
    gazetteer: Gazetteer
    linker: Linker
    place_names: PlaceNames
    proposal_cache: ProposalCache
    method: str
    priors: Priors

    @classmethod
    def of(cls, graph: Graph, *, method: str, priors: Priors) -> GraphReaders:
        """New readers with empty caches."""
        classes = Classifier(graph)
        gazetteer = Gazetteer(graph, classes)
        return cls(
            graph=graph,
            classes=classes,
            gazetteer=gazetteer,
            linker=Linker(graph, gazetteer, method=method, priors=priors),
            place_names=PlaceNames(graph, gazetteer),
            proposal_cache=ProposalCache(),
            method=method,
            priors=priors,
        )

    def afresh(self) -> GraphReaders:
        """Readers of the same graph with empty caches."""
        return GraphReaders.of(self.graph, method=self.method, priors=self.priors)

    def with_entity(self, entity: Entity) -> GraphReaders:
        """New readers in which `entity` replaces the one of the snapshot; these readers do not change."""
        return GraphReaders.of(self.graph.with_entity(entity), method=self.method, priors=self.priors)
