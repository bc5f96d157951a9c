"""Signatures change with the code and data that decide, and with nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from abstraction.files.rows import read_tiered, write_tiered
from granola.base import code_hash
from granola.matching import matcher
from granola.scoring.predictions import read_predictions
from granola.scoring.scores import ScoreSettings, score

FILES = Path(__file__).parent / "files"
MODULE = "granola.matching.rules"
CODE = ["granola/matching/rules.py", "abstraction/text/language/date_reader.py"]
DATA = ["granola/matching/data/given_names.txt", "abstraction/data/units.json", "abstraction/data/languages/de.json"]


def test_the_code_that_is_imported_and_the_data_that_are_named_are_hashed() -> None:
    found = {path.relative_to(code_hash.ROOT).as_posix() for path in code_hash.files_of(MODULE)}
    assert {*CODE, *DATA} <= found
    assert {"abstraction/linking/linker.py", "granola/report/pages/files/shared.css"}.isdisjoint(found)


def test_one_changed_line_changes_the_hash_of_what_depends_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_hash, "ROOT", tmp_path)
    for name, text in {"rules": "from kg import terms\n", "terms": "", "other": ""}.items():
        (tmp_path / "kg").mkdir(exist_ok=True)
        (tmp_path / "kg" / f"{name}.py").write_text(text)
    whole = code_hash.hash_of_modules.__wrapped__
    before = whole("kg.rules")
    (tmp_path / "kg" / "other.py").write_text("X = 1\n")
    assert whole("kg.rules") == before
    (tmp_path / "kg" / "terms.py").write_text("X = 1\n")
    assert whole("kg.rules") != before


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
    assert len({one.tiers for one in found}) == 1
    assert [one.snapshot for one in found if one.snapshot != "unknown"] == ["01234567"]
    fewer = score(rows[1:], said, matcher("em"), ScoreSettings(resamples=10, allow_missing=True))
    assert fewer.signature.tiers != found[0].tiers
