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


CURVES = Path(__file__).resolve().parents[2] / "scripts" / "simulate_curves.py"


@needs_data
@thorough_only
def test_calibrated_support_is_above_the_majority_where_answers_scatter(sample_snapshot: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(CURVES), "--per-relation", "30", "--snapshot", str(sample_snapshot)],
        capture_output=True,
        text=True,
        check=True,
    )
    head, *parts = re.split(r"\n(?=\w+: \d)", done.stdout)
    at = [float(coverage) for coverage in head.split(":")[1].split()]
    for part in parts:
        name, curves = part.partition(":")[0], {}
        for line in part.splitlines():
            if found := re.match(r"  (majority|fixed support|calibrated) (.*)", line):
                curves[found[1]] = dict(zip(at, found[2].split(), strict=True))
        gain = {c: float(curves["calibrated"][c]) - float(curves["majority"][c]) for c in (0.5, 0.7)}
        assert min(gain.values()) > (0.05 if name in ("weak", "all", "stubborn") else -0.05), name
