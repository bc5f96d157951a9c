"""One snapshot behind HTTP."""

from __future__ import annotations

from pathlib import Path

import requests

from tests.granola.service.conftest import serving


def test_a_ladder_over_http(demo: Path) -> None:
    question = {"question": "Where was Barack Obama born?", "answer": "Honolulu"}
    with serving(demo / "snapshot.sqlite") as service:
        row = requests.post(f"{service.address}/v1/ladder", json=question, timeout=10).json()
    assert "Hawaii" in [tier["text"] for level in row["levels"] for tier in level["tiers"]]
