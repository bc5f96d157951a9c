"""`granola demo`: the whole way on the bundled sample."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

from granola.commands.cli.main import main
from granola.shortcuts import BUNDLED

PIECES = ("questions.jsonl", "predictions-specific.jsonl", "predictions-cautious.jsonl")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("demo") / "new" / "folder"
    before, sys.argv = sys.argv, ["granola", "demo", "--out", str(out)]
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        sys.argv = before
    assert not ended.value.code
    return out


def test_everything_is_made_and_nothing_is_left_over(made: Path) -> None:
    assert sorted(path.name for path in made.iterdir()) == [
        "items-cautious.jsonl",
        "items-cautious.jsonl.run.json",
        "items-specific.jsonl",
        "items-specific.jsonl.run.json",
        "report.html",
        "report.html.run.json",
        "snapshot.sqlite",
        "tiers.jsonl",
        "tiers.jsonl.run.json",
    ]


def test_the_bundled_predictions_answer_the_bundled_questions() -> None:
    ids = [[json.loads(line)["id"] for line in (BUNDLED / name).read_text().splitlines()] for name in PIECES]
    assert sorted(ids[0]) == sorted(ids[1]) == sorted(ids[2])
    assert len(set(ids[0])) == len(ids[0]) >= 80


def test_the_two_systems_differ_as_the_papers_do(made: Path) -> None:
    """Specific but often wrong, against coarser and more often right (Yona et al. 2024, section 5)."""

    def share(system: str, wanted: tuple[int, ...]) -> float:
        items = [json.loads(line) for line in (made / f"items-{system}.jsonl").read_text().splitlines()]
        return sum(item["level"] in wanted for item in items) / len(items)

    every = tuple(range(1, 10))
    assert share("specific", (1,)) > share("cautious", (1,))
    assert share("cautious", every) > share("specific", every)


def test_the_page_shows_every_question(made: Path) -> None:
    page = (made / "report.html").read_text()
    rows = (made / "tiers.jsonl").read_text().splitlines()
    assert page.count('<details class="question"') == len(rows)


def test_the_page_is_light(made: Path) -> None:
    """In bytes; 302,000, and 38,000 packed, nearly all of it questions with their evidence."""
    page = (made / "report.html").read_bytes()
    assert len(page) < 320_000
    assert len(page.partition(b'id="questions"')[0]) < 50_000
    assert len(gzip.compress(page)) < 45_000


def test_a_second_run_makes_the_same(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("tiers.jsonl", "items-specific.jsonl", "items-cautious.jsonl", "report.html")
    before = {name: (made / name).read_bytes() for name in names}
    monkeypatch.setattr(sys, "argv", ["granola", "demo", "--out", str(made)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert {name: (made / name).read_bytes() for name in names} == before
