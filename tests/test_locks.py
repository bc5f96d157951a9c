"""What is installed is told by version and hash."""

from __future__ import annotations

import re
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
LOCK = (SCRIPTS / "requirements.txt").read_text(encoding="utf-8")


def pins(text: str) -> dict[str, str]:
    found = re.findall(r"^([A-Za-z0-9._-]+)==([^\s\\;]+)", text, re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


def test_every_pin_has_a_hash_and_no_address() -> None:
    entries = re.split(r"^(?=[A-Za-z0-9])", LOCK, flags=re.MULTILINE)[1:]
    assert len(entries) == len(pins(LOCK)) > 40
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in LOCK


def test_the_two_lists_agree() -> None:
    constraints = pins((SCRIPTS / "constraints.txt").read_text(encoding="utf-8"))
    locked = pins(LOCK)
    assert {name: version for name, version in locked.items() if constraints.get(name, version) != version} == {}
