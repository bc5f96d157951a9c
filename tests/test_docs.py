"""What the documentation shows exists: commands, options, links, SQL."""

from __future__ import annotations

import re
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from typer.main import get_command

from granola.commands.cli.main import app
from kg.building.snapshot import build
from scripts import command_docs

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def commands(page: Path) -> list[list[str]]:
    """The words of every `granola ...`, from code blocks and from within a line, continued lines in one."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    shown = re.findall(r"^ *(granola .*)$|`(granola [^`]*)`", text, re.MULTILINE)
    lines = (" ".join((block or inline).split()) for block, inline in shown)
    return [shlex.split(line.split(" #")[0].replace("[", "").replace("]", "").replace("'", " ")) for line in lines]


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_commands_and_options_exist(page: Path) -> None:
    for words in commands(page):
        command, rest = get_command(app), words[1:]
        while rest and hasattr(command, "commands") and not rest[0].startswith("-") and rest[0] != "...":
            if "|" in rest[0] or rest[0].startswith("|"):
                break  # several commands at once
            assert rest[0] in command.commands, f"{_name(page)}: {' '.join(words)}"
            command, rest = command.commands[rest[0]], rest[1:]
        known = {option for param in command.params for option in (*param.opts, *param.secondary_opts)} | {"--help"}
        for word in rest:
            if word.startswith("--") and not hasattr(command, "commands"):
                assert word.partition("=")[0].rstrip(",;.") in known, f"{_name(page)}: {word} in {' '.join(words)}"


def every_command(group: Any) -> Iterator[Any]:
    """All commands below a group."""
    for command in group.commands.values():
        yield from every_command(command) if hasattr(command, "commands") else (command,)


def spans(page: Path) -> list[str]:
    """What stands in a line between backticks."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`\n]+)`", text)


def words_of(param: Any) -> set[str]:
    """The words that an option takes; empty where it takes any."""
    kind = param.type_descriptor.annotation
    if get_origin(kind) is Literal:
        return set(get_args(kind))
    return set(map(str, kind)) if isinstance(kind, type) and issubclass(kind, StrEnum) else set()


def test_the_words_of_an_option_are_found() -> None:
    assert [words_of(param) for param in OPTIONS["--standard"]] == [{"aliases", "gold"}] * 3
    assert set().union(*map(words_of, OPTIONS["--method"])) >= {"drag", "drag-graph", "self-consistency"}


# Of programs that are none of ours.
FOREIGN = {
    "--multiline-fields", "--read-buffer-size", "--input-type", "--overwrite-destination", "--log_samples",
    "--reasoning-parser", "--reasoning-format", "--parallel", "--model-id", "--fail", "--gpus",
}  # fmt: skip
OPTIONS: dict[str, list[Any]] = {}
for _command in every_command(get_command(app)):
    for _param in _command.params:
        for _option in (*_param.opts, *_param.secondary_opts):
            OPTIONS.setdefault(_option, []).append(_param)
OF_SCRIPTS = {
    option
    for script in (ROOT / "scripts").glob("*.py")
    for option in re.findall(r"add_argument\(\s*\"(--[a-z-]+)\"", script.read_text(encoding="utf-8"))
}


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_options_that_stand_alone_exist_with_their_values(page: Path) -> None:
    """`--foo` is an option of a command or a script; `--foo bar` one that takes the word bar, where it takes words."""
    for span in spans(page):
        words = span.split()
        if not words[0].startswith("--"):
            continue
        name, _, value = words[0].rstrip(",;.").partition("=")
        assert name in OPTIONS or name in OF_SCRIPTS or name in FOREIGN, f"{_name(page)}: {span}"
        choices = [words_of(param) for param in OPTIONS.get(name, ())]
        value = value or (words[1] if len(words) > 1 else "")
        if all(choices) and value.islower() and name in OPTIONS:
            assert any(value in known for known in choices), f"{_name(page)}: {span}"


def test_the_page_on_the_paper_names_what_there_is() -> None:
    """Every word in backticks is a command, an option, a metric, a figure or table, a step, a column or a file."""
    from abstraction.datasets.dataset_cleaning import STEPS
    from granola.decoding.decision import Answering, Counting
    from granola.evidence.annotation_sheets import TIER_AXES, TIER_COLUMNS
    from granola.matching import MATCHERS
    from granola.scoring.metrics import STANDARDS, metrics

    page = ROOT / "docs" / "explanation" / "paper.md"
    source = (ROOT / "granola" / "report" / "study.py").read_text(encoding="utf-8")
    shown = set(re.findall(r'(?:name=|_(?:figure|FigureWithOwnDrawing)\(\s*)"([a-z0-9-]+)"', source)) | {"popularity"}
    section = page.read_text(encoding="utf-8").partition("## Section 5: figures")[2].partition("\n## ")[0]
    rows = [
        line.split("|")[2]
        for line in section.splitlines()
        if (line.startswith("| ") and "Table" in line) or "Figure" in line
    ]
    named = [name for cell in rows for name in re.findall(r"`([a-z][a-z0-9-]*)`", cell)]
    assert len(named) >= 9
    assert set(named) <= shown
    every = {metric.name for standard in STANDARDS for metric in metrics(standard=standard)}
    every |= shown | set(map(str, STEPS)) | {*TIER_AXES, *TIER_COLUMNS} | set(map(str, Answering)) | set(MATCHERS)
    every |= set(map(str, Counting)) | set(STANDARDS) | {"number:: answer"}
    for span in spans(page):
        if span.startswith(("granola ", "--")) or span in every:
            continue  # commands and options have tests of their own
        assert (ROOT / span).is_file() or (ROOT / f"{span.replace('.', '/')}.py").is_file(), span


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith("http"):
            continue
        name, _, heading = target.partition("#")
        found = page.parent / name if name else page
        assert found.is_file(), f"{_name(page)}: {target}"
        headings = re.findall(r"^#+ (.*)$", found.read_text(encoding="utf-8"), re.MULTILINE)
        assert not heading or heading in [re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in headings]


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_what_python_imports_is_there(page: Path) -> None:
    blocks = re.findall(r"^ *```python\n(.*?)^ *```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    imports = re.compile(r"^ *from ((?:kg|abstraction|granola)[\w.]*) import (.+)$", re.MULTILINE)
    for block in blocks:
        for module, names in imports.findall(block):
            there = import_module(module)
            assert [name for name in names.split(", ") if not hasattr(there, name)] == [], f"{_name(page)}: {module}"


def test_queries_run_and_find_something(tmp_path: Path) -> None:
    build([ROOT / "granola" / "demo" / "wikidata.json"], tmp_path / "demo.sqlite")
    blocks = re.findall(
        r"```sql\n(.*?)```", (ROOT / "docs" / "reference" / "snapshots.md").read_text(encoding="utf-8"), re.DOTALL
    )
    queries = [query for block in blocks for query in block.split(";") if query.strip()]
    assert len(queries) >= 2
    with closing(sqlite3.connect(tmp_path / "demo.sqlite")) as connection:
        for query in queries:
            assert connection.execute(query).fetchall(), query


def test_the_page_of_commands_is_current() -> None:
    assert command_docs.PAGE.read_text(encoding="utf-8") == command_docs.page(), "run python scripts/command_docs.py"
