"""The graph of a store: which statements count, paths, closures."""
