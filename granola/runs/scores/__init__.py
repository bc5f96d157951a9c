"""Verbs that draw figures of scores."""

__all__ = ["report_run"]
