"""What a model was asked and answered: kept on disk so that nothing is asked twice, logged, and counted."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from abstraction.errors import ModelError
from abstraction.models.chat_model import Completion, Request, Totals, completion_of
from kg.errors import SourceError
from kg.files import writable
from kg.web.answer_cache import Cache

# What was sent and what came back, one JSON object a line, call by call.
#
# Each run begins with a line of its own: {"kind": "model-calls", "schema_version": 1, "model": identity}. A call has
# `id` and `key` of its request, the numbers of the `samples` that it asked for, `attempt`, `time`, `seconds`, `sent`,
# `status`, `received` and, where it brought nothing, `error`. A process that is killed leaves at most one line cut
# off.

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


def read_calls(path: Path | str) -> Iterator[tuple[int, dict[str, Any] | None]]:
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


# Answers kept on disk, and their counts.


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """Of a million tokens, in any currency."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """What so many tokens cost."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


class Ledger:
    """The cache, the log and the totals of one model. Safe for several threads.

    An answer is in the cache before any caller sees it, and in the log before it is in the cache: a process that is
    killed loses only what was under way.
    """

    def __init__(
        self,
        identity: Mapping[str, Any],
        *,
        cache: Path | str | None = None,
        log: Path | str | None = None,
        prices: Prices | None = None,
    ) -> None:
        """`identity` is part of every key in the cache. Raises ModelError where a file cannot be used."""
        self._identity = hashlib.sha256(orjson.dumps(identity, option=orjson.OPT_SORT_KEYS)).hexdigest()
        self._prices = prices
        self._lock = threading.Lock()
        self._totals = Totals(cost=None if prices is None else 0.0)
        try:
            self._cache = None if cache is None else Cache(cache)
        except SourceError as error:
            raise ModelError(str(error)) from error
        self._log = None if log is None else CallLog(log, identity)

    @property
    def totals(self) -> Totals:
        """What was counted until now."""
        return self._totals

    def _sample_key(self, key: str, sample: int) -> str:
        return f"{self._identity[:32]}{key}-{sample}"

    def known(self, request: Request, key: str) -> list[Completion | None]:
        """The `n` completions of a request, None for those that no run has brought yet. `key` is the request's."""
        if self._cache is None:
            return [None] * request.sampling.n
        keys = [self._sample_key(key, sample) for sample in range(request.sampling.n)]
        try:
            lines = self._cache.get(keys)
        except sqlite3.Error as error:
            raise ModelError(
                f"{self._cache.path} cannot be read as a cache: {error}; remove it or name another"
            ) from error
        completions = [completion_of(orjson.loads(lines[key])) if key in lines else None for key in keys]
        cached = sum(completion is not None for completion in completions)
        if cached:
            with self._lock:
                self._totals = replace(
                    self._totals, cached=self._totals.cached + cached, samples=self._totals.samples + cached
                )
        return completions

    def failed(self, call: Call) -> None:
        """A call that brought nothing."""
        if self._log is not None:
            self._log.add(call)
        with self._lock:
            self._totals = replace(
                self._totals, calls=self._totals.calls + 1, failed_calls=self._totals.failed_calls + 1
            )

    def answered(
        self,
        call: Call,
        completions: Sequence[Completion],
        *,
        prompt_tokens: int | None,
        completion_tokens: int | None,
    ) -> None:
        """A call that brought completions: the first ones of its samples."""
        if self._log is not None:
            self._log.add(call)
        if self._cache is not None:
            try:
                self._cache.put(
                    {
                        self._sample_key(call.key, sample): orjson.dumps(completion.as_json())
                        for sample, completion in zip(call.samples, completions, strict=False)
                    }
                )
            except (SourceError, sqlite3.Error) as error:
                raise ModelError(f"{error}; nothing more is asked") from error
        with self._lock:
            now = self._totals
            spent = (prompt_tokens or 0, completion_tokens or 0)
            self._totals = replace(
                now,
                calls=now.calls + 1,
                samples=now.samples + len(completions),
                prompt_tokens=now.prompt_tokens + spent[0],
                completion_tokens=now.completion_tokens + spent[1],
                untold=now.untold + (prompt_tokens is None or completion_tokens is None),
                cost=None if self._prices is None or now.cost is None else now.cost + self._prices.of(*spent),
            )

    def close(self) -> None:
        """Release both files."""
        if self._cache is not None:
            self._cache.close()
        if self._log is not None:
            self._log.close()
