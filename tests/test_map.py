"""The map of the code names every room, and nothing that is not there."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
TREE = PAGE.split("```")[1]


def test_every_room_has_an_example() -> None:
    rooms = {
        "_".join(path.parent.relative_to(ROOT).parts)
        for top in ("kg", "abstraction", "granola")
        for path in (ROOT / top).glob("*/__init__.py")
    }
    examples = {path.stem.removeprefix("test_"): path for path in (ROOT / "tests" / "rooms").glob("test_*.py")}
    assert [room for room in rooms if not any(f"{name}_".startswith(f"{room}_") for name in examples)] == []
    assert [name for name in examples if not any(f"{name}_".startswith(f"{room}_") for room in rooms)] == []
    assert [name for name, path in examples.items() if path.read_text(encoding="utf-8").count("\n") > 50] == []


def test_the_tree_names_every_room_and_no_other() -> None:
    rooms, package = set(), ""
    for line in TREE.strip().splitlines():
        indent, name = re.match(r"( *)(\w+)/ ", line).groups()  # type: ignore[union-attr]
        package = package if indent else name
        rooms.add(f"{package}/{name}" if indent else name)
    there = {
        str(path.parent.relative_to(ROOT))
        for top in ("kg", "abstraction", "granola")
        for path in (*(ROOT / top).glob("__init__.py"), *(ROOT / top).glob("*/__init__.py"))
    }
    assert rooms - {"scripts", "granola/demo"} == there
    assert all((ROOT / room).is_dir() for room in rooms)


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([\w.]+:[\w.]+)`", PAGE))))
def test_functions_on_the_walks_are_there(name: str) -> None:
    module, _, attributes = name.partition(":")
    found: object = import_module(module)
    for attribute in attributes.split("."):
        found = getattr(found, attribute)
    assert callable(found)


def test_files_that_are_named_are_there() -> None:
    named = set(re.findall(r"`([\w/]+/[\w.]*)`", PAGE)) | {
        f"docs/{name}" for name in re.findall(r"\]\(([\w/-]+\.md)\)", PAGE)
    }
    assert len(named) > 20
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
