"""The output of an export: a file that appears whole, compressed if its name ends so, or standard output."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from kg.base.files import atomic_path, part_beside, why_unwritten
from kg.errors import ExportError
from kg.reading.parquet_tables import MANIFEST

STDOUT = "-"


@contextmanager
def bytes_out(out: Path | str) -> Iterator[BinaryIO]:
    """A stream to write to; the file appears under its name when the block ends well.

    The same bytes give the same file, packed or not. Raises `ExportError` where the disk is full or the folder
    cannot be written.
    """
    if str(out) == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with writing(out), atomic_path(out) as temporary, temporary.open("wb", buffering=1 << 20) as raw:
        if not str(out).endswith(".gz"):
            yield raw
            return
        # No name and no time in the header: they would make equal content differ.
        packed = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6)
        with io.BufferedWriter(packed, buffer_size=1 << 20) as stream:
            yield stream


@contextmanager
def writing(out: Path | str) -> Iterator[None]:
    """Turn a full disk or a folder that is not ours into an `ExportError`."""
    try:
        yield
    except (BrokenPipeError, FileNotFoundError):
        raise
    except OSError as error:
        why = why_unwritten(Path(out), error)
        raise ExportError(f"cannot write {out}: {why}; nothing was left behind") from error


@contextmanager
def folder_out(out: Path | str, *, source: Path | str, force: bool = False) -> Iterator[Path]:
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
        if final.resolve() in Path(source).resolve().parents:
            raise ExportError(f"{source} is in {out} and would be lost; give another --out")
    with writing(out):
        final.parent.mkdir(parents=True, exist_ok=True)
        temporary, handle = part_beside(final, folder=True)
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
