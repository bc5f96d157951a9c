"""The graph of a store: statements that count; logical queries (triples, paths, trees, unions) and their grounding."""
