"""What is installed is told by version and hash."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "scripts"
LOCKS = sorted(SCRIPTS.glob("requirements*.txt"))
CONSTRAINTS = (SCRIPTS / "constraints.txt").read_text(encoding="utf-8")


def pins(text: str) -> dict[str, str]:
    found = re.findall(r"^([A-Za-z0-9._-]+)==([^\s\\;]+)", text, re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_every_pin_has_a_hash_and_no_address(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(entries) == len(pins(text)) > 20
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in text


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_the_lists_agree(path: Path) -> None:
    constraints, locked = pins(CONSTRAINTS), pins(path.read_text(encoding="utf-8"))
    assert {name: version for name, version in locked.items() if constraints.get(name, version) != version} == {}


def test_torch_is_told_by_version_alone() -> None:
    assert "torch" in pins(CONSTRAINTS)
    assert [path.name for path in LOCKS if "torch" in pins(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("name", ["Dockerfile", "Makefile", ".ci/run", "scripts/audit.sh"])
def test_what_is_installed_has_its_hash(name: str) -> None:
    """But for ourselves, which asks for no other, and torch."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in re.split(r"\n|&&", text) if re.search(r"pip\S*\s+install\b|\$\(PIP\)|pip\[@\]", line)]
    installs = [line for line in lines if not line.lstrip().startswith(("PIP :=", "pip=("))]
    assert installs
    for line in installs:
        own = "--no-deps --no-build-isolation" in line and re.search(r"\.\s*$", line)
        torch = re.search(r"-c scripts/constraints\.txt torch\s*$", line)
        assert "--require-hashes" in line or own or torch, line
