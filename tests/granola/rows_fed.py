"""A small world and rows of one's own through every command that reads rows, in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.worlds import CLASSES, entity

WORLD = (
    *CLASSES,
    entity("Q64", "Berlin", "capital of Germany", P31="Q515", P131="Q183", P17="Q183", aliases=["Berlin, Germany"]),
    entity("Q183", "Germany", "country in Central Europe", P31="Q3624078", P30="Q46"),
    entity("Q46", "Europe", "continent", P31="Q5107"),
    entity("Q937", "Albert Einstein", "German physicist", P31="Q5", P569=1879, P19="Q64", P106="Q169470"),
    entity("Q169470", "physicist", "scientist", P31="Q28640"),
    entity("Q42", "( )", "book by -", P31="Q571", P50="Q937"),
    entity("Q571", "book"),
)  # fmt: skip


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """The rows as JSONL."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSONL file, without the schema; none where there is no file."""
    if not path.exists():
        return []
    found = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    return [{key: value for key, value in row.items() if key != "schema_version"} for row in found]


def rejects(out: Path) -> list[dict[str, Any]]:
    """What is listed beside an output."""
    return read(Path(f"{out}.rejects.jsonl"))
