"""Predictions and what is said of them: matching, metrics, statistics, reports and the command line."""

from kg import __version__

__all__ = ["__version__"]
