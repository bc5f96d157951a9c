"""A verb as a value: told once, run, shown when asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from granola.runs import ScoreRun
from granola.runs.demo_run import bundled


def test_a_run_scores_and_prints_when_asked(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = ScoreRun(tiered=str(demo / "tiers.jsonl"), predictions=str(bundled("predictions-cautious")), resamples=20)
    scored = run.run()
    assert run.arguments()["resamples"] == 20
    assert capsys.readouterr().out == ""
    scored.show()
    assert "signature: " in capsys.readouterr().out
