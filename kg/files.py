"""Files: put in place whole or not at all, hashed, and described by a run record beside them."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kg.errors import OutputError
from kg.partial_files import part_beside

LOOP = "{} is a loop of symbolic links, which lead to no file; name the file or folder that is meant"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


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
