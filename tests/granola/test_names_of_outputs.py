"""What is written in one format alone is not written under a name that promises another."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run
from tests.granola.rows_fed import WORLD, write
from tests.worlds import snapshot_at

QUESTION = {"id": "1", "relation": "P19", "question": "Where was Ada born?", "answer": "Berlin"}


@pytest.fixture
def files(run: Run, tmp_path: Path) -> dict[str, Path]:
    snapshot = snapshot_at(tmp_path / "world.sqlite", WORLD)
    tiers = tmp_path / "tiers.jsonl"
    assert run("tiers", write(tmp_path / "qa.jsonl", [QUESTION]), "--snapshot", snapshot, "--out", tiers)[0] == 0
    said = write(tmp_path / "said.jsonl", [{"id": "1", "prediction": "Berlin"}])
    return {"snapshot": snapshot, "tiers": tiers, "said": said}


COMMANDS = {
    "score": "score {tiers} {said} --out",
    "audit": "audit {tiers} --snapshot {snapshot} --out",
    "diff": "snapshot diff {snapshot} {snapshot} --changes",
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".csv.gz", ".CSV", ".txt", ".json.zip"])
def test_lines_are_written_under_the_name_of_lines(
    run: Run, files: dict[str, Path], tmp_path: Path, command: str, ending: str
) -> None:
    out = tmp_path / f"out{ending}"
    words = COMMANDS[command].format(**files).split()
    code, _, stderr = run(*words, out)
    assert code == 2
    assert f"{out}: {words[-1]} is written as jsonl" in stderr
    assert not out.exists()
    assert run(*words, tmp_path / "out.jsonl")[0] in (0, 1)
    assert run(*words, tmp_path / "out")[0] in (0, 1)


def test_items_may_be_packed(run: Run, files: dict[str, Path], tmp_path: Path) -> None:
    assert run("score", files["tiers"], files["said"], "--out", tmp_path / "items.jsonl.gz")[0] == 0
