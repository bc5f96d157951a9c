"""Per-item rows: what became of every question, one JSON object a line in the tiered file's order."""

from __future__ import annotations

import gzip
from pathlib import Path

import orjson

from granola.scoring import ScoreReport
from kg.files import atomic_path


def write_items(report: ScoreReport, out: Path | str) -> None:
    """Write the items of a report to `out`, whole or not at all, packed where it ends in .gz."""
    with atomic_path(out) as temporary, temporary.open("wb") as stream:
        lines = b"".join(orjson.dumps(item.to_json(), option=orjson.OPT_APPEND_NEWLINE) for item in report.items)
        stream.write(gzip.compress(lines, mtime=0) if str(out).endswith(".gz") else lines)
