"""The simulated respondents over real ladders: aggregating gains where responses err as it supposes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import needs_data
from tests.thorough import thorough_only

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "simulate_decoding.py"
GAIN = re.compile(r"([+-]\d\.\d{3}) \[([+-]\d\.\d{3}), ([+-]\d\.\d{3})\]")


@thorough_only
@needs_data
def test_drag_graph_gains_over_greedy_and_over_self_consistency() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--per-relation", "20", "--p", "0.5", "--resamples", "200"],
        capture_output=True,
        text=True,
        check=True,
    )
    gains = {
        line[:28].strip(): [tuple(map(float, found)) for found in GAIN.findall(line)]
        for line in done.stdout.splitlines()
        if line.startswith(("greedy", "self-consistency, text", "drag-graph"))
    }
    assert gains["greedy (the first response)"] == [(0.0, 0.0, 0.0)]
    over_greedy, over_consistency = gains["drag-graph, support 0.8"]
    assert over_greedy[1] > 0
    assert over_consistency[1] > 0
    # Counting texts gains less, so it is the ladders that do it.
    (consistency, _) = gains["self-consistency, text"]
    assert consistency[0] < over_greedy[0]
