"""The soak of the service, for a short while: its promises hold under requests that are wrong in every way."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.granola.service.conftest import ROOT


def test_promises_hold_under_wrong_requests() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "soak_service.py"), "--requests", "400", "--workers", "2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "400 requests in" in done.stdout
    assert "all promises held" in done.stdout
