"""The folder beside an output where a long job keeps its work, so that a killed one can go on."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SUFFIX = ".work"
_LOCK = "lock"


class WorkFolder:
    """A hidden folder beside `out`, locked from here to `close` or `remove`; `kept` tells whether it was there before.

    `error` is the kind that is raised here, `output` what `out` is: the reader of a message is told to name another.
    Raises `error` where another process has the folder, and OSError.
    """

    def __init__(self, out: Path, *, error: type[Exception], output: str = "file", suffix: str = SUFFIX) -> None:
        self.path = folder_of(out, suffix)
        self.kept = self.path.exists()
        self._error, self._output = error, output
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = (self.path / _LOCK).open("ab")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as taken:
            self._lock.close()
            raise error(f"another process is building {out}; wait for it, or name another {output}") from taken

    def clear(self) -> None:
        """Remove all that is in it."""
        for path in self.path.iterdir():
            if path.name != _LOCK:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def check(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Raise `error` where the work in it was not for what is asked for now."""
        if before != now:
            keys = sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))
            raise self._error(
                f"{self.path} holds unfinished work for something else (it differs in {', '.join(keys)}); finish that,"
                f" begin anew with --restart, or name another {self._output}"
            )

    def close(self) -> None:
        """Leave it to whoever comes next."""
        self._lock.close()

    def remove(self) -> None:
        """Remove it with all that is in it, and close."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.close()


def folder_of(out: Path, suffix: str = SUFFIX) -> Path:
    """Where the work for an output is kept."""
    return out.with_name(f".{out.name}{suffix}")
