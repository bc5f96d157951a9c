"""Shares of two systems in two slices, drawn and as CSV."""

from __future__ import annotations

import pytest

from granola.report.drawing.charts import Panel, estimates_figure, estimates_table
from granola.scoring.statistics import share_estimate


def test_shares_by_slice() -> None:
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    lines = {
        "one": [("head", share_estimate([1.0, 1.0, 0.0, 1.0])), ("tail", share_estimate([0.0, 1.0]))],
        "other": [("head", share_estimate([1.0, 0.0])), ("tail", share_estimate([0.0, None]))],
    }
    panel = Panel(name="popularity", across="popularity", score="right", lines=lines)
    assert estimates_figure([panel], "png").startswith(b"\x89PNG")
    head, first, *_ = estimates_table([panel]).decode().splitlines()
    assert head == "panel,score,line,at,value,low,high,n"
    assert first == "popularity,right,one,head,0.750000,0.300642,0.954413,4"
