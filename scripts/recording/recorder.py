"""Where a record is written, and how the command line is asked for what it holds."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

PACKAGES = ("kg", "abstraction", "granola")
_GONE = re.compile(r"No such (?:command|option)[^│\n]*")
_CALL = "import sys; from {module} import {function}; sys.argv[0] = 'granola'; sys.exit({function}())"


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorder:
    """One part of a record: the program that is asked, what it is given, and the folder of what it says."""

    program: Path
    snapshot: Path
    data: Path
    folder: Path
    each: int

    @property
    def demo(self) -> Path:
        """The bundled sample and its questions."""
        return self.program / "granola" / "demo"

    def command(self, *words: object) -> list[str]:
        """What runs `granola WORDS` of the program, by the entry point that it declares."""
        project = tomllib.loads((self.program / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        module, _, function = project["scripts"]["granola"].partition(":")
        return [sys.executable, "-c", _CALL.format(module=module, function=function), *map(str, words)]

    def environment(self) -> dict[str, str]:
        """The variables that the command sees: the program's modules, and a terminal that is always the same."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GRANOLA_")}
        return {**kept, "PYTHONPATH": str(self.program), "COLUMNS": "160", "NO_COLOR": "1", "TERM": "dumb"}

    def run(self, name: str, *words: object) -> bool:
        """Run `granola WORDS` in the folder and keep what it prints as NAME.txt; False where there is no such command.

        What is told on standard error is kept where the command fails: there it is the answer.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            self.command(*words), cwd=self.folder, env=self.environment(), capture_output=True, text=True, check=False
        )
        if done.returncode == 2 and (gone := _GONE.search(done.stderr)):
            print(f"{self.folder.name}/{name} skipped: {gone[0].strip()}", file=sys.stderr)
            return False
        told = done.stdout
        if done.returncode:
            told += f"exit status {done.returncode}\n"
        if done.returncode not in (0, 1):
            told += done.stderr
        if told:
            (self.folder / f"{name}.txt").write_text(told, encoding="utf-8")
        return True

    def found(self, name: str) -> Any:
        """The class or function of that name, wherever in the packages it is defined. Raises LookupError."""
        defined = re.compile(rf"^(?:class|def) {name}\b", re.MULTILINE)
        for package in PACKAGES:
            for path in sorted((self.program / package).rglob("*.py")):
                if defined.search(path.read_text(encoding="utf-8")):
                    module = ".".join(path.relative_to(self.program).with_suffix("").parts)
                    return getattr(import_module(module), name)
        raise LookupError(name)


def write(path: Path, rows: Iterable[Any]) -> None:
    """One JSON value a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False, sort_keys=True, default=str) + "\n")


def lines(path: Path) -> Iterator[Any]:
    """The JSON values of a file, one a line."""
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)
