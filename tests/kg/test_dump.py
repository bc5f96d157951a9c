"""Dumps of every shape and packing, whole and damaged."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
import zstandard

from kg.errors import SourceError
from kg.reading import dump
from kg.reading.dump import DumpReader, parse_objects
from kg.reading.entity_json import Reject
from tests.thorough import sample

IDS = [f"Q{n}" for n in range(1, 40)]
# Braces, brackets, quotes and escapes inside strings are what a splitter can trip over.
ENTITIES = [{"id": i, "labels": {"en": {"value": f'{i} }}]{{["\\" \u00e9'}}, "claims": {}} for i in IDS]
LINES = [json.dumps(entity).encode() for entity in ENTITIES]

SHAPES: dict[str, bytes] = {
    "array, one a line": b"[\n" + b",\n".join(LINES) + b"\n]\n",
    "array, comma first": b"[\n" + b"\n,".join(LINES) + b"\n]",
    "array, brackets on the entities' lines": b"[" + b",\n".join(LINES) + b"]\n",
    "array on one line": b"[" + b",".join(LINES) + b"]",
    "several a line": b"[\n" + b",".join(LINES[:5]) + b",\n" + b",\n".join(LINES[5:]) + b"\n]\n",
    "NDJSON": b"\n".join(LINES),
    "NDJSON, CRLF, blank lines, BOM": b"\xef\xbb\xbf\r\n" + b"\r\n\r\n".join(LINES) + b"\r\n\r\n",
    "pretty array": json.dumps(ENTITIES, indent=4).encode(),
    "API answer": json.dumps({"entities": {e["id"]: e for e in ENTITIES}, "success": 1}).encode(),
    "pretty API answer": json.dumps({"entities": {e["id"]: e for e in ENTITIES}}, indent=1).encode(),
    "two arrays": b"[\n" + LINES[0] + b"\n]\n[\n" + b",\n".join(LINES[1:]) + b"\n]\n",
}


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def pieces(data: bytes) -> list[bytes]:
    """As Wikimedia packs a dump: the opening bracket alone in the first member."""
    cuts = [0, 2, len(data) // 3, len(data) // 2, len(data)]
    return [data[a:b] for a, b in pairwise(cuts)]


SKIPPABLE = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"info"
PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "gzip members": lambda data: b"".join(map(gzip.compress, pieces(data))),
    "gzip padded": lambda data: gzip.compress(data) + bytes(512),
    "bzip2": bz2.compress,
    "bzip2 streams": lambda data: b"".join(map(bz2.compress, pieces(data))),
    "zstd": zstd,
    "zstd frames": lambda data: SKIPPABLE + SKIPPABLE.join(map(zstd, pieces(data))),
}


def read(path: Path | str, **options: bool) -> tuple[list[str], list[tuple[int, str]], DumpReader]:
    reader = DumpReader(path, **options)
    ids: list[str] = []
    damaged: list[tuple[int, str]] = []
    for block in reader.blocks():
        for line, found in parse_objects(block):
            if isinstance(found, Reject):
                damaged.append((line, found.reason))
            else:
                ids.append(found["id"])
    return ids, damaged, reader


SHAPED = [(shape, packing, size) for shape in SHAPES for packing in PACKINGS for size in (3, 1 << 20)]


@pytest.mark.parametrize(("shape", "packing", "size"), sample(SHAPED, 0, of=5))
def test_every_shape_in_every_packing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str, packing: str, size: int
) -> None:
    """The ending of the name means nothing; blocks may end anywhere."""
    monkeypatch.setattr(dump, "BLOCK", max(size, 20) if "pretty" in shape else size)
    monkeypatch.setattr(dump, "PACKED", 7 * size)
    path = tmp_path / "dump.anything"
    path.write_bytes(PACKINGS[packing](SHAPES[shape]))
    ids, damaged, reader = read(path)
    assert (ids, damaged) == (IDS, [])
    assert reader.damage is None
    assert reader.bytes_read == path.stat().st_size


def test_the_hash_is_that_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    path.write_bytes(b'{"id":"Q1"}\n' * 400_000)
    reader = read(path)[2]
    assert reader.describe()["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    unread = DumpReader(path)
    next(unread.blocks())
    assert unread.describe()["sha256"] is None


def test_damaged_lines_are_told_by_number(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    lines = [b"[", LINES[0] + b",", b'{"id":"Q9","labels":', b"", b"garbage", b"7", LINES[1], b"\xff\xfe{}", b"]"]
    path.write_bytes(b"\n".join(lines))
    ids, damaged, _ = read(path)
    assert ids == IDS[:2]
    assert damaged == [(3, "not-json"), (5, "not-json"), (6, "not-an-object"), (8, "not-json")]


MANY = [f"Q{n}" for n in range(1, 1200)]
NOISE = Random(7).randbytes(60 * len(MANY)).hex()  # so that a share of the packed bytes is a share of the lines
BIG = b"[\n"
BIG += b",\n".join(b'{"id":"%s","x":"%s"}' % (i.encode(), NOISE[n * 120 :][:120].encode()) for n, i in enumerate(MANY))
BIG += b"\n]\n"


@pytest.mark.parametrize(
    ("packing", "share", "least"),
    [
        ("gzip", 0.5, 0.45),
        ("gzip", 0.99, 0.95),
        ("bzip2", 0.99, -1),  # one block: none of it can be unpacked
        ("bzip2 streams", 0.5, 0.3),
        ("bzip2 streams", 0.99, 0.45),
        ("zstd", 0.99, 0.5),
        ("zstd frames", 0.5, 0.3),
        ("zstd frames", 0.99, 0.45),
    ],
)
def test_truncated_streams(tmp_path: Path, packing: str, share: float, least: float) -> None:
    packed = PACKINGS[packing](BIG)
    path = tmp_path / "dump"
    path.write_bytes(packed[: max(12, int(len(packed) * share))])
    with pytest.raises(SourceError, match=r"dump: truncated.*--keep-partial"):
        read(path)
    ids, damaged, reader = read(path, keep_partial=True)
    assert ids == MANY[: len(ids)]
    assert len(ids) > least * len(MANY)
    assert len(damaged) <= 1  # the line that was cut
    assert reader.damage is not None
    assert "truncated" in reader.damage
    assert reader.describe()["sha256"] is not None


@pytest.mark.parametrize("packing", ["gzip", "bzip2", "zstd"])
def test_trailing_garbage(tmp_path: Path, packing: str) -> None:
    path = tmp_path / "dump"
    path.write_bytes(PACKINGS[packing](BIG) + b"<html>503</html>")
    with pytest.raises(SourceError, match="damaged or followed by other bytes"):
        read(path)
    ids, damaged, _ = read(path, keep_partial=True)
    assert (ids, damaged) == (MANY, [])


LAST = b'{"id":"Q39","aliases":{"en":[{"value":"a"},{"value":"b"}],"de":[]},"claims":{"P1":[]},"lastrevid":7}'
BEFORE = b"[\n" + b",\n".join(LINES[:-1]) + b",\n"


@pytest.mark.parametrize("kept", [0, 1, 40, len(LAST) - 1, len(LAST)])
def test_an_array_that_is_cut_in_or_behind_its_last_line(tmp_path: Path, kept: int) -> None:
    (tmp_path / "dump").write_bytes(BEFORE + LAST[:kept])
    if 0 < kept < len(LAST):
        with pytest.raises(SourceError, match=r"dump: truncated: line 40 is cut.*--keep-partial"):
            read(tmp_path / "dump")
        ids, damaged, reader = read(tmp_path / "dump", keep_partial=True)
        assert (ids, damaged, reader.damage is None) == (IDS[:-1], [], False)
    else:
        ids, damaged, reader = read(tmp_path / "dump")
        assert (ids, damaged, reader.brackets) == (IDS if kept else IDS[:-1], [], 1)


def test_an_object_over_many_lines_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump, "BLOCK", 100)
    monkeypatch.setattr(dump, "LONGEST", 400)
    monkeypatch.setattr(dump, "PACKED", 64)
    (tmp_path / "dump").write_bytes(SHAPES["pretty array"])
    with pytest.raises(SourceError, match=r"dump, line 1: more than 0 MiB without an end.*jq"):
        read(tmp_path / "dump")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, zstd])
def test_an_array_without_its_last_packed_member(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "dump"
    path.write_bytes(pack(b"[\n") + pack(b",\n".join(LINES)))
    ids, damaged, reader = read(path)
    assert (ids, damaged, reader.brackets) == (IDS, [], 1)
    path.write_bytes(pack(b"\n]\n"))
    assert read(path)[2].brackets == -1


@pytest.mark.parametrize(
    "content", [b"", b"\n \r\n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0), bz2.compress(b"\n")]
)
@pytest.mark.parametrize("keep_partial", [True, False])
def test_an_empty_source_is_an_error(tmp_path: Path, content: bytes, keep_partial: bool) -> None:
    path = tmp_path / "dump.json"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=r"dump\.json is empty"):
        read(path, keep_partial=keep_partial)


@pytest.mark.parametrize(
    ("content", "what"),
    [(b"\xfd7zXZ\0rest", "xz"), (b"PK\x03\x04rest", "zip"), ("[]".encode("utf-16"), "UTF-16")],
)
def test_foreign_formats_are_named(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "dump.json.xz"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=what):
        read(path)


@pytest.mark.parametrize("packing", ["plain", "gzip", "zstd"])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, packing: str) -> None:
    data = PACKINGS[packing](SHAPES["array, one a line"])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    ids, damaged, reader = read("-")
    assert (ids, damaged) == (IDS, [])
    assert reader.name == "stdin"
    assert reader.size is None
