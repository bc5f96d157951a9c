"""Where a record is written, and how the command line is asked for what it holds."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorder:
    """One part of a record: the program that is asked, what it is given, and the folder of what it says."""

    program: Path
    snapshot: Path
    data: Path
    folder: Path
    each: int

    @property
    def places(self) -> dict[str, Path]:
        """What words in capitals stand for in commands, and in what is recorded; longer paths before their parents."""
        demo = self.program / "granola" / "demo"
        return {"DATA": self.data, "SNAPSHOT": self.snapshot, "DEMO": demo, "RECORD": self.folder,
                "PROGRAM": self.program}  # fmt: skip

    def environment(self) -> dict[str, str]:
        """The variables that the command sees: the program's modules, and a terminal that is always the same."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GRANOLA_")}
        return {**kept, "PYTHONPATH": str(self.program), "COLUMNS": "160", "NO_COLOR": "1", "TERM": "dumb"}

    def run(self, commands: str) -> None:
        """Run `NAME: WORDS` of each line as `granola WORDS` in the folder, and keep what it prints as NAME.txt.

        What is told on standard error is kept where the command fails: there it is the answer.
        """
        start = "import sys; from granola.commands.cli.main import main; sys.argv[0] = 'granola'; main()"
        for line in commands.strip().splitlines():
            name, _, words = line.strip().partition(": ")
            for word, place in self.places.items():
                words = words.replace(word, str(place))
            done = subprocess.run(
                [sys.executable, "-c", start, *shlex.split(words)], cwd=self.folder, env=self.environment(),
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            said = done.stdout + (f"exit status {done.returncode}\n" if done.returncode else "")
            said += done.stderr if done.returncode not in (0, 1) else ""
            if said:
                (self.folder / f"{name}.txt").write_text(said, encoding="utf-8")

    def write(self, name: str, rows: Iterable[Any]) -> None:
        """A file of the record, one JSON value a line."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as file:
            for row in rows:
                file.write(json.dumps(row, ensure_ascii=False, sort_keys=True, default=str) + "\n")
