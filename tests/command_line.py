"""`granola` as a shell runs it, but in this process: a second interpreter takes longer to start than most commands run.

What only a process of its own shows is not seen: what happens when the interpreter ends, what another seed of hashes
changes, modules that another test has imported. Tests of these start one.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import pytest

from granola.commands.cli.main import main

COMMAND = (sys.executable, "-c", "from granola.commands.cli.main import main; main()")  # in a process of its own
_UNSEEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


def run_granola(
    *words: object, stdin: str | bytes = b"", cwd: Path | None = None, terminal: bool = False
) -> subprocess.CompletedProcess[str]:
    """What the command line does with these words: its exit status, and what it and its own processes write.

    An error that it lets through is raised. With `terminal` its streams say that they are one.
    """
    command = ["granola", *map(str, words)]
    with ExitStack() as stack:
        given, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write(stdin if isinstance(stdin, bytes) else stdin.encode())
        given.seek(0)
        with pytest.MonkeyPatch.context() as patch, ExitStack() as streams:
            patch.setattr(sys, "argv", command)
            if cwd is not None:
                patch.chdir(cwd)
            for number, (name, file) in enumerate({"stdin": given, "stdout": out, "stderr": err}.items()):
                stream = streams.enter_context(_stream(name, number, file))
                if terminal:
                    patch.setattr(stream, "isatty", lambda: True, raising=False)
            streams.enter_context(_told())
            status = _status()
        return subprocess.CompletedProcess(command, status, _written(out), _written(err))


def _status() -> int:
    try:
        main()
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
        return 1 if isinstance(ended.code, str) else ended.code or 0
    return 0


@contextmanager
def _told() -> Iterator[None]:
    """Warnings and log lines go where a process writes them, and not to pytest."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers = []
    with warnings.catch_warnings():
        warnings.resetwarnings()
        for category in _UNSEEN:
            warnings.simplefilter("ignore", category)
        warnings.showwarning = lambda message, category, filename, lineno, file=None, line=None: print(
            warnings.formatwarning(message, category, filename, lineno, line), end="", file=sys.stderr
        )
        try:
            yield
        finally:
            root.handlers, root.level = handlers, level


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
