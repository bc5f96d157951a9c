"""Predictions and what is said of them: matching, metrics, statistics, reports and the command line."""

__version__ = "0.2.0"
