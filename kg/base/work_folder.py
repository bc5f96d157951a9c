"""The folder next to an output with the intermediate work of a long job, so that a killed one can continue."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SUFFIX = ".work"
_LOCK = "lock"


class WorkFolder:
    """A hidden folder next to `out`, locked until `close` or `remove`; `kept` is whether it existed before.

    `error` is the class of errors raised here, `output` the description of `out`, of which messages ask the user to
    name another. Raises `error` where another process has the folder, and OSError.
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
        """Raise `error` where the stored work belongs to another request."""
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
    """The path of the work folder of an output."""
    return out.with_name(f".{out.name}{suffix}")
