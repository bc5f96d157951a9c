"""What a build is asked for: what can be checked before hours are spent on reading."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kg.errors import SelectionError, SnapshotError, SourceError
from kg.reading.dump import STDIN


def check_request(sources: Sequence[Path | str], out: Path, *, limit: int | None, force: bool) -> None:
    """Check what can be checked before hours are spent on reading; raises as `build` does."""
    if not sources:
        raise SourceError("no source given; name at least one dump file, or - for standard input")
    if sum(str(source) == STDIN for source in sources) > 1:
        raise SourceError("standard input (-) can be given once only")
    for source in sources:
        if str(source) != STDIN and not Path(source).exists():
            raise FileNotFoundError(2, "no such file", str(source))
        if str(source) != STDIN and out.is_file() and out.samefile(source):
            raise SnapshotError(f"{out} is both source and output; name another file to write")
    if limit is not None and limit < 1:
        raise SelectionError(f"limit must be 1 or more, not {limit}")
    check_output(out, force=force)


def check_output(out: Path, *, force: bool) -> None:
    """Raises SnapshotError where a snapshot cannot be put at `out`, before hours are spent on reading."""
    if out.is_dir():
        raise SnapshotError(f"{out} is a folder; name the file to write")
    if out.exists() and not force:
        raise SnapshotError(f"{out} exists already; give --force to replace it")


def fingerprint(source: Path | str) -> dict[str, Any]:
    """What a source is known by when a build goes on; that its beginning is the same is checked when it is read."""
    path = Path(source)
    if str(source) == STDIN or not path.is_file():
        return {"name": "stdin" if str(source) == STDIN else path.name}
    status = path.stat()
    return {"name": path.name, "size": status.st_size, "modified": status.st_mtime_ns}
