"""`granola` as a shell runs it, in this process: starting another takes longer than most commands do."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import pytest

from granola.cli.main import main


def granola(
    *words: object, stdin: str | bytes = b"", cwd: Path | None = None, terminal: bool = False
) -> subprocess.CompletedProcess[str]:
    """What the command line does with these words: its exit status, and what it and its own processes write.

    With `terminal` its streams say that they are one.
    """
    command = ["granola", *map(str, words)]
    with ExitStack() as stack:
        given, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write(stdin if isinstance(stdin, bytes) else stdin.encode())
        given.seek(0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", command)
            if cwd is not None:
                patch.chdir(cwd)
            with ExitStack() as streams:
                for number, (name, file) in enumerate({"stdin": given, "stdout": out, "stderr": err}.items()):
                    stream = streams.enter_context(_stream(name, number, file))
                    if terminal:
                        patch.setattr(stream, "isatty", lambda: True, raising=False)
                status = _status()
        return subprocess.CompletedProcess(command, status, _written(out), _written(err))


def _status() -> int:
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    except Exception:  # as the interpreter does
        traceback.print_exc()
        return 1
    return 0


@contextmanager
def _stream(name: str, number: int, file: IO[bytes]) -> Iterator[IO[str]]:
    """Have a standard stream, Python's and that of processes started, be a file."""
    before, kept = getattr(sys, name), os.dup(number)
    if number:
        before.flush()
    os.dup2(file.fileno(), number)
    mode, buffering = ("w", 1) if number else ("r", -1)
    try:
        with open(number, mode, buffering=buffering, encoding="utf-8", closefd=False) as stream:
            setattr(sys, name, stream)
            yield stream
    finally:
        setattr(sys, name, before)
        os.dup2(kept, number)
        os.close(kept)


def _written(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
