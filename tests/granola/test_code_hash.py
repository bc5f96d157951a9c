"""Signatures change with the code and data that decide, and with nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from granola.code_hash import PACKAGES, ROOT, commit, files_of, hash_of_program
from granola.matching import matcher
from granola.scoring.predictions import read_predictions
from granola.scoring.scores import score
from granola.scoring.tiered_file import read_tiered_file
from tests.granola.test_packed import FILES

SIGNATURES = """
import json
from granola.code_hash import commit, hash_of_program
from granola.matching import matcher
found = {name: matcher(name).signature() for name in ("rules", "f1", "em")}
print(json.dumps(found | {"program": hash_of_program(), "commit": commit()}))
"""
USED = """
import json, sys
from granola.matching import {kind} as kind
used = set()
sys.addaudithook(lambda event, args: used.add(str(args[0])) if event == "open" else None)
matchers = [kind(language=code) for code in ("en", "de", "fr", "es")]
texts = ["on 4 August 1961", "about 3,000 km", "I don't know", "keine Ahnung", "the mother of Bill Smith", "PARIS"]
levels = [["4 August 1961", "3000 kilometres", "William Smith"], ["1961", "Paris"], ["France", "French"]]
sys.setprofile(lambda frame, event, arg: used.add(frame.f_code.co_filename))
for one in matchers:
    for text in texts:
        for level in levels:
            one.match(text, [level, ["Europe"]], "How many people live in Paris?")
            one.match(text, [level], "When was he born?")
sys.setprofile(None)
print(json.dumps(sorted(used)))
"""


OF_ANOTHER_BABEL = """
import importlib.metadata, json
known = importlib.metadata.version
importlib.metadata.version = lambda name: "2.16.0" if name == "babel" else known(name)
from granola.matching import matcher
print(json.dumps({name: matcher(name).signature() for name in ("rules", "f1", "em")}))
"""


def run(code: str, root: Path = ROOT) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copy")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def changed(path: Path, old: str, new: str) -> Callable[[], None]:
    """Change one line of a file; what is returned changes it back."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return lambda: void(path.write_text(text, encoding="utf-8"))


def void(_: object) -> None: ...


def test_a_copy_of_the_program_has_the_same_signatures_and_no_commit(copied: Path) -> None:
    here, there = run(SIGNATURES), run(SIGNATURES, copied)
    assert there == {**here, "commit": None}
    assert here["program"] == hash_of_program()
    assert here["rules"] == matcher("rules").signature()


@pytest.mark.parametrize(
    ("file", "old", "new", "moved"),
    [
        ("granola/matching/rules.py", "EXAMINED = 20_000", "EXAMINED = 30_000", {"rules"}),
        ("granola/matching/data/given_names.txt", "\n", "\nzzz zzzy\n", {"rules"}),
        ("granola/matching/squad.py", "\n\n\n", "\n\nX = 1\n\n", {"rules", "f1", "em"}),
        ("granola/matching/f1.py", "\n\n\n", "\n\nX = 1\n\n", {"rules", "f1"}),
        ("abstraction/language/date_reader.py", "\n\n\n", "\n\nX = 1\n\n", {"rules"}),
        ("abstraction/data/units.json", "{", "{ ", {"rules"}),
        ("abstraction/data/languages/de.json", "{", "{ ", {"rules", "f1", "em"}),
        ("granola/pages/files/shared.css", "\n", "\n\n", set()),
        ("abstraction/linking/linker.py", "\n\n\n", "\n\nX = 1\n\n", set()),
    ],
)
def test_one_changed_line_changes_the_signatures_that_depend_on_it(
    copied: Path, file: str, old: str, new: str, moved: set[str]
) -> None:
    before = run(SIGNATURES, copied)
    undo = changed(copied / file, old, new)
    try:
        after = run(SIGNATURES, copied)
    finally:
        undo()
    assert {name for name, found in after.items() if found != before[name]} == moved | {"program"}


@pytest.mark.parametrize(("module", "kind"), [("rules", "RulesMatcher"), ("f1", "F1Matcher"), ("em", "EmMatcher")])
def test_all_code_that_runs_and_all_data_that_is_read_in_matching_is_hashed(module: str, kind: str) -> None:
    used = {Path(path).resolve() for path in run(USED.replace("{kind}", kind))}
    ours = {path for path in used if any(path.is_relative_to(ROOT / package) for package in PACKAGES)}
    assert any(path.suffix == ".json" for path in ours), "what is opened is seen"
    assert any(path.name == f"{module}.py" for path in ours), "what runs is seen"
    assert {path for path in ours - files_of(f"granola.matching.{module}") if path.suffix != ".pyc"} == set()


def test_the_commit_is_that_of_the_clone() -> None:
    told = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=ROOT, check=False)
    if told.returncode or not (ROOT / ".git").exists():
        pytest.skip("no clone")
    assert commit() == told.stdout.strip()


def test_rows_and_files_and_every_format_have_the_same_hash(tmp_path: Path) -> None:
    from abstraction.rows import read_tiered, write_tiered

    source = FILES / "tiers.jsonl"
    rows = list(read_tiered(source))
    said = read_predictions(FILES / "cautious.jsonl")
    for ending in ("jsonl.gz", "csv", "parquet"):
        write_tiered(rows, tmp_path / f"tiers.{ending}")
    (tmp_path / "tiers.csv.run.json").write_text('{"snapshot": "0123456789abcdef"}')
    given = [rows, iter(rows), source, str(source), read_tiered_file(source)]
    given += [tmp_path / f"tiers.{ending}" for ending in ("jsonl.gz", "csv", "parquet")]
    found = [score(one, said, matcher("em"), resamples=10).signature for one in given]
    assert len({one.tiers for one in found}) == 1
    assert [one.snapshot for one in found if one.snapshot != "unknown"] == ["01234567"]
    assert score(source, said, matcher("em"), resamples=10, snapshot="feedfeedfeed").signature.snapshot == "feedfeed"
    assert score(rows[::-1], said, matcher("em"), resamples=10).signature.tiers == found[0].tiers
    for changed_rows in (rows[1:], [*rows[:-1], read_with(rows[-1])]):
        assert (
            score(changed_rows, said, matcher("em"), resamples=10, ignore_unknown=True).signature.tiers
            != found[0].tiers
        )


def read_with(row: object) -> object:
    """The row with another name at its coarsest level."""
    from dataclasses import replace

    from abstraction.rows import TieredRow
    from abstraction.tiers import Level, Tier

    assert isinstance(row, TieredRow)
    return replace(row, levels=(*row.levels[:-1], Level(tiers=(Tier(text="elsewhere"),))))


def test_the_version_of_the_data_of_languages_is_in_the_signature_of_the_rules() -> None:
    own, other = run(SIGNATURES), run(OF_ANOTHER_BABEL)
    assert [name for name in other if other[name] != own[name]] == ["rules"]
