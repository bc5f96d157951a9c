"""Where an export goes: a file put in place whole, packed where its name says so, or standard output."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from kg.errors import ExportError
from kg.files import atomic_path

STDOUT = "-"


@contextmanager
def text_out(out: Path | str) -> Iterator[Callable[[str], object]]:
    """A function that writes UTF-8 text; the file appears under its name when the block ends well.

    The same text gives the same bytes, packed or not. Raises `ExportError` where the disk is full or the folder
    cannot be written.
    """
    if str(out) == STDOUT:
        yield lambda text: sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
        return
    with writing(out), atomic_path(out) as temporary, temporary.open("wb", buffering=1 << 20) as raw:
        stream: BinaryIO = raw
        if str(out).endswith(".gz"):
            # No name and no time in the header: they would make equal content differ.
            stream = io.BufferedWriter(
                gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6),
                buffer_size=1 << 20,
            )
        yield lambda text: stream.write(text.encode())
        if stream is not raw:
            stream.close()


@contextmanager
def writing(out: Path | str) -> Iterator[None]:
    """Turn a full disk or a folder that is not ours into an `ExportError`."""
    try:
        yield
    except BrokenPipeError:
        raise
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ExportError(f"cannot write {out}: {error}; nothing was left behind") from error
