"""Answers at several granularities: ladders, verdicts and scores in a few lines.

```python
import granola

with granola.snapshot() as sample:  # the bundled one, or a file
    row = granola.ladder("Where was Barack Obama born?", "Honolulu", sample)
granola.match("somewhere in Hawaii", row).level
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg import __version__
from kg.base.packages import lazy_names

if TYPE_CHECKING:
    from granola.decoding.response_aggregation import Aggregator
    from granola.errors import GranolaError
    from granola.matching.matchers import matcher
    from granola.scoring.metrics import Metric, metrics
    from granola.scoring.predictions import Prediction, PredictionFile, read_predictions
    from granola.scoring.scores import ScoreReport
    from granola.scoring.system_comparison import compare
    from granola.scoring.tiered_file import TieredFile, read_tiered_file
    from granola.shortcuts import ladder, ladders, match, score, snapshot

__all__ = [
    "Aggregator",
    "GranolaError",
    "Metric",
    "Prediction",
    "PredictionFile",
    "ScoreReport",
    "TieredFile",
    "__version__",
    "compare",
    "ladder",
    "ladders",
    "match",
    "matcher",
    "metrics",
    "read_predictions",
    "read_tiered_file",
    "score",
    "snapshot",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
