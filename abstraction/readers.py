"""What reads one graph, kept together: whoever holds it sees one state of the snapshot throughout."""

from __future__ import annotations

from dataclasses import dataclass

from abstraction.classes import Classifier
from abstraction.ladders.builders import Proposing
from abstraction.ladders.place_names import PlaceNames
from abstraction.linking.gazetteer import Gazetteer
from abstraction.linking.linker import Linker
from abstraction.linking.priors import Priors
from kg.model import Entity
from kg.walks.graph import Graph


@dataclass(frozen=True, slots=True)
class GraphReaders:
    """Each keeps what it concludes of the graph. `method` is how answers without an id are linked."""

    graph: Graph
    classes: Classifier
    gazetteer: Gazetteer
    linker: Linker
    place_names: PlaceNames
    proposing: Proposing
    method: str
    priors: Priors

    @classmethod
    def of(cls, graph: Graph, *, method: str, priors: Priors) -> GraphReaders:
        """Readers that have concluded nothing yet."""
        classes = Classifier(graph)
        gazetteer = Gazetteer(graph, classes)
        return cls(
            graph=graph,
            classes=classes,
            gazetteer=gazetteer,
            linker=Linker(graph, gazetteer, method=method, priors=priors),
            place_names=PlaceNames(graph, gazetteer),
            proposing=Proposing(),
            method=method,
            priors=priors,
        )

    def afresh(self) -> GraphReaders:
        """Readers of the same graph that have concluded nothing yet."""
        return GraphReaders.of(self.graph, method=self.method, priors=self.priors)

    def with_entity(self, entity: Entity) -> GraphReaders:
        """Readers with an entity as given in the place of the snapshot's; nothing of it reaches these ones."""
        return GraphReaders.of(self.graph.with_entity(entity), method=self.method, priors=self.priors)
