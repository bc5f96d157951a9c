"""Files and folders under a temporary name beside their final one, and those that killed processes have left.

Whoever writes one holds a lock on it, which ends with the process: what is not locked was left.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from pathlib import Path

_SUFFIX = ".part"
_NAME_KEPT = 40  # characters of a long name that its temporary name keeps
_BESIDE = ("-journal", "-wal", "-shm")  # what SQLite writes beside a file


def part_beside(final: Path, *, folder: bool = False) -> tuple[Path, int]:
    """(a new empty file or folder beside `final`, the handle that locks it), those removed that killed processes left.

    The handle is closed by whoever writes. Raises OSError.
    """
    sweep(final)
    prefix = f".{final.name[:_NAME_KEPT]}."
    while True:
        if folder:
            part = Path(tempfile.mkdtemp(prefix=prefix, suffix=_SUFFIX, dir=final.parent))
            handle = os.open(part, os.O_RDONLY)
        else:
            handle, name = tempfile.mkstemp(prefix=prefix, suffix=_SUFFIX, dir=final.parent)
            part = Path(name)
        if _locked(handle) is None or _is_ours(part, handle):
            return part, handle
        os.close(handle)  # another process took it for a left one before it was locked


def sweep(final: Path) -> None:
    """Remove what killed processes have left of `final`. What cannot be removed stays."""
    name = re.compile(re.escape(f".{final.name[:_NAME_KEPT]}.") + r"[a-z0-9_]{8}" + re.escape(_SUFFIX))
    with os.scandir(final.parent) as entries:
        left = [Path(entry.path) for entry in entries if name.fullmatch(entry.name)]
    for part in left:
        try:
            handle = os.open(part, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            if _is_ours(part, handle):
                _remove(part)
        finally:
            os.close(handle)


def _locked(handle: int) -> bool | None:
    """Whether the lock can be had; None where the file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _is_ours(part: Path, handle: int) -> bool:
    """Whether the lock can be had, and what was locked is still what the path names."""
    try:
        return bool(_locked(handle)) and os.path.samestat(os.stat(part), os.fstat(handle))
    except OSError:
        return False


def _remove(part: Path) -> None:
    if part.is_dir():
        shutil.rmtree(part, ignore_errors=True)
        return
    for path in (part, *(part.with_name(part.name + suffix) for suffix in _BESIDE)):
        try:
            path.unlink(missing_ok=True)
        except OSError:
            return
