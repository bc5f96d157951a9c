"""The file of rejected rows, written as they come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from abstraction.rows import RejectedRow
from kg.files import atomic_path


class RejectsFile:
    """There only when a row was rejected and the run ended well; a run without rejected rows removes an earlier one's.

    `path` None counts alone.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._place: Any = None
        self._stream: Any = None
        self.count = 0
        self.first = ""

    def add(self, row: RejectedRow) -> None:
        """List a row."""
        if self.count == 0:
            self.first = f"{row.source}: {row.reason}"
            if self._path is not None:
                self._place = atomic_path(self._path)
                self._stream = self._place.__enter__().open("wb")
        self.count += 1
        if self._stream is not None:
            line = row.to_json() if self.count > 1 else {"schema_version": 1, **row.to_json()}
            self._stream.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))

    def __enter__(self) -> RejectsFile:
        return self

    def __exit__(self, *error: Any) -> None:
        if self._stream is not None:
            self._stream.close()
            self._place.__exit__(*error)
        elif self._path is not None and error[0] is None:
            self._path.unlink(missing_ok=True)
