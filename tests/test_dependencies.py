"""Every library that the project asks for is used, and pinned."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
ASKED = tomllib.loads(PROJECT)["project"]
EXTRAS = ("mirror", "report", "models", "parquet", "service", "spark", "datasets")
# The driver, the server and the trainer load these by themselves where they are installed.
LOADED = {"neo4j-rust-ext": "neo4j", "uvloop": "gunicorn"}
MODULES = {"sentence-transformers": "sentence_transformers"}


def names(lines: list[str]) -> list[str]:
    found = [re.split(r"[<>=;\[ ]", line, maxsplit=1)[0] for line in lines]
    return [name for name in found if name != ASKED["name"]]


DIRECT = [*names(ASKED["dependencies"]), *(n for one in EXTRAS for n in names(ASKED["optional-dependencies"][one]))]


@pytest.mark.parametrize("name", DIRECT)
def test_what_is_asked_for_is_imported(name: str) -> None:
    module = MODULES.get(name, LOADED.get(name, name))
    imports = re.compile(rf"^\s*(?:import|from) {re.escape(module)}\b", re.MULTILINE)
    files = (path for package in ("kg", "abstraction", "granola") for path in (ROOT / package).rglob("*.py"))
    assert any(imports.search(path.read_text(encoding="utf-8")) for path in files)


@pytest.mark.parametrize("name", DIRECT)
def test_what_is_asked_for_is_pinned_and_says_why(name: str) -> None:
    pins = (ROOT / "scripts" / "constraints.txt").read_text(encoding="utf-8").lower().replace("_", "-")
    assert f"\n{name.lower().replace('_', '-')}==" in pins
    (line, before) = next(
        (line, before)
        for before, line in zip(PROJECT.splitlines(), PROJECT.splitlines()[1:], strict=False)
        if f'"{name}>=' in line
    )
    assert "#" in line.rpartition('"')[2] or before.strip().startswith("#")
