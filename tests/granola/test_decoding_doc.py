"""docs/reference/decoding.md's example, run as it stands: its predictions, explanations and scores."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from granola.commands.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "decoding.md").read_text(encoding="utf-8")


def test_the_example_gives_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "granola").symlink_to(ROOT / "granola")
    block = re.search(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    assert block
    commands = [shlex.split(line) for line in block[1].splitlines() if line.startswith("granola ")]
    assert len(commands) == 6
    for words in commands:
        monkeypatch.setattr("sys.argv", [*words, "--json"] if words[1] == "compare" else words)
        with pytest.raises(SystemExit) as ended:
            main.main()
        assert not ended.value.code, words
    found = {row["question"]: row for row in map(json.loads, (tmp_path / "all.jsonl").read_text().splitlines())}
    rows = re.findall(r"^\| (.*\?) \| (.*) \| (.*) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 2
    for question, prediction, explanation in rows:
        assert (found[question]["prediction"], found[question]["explanation"]) == (prediction, explanation)
    capsys.readouterr()
    metrics = ("selective_accuracy", "selective_standard_accuracy", "informativeness", "coverage")
    scores = re.findall(r"^\| `(\w+)\.jsonl` \| (.*) \|$", PAGE, re.MULTILINE)
    assert [name for name, _ in scores] == ["majority", "most", "all"]
    for name, shown in scores:
        monkeypatch.setattr(
            "sys.argv", ["granola", "score", "tiers.jsonl", f"{name}.jsonl", "--allow-missing", "--json"]
        )
        with pytest.raises(SystemExit):
            main.main()
        told = json.loads(capsys.readouterr().out)["metrics"]
        assert [f"{told[metric]['value']:.3f}" for metric in metrics] == shown.split(" | ")
    (words,) = [shlex.split(line) for line in PAGE.splitlines() if line.startswith("granola curve ")]
    monkeypatch.setattr("sys.argv", words)
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert not ended.value.code
    table = re.search(r"```text\n(drag-graph.*?)```", PAGE, re.DOTALL)
    assert table
    out = capsys.readouterr().out
    assert all(f"{line}\n" in out for line in table[1].splitlines() if line != "...")
