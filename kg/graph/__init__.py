"""The graph of a store: statements that count; logical queries (triples, paths, trees, unions) and their grounding."""

from kg.graph.logical_query import (
    Branch,
    Fact,
    FactList,
    FactSource,
    Grounding,
    Hop,
    LogicalQuery,
    Shape,
    StoreFacts,
    ground,
    ground_all,
)
from kg.graph.query_mining import MinedQueries, MiningSettings
from kg.graph.sparql_shapes import query_of_sparql

__all__ = [
    "Branch",
    "Fact",
    "FactList",
    "FactSource",
    "Grounding",
    "Hop",
    "LogicalQuery",
    "MinedQueries",
    "MiningSettings",
    "Shape",
    "StoreFacts",
    "ground",
    "ground_all",
    "query_of_sparql",
]
