"""Decoding: answers sampled from a model, and one answer aggregated from several responses (DRAG, self-consistency)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.base.packages import lazy_names

if TYPE_CHECKING:
    from granola.decoding.aggregation_rules import Counting, DragGraph, SelfConsistency
    from granola.decoding.decision import Abstaining, Decision
    from granola.decoding.response_aggregation import Aggregator, prediction_row
    from granola.decoding.samples import SampleRow, read_samples

__all__ = [
    "Abstaining",
    "Aggregator",
    "Counting",
    "Decision",
    "DragGraph",
    "SampleRow",
    "SelfConsistency",
    "prediction_row",
    "read_samples",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
