"""Pages and figures of rows and scores: one file that asks nobody for anything, texts escaped, intervals drawn."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import UndefinedError

from abstraction.files.rows import read_tiered
from granola.matching import matcher
from granola.report.charts import Panel, estimates_csv, estimates_figure
from granola.report.score_page import render
from granola.report.templates import render_page
from granola.scoring.predictions import read_predictions
from granola.scoring.scores import ScoreSettings, score
from granola.scoring.statistics import share_estimate
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


def test_a_value_that_lacks_is_told() -> None:
    assert "v1/openapi.json" in render_page("interface")
    with pytest.raises(UndefinedError, match="is undefined"):
        render_page("service")


def test_shares_by_slice() -> None:
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    lines = {
        "one": [("head", share_estimate([1.0, 1.0, 0.0, 1.0])), ("tail", share_estimate([0.0, 1.0]))],
        "other": [("head", share_estimate([1.0, 0.0])), ("tail", share_estimate([0.0, None]))],
    }
    panel = Panel(name="popularity", across="popularity", score="right", lines=lines)
    assert estimates_figure([panel], "png").startswith(b"\x89PNG")
    head, first, *_ = estimates_csv([panel]).decode().splitlines()
    assert head == "panel,score,line,at,value,low,high,n"
    assert first == "popularity,right,one,head,0.750000,0.300642,0.954413,4"
