"""Does evidence support an answer? Benchmarks of that made from a graph, and evaluators held against them."""
