"""bzip2 cut at its blocks, so that they can be unpacked one by one, anywhere and in any order.

Each block begins with a 48-bit mark at any bit. A piece is a block's bits made into a stream of its own. The
mark may also occur by chance inside a block (once in some 300 dumps of WikiData); then the first half does not
unpack, and is tried again together with the second. So may the mark of a stream's end, which then ends none.
"""

from __future__ import annotations

import bz2
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

_BLOCK, _END = 0x314159265359, 0x177245385090
_MARK = 48
_LARGEST = 1 << 21  # packed bytes of one block: it is never as long
_HEADER = 32  # bits: "BZh" and the level


class BrokenError(ValueError):
    """A stream is damaged or cut short; the message says how."""


class Pending(Protocol):
    """The content of a piece, on its way."""

    def result(self) -> bytes:
        """Wait for it. Raises `BrokenError`."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class PackedPiece:
    """One block: its ordinal in the file, its level ('1' to '9'), its bits as an integer and their number."""

    number: int
    level: int
    bits: int
    length: int

    @property
    def checksum(self) -> int:
        """The checksum that the block states of its content."""
        return (self.bits >> (self.length - _MARK - 32)) & 0xFFFFFFFF

    def stream(self) -> bytes:
        """A whole bzip2 stream of this one block."""
        value = (((self.bits << _MARK) | _END) << 32) | self.checksum
        length = self.length + _MARK + 32
        padding = -length % 8
        return b"BZh%c" % self.level + (value << padding).to_bytes((length + padding) // 8, "big")

    def joined(self, other: PackedPiece) -> PackedPiece:
        """This piece and the next as one block."""
        return PackedPiece(
            number=self.number,
            level=self.level,
            bits=(self.bits << other.length) | other.bits,
            length=self.length + other.length,
        )


def unpack(stream: bytes | memoryview) -> bytes:
    """The content of a piece's stream. Raises `BrokenError` where it is damaged."""
    try:
        import indexed_bzip2
    except ImportError:
        pass
    else:
        from io import BytesIO

        try:  # a quarter faster than the standard library's
            with indexed_bzip2.IndexedBzip2FileRaw(BytesIO(stream), parallelization=1) as file:
                content: bytes = file.readall()
                return content
        except (RuntimeError, ValueError, OSError):
            pass  # the standard library has the last word
    try:
        return bz2.decompress(stream)
    except (OSError, ValueError, EOFError) as error:
        raise BrokenError(str(error)) from error


def _unpacks(piece: PackedPiece) -> bool:
    try:
        unpack(piece.stream())
    except BrokenError:
        return False
    return True


def _patterns() -> list[tuple[bytes, int]]:
    """For each place of a mark within its first byte: the whole bytes in it, and the bits before them."""
    patterns = []
    for mark in (_BLOCK, _END):
        bits = f"{mark:048b}"
        for before in range(8):
            inner = bits[before : before + (48 - before) // 8 * 8]
            patterns.append((int(inner, 2).to_bytes(len(inner) // 8, "big"), before))
    return patterns


_PATTERNS = _patterns()


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamEnd:
    """The end of a stream and the checksum that it states of all its blocks."""

    checksum: int


class Cutter:
    """Cuts a file given in chunks into pieces and stream ends, over all its streams."""

    def __init__(self, read: Callable[[int], bytes], head: bytes, size: int) -> None:
        self._read = read
        self._size = size
        self._buffer = head
        self._marks: deque[tuple[int, int]] = deque()  # (bit of the buffer, mark), ascending
        self._searched = 0  # bytes of the buffer
        self._members = 0

    def _more(self) -> bool:
        chunk = self._read(self._size)
        self._buffer += chunk
        return bool(chunk)

    def _bits(self, at: int, length: int) -> int:
        end = at + length
        whole = int.from_bytes(self._buffer[at // 8 : -(-end // 8)], "big")
        return (whole >> (-end % 8)) & ((1 << length) - 1)

    def _drop(self, count: int) -> None:
        """Forget the first bytes of the buffer."""
        self._buffer = self._buffer[count:]
        self._searched = max(0, self._searched - count)
        self._marks = deque((bit - count * 8, mark) for bit, mark in self._marks if bit >= count * 8)

    def _search(self) -> None:
        """Find the marks in what was read since the last time."""
        if self._searched == len(self._buffer):
            return
        start = max(0, self._searched - 7)
        last = self._marks[-1][0] if self._marks else -1
        marks = set()
        for pattern, before in _PATTERNS:
            at = self._buffer.find(pattern, start)
            while at >= 0:
                bit = at * 8 - before
                if bit > last and bit + _MARK <= len(self._buffer) * 8 and self._bits(bit, _MARK) in (_BLOCK, _END):
                    marks.add((bit, self._bits(bit, _MARK)))
                at = self._buffer.find(pattern, at + 1)
        self._marks.extend(sorted(marks))
        self._searched = len(self._buffer)

    def _fail(self, what: str) -> BrokenError:
        return BrokenError(f"{what.format(member=f'bzip2 member {self._members}')}")

    def pieces(self) -> Iterator[PackedPiece | StreamEnd]:
        """Every block of every stream, in order. Raises `BrokenError` at anything out of order."""
        number = 0
        while True:
            self._drop(len(self._buffer) - len(self._buffer.lstrip(b"\0")))  # padding between streams is allowed
            while len(self._buffer) < 4 and self._more():
                pass
            if not self._buffer.strip(b"\0"):
                if self._more():
                    continue
                return
            self._members += 1
            if len(self._buffer) < 4:
                raise self._fail("truncated: the file ends inside {member}")
            if not self._buffer.startswith(b"BZh") or not 0x31 <= self._buffer[3:4][0] <= 0x39:
                raise self._fail("damaged or followed by other bytes after {member}")
            level, at = self._buffer[3], _HEADER
            while True:
                while len(self._buffer) * 8 < at + _MARK + 32:
                    if not self._more():
                        raise self._fail("truncated: the file ends inside {member}")
                mark = self._bits(at, _MARK)
                if mark == _END:
                    yield StreamEnd(checksum=self._bits(at + _MARK, 32))
                    self._drop(-(-(at + _MARK + 32) // 8))
                    break
                if mark != _BLOCK:
                    raise self._fail(f"damaged: no block begins where block {number} should, in {{member}}")
                end = self._next(at)
                piece = PackedPiece(number=number, level=level, bits=self._bits(at, end - at), length=end - at)
                while self._bits(end, _MARK) == _END and not self._ends(end) and not _unpacks(piece):
                    end = self._next(end)  # the mark was there by chance
                    piece = PackedPiece(number=number, level=level, bits=self._bits(at, end - at), length=end - at)
                yield piece
                number += 1
                self._drop(end // 8)
                at = end % 8

    def _ends(self, at: int) -> bool:
        """Whether what follows the mark of a stream's end is the end of the file, padding or another stream."""
        after = -(-(at + _MARK + 32) // 8)
        while len(self._buffer) < after + 4 and self._more():
            pass
        following = self._buffer[after : after + 4]
        return following.startswith(b"BZh") or not following.strip(b"\0")

    def _next(self, at: int) -> int:
        """The bit of the first mark after `at`."""
        while True:
            self._search()
            for bit, _ in self._marks:
                if bit > at:
                    return bit
            if len(self._buffer) > _LARGEST + at // 8:
                raise self._fail("damaged: a block without an end in {member}")
            if not self._more():
                raise self._fail("truncated: the file ends inside {member}")


def plain(
    cutter: Cutter, start: Callable[[bytes], Pending], *, ahead: int, skip: int = 0
) -> Iterator[tuple[int, bytes]]:
    """(number, content) of each block from number `skip` on, in order; `ahead` blocks are unpacked meanwhile.

    Raises `BrokenError` at the first damage, after everything before it.
    """
    ahead = max(1, ahead)  # a block may have to be joined with the next
    waiting: deque[tuple[PackedPiece | StreamEnd, Pending | None]] = deque()
    source = cutter.pieces()
    broken: BrokenError | None = None
    combined: int | None = 0  # unknown where blocks of the stream were passed over
    while True:
        while broken is None and len(waiting) <= ahead:
            try:
                piece = next(source, None)
            except BrokenError as error:
                broken = error
                break
            if piece is None:
                break
            if isinstance(piece, StreamEnd) or piece.number < skip:
                waiting.append((piece, None))
            else:
                waiting.append((piece, start(piece.stream())))
        if not waiting:
            if broken is not None:
                raise broken
            return
        piece, pending = waiting.popleft()
        if isinstance(piece, StreamEnd):
            if combined is not None and combined != piece.checksum:
                raise BrokenError("damaged: the checksum of a bzip2 member is wrong")
            combined = 0
            continue
        if pending is None:
            combined = None
            continue
        try:
            content = pending.result()
        except BrokenError as error:
            following = waiting[0][0] if waiting else None
            if not isinstance(following, PackedPiece):
                raise BrokenError(f"damaged: bzip2 block {piece.number}: {error}") from error
            try:
                content = unpack(piece.joined(following).stream())
            except BrokenError:
                raise BrokenError(f"damaged: bzip2 block {piece.number}: {error}") from error
            waiting.popleft()
        if combined is not None:
            combined = ((combined << 1 | combined >> 31) & 0xFFFFFFFF) ^ piece.checksum
        yield piece.number, content
