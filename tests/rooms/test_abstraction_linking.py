"""Which entity a text means, and how sure that is."""

from __future__ import annotations

from abstraction.base.relations import Classifier, relation
from abstraction.linking.gazetteer import Gazetteer
from abstraction.linking.linker import Linker
from kg.graph.graph import Graph


def test_the_subject_tells_namesakes_apart(graph: Graph) -> None:
    linker = Linker(graph, Gazetteer(graph, Classifier(graph)))
    link = linker.link("Honolulu", relation("P19"), subjects=["Q76"])
    assert (link.qid, link.confidence) == ("Q18094", "high")
    assert linker.link("Nowhere at all", relation("P19")).qid is None


def test_what_lies_around(graph: Graph) -> None:
    gazetteer = Gazetteer(graph, Classifier(graph))
    assert "hawaii" in gazetteer.container_names("Q18094")
