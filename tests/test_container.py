"""The container: every file that the Dockerfile copies reaches the build, and nothing else does."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
IGNORE = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
_LINE = re.compile(r"^([A-Z]+)\s+(.*)$")


def instructions() -> Iterator[tuple[str, str]]:
    """The instructions of the Dockerfile, each on one line."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if (read := _LINE.match(line)) is not None:
            yield read[1], read[2]


def reaches_the_build(path: str) -> bool:
    """Whether a path is in the build's context: of the patterns that fit it or a folder above it, the last decides."""
    is_in = True
    parts = Path(path).parts
    places = ["/".join(parts[: end + 1]) for end in range(len(parts))]
    for line in filter(None, (line.partition("#")[0].strip() for line in IGNORE)):
        pattern = re.escape(line.removeprefix("!").strip("/"))
        pattern = pattern.replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
        if any(re.fullmatch(pattern, place) for place in places):
            is_in = line.startswith("!")
    return is_in


def copied() -> Iterator[str]:
    """What is copied from the checkout."""
    for word, rest in instructions():
        if word == "COPY" and "--from" not in rest:
            yield from rest.split()[:-1]


def files_of(source: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--", source], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    return listed or [source]


@pytest.mark.parametrize("source", sorted(copied()))
def test_what_is_copied_reaches_the_build(source: str) -> None:
    assert (ROOT / source).exists()
    assert [file for file in files_of(source) if not reaches_the_build(file)] == []


def test_nothing_else_reaches_it() -> None:
    others = [name for name in files_of(".") if not name.startswith(tuple(copied()))]
    assert [name for name in others if reaches_the_build(name)] == []


def test_patterns_are_read_as_docker_reads_them() -> None:
    assert reaches_the_build("granola/report/files/shared.css")
    assert not reaches_the_build("granola/__pycache__/x.pyc")
    assert not reaches_the_build("docs/README.md")


def test_the_services_of_compose_share_no_port_and_come_back() -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8").partition("\nservices:\n")[2]
    parts = re.split(r"^  (?=\w)", text, flags=re.MULTILINE)
    services = [part for part in parts if "image:" in part or "build:" in part]
    ports = [port for part in services for port in re.findall(r"127\.0\.0\.1:(\d+):", part)]
    assert len(services) == 3
    assert len(set(ports)) == len(ports)
    assert all("restart: unless-stopped" in part for part in services)
