"""`granola report` without predictions: a page of ladders to look through."""

from __future__ import annotations

import re
from pathlib import Path

from abstraction.files.rows import read_tiered
from granola.base.run_record import record_of
from tests.conftest import Run
from tests.granola.test_score_cli import TIERS


def test_ladders_without_predictions_are_a_page_to_look_through(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "page"
    assert run("report", TIERS, "--out", out)[0] == 0
    page = (out / "report.html").read_text(encoding="utf-8")
    rows = list(read_tiered(TIERS))
    names = [f"q{number}" for number in range(1, len(rows) + 1)]
    assert re.findall(r'<details class="question" id=(\w+)', page) == names
    assert re.findall(r"<a href=#(\w+)>", page) == names
    assert re.findall(r"<dt>id<dd>([^<]*)", page) == [row.id for row in rows]
    assert not any(part in page for part in ("Some answer is", "Signatures", "Where the answers stand"))
    assert record_of(out / "report.html")["files"] == ["report.html"]
    assert run("report", TIERS, "--out", out)[0] == 2
    assert run("report", TIERS, "--out", out, "--force")[0] == 0
