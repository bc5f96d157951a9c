"""One snapshot behind HTTP."""

from __future__ import annotations

from pathlib import Path

from abstraction import QARow
from granola.service.client import Client
from tests.granola.service.conftest import serving


def test_a_ladder_over_http(demo: Path) -> None:
    question = QARow(id="q1", question="Where was Barack Obama born?", answers=("Honolulu",), answer_qids=(None,))
    with serving(demo / "snapshot.sqlite") as service, Client(service.address) as client:
        row = client.make(question)
    assert "Hawaii" in [name for level in row.levels for name in level.names()]
