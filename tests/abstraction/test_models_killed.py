"""A run that is killed goes on: nothing is lost, nothing that was kept is asked again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_run_killed_at_random_points_comes_through() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "kill_models.py"), "--requests", "240", "--kills", "5"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "240 requests, 5 kills: 236 answered" in done.stdout
