"""What commands print fits the terminal."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from granola.base.terminal_lines import TextTable, Verbatim, fit_lines
from tests.command_line import run_granola

DEMO = Path(__file__).resolve().parents[2] / "granola" / "demo"
WIDTH = 60
# Lines that people copy or that name a file: a signature, a command, where something is.
COPIED = re.compile(r"(signature|rebuild|page)\b|\S+$|judge |granola |J\d: |over:")
COMMANDS = (
    "snapshot info demo/snapshot.sqlite",
    "tiers DEMO/questions.jsonl --snapshot demo/snapshot.sqlite --out t.jsonl --force",
    "audit demo/tiers.jsonl --snapshot demo/snapshot.sqlite",
    "aggregate DEMO/samples.jsonl --out aggregated.jsonl --force --snapshot demo/snapshot.sqlite",
    "compare demo/tiers.jsonl DEMO/predictions-cautious.jsonl DEMO/predictions-specific.jsonl --resamples 20",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("terminal")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        assert run_granola("demo", "--out", "demo").returncode == 0
        yield made


@pytest.mark.parametrize("words", COMMANDS)
def test_lines_fit(words: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for variable, value in (("COLUMNS", WIDTH), ("LINES", 50), ("TERM", "xterm")):
        monkeypatch.setenv(variable, str(value))
    done = run_granola(*shlex.split(words.replace("DEMO", str(DEMO))), terminal=True)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout).splitlines()
    assert lines
    assert [line for line in lines if len(line) > WIDTH and not COPIED.match(line.strip())] == []


TABLE = TextTable(
    head=("relation", "questions", "linked", "levels"),
    rows=[("P19 place of birth", "1,117", "12  50.0 %", "3"), ("a name of many words that has no room", "1", "-", "")],
)


def test_a_table_with_room_stands_in_columns() -> None:
    assert TABLE.lines() == TABLE.lines(200) == [
        "relation                               questions      linked  levels",
        "P19 place of birth                         1,117  12  50.0 %       3",
        "a name of many words that has no room          1           -",
    ]  # fmt: skip


def test_a_table_without_room_stands_row_by_row() -> None:
    assert TABLE.lines(41) == [
        "P19 place of birth",
        "  questions: 1,117",
        "  linked: 12  50.0 %",
        "  levels: 3",
        "a name of many words that has no room",
        "  questions: 1",
        "  linked: -",
    ]


def test_sentences_are_wrapped_and_what_is_copied_is_not() -> None:
    long = "matcher:rules|" * 10
    assert fit_lines(["  one two three four five six seven eight nine ten", Verbatim(f"signature: {long}")], 40) == [
        "  one two three four five six seven",
        "    eight nine ten",
        f"signature: {long}",
    ]
    assert fit_lines(["", f"{long} is long"], 40) == ["", long, "  is long"]
    assert fit_lines(["one two " * 20], None) == ["one two " * 20]
