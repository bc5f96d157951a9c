"""A dump of many small blocks, selections from it, and builds of it that are killed or interrupted."""

from __future__ import annotations

import bz2
import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
import zstandard
from dump_json import lines

from kg.base.files import work_folder_path
from kg.base.model import Entity, EntityValue, Statement
from kg.base.scope import Scope
from kg.building import ingestion
from kg.building.snapshot import Report, build

PADDING = Random(5).randbytes(60_000).hex()


def padded(n: int) -> Entity:
    """An entity of some hundred bytes that do not pack."""
    at = n * 97 % (len(PADDING) - 700)
    statements = tuple(
        Statement(id=f"Q{n}$x{m}", subject=f"Q{n}", property=prop, value=EntityValue(id=target))
        for m, (prop, target) in enumerate(
            (("P31", f"Q{n % 7 + 1}"), ("P279", f"Q{n // 2 + 1}"), ("P131", f"Q{n + 1}"))
        )
    )
    return Entity(id=f"Q{n}", labels={"en": f"entity {n % 90}", "de": PADDING[at : at + 400]}, statements=statements)


MANY = [padded(n) for n in range(1, 400)] + [
    Entity(id="P31", labels={"en": "is"}),
    Entity(id="P9", labels={"en": "no"}),
]
BAD = b'{"id":"Q1","labels":\n{"type":"lexeme","id":"L1"}\n'
AGAIN = [padded(7), padded(8), padded(8), Entity(id="Q9", labels={"en": "changed"})]  # repeats, the last differs
DUMP = lines(*MANY[:200])[:-2] + b",\n" + BAD + b"\n".join(lines(*MANY[200:], *AGAIN).splitlines()[1:]) + b"\n"
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": lambda data: gzip.compress(data[:2]) + gzip.compress(data[2:90_000]) + gzip.compress(data[90_000:]),
    "bz2": lambda data: b"".join(bz2.compress(data[at : at + 40_000], 1) for at in range(0, len(data), 40_000)),
    "bz2 single": lambda data: bz2.compress(data, 1),
    "zst": lambda data: zstandard.ZstdCompressor().compress(data),
}
SCOPES = {
    "everything": Scope(),
    "by name": Scope(names=frozenset({"entity 5", "is"})),
    "graph": Scope(
        ids=frozenset({"Q300"}),
        classes=frozenset({"Q3"}),
        hops=2,
        along=frozenset({"P131"}),
        excluded=frozenset({"Q2"}),
    ),
}


def outcome(report: Report) -> tuple[Any, ...]:
    """What must be the same: the content, the counts, the rejects as they are listed."""
    listed = report.rejects_path.read_bytes() if report.rejects_path else b""
    keys = ("snapshot_id", "counts", "source_entities", "duplicates", "rejects", "warnings", "limit")
    sources = [one["sha256"] for one in report.manifest["sources"]]
    return *(report.manifest[key] for key in keys), sources, listed


NEARLY = 380  # entities: a few blocks before the end, which may be read ahead


CODE = """
import sys
from kg.building import ingestion
from kg.reading import dump
from kg.base.scope import Scope
from kg.building.snapshot import build
ingestion.EVERY = 0.0
dump.BLOCK, dump.PACKED = 8000, 4000
path, out, workers = sys.argv[1:4]
print("ready", flush=True)
build([path], out, scope={scope!r}, workers=int(workers), limit={limit!r})
"""


def start(folder: Path, scope: str, workers: int, *, source: str = "dump", limit: int | None = None) -> list[str]:
    code = CODE.format(scope=SCOPES[scope], limit=limit)
    return [sys.executable, "-c", code, str(folder / source), str(folder / "killed"), str(workers)]


def interrupted(folder: Path, monkeypatch: pytest.MonkeyPatch, after: int, **options: Any) -> None:
    """A build that stops after some blocks and keeps what it has."""
    monkeypatch.setattr(ingestion, "EVERY", 0.0)
    told = 0

    def stop(_: object) -> None:
        nonlocal told
        told += 1
        if told == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build([folder / "dump"], folder / "out", progress=stop, **options)
    assert work_folder_path(folder / "out").is_dir()
