"""The log of a chat model's calls, one JSON object a line; and what it, or a provider's file of results, has of them.

Each run begins with a line of its own: {"kind": "model-calls", "schema_version": 1, "model": identity}. A call has
`id` and `key` of its request, the numbers of the `samples` that it asked for, `time`, `seconds`, `sent`, `received`,
and `error` where all tries brought nothing. A process that is killed leaves at most one line cut off.

A provider's result has the `custom_id` that the file of its batch gave it (`custom_id_of`), and a `response`.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from abstraction.errors import ModelError
from abstraction.models.chat_model import Ask, Attempt, choices_of, error_text
from kg.base.files import writable

KIND, SCHEMA_VERSION = "model-calls", 1
_ID = re.compile(r"([0-9a-f]{32})-([0-9a-f]{64})-(\d{1,9})-(\d{1,9})")


class CallLog:
    """Appends calls to a file, whole lines, from any thread."""

    def __init__(self, path: Path | str, identity: Mapping[str, Any]) -> None:
        """Open for appending, creating the file. Raises OutputError for a path that is no file, OSError as `open`
        does.
        """
        self._path = writable(path)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._file = self._path.open("a+b")
        if self._file.tell():
            self._file.seek(-1, 2)
            if self._file.read(1) != b"\n":
                self._file.write(b"\n")  # the run before was killed while it wrote a line
        self._add({"kind": KIND, "schema_version": SCHEMA_VERSION, "model": identity})

    def add(self, ask: Ask, samples: Sequence[int], attempt: Attempt) -> None:
        """Append a call."""
        error = {} if attempt.error is None else {"error": attempt.error}
        self._add(
            {"id": ask.request.id, "key": ask.key, "samples": list(samples), "time": round(time.time(), 3),
             "seconds": round(attempt.seconds, 4), "sent": attempt.sent, "received": attempt.received, **error}
        )  # fmt: skip

    def _add(self, line: Mapping[str, Any]) -> None:
        with self._lock:
            if self._file.closed:  # a call that ends later is not logged
                return
            try:
                self._file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
                self._file.flush()
            except OSError as error:
                raise ModelError(
                    f"{self._path}: a call cannot be kept: {error.strerror}; nothing more is asked"
                ) from error

    def close(self) -> None:
        """Release the file."""
        with self._lock:
            self._file.close()


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedCall:
    """The result of a call: choices by the number of their sample, or the `error`.

    `key` is the request's. In a provider's result `asked` is the model that the batch was written for, `model` the
    name that the provider reports.
    """

    key: str
    choices: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    error: str = ""
    asked: str = ""
    model: str = ""


def custom_id_of(asked: str, key: str, samples: Sequence[int]) -> str:
    """The name of a batch's line: the model asked (32 hex digits), the request's key, and which samples it asks for."""
    return f"{asked}-{key}-{samples[0]}-{len(samples)}"


def recorded_call(line: Mapping[str, Any]) -> RecordedCall | None:
    """The call of a line of either kind of file; None for a line of another kind."""
    if match := _ID.fullmatch(str(line.get("custom_id"))):
        response = line.get("response")
        response = response if isinstance(response, dict) else {}
        key, first, received = match[2], int(match[3]), response.get("body")
        samples: Sequence[int] = range(first, first + int(match[4]))
        error = "" if response.get("status_code") == 200 else error_text(received) or error_text(line) or "no answer"
        model = str(received.get("model", "")) if isinstance(received, dict) else ""
        about = {"asked": match[1], "model": model}
    elif isinstance(line.get("key"), str) and isinstance(line.get("samples"), list):
        key, samples, received, about = line["key"], line["samples"], line.get("received"), {}
        error = str(line.get("error") or "")
    else:
        return None
    choices: list[Mapping[str, Any]] = []
    if not error:
        try:
            choices = choices_of(received)
        except ValueError as none:
            error = str(none)
    return RecordedCall(key=key, choices=dict(zip(samples, choices, strict=False)), error=error, **about)


def read_lines(path: Path | str) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """The number and the object of each line except empty ones; None where the line is no JSON object, as when cut
    off.
    """
    with Path(path).open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                try:
                    parsed = orjson.loads(line)
                except orjson.JSONDecodeError:
                    parsed = None
                yield number, parsed if isinstance(parsed, dict) else None
