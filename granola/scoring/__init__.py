"""How good are predictions? Items, metrics, intervals over questions, comparisons, and what a signature says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from granola.scoring.bootstrap import Interval, estimated
    from granola.scoring.items import names_of
    from granola.scoring.metrics import Metric, Outcome
    from granola.scoring.predictions import Prediction, PredictionFile, read_predictions
    from granola.scoring.scores import ScoreReport, ScoreSettings, score
    from granola.scoring.system_comparison import Difference, compare
    from granola.scoring.tiered_file import TieredFile, read_tiered_file

__all__ = [
    "Difference",
    "Interval",
    "Metric",
    "Outcome",
    "Prediction",
    "PredictionFile",
    "ScoreReport",
    "ScoreSettings",
    "TieredFile",
    "compare",
    "estimated",
    "names_of",
    "read_predictions",
    "read_tiered_file",
    "score",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
