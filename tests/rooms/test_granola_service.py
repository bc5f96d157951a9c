"""One snapshot behind HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from granola.service import ServiceSettings


def test_a_ladder_over_http(demo: Path) -> None:
    testclient = pytest.importorskip("fastapi.testclient", reason="the service's libraries are not installed")
    from granola.service import create_app

    app, _ = create_app(ServiceSettings(snapshot=str(demo / "snapshot.sqlite")))
    with testclient.TestClient(app, base_url="http://localhost") as client:
        asked = {"question": "Where was Barack Obama born?", "answer": "Honolulu"}
        answer = client.post("/v1/ladder", json=asked)
    assert answer.status_code == 200
    assert "Hawaii" in [tier["text"] for level in answer.json()["levels"] for tier in level["tiers"]]
