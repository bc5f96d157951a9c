"""Signatures change with the code and data that decide, and with nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from abstraction.files.rows import read_tiered, write_tiered
from granola.base import run_record
from granola.matching import matcher
from granola.scoring.predictions import read_predictions
from granola.scoring.scores import ScoreSettings, score

FILES = Path(__file__).parent / "files"
# Modules that a verdict loads and does not depend on: faces, types of errors, plumbing.
WITHOUT_EFFECT = ("granola.base", "granola.errors", "granola.scoring", "abstraction.errors", "kg.errors", "kg.web")
MATCHED = """
import sys
from granola.matching import matcher
matcher("rules", language="de").match("Er wurde am 4. August 1961 in Hawaii geboren.", [["Honolulu"], ["Hawaii"]])
ours = {name: module for name, module in sys.modules.items() if name.startswith(("kg.", "abstraction.", "granola."))}
print(*(name for name, module in ours.items() if not module.__file__.endswith("__init__.py")))
"""


def test_all_that_a_verdict_loads_is_hashed() -> None:
    done = subprocess.run([sys.executable, "-c", MATCHED], capture_output=True, text=True, check=True)
    folders = ("granola/matching", *run_record.READ)
    loaded = [name for name in done.stdout.split() if not name.startswith(WITHOUT_EFFECT)]
    assert "granola.matching.rules" in loaded
    assert [name for name in loaded if not name.replace(".", "/").startswith(folders)] == []


def test_one_changed_line_changes_the_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_record, "ROOT", tmp_path)
    (tmp_path / "kg" / "base").mkdir(parents=True)
    (tmp_path / "kg" / "base" / "terms.py").write_text("")
    whole = run_record.hash_of_modules.__wrapped__
    before = whole("granola.matching.rules")
    (tmp_path / "kg" / "other.py").write_text("X = 1\n")
    assert whole("granola.matching.rules") == before
    (tmp_path / "kg" / "base" / "terms.py").write_text("X = 1\n")
    assert whole("granola.matching.rules") != before


def test_rows_and_files_and_every_format_have_the_same_hash(tmp_path: Path) -> None:
    source = FILES / "tiers.jsonl"
    rows = list(read_tiered(source))
    said = read_predictions(FILES / "cautious.jsonl")
    given: list[object] = [rows, source]
    for ending in ("jsonl.gz", "csv", "parquet"):
        given.append(tmp_path / f"tiers.{ending}")
        write_tiered(rows, tmp_path / f"tiers.{ending}")
    (tmp_path / "tiers.csv.run.json").write_text('{"snapshot": "0123456789abcdef"}')
    found = [score(one, said, matcher("em"), ScoreSettings(resamples=10)).signature for one in given]
    assert len({one.tiers_hash for one in found}) == 1
    assert [one.snapshot for one in found if one.snapshot != "unknown"] == ["01234567"]
    fewer = score(rows[1:], said, matcher("em"), ScoreSettings(resamples=10, allow_missing=True))
    assert fewer.signature.tiers_hash != found[0].tiers_hash
