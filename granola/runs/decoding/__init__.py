"""Verbs that ask models, and make one answer of several responses."""

__all__ = [
    "aggregate_run",
    "answer_run",
    "decoding_settings",
    "experiment_run",
]
