"""Compressed bytes in, plain bytes out: the format is recognised by content, several members are read, and truncation
is an error.
"""

from __future__ import annotations

import bz2
import hashlib
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from kg.errors import SourceError

BLOCK = 1 << 18  # compressed bytes at a time; JSON unpacks to about ten times that
_SMALL_BLOCK = 1 << 14  # gzip's output then stays in the processor's cache, which makes it a third faster
# Bytes decompressed at once: gzip expands up to 1,000 times, zstd 32,000. A step that meets damage is lost whole.
_STEPS = {"gzip": 1 << 20, "bzip2": 1 << 11, "zstd": 1 << 11}
_FOREIGN = (
    (b"\xfd7zXZ", "xz"),
    (b"7z\xbc\xaf", "7-zip"),
    (b"PK\x03\x04", "zip"),
    (b"SQLite format 3", "SQLite"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
)


class DamagedError(SourceError):
    """A stream ends early, fails its checksum or goes on with bytes that are none of its format."""


class HashedReader:
    """A binary stream that counts and hashes what is read from it."""

    def __init__(self, stream: BinaryIO, *, name: str = "") -> None:
        self._stream = stream
        self._digest = hashlib.sha256()
        self._name = name
        self.bytes_read = 0
        self.finished = False

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; b"" at the end."""
        try:
            data = self._stream.read(size)
        except OSError as error:
            where = f"{self._name} cannot be read beyond {self.bytes_read:,} bytes"
            raise SourceError(f"{where}: {error.strerror}") from error
        self._digest.update(data)
        self.bytes_read += len(data)
        self.finished = self.finished or not data
        return data

    def sha256(self) -> str | None:
        """Hex digest of the whole stream, or None where it was not read to its end."""
        return self._digest.hexdigest() if self.finished else None


def _gzip() -> Any:
    try:
        from isal import isal_zlib
    except ImportError:  # no wheel for this machine
        return zlib.decompressobj(wbits=31)
    return isal_zlib.decompressobj(wbits=31)  # half again as fast


def _zstd() -> Any:
    import zstandard

    # Window sizes up to those of `zstd --long=31`.
    return zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()


_FORMATS: tuple[tuple[bytes, str, Callable[[], Any]], ...] = (
    (b"\x1f\x8b", "gzip", _gzip),
    (b"BZh", "bzip2", bz2.BZ2Decompressor),
    (b"\x28\xb5\x2f\xfd", "zstd", _zstd),
    *((bytes([byte]) + b"\x2a\x4d\x18", "zstd", _zstd) for byte in range(0x50, 0x60)),  # skippable frames
)


def plain_chunks(stream: HashedReader, name: str) -> Iterator[bytes]:
    """The stream's content, decompressed in the format of its first bytes, whatever the name's ending.

    Raises `DamagedError` where a compressed stream is truncated, corrupt, or followed by other bytes, after yielding
    everything before that place, and `SourceError` for unsupported formats.
    """
    head = b""
    while len(head) < 16 and (more := stream.read(BLOCK)):
        head += more
    for magic, what in _FOREIGN:
        if head.startswith(magic):
            raise SourceError(f"{name}: {what} is not read; give JSON, plain or as .gz, .bz2 or .zst")
    for magic, what, factory in _FORMATS:
        if head.startswith(magic):
            yield from _decompress(stream, head, what, factory, name)
            return
    while head:
        yield head
        head = stream.read(BLOCK)


def _decompress(stream: HashedReader, head: bytes, what: str, factory: Callable[[], Any], name: str) -> Iterator[bytes]:
    unit: Any = None
    units = 0
    data = head
    size = min(BLOCK, _SMALL_BLOCK)
    step = _STEPS[what]
    while data:
        if unit is None:
            data = data.lstrip(b"\0")  # padding between members is allowed
            if not data:
                data = stream.read(size)
                continue
            unit = factory()
            units += 1
        try:
            out = unit.decompress(data[:step])
        except Exception as error:  # each library has its own
            where = f"in {what} member {units}, near byte {stream.bytes_read} of the file"
            raise DamagedError(f"{name}: damaged or followed by other bytes {where}: {error}") from error
        if out:
            yield out
        data = data[step:]
        if unit.eof:
            data = unit.unused_data + data
            unit = None
        data = data or stream.read(size)
    if unit is not None:
        raise DamagedError(
            f"{name}: truncated: the file ends inside {what} member {units}, after {stream.bytes_read} bytes"
        )
