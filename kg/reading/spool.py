"""Entity objects from a service or another format, kept in a file that is then read as a dump."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson


class Spool:
    """Objects one a line in the order they came, packed. Memory is constant."""

    def __init__(self, write: Any) -> None:
        self._write = write
        self.count = 0

    def add(self, data: Mapping[str, Any]) -> None:
        """Put one entity object in."""
        self._write(orjson.dumps(data, option=orjson.OPT_APPEND_NEWLINE))
        self.count += 1


@contextmanager
def spooling(path: Path) -> Iterator[Spool]:
    """A spool in the new file `path`, whole when the block ends."""
    import zstandard

    with path.open("wb") as raw, zstandard.ZstdCompressor(level=1).stream_writer(raw) as packed:
        yield Spool(packed.write)
