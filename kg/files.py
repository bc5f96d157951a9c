"""Files: put in place whole or not at all, hashed, and described by a run record beside them."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_path(path: Path | str) -> Iterator[Path]:
    """A temporary path beside `path`, renamed onto it when the block ends well, removed when it raises."""
    final = Path(path)
    final.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{final.name}.", suffix=".part", dir=final.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp gives 0600; the result gets what an ordinary open() would have given.
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        put_in_place(temporary, final)
    finally:
        temporary.unlink(missing_ok=True)


def put_in_place(written: Path, final: Path) -> None:
    """Rename a finished file onto its final name once the disk has it."""
    with written.open("rb") as stream:
        os.fsync(stream.fileno())
    written.replace(final)


def sha256_of(path: Path | str) -> str:
    """Hex SHA-256 of a file, read in blocks."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
