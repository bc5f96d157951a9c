"""Verbs that make ladders and rows of them, and audit them."""

__all__ = [
    "audit_run",
    "dataset_run",
    "guess_run",
    "ladder_run",
    "rejects_file",
    "tiers_run",
]
