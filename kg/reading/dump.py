"""A dump, whatever its shape and packing -> blocks of bytes, and those -> JSON objects, each block by itself.

The packing is recognised by content, several members are read, and truncation is an error.
Shapes: a JSON array with one entity a line (WikiData's own), NDJSON, an array on one line, an API answer; and one
object or array over many lines, which is read whole. `DumpReader.blocks` reads, `parse_objects` parses. Memory is
bounded by the block size, or by the longest line where that is larger.
"""

from __future__ import annotations

import bz2
import hashlib
import re
import sys
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from kg.errors import SourceError
from kg.reading.entity_json import Reject

PACKED = 1 << 18  # compressed bytes at a time; JSON unpacks to about ten times that
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

    def sha256_if_finished(self) -> str | None:
        """Hex digest of the whole stream, or None where it was not read to its end."""
        return self._digest.hexdigest() if self.finished else None


def _gzip_decompressor() -> Any:
    try:
        from isal import isal_zlib
    except ImportError:  # no wheel for this machine
        return zlib.decompressobj(wbits=31)
    return isal_zlib.decompressobj(wbits=31)  # 1.5 times as fast


def _zstd_decompressor() -> Any:
    import zstandard

    # Window sizes up to those of `zstd --long=31`.
    return zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()


_FORMATS: tuple[tuple[bytes, str, Callable[[], Any]], ...] = (
    (b"\x1f\x8b", "gzip", _gzip_decompressor),
    (b"BZh", "bzip2", bz2.BZ2Decompressor),
    (b"\x28\xb5\x2f\xfd", "zstd", _zstd_decompressor),
    *((bytes([byte]) + b"\x2a\x4d\x18", "zstd", _zstd_decompressor) for byte in range(0x50, 0x60)),  # skippable frames
)


def decompressed_chunks(stream: HashedReader, name: str) -> Iterator[bytes]:
    """The stream's content, decompressed in the format of its first bytes, whatever the name's ending.

    Raises `DamagedError` where a compressed stream is truncated, corrupt, or followed by other bytes, after yielding
    everything before that place, and `SourceError` for unsupported formats.
    """
    head = b""
    while len(head) < 16 and (more := stream.read(PACKED)):
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
        head = stream.read(PACKED)


def _decompress(stream: HashedReader, head: bytes, what: str, factory: Callable[[], Any], name: str) -> Iterator[bytes]:
    unit: Any = None
    units = 0
    data = head
    size = min(PACKED, _SMALL_BLOCK)
    step = _STEPS[what]
    while data:
        if unit is None:
            data = data.lstrip(b"\0")  # padding between members is allowed
            if not data:
                data = stream.read(size)
                continue
            unit = factory()
            units += 1  # members are counted for the message: several are usual in .bz2 and .gz
        try:
            out = unit.decompress(data[:step])
        except Exception as error:  # each library raises errors of its own
            where = f"in {what} member {units}, near byte {stream.bytes_read} of the file"
            raise DamagedError(f"{name}: damaged or followed by other bytes {where}: {error}") from error
        if out:  # a decompressor may take bytes and give none yet
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


EXCERPT = 200  # characters of a damaged line that are kept
NOT_JSON = "not-json"
BLANK = b" \t\r\n,"
STDIN = "-"
BLOCK = 1 << 20  # plain bytes a block, rounded up to whole lines
LONGEST = 1 << 26  # bytes of one line; WikiData's own limit of an entity is far below
_OPENS, _CLOSES = b"[]"
_PRETTY = re.compile(rb"\s*(?:\[\s*)?\{\s*?\n")  # the beginning of an object or array that goes over many lines
_MANY = 500  # from so many line ends in a chunk on, counting them is faster than finding each


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """Bytes that can be parsed alone: whole lines from line `line` on, or (`single`) one object.

    `end`: how many plain bytes of the source end with it.
    """

    line: int
    data: bytes
    single: bool = False
    end: int = 0


def lines_of(block: Block) -> Iterator[tuple[int, bytes]]:
    """(line number, text) of every line that may contain an entity, without the blanks and commas around it."""
    data, at, number = block.data, 0, block.line
    while at < len(data):
        end = data.find(b"\n", at) if not block.single else -1
        following = len(data) if end < 0 else end + 1
        end = following
        while end > at and data[end - 1] in BLANK:  # not `split` and `strip`, which copy every line twice
            end -= 1
        while at < end and data[at] in BLANK:
            at += 1
        if end - at > 1 or data[at:end] not in (b"", b"[", b"]"):
            yield number, data[at:end]
        at = following
        number += 1


def parse_objects(block: Block) -> Iterator[tuple[int, Mapping[str, Any] | Reject]]:
    """(line number, JSON object or reject) for each object of a block, in order."""
    for number, text in lines_of(block):
        try:
            value = _parse_line_of_array(text)
        except orjson.JSONDecodeError as error:
            yield number, _reject_of_text(NOT_JSON, str(error), text)
            continue
        if isinstance(value, dict) and "id" not in value and "entities" in value:  # an API answer
            entities = value["entities"]
            value = list(entities.values()) if isinstance(entities, dict) else list(entities or ())
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                yield number, one
            else:
                yield number, _reject_of_text("not-an-object", f"expected an object, found {type(one).__name__}", text)


def _parse_line_of_array(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        # The array may open or close on an entity's own line, or several entities may share one.
        inner = text.removeprefix(b"[") if not text.endswith(b"]") else text
        inner = inner.removesuffix(b"]") if not text.startswith(b"[") else inner
        try:
            return orjson.loads(b"[" + inner + b"]")
        except orjson.JSONDecodeError:
            pass
        raise


def _reject_of_text(reason: str, detail: str, text: bytes) -> Reject:
    return Reject(reason=reason, detail=detail, excerpt=text[:EXCERPT].decode("utf-8", "replace"))


class DumpReader:
    """Reads one source once. `-` is standard input.

    After reading, `bytes_read` and `describe` describe the file, and `damage` is set where it was cut short. With
    `keep_partial` damage ends the reading without an error; else it raises `SourceError`. An array that ends inside a
    line is damage. `brackets` is 1 where lines are whole but the array is never closed, as in a piece of a dump, -1 in
    a piece that closes one, else 0. An empty source raises `SourceError`.
    """

    def __init__(self, path: Path | str, *, name: str | None = None, keep_partial: bool = False) -> None:
        self.path = str(path)
        self.name = name or ("stdin" if self.path == STDIN else Path(path).name)
        self.keep_partial = keep_partial
        self.damage: str | None = None
        self.brackets = 0
        self._stream: HashedReader | None = None
        self._first: int | None = None  # the first byte that is not blank, and below the last one
        self._last: int | None = None

    @property
    def bytes_read(self) -> int:
        """Bytes of the (packed) source that were read so far."""
        return self._stream.bytes_read if self._stream else 0

    @property
    def size(self) -> int | None:
        """Bytes of the (packed) source, None for standard input and other pipes."""
        size: int | None = file_facts(self.path, self.name)["size"]
        return size

    def describe(self) -> dict[str, Any]:
        """Name, size, time and hash of the source; no hash unless it was read to its end."""
        return file_facts(self.path, self.name, self._stream.sha256_if_finished() if self._stream else None)

    def blocks(self, after: int = 0) -> Generator[Block]:
        """The source in blocks, in order, without those that end by `after`. Closing the iterator closes the file.

        The same bytes are always cut into the same blocks; skipped blocks are decompressed again.
        """
        with open_source(self.path) as raw:
            self._stream = HashedReader(raw, name=self.name)
            chunks = self._note_brackets(decompressed_chunks(self._stream, self.name))
            try:
                for block in self._blocks_of_whole_lines(chunks):
                    if block.end > after:
                        yield block
                if self._first is None:
                    raise SourceError(f"{self.name} is empty: a dump has at least one entity")
                self.brackets = (self._first == _OPENS) - (self._last == _CLOSES)
            except DamagedError as error:
                if not self.keep_partial:
                    raise SourceError(f"{error}. What precedes the damage can be kept with --keep-partial") from error
                while self._stream.read(BLOCK):  # the digest is of the whole file
                    pass
                self.damage = str(error)

    def _note_brackets(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The chunks, with blanks for a byte order mark; notes the first and the last character."""
        head = b""
        while len(head) < len(BOM_UTF8) and (chunk := next(chunks, None)) is not None:
            head += chunk
        if head.startswith(BOM_UTF8):
            head = b" " * len(BOM_UTF8) + head[len(BOM_UTF8) :]
        for chunk in chain((head,), chunks):
            if stripped := chunk.strip():
                if self._first is None:
                    self._first = stripped[0]
                self._last = stripped[-1]
            yield chunk

    def _blocks_of_whole_lines(self, chunks: Iterator[bytes]) -> Iterator[Block]:
        """Blocks of whole lines; where the source is damaged, the whole lines before the damage, then the error."""
        line, offset = 1, 0
        pending = b""
        parts: list[bytes] = []
        size = fresh = 0  # bytes and line ends in pending and parts
        most = BLOCK
        pretty = False
        damage: DamagedError | None = None
        while True:
            try:
                chunk = next(chunks, None)
            except DamagedError as error:  # lines before the damage are kept
                damage, chunk = error, None
            if chunk is None:
                break
            parts.append(chunk)
            size += len(chunk)
            fresh += _count_line_ends(chunk)  # while the chunk is in the processor's cache
            if size < most:
                continue
            pending = b"".join((pending, *parts))
            parts.clear()
            pretty = pretty or (not offset and _PRETTY.match(pending) is not None)
            if cut := 0 if pretty else pending.rfind(b"\n") + 1:
                offset += cut
                yield Block(line=line, data=pending[:cut], end=offset)
                line, fresh = line + fresh, 0
                pending = pending[cut:]
            elif size > LONGEST:
                raise SourceError(
                    f"{self.name}, line {line}: more than {LONGEST >> 20} MiB without an end; a dump has one entity a"
                    " line: 'jq -c .[]' makes it of an array over many"
                )
            size = len(pending)
            most = BLOCK if cut else 2 * size  # twice as much each time: joining stays linear in a long line
        pending = b"".join((pending, *parts))
        last = Block(line=0, data=pending[pending.rfind(b"\n") + 1 :], single=True)
        broken = (one for _, one in parse_objects(last) if isinstance(one, Reject) and one.reason == NOT_JSON)
        if damage is None and self._first == _OPENS and any(broken):
            number = line + pending.count(b"\n")
            damage = DamagedError(f"{self.name}: truncated: line {number} is cut, and the array is never closed")
        if damage is not None:
            pending = pending[: pending.rfind(b"\n") + 1]
        if pending:
            pretty = not offset and _PRETTY.match(pending) is not None
            yield Block(line=line, data=pending, single=pretty, end=offset + len(pending))
        if damage is not None:
            raise damage


def file_facts(path: Path | str, name: str, sha256: str | None = None) -> dict[str, Any]:
    """The manifest's entry for a source: name, size in bytes, time of last writing (UTC; None for pipes), hash."""
    size = modified = None
    if str(path) != STDIN and Path(path).is_file():
        status = Path(path).stat()
        size, modified = status.st_size, datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
    return {"name": name, "size": size, "modified": modified, "sha256": sha256}


@contextmanager
def open_source(path: Path | str) -> Iterator[BinaryIO]:
    """A source's bytes, unbuffered; `-` is standard input, which stays open. Raises SourceError."""
    if str(path) == STDIN:
        yield sys.stdin.buffer
        return
    if Path(path).is_dir():
        raise SourceError(f"{path} is a folder; give the dump files in it")
    try:
        stream = Path(path).open("rb", buffering=0)  # noqa: SIM115  # closed below
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    with stream:
        yield cast(BinaryIO, stream)


def _count_line_ends(chunk: bytes) -> int:
    """The number of line ends. Entities are long lines: finding each end is several times faster than `count`."""
    count, at = 0, chunk.find(b"\n")
    while at >= 0:
        count += 1
        if count == _MANY:
            return count + chunk.count(b"\n", at + 1)
        at = chunk.find(b"\n", at + 1)
    return count
