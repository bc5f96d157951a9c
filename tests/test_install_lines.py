"""What messages and documents say to install can be installed: extras of the clone that the project has."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
BY_NAME = {"kg/extras.py"}  # where the wheel is installed: pip then takes what is installed, and asks no index
PLACES = ("README.md", "docs/**/*.md", "kg/**/*.py", "abstraction/**/*.py", "granola/**/*.py")


def test_extras_are_named_as_the_clone_installs_them() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named: set[str] = set()
    wrong = []
    for path in (path for place in PLACES for path in sorted(ROOT.glob(place))):
        text = path.read_text(encoding="utf-8")
        if re.search(r"pip install [^\n]*granola-ladders\[", text):
            wrong.append(path.relative_to(ROOT).as_posix())
        for found in re.findall(r"pip install [^\n]*-e '\.\[([\w,]+)\]'", text):
            named.update(found.split(","))
    assert set(wrong) == BY_NAME  # the package is in no index
    assert named <= extras.keys()
    assert {"report", "harnesses", "service", "parquet"} <= named
