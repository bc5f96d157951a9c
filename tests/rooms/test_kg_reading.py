"""Bytes in, entities out: a dump in blocks of whole lines."""

from __future__ import annotations

import gzip
from pathlib import Path

from kg.reading.dump import DumpReader

LINES = ['{"id":"Q1"}', '{"id":"Q2"}']


def test_an_array_and_lines_are_the_same(tmp_path: Path) -> None:
    array, lines = tmp_path / "array.json.gz", tmp_path / "lines.ndjson"
    array.write_bytes(gzip.compress("[\n{}\n]\n".format(",\n".join(LINES)).encode()))
    lines.write_text("\n".join(LINES) + "\n")

    def read(path: Path) -> list[str]:
        blocks = DumpReader(path).blocks()
        return [line for block in blocks for line in bytes(block.data).decode().splitlines() if "id" in line]

    assert [line.rstrip(",") for line in read(array)] == read(lines) == LINES
