"""Files: put in place whole or not at all, hashed; and what killed processes have left is removed.

Files and folders are written under a temporary name beside their final one. Whoever writes one holds a lock on it,
which ends with the process: what is not locked was left.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kg.errors import OutputError

LOOP = "{} is a loop of symbolic links, which lead to no file; name the file or folder that is meant"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SUFFIX = ".part"
_NAME_KEPT = 40  # characters of a long name that its temporary name keeps
_BESIDE = ("-journal", "-wal", "-shm")  # what SQLite writes beside a file


def writable(path: Path | str) -> Path:
    """Where a file named `path` is put: what a symlink points to, else `path` itself.

    Raises OutputError for a folder, a device, a pipe: what a file renamed onto it would destroy; and a loop of
    links.
    """
    final = Path(path)
    if is_loop(final):
        raise OutputError(LOOP.format(path))
    if final.is_symlink():
        final = Path(os.path.realpath(final))
    if final.is_dir():
        raise OutputError(f"{path} is a folder; name a file to write")
    parent = next((folder for folder in final.parents if folder.exists()), None)
    if parent is not None and not parent.is_dir():
        raise OutputError(f"{path} cannot be written: {parent} is a file, not a folder")
    if final.exists() and not final.is_file():
        raise OutputError(f"{path} is no regular file and is not replaced; name a file to write")
    return final


@contextmanager
def atomic_path(path: Path | str) -> Iterator[Path]:
    """A temporary path beside `path`, renamed onto it when the block ends well, removed when it raises.

    A symlink stays and what it points to is replaced. What killed processes left of `path` is removed. Raises as
    `writable`.
    """
    final = writable(path)
    final.parent.mkdir(parents=True, exist_ok=True)
    try:
        temporary, handle = part_beside(final)
    except OSError as error:
        error.filename = str(path)
        raise
    try:
        yield temporary
        # mkstemp gives 0600; the result gets what an ordinary open() would have given.
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        put_in_place(temporary, final)
    except OSError as error:
        if error.errno and error.filename in (
            None,
            str(temporary),
        ):  # a failed write tells no name, a failed open this one
            error.filename = str(path)
            error.filename2 = None
        raise
    finally:
        temporary.unlink(missing_ok=True)
        os.close(handle)


def put_in_place(written: Path, final: Path) -> None:
    """Rename a finished file onto its final name once the disk has it. Raises as `writable`."""
    place = writable(final)
    with written.open("rb") as stream:
        os.fsync(stream.fileno())
    written.replace(place)


def why_unwritten(path: Path, error: Exception) -> str:
    """Why `path` could not be written, without the names of temporary files that nobody asked for."""
    if isinstance(error, FileNotFoundError):
        return f"no file can be made in {path.absolute().parent}"
    if isinstance(error, OSError) and error.errno is not None and is_full(error):
        return f"{os.strerror(error.errno)}: the disk is full; free some of it, or name a place on another"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def is_full(error: OSError) -> bool:
    """Whether a disk, a quota or a file had no room for more."""
    return error.errno in _FULL


def is_loop(path: Path | str) -> bool:
    """Whether a path leads into symbolic links that lead to each other."""
    try:
        os.stat(path)
    except OSError as error:
        return error.errno == errno.ELOOP
    except ValueError:  # no path at all
        pass
    return False


def resolved(path: Path) -> Path:
    """The absolute path behind all symbolic links. Raises OutputError for a loop of them."""
    if is_loop(path):
        raise OutputError(LOOP.format(path))
    return path.resolve()


def sha256_of(path: Path | str) -> str:
    """Hex SHA-256 of a file, read in blocks."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


# Temporary files and folders, and those that killed processes have left.


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
