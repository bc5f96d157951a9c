"""Tiers, evidence, relations, classes and bundled tables, which every room of abstraction uses."""
