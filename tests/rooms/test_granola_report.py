"""One page about rows and scores, in one file."""

from __future__ import annotations

from pathlib import Path

from abstraction.files.rows import read_tiered
from granola.matching import matcher
from granola.report.score_page import render
from granola.scoring.predictions import read_predictions
from granola.scoring.scores import ScoreSettings, score
from granola.shortcuts import bundled


def test_the_page_asks_nobody_for_anything(demo: Path) -> None:
    rows = list(read_tiered(demo / "tiers.jsonl"))
    report = score(
        rows, read_predictions(bundled("predictions-specific")), matcher("rules"), ScoreSettings(resamples=20)
    )
    page = render(rows, [report], title="Mine")
    assert "<title>Mine</title>" in page
    assert "Honolulu" in page
    assert 'src="http' not in page
