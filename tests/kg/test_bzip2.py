"""bzip2 blocks in which the marks of blocks and of stream ends stand by chance."""

from __future__ import annotations

import bz2
from pathlib import Path
from random import Random

import pytest

from kg.errors import SourceError
from kg.reading import bzip2
from kg.reading.streams import HashedReader, plain_chunks

pytestmark = pytest.mark.thorough("kg")

BLOCK, END = 0x314159265359, 0x177245385090


def decoded(symbols: bytes) -> bytes:
    """What a block of these move-to-front symbols (2 to 253) holds, read from its first row."""
    order = list(range(256))
    last = []
    for symbol in symbols:
        last.append(order.pop(symbol - 1))
        order.insert(0, last[-1])
    following = sorted(range(len(last)), key=lambda at: last[at])  # stable
    found, at = [], following[0]
    for _ in last:
        found.append(last[at])
        at = following[at]
    plain, run = bytearray(), 0  # four equal bytes are followed by how many more there are
    for byte in found:
        if run == 4:
            plain += bytes([plain[-1]]) * byte
            run = 0
            continue
        run = run + 1 if plain and run and plain[-1] == byte else 1
        plain.append(byte)
    return bytes(plain)


def checksum(data: bytes) -> int:
    found = 0xFFFFFFFF
    for byte in data:
        found ^= byte << 24
        for _ in range(8):
            found = (found << 1 ^ (0x04C11DB7 if found >> 31 else 0)) & 0xFFFFFFFF
    return found ^ 0xFFFFFFFF


def stream(symbols: bytes) -> tuple[bytes, bytes]:
    """(packed, plain): a bzip2 stream of one block in which each of the symbols is packed as itself, in 8 bits."""
    plain = decoded(symbols)
    crc = checksum(plain)
    selectors = (len(symbols) + 1 + 49) // 50
    bits = f"{BLOCK:048b}{crc:032b}0{0:024b}" + "1" * (16 + 256)  # every byte is in use
    bits += f"{2:03b}{selectors:015b}" + "0" * selectors
    bits += 2 * (f"{8:05b}" + "0" * 254 + "100" + "000")  # two tables: 254 codes of 8 bits, the last four of 9
    bits += "".join(f"{symbol:08b}" for symbol in symbols) + f"{511:09b}"
    bits += f"{END:048b}{crc:032b}"
    bits += "0" * (-len(bits) % 8)
    return b"BZh1" + int(bits, 2).to_bytes(len(bits) // 8, "big"), plain


def symbols(*marks: int) -> bytes:
    random = Random(3)
    parts = [bytes(random.randrange(2, 254) for _ in range(150)) for _ in range(len(marks) + 1)]
    return parts[0] + b"".join(mark.to_bytes(6, "big") + part for mark, part in zip(marks, parts[1:], strict=True))


def read(path: Path) -> bytes:
    with path.open("rb") as raw:
        return b"".join(plain_chunks(HashedReader(raw), "dump"))


@pytest.mark.parametrize("marks", [(), (BLOCK,), (END,), (END, END), (END, BLOCK), (BLOCK, END)])
@pytest.mark.parametrize("streams", [1, 3])
def test_marks_that_are_there_by_chance(tmp_path: Path, marks: tuple[int, ...], streams: int) -> None:
    packed, plain = stream(symbols(*marks))
    assert bz2.decompress(packed) == plain
    (tmp_path / "dump").write_bytes(packed * streams + b"\0\0")
    assert read(tmp_path / "dump") == plain * streams


def test_what_follows_a_real_end_is_told(tmp_path: Path) -> None:
    packed, plain = stream(symbols(END))
    for rest in (b"<html>", b"\0\0<html>"):
        (tmp_path / "dump").write_bytes(packed + rest)
        with (tmp_path / "dump").open("rb") as raw:
            chunks = plain_chunks(HashedReader(raw), "dump")
            assert next(chunks) == plain
            with pytest.raises(SourceError, match="followed by other bytes"):
                next(chunks)


def test_a_damaged_block_is_no_chance(tmp_path: Path) -> None:
    packed = bytearray(stream(symbols())[0])
    packed[-40] ^= 1
    (tmp_path / "dump").write_bytes(packed)
    with pytest.raises(SourceError, match="damaged: bzip2 block 0"):
        read(tmp_path / "dump")
    with pytest.raises(bzip2.BrokenError):
        bzip2.unpack(bytes(packed))
