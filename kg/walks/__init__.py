"""The graph of a store: which statements count, and a cached reading of a store."""
