"""What was sent and what came back, one JSON object a line, call by call.

Each run begins with a line of its own: {"kind": "model-calls", "schema_version": 1, "model": identity}. A call has
`id` and `key` of its request, the numbers of the `samples` that it asked for, `attempt`, `time`, `seconds`, `sent`,
`status`, `received` and, where it brought nothing, `error`. A process that is killed leaves at most one line cut off.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from abstraction.errors import ModelError
from abstraction.models.chat_request import Request
from kg.files import writable

KIND, SCHEMA_VERSION = "model-calls", 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One call: `samples` of `request` were asked for with `sent`; `received` is JSON, or the beginning of a text."""

    request: Request
    key: str
    samples: range
    attempt: int
    sent: Mapping[str, Any]
    status: int | None
    received: object
    seconds: float
    error: str | None = None


class CallLog:
    """Appends calls to a file, whole lines, from any thread."""

    def __init__(self, path: Path | str, identity: Mapping[str, Any]) -> None:
        """Open for appending, creating the file. Raises OutputError for what is no file, OSError as open does."""
        self.path = writable(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            self._write(b"\n")  # the run before was killed within a line
        self._write(
            orjson.dumps(
                {"kind": KIND, "schema_version": SCHEMA_VERSION, "model": identity}, option=orjson.OPT_APPEND_NEWLINE
            )
        )

    def add(self, call: Call) -> None:
        """Append one call."""
        line: dict[str, Any] = {
            "id": call.request.id,
            "key": call.key,
            "samples": list(call.samples),
            "attempt": call.attempt,
            "time": round(time.time(), 3),
            "seconds": round(call.seconds, 4),
            "sent": call.sent,
            "status": call.status,
            "received": call.received,
        }
        if call.error is not None:
            line["error"] = call.error
        self._write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))

    def _write(self, line: bytes) -> None:
        with self._lock:
            while line:  # a full disk takes a part
                try:
                    line = line[os.write(self._file, line) :]
                except OSError as error:
                    raise ModelError(
                        f"{self.path}: a call cannot be kept: {error.strerror}; nothing more is asked"
                    ) from error

    def close(self) -> None:
        """Release the file."""
        with self._lock:  # a call that ends later finds no file, not another's
            if self._file >= 0:
                os.close(self._file)
                self._file = -1


def read_lines(path: Path | str) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """(offset in bytes, object) of each line but empty ones; None for what is no JSON object: a line cut off."""
    with Path(path).open("rb") as stream:
        offset = 0
        for line in stream:
            if line.strip():
                try:
                    parsed = orjson.loads(line)
                except orjson.JSONDecodeError:
                    parsed = None
                yield offset, parsed if isinstance(parsed, dict) else None
            offset += len(line)
