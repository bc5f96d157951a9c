"""What the documentation shows exists: commands, options, links, SQL."""

from __future__ import annotations

import re
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.main import get_command

from granola.cli.main import app
from kg.snapshot import build

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def commands(page: Path) -> list[list[str]]:
    """The words of every `granola ...`, from code blocks and from within a line, continued lines in one."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    shown = re.findall(r"^ *(granola .*)$|`(granola [^`]*)`", text, re.MULTILINE)
    lines = (" ".join((block or inline).split()) for block, inline in shown)
    return [shlex.split(line.split(" #")[0].replace("[", "").replace("]", "").replace("'", " ")) for line in lines]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_options_exist(page: Path) -> None:
    for words in commands(page):
        command, rest = get_command(app), words[1:]
        while rest and hasattr(command, "commands") and not rest[0].startswith("-") and rest[0] != "...":
            if "|" in rest[0] or rest[0].startswith("|"):
                break  # several commands at once
            assert rest[0] in command.commands, f"{page.name}: {' '.join(words)}"
            command, rest = command.commands[rest[0]], rest[1:]
        known = {option for param in command.params for option in (*param.opts, *param.secondary_opts)} | {"--help"}
        for word in rest:
            if word.startswith("--") and not hasattr(command, "commands"):
                assert word.partition("=")[0].rstrip(",;.") in known, f"{page.name}: {word} in {' '.join(words)}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith("http"):
            continue
        name, _, heading = target.partition("#")
        found = page.parent / name if name else page
        assert found.is_file(), f"{page.name}: {target}"
        headings = re.findall(r"^#+ (.*)$", found.read_text(encoding="utf-8"), re.MULTILINE)
        assert not heading or heading in [re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in headings]


def test_queries_run_and_find_something(tmp_path: Path) -> None:
    build([ROOT / "granola" / "demo" / "wikidata.json"], tmp_path / "demo.sqlite")
    blocks = re.findall(r"```sql\n(.*?)```", (ROOT / "docs" / "snapshots.md").read_text(encoding="utf-8"), re.DOTALL)
    queries = [query for block in blocks for query in block.split(";") if query.strip()]
    assert len(queries) >= 4
    with closing(sqlite3.connect(tmp_path / "demo.sqlite")) as connection:
        for query in queries:
            assert connection.execute(query).fetchall(), query
