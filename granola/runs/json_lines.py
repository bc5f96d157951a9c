"""A file of JSON objects, one a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from kg.files import atomic_path


@contextmanager
def json_lines(path: Path | None) -> Iterator[Callable[[dict[str, Any]], object] | None]:
    """A function that writes JSON lines to a file, None where there is no file to write."""
    if path is None:
        yield None
        return
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        yield lambda data: stream.write(orjson.dumps(data, option=orjson.OPT_APPEND_NEWLINE))
