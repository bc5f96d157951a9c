"""Files and folders: written whole or not at all, and hashed; leftovers of killed processes are removed.

Files and folders are written under a temporary name next to their final one. The writer keeps a lock on it, which ends
with the process: an unlocked temporary file is a leftover, and is used again. A long job has its intermediate work in a
folder next to the output (`WorkFolder`), so that a killed one can continue.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import itertools
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from kg.errors import ExportError, OutputError

SUFFIX = ".work"
MANIFEST = "manifest.json"  # the file by which a folder of tables is known
_LOCK = "lock"  # inside the folder, so that it is removed with the folder
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # disk full, quota exceeded, file too large
_NAME_KEPT = 40  # characters of a long name in its temporary one: with four bytes each below the 255 of file systems
_BESIDE = ("-journal", "-wal", "-shm")  # files that SQLite writes next to a database


class WorkFolder:
    """A hidden folder next to `out`, locked until `close` or `remove`; `kept` is whether it existed before.

    `error` is the class of errors raised here, `output` the description of `out`, of which messages ask the user to
    name another. Raises `error` where another process has the folder, and OSError.
    """

    def __init__(self, out: Path, *, error: type[Exception], output: str = "file", suffix: str = SUFFIX) -> None:
        self.path = work_folder_path(out, suffix)
        self.kept = self.path.exists()
        self._error, self._output = error, output
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = (self.path / _LOCK).open("ab")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as taken:
            self._lock.close()
            # A lock, not a file with a process id: it ends with the process, however that ends.
            raise error(f"another process is building {out}; wait for it, or name another {output}") from taken

    def clear(self) -> None:
        """Remove the content of the folder, except for the lock."""
        for path in self.path.iterdir():
            if path.name != _LOCK:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def check_same_request(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Raise `error` where `before`, the request of the stored work, differs from `now`."""
        if before != now:
            keys = sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))
            raise self._error(
                f"{self.path} holds unfinished work for something else (it differs in {', '.join(keys)}); finish that,"
                f" begin anew with --restart, or name another {self._output}"
            )

    def close(self) -> None:
        """Release the lock, and leave the content for a later call."""
        self._lock.close()

    def remove(self) -> None:
        """Remove the folder with its content, and release the lock."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.close()


def work_folder_path(out: Path, suffix: str = SUFFIX) -> Path:
    """The path of the work folder of an output."""
    return out.with_name(f".{out.name}{suffix}")


def resolve_output_path(path: Path | str) -> Path:
    """The path that a file named `path` is written to: the target of a symlink, else `path` itself.

    Raises OutputError for a folder, a device or a pipe, which a renamed file would destroy.
    """
    # a symlink stays: its target is written
    final = resolve_symlinks(Path(path)) if Path(path).is_symlink() else Path(path)
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
    """A temporary path next to `path`, renamed to it when the block ends well, removed when it raises.

    A symlink is kept and its target replaced. Raises as `resolve_output_path`.
    """
    final = resolve_output_path(path)
    final.parent.mkdir(parents=True, exist_ok=True)
    try:
        temporary, handle = create_locked_part(final)
    except OSError as error:
        error.filename = str(path)
        raise
    try:
        yield temporary
        move_into_place(temporary, final)  # from then on another may have one of its name
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        # The error of a failed write has no file name, that of a failed open has the temporary one.
        if isinstance(error, OSError) and error.errno and error.filename in (None, str(temporary)):
            error.filename = str(path)
            error.filename2 = None
        raise
    finally:
        os.close(handle)


def move_into_place(written: Path, final: Path) -> None:
    """Rename a finished file onto its final name once the disk has it. Raises as `resolve_output_path`."""
    place = resolve_output_path(final)
    with written.open("rb") as stream:
        os.fsync(stream.fileno())  # else after a power cut the file may have its name but not its content
    written.replace(place)


def write_failure_reason(path: Path, error: Exception) -> str:
    """The reason for which `path` could not be written, for a message; names of temporary files are left out."""
    if isinstance(error, FileNotFoundError):
        return f"no file can be made in {path.absolute().parent}"
    if isinstance(error, OSError) and error.errno is not None and is_out_of_space(error):
        return f"{os.strerror(error.errno)}: the disk is full; free some of it, or name a place on another"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def is_out_of_space(error: OSError) -> bool:
    """Whether a disk, a quota or a file had no room for more."""
    return error.errno in _FULL


def resolve_symlinks(path: Path) -> Path:
    """The absolute path with all symbolic links resolved."""
    return Path(os.path.realpath(path))


def sha256_of(path: Path | str) -> str:
    """Hex SHA-256 of a file, read in blocks."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def create_locked_part(final: Path, *, folder: bool = False) -> tuple[Path, int]:
    """(an empty file or folder next to `final`, the handle that locks it); a leftover of a killed process is reused.

    The caller closes the handle. Raises OSError.
    """
    # Names with the same beginning differ in the hash. A name need not be valid UTF-8.
    sign = hashlib.sha256(final.name.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    for number in itertools.count(1):
        part = final.with_name(f".{final.name[:_NAME_KEPT]}.{sign}.{number}.part")
        is_new = True
        try:
            part.mkdir() if folder else part.touch(exist_ok=False)
        except FileExistsError:
            is_new = False
        try:
            handle = os.open(part, (os.O_RDONLY if folder else os.O_RDWR) | os.O_NOFOLLOW)  # a link here is a trap
        except OSError:
            if is_new:
                raise
            continue  # renamed meanwhile by the process that had it, or owned by another user
        if _lock_if_free(part, handle, is_new=is_new):
            if not is_new:
                _empty_part_and_delete_side_files(part, handle)
            return part, handle
        os.close(handle)
    raise AssertionError("numbers do not end")


def _lock_if_free(part: Path, handle: int, *, is_new: bool) -> bool:
    """Whether no other process has the lock, and the locked file is still the one at the path."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return is_new
    try:
        return os.path.samestat(os.stat(part), os.fstat(handle))
    except FileNotFoundError:
        return False


def _empty_part_and_delete_side_files(part: Path, handle: int) -> None:
    if part.is_dir():
        for path in part.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return
    os.ftruncate(handle, 0)  # emptied rather than removed: the lock is on this file
    for suffix in _BESIDE:
        part.with_name(part.name + suffix).unlink(missing_ok=True)


STDOUT = "-"


@contextmanager
def open_output_bytes(out: Path | str) -> Iterator[BinaryIO]:
    """A stream to write to; the file appears under its name when the block ends well.

    The same bytes give the same file, packed or not. Raises `ExportError` where the disk is full or the folder
    cannot be written.
    """
    if str(out) == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with raising_export_error(out), atomic_path(out) as temporary, temporary.open("wb", buffering=1 << 20) as raw:
        if not str(out).endswith(".gz"):
            yield raw
            return
        import gzip  # not at the start of every command

        # No name and no time in the header: they would make equal content differ.
        packed = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6)
        with io.BufferedWriter(packed, buffer_size=1 << 20) as stream:
            yield stream


@contextmanager
def raising_export_error(out: Path | str) -> Iterator[None]:
    """Convert the errors of a full disk or a folder without write permission into an `ExportError`."""
    try:
        yield
    except (BrokenPipeError, FileNotFoundError):
        raise
    except OSError as error:
        why = write_failure_reason(Path(out), error)
        raise ExportError(f"cannot write {out}: {why}; nothing was left behind") from error


@contextmanager
def new_output_folder(out: Path | str, *, source: Path | str, force: bool = False) -> Iterator[Path]:
    """A new folder next to `out`, renamed to it when the block ends well, removed when it raises.

    With `force` a folder of an earlier export (one with a manifest.json) is replaced, unless `source` is in it. Raises
    `ExportError` where `out` exists otherwise, the disk is full or the place cannot be written.
    """
    final = Path(out)
    if final.exists():
        if not force:
            raise ExportError(f"{out} exists; give --force to replace it, or another --out")
        if not final.is_dir() or not ((final / MANIFEST).is_file() or not any(final.iterdir())):
            raise ExportError(f"{out} is no folder of an earlier export, so it is not replaced; give another --out")
        if final.resolve() in Path(source).resolve().parents:  # the source is in the folder that would be deleted
            raise ExportError(f"{source} is in {out} and would be lost; give another --out")
    with raising_export_error(out):
        final.parent.mkdir(parents=True, exist_ok=True)
        temporary, handle = create_locked_part(final, folder=True)
        try:
            yield temporary
            if final.exists():
                shutil.rmtree(final)
            temporary.rename(final)  # from then on another may have one of its name
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        finally:
            os.close(handle)
