"""A command as a value: told once, run, printed when asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from granola.commands import Score
from granola.shortcuts import bundled


def test_a_command_scores_and_prints_when_asked(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = Score(tiered=str(demo / "tiers.jsonl"), predictions=str(bundled("predictions-cautious")), resamples=20)
    systems = command.run()
    assert command.arguments()["resamples"] == 20
    assert systems.report.overall.n > 0
    assert capsys.readouterr().out == ""
    command.show(systems)
    assert "signature: " in capsys.readouterr().out
