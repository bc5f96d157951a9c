"""Telling a snapshot by the first bytes of its file, before SQLite is asked."""

from __future__ import annotations

import re
import sqlite3
import struct
from pathlib import Path

from kg.errors import DamagedSnapshotError, SnapshotError
from kg.store import schema

_SIZE = 100  # sqlite.org/fileformat2.html, section 1.3
_ADDRESS = re.compile(r"(bolt|neo4j)(\+s|\+ssc)?:/")  # with one slash, which remains when `Path` has read an address


def check_kind(path: Path) -> None:
    """Raises SnapshotError unless the file is a snapshot of the schema version that this program reads."""
    header = _header(path)
    if len(header) < _SIZE or not header.startswith(b"SQLite format 3\0"):
        what = "empty" if not header else "no SQLite file"
        raise SnapshotError(f"{path} is no snapshot: it is {what}; make one with 'granola snapshot build'")
    version, application = struct.unpack(">I4xI", header[60:72])
    if application != schema.APPLICATION_ID:
        raise SnapshotError(
            f"{path} is no snapshot: it is an SQLite file of another program; make one with 'granola snapshot build'"
        )
    if version != schema.SCHEMA_VERSION:
        newer = version > schema.SCHEMA_VERSION
        raise SnapshotError(
            f"{path} has schema version {version}, {'newer' if newer else 'older'} than"
            f" {schema.SCHEMA_VERSION}, which this version reads;"
            f" {'upgrade the program or ' if newer else ''}build the snapshot again"
        )


def check_complete(path: Path) -> None:
    """Raises DamagedSnapshotError where the file is shorter than the size in its header."""
    page_size, pages = struct.unpack(">H10xI", _header(path)[16:32])
    expected = pages * (65536 if page_size == 1 else page_size)
    size = path.stat().st_size
    if size < expected:
        raise DamagedSnapshotError(f"{path} is truncated: {size} of {expected} bytes; copy or build it again")


def read_only(path: Path | str, *, shared: bool = False) -> sqlite3.Connection:
    """A connection to a finished snapshot, which nobody writes to any more; `shared`: by several threads in turn."""
    address = f"{Path(path).absolute().as_uri()}?mode=ro&immutable=1"
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=not shared)


def _header(path: Path) -> bytes:
    if _ADDRESS.match(str(path)):
        address = str(path).replace(":/", "://", 1)
        raise SnapshotError(f"{address} is the address of a mirror; give the snapshot file that it was made from")
    if path.is_dir():
        raise SnapshotError(f"{path} is a folder; give a snapshot file")
    with path.open("rb") as stream:
        return stream.read(_SIZE)
