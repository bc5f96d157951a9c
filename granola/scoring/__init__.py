"""Scoring of predictions: items, metrics, intervals over questions, comparisons of systems, and the signature."""
