"""Items, metrics, intervals, comparisons."""

from __future__ import annotations

from pathlib import Path

import pytest

from granola.matching import matcher
from granola.scoring.metrics import Metric
from granola.scoring.predictions import read_predictions
from granola.scoring.scores import ScoreSettings, score
from granola.scoring.statistics import bootstrap_estimate
from granola.scoring.system_comparison import compare
from granola.shortcuts import bundled


def test_two_systems_scored_and_compared(demo: Path) -> None:
    reports = [
        score(
            demo / "tiers.jsonl",
            read_predictions(bundled(f"predictions-{name}")),
            matcher("rules"),
            ScoreSettings(resamples=50),
        )
        for name in ("specific", "cautious")
    ]
    values = [report.overall.estimates["granola_accuracy"].value for report in reports]
    (found,) = compare(reports, metrics=["granola_accuracy"], resamples=50)
    assert found.difference == pytest.approx(values[0] - values[1])


def test_a_metric_is_a_value() -> None:
    metric = Metric(name="informativeness", lambda_=1.0)
    assert metric == Metric(name="informativeness", lambda_=1.0)
    assert str(metric) == "informativeness(lambda=1.0)"


def test_an_interval_of_any_statistic() -> None:
    value, interval = bootstrap_estimate(
        [0, 1, 1, 1], lambda kinds, counts: counts @ kinds / counts.sum(axis=-1), resamples=200
    )
    assert value == 0.75
    assert interval.low <= value <= interval.high
