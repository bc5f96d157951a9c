"""Attribution: does evidence support an answer? Benchmarks generated from a graph, and evaluators scored on them."""
