"""Terms that are no map: told, not dropped in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg.building.snapshot import build


@pytest.mark.parametrize("field", ["labels", "descriptions", "aliases"])
def test_terms_that_are_a_text_are_counted_as_rejected(tmp_path: Path, field: str) -> None:
    source = tmp_path / "d.json"
    source.write_text(f'{{"id": "Q1", "type": "item", "{field}": "x", "claims": {{}}}}\n')
    report = build([source], tmp_path / "s.sqlite", workers=1)
    assert dict(report.rejects) == {"bad-term": 1}
    assert report.manifest["counts"]["entities"] == 1
