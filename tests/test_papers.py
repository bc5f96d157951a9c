"""What the papers report and which command gives it: every command and option in the document exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from granola.base.settings import settings_of
from granola.commands.command_list import VERBS, command_class
from granola.evidence.grounding.grounded_rows import QUESTION_FIGURES
from granola.evidence.verdict_rows import published_figures

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "reference" / "papers.md"
ROW = re.compile(
    r"\| (?P<reports>.+) \| (?:`(?P<command>granola .+)`)? \| "
    r"(?P<here>same|better|not possible) \| (?P<why>.*) \|"
)


def check(command: str) -> None:
    _, *words = shlex.split(command)
    verb = next(known for known in (" ".join(words[:2]), words[0]) if known in VERBS)
    settings = {one.setting.command_line_name(one.field): one for one in settings_of(command_class(verb))}
    for at, word in enumerate(words):
        if not word.startswith("--") or word == "--json":  # which every command has that makes something
            continue
        assert word in settings, (command, word)
        value = words[at + 1] if at + 1 < len(words) else ""
        if word == "--table":
            assert value in published_figures().tables, command
        if word == "--figure" and value.islower():
            assert value in {*published_figures().figures, *QUESTION_FIGURES}, command


def test_every_command_of_the_table_exists() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = [ROW.fullmatch(line) for line in text.splitlines() if line.startswith("| ") and "| command |" not in line]
    assert len(re.findall("^## ", text, re.MULTILINE)) == 4
    assert len(rows) >= 50
    for row in rows:
        assert row is not None
        if row["command"]:
            check(row["command"])
        else:
            assert row["here"] == "not possible", row
            assert row["why"], row
