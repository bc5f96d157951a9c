"""The one store of what models answered and scored, on disk so that nothing is asked or computed twice; and its log."""

from __future__ import annotations

import hashlib
import math
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import orjson

from abstraction.errors import ModelError
from abstraction.models.chat_model import Completion, Request, Totals
from abstraction.models.chat_protocol import choice_of, completion_of
from abstraction.models.http_client import Attempt
from abstraction.models.text_scorers import Entailment, TextScorer, TokenScores
from kg.errors import SourceError
from kg.files import writable
from kg.web.answer_cache import Cache

BLOCK = 256  # scores that are lost at most where a run is killed, for a model that names no other number
KIND, SCHEMA_VERSION = "model-calls", 1
T = TypeVar("T")
R = TypeVar("R")


class _KeptValues:
    """Key -> JSON, in one file of any number of models; in memory where no file is named."""

    def __init__(self, path: Path | str | None) -> None:
        """Raises ModelError for a file that cannot be used."""
        try:
            self._cache = Cache(":memory:" if path is None else path)
        except SourceError as error:
            raise ModelError(str(error)) from error

    def get(self, keys: Sequence[str]) -> dict[str, Any]:
        """What is there of some keys."""
        try:
            return {key: orjson.loads(body) for key, body in self._cache.get(keys).items()}
        except sqlite3.Error as error:
            raise ModelError(f"{self._cache.path} cannot be read: {error}; remove it or name another") from error

    def put(self, values: Mapping[str, Any]) -> None:
        """Keep them; on disk when this returns."""
        try:
            self._cache.put({key: orjson.dumps(value) for key, value in values.items()})
        except (SourceError, sqlite3.Error) as error:
            raise ModelError(f"{error}; nothing more is asked") from error

    def close(self) -> None:
        """Release the file."""
        self._cache.close()


# Scores of texts.


class ScoreStore:
    """Kept scores, and how many were `computed` and `reused`."""

    def __init__(self, path: Path | str | None = None) -> None:
        """Raises ModelError for a file that cannot be used."""
        self.computed = self.reused = 0
        self._kept = _KeptValues(path)

    def scores(self, model: TextScorer[T, R], items: Sequence[T]) -> list[R]:
        """The score of each item, in their order; the model is asked for those that are lacking, equal ones once.

        A model may have a `block`: how many items it wants at a time, so that its batches are full.
        """
        identity = orjson.dumps(model.identity, option=orjson.OPT_SORT_KEYS)
        keys = [hashlib.sha256(identity + b"\0" + orjson.dumps(item)).hexdigest() for item in items]
        found = {key: _score(value) for key, value in self._kept.get(list(dict.fromkeys(keys))).items()}
        self.reused += len(found)
        lacking = {key: item for key, item in zip(keys, items, strict=True) if key not in found}
        waiting = list(lacking)
        while waiting:
            block, waiting = waiting[: (size := getattr(model, "block", BLOCK))], waiting[size:]
            computed = dict(zip(block, model.scores([lacking[key] for key in block]), strict=True))
            self._kept.put(computed)
            found.update(computed)
            self.computed += len(block)
        return [found[key] for key in keys]

    def close(self) -> None:
        """Release the file."""
        self._kept.close()


def _score(value: Any) -> Any:
    """A score from its JSON, in which null stands for NaN."""
    if isinstance(value, dict):
        if "logprobs" in value:
            return TokenScores(tuple(map(_score, value["logprobs"])))
        return Entailment(**{name: _score(number) for name, number in value.items()})
    return math.nan if value is None else value


class KeptScores(Generic[T, R]):
    """A scorer that asks `model` only for scores that `store` has not."""

    def __init__(self, model: TextScorer[T, R], store: ScoreStore) -> None:
        self._model, self._store = model, store
        self.identity: Mapping[str, Any] = model.identity

    def scores(self, items: Sequence[T], /) -> list[R]:
        """As `TextScorer.scores`."""
        return self._store.scores(self._model, items)


# Answers of chat models, with a log of what was sent and what came back, one JSON object a line, call by call.
#
# Each run begins with a line of its own: {"kind": "model-calls", "schema_version": 1, "model": identity}. A call has
# `id` and `key` of its request, the numbers of the `samples` that it asked for, `attempt`, `time`, `seconds`, `sent`,
# `status`, `received` and, where it brought nothing, `error`. A process that is killed leaves at most one line cut
# off.


class AnswerStore:
    """The kept answers, the log and the totals of one chat model. Safe for several threads.

    An answer is kept before any caller sees it, and logged before it is kept: a process that is killed loses only what
    was under way.
    """

    def __init__(
        self,
        identity: Mapping[str, Any],
        *,
        cache: Path | str | None = None,
        log: Path | str | None = None,
    ) -> None:
        """`identity` is part of every key. Raises ModelError where a file cannot be used."""
        self._identity = hashlib.sha256(orjson.dumps(identity, option=orjson.OPT_SORT_KEYS)).hexdigest()
        self._lock = threading.Lock()
        self.totals = Totals()
        self._kept = None if cache is None else _KeptValues(cache)
        self._log = None if log is None else _CallLog(log, identity)

    def _sample_key(self, key: str, sample: int) -> str:
        return f"choice-{self._identity[:32]}{key}-{sample}"

    def known(self, request: Request, key: str) -> list[Completion | None]:
        """The `n` completions of a request, None for those that no run has brought yet. `key` is the request's."""
        if self._kept is None:
            return [None] * request.sampling.n
        keys = [self._sample_key(key, sample) for sample in range(request.sampling.n)]
        found = self._kept.get(keys)
        self._count(cached=len(found), samples=len(found))
        return [
            completion_of(found[key], request, sample) if key in found else None for sample, key in enumerate(keys)
        ]

    def keep(self, key: str, choices: Mapping[int, Mapping[str, Any]]) -> None:
        """Keep choices of the protocol by the number of their sample, as those that came from elsewhere."""
        if self._kept is None:
            raise ModelError("answers that come in a file are kept: give an output, or answers=FILE with the model")
        self._kept.put({self._sample_key(key, sample): choice for sample, choice in choices.items()})

    def called(
        self,
        request: Request,
        key: str,
        samples: range,
        sent: Mapping[str, Any],
        attempt: Attempt,
        completions: Sequence[Completion] = (),
        tokens: tuple[int | None, int | None] = (0, 0),
    ) -> None:
        """Note a call for some samples, and keep the completions that it brought, the first ones of them.

        `tokens`: how many the server counted of prompt and completions, None where it did not tell.
        """
        if self._log is not None:
            error = {} if attempt.error is None else {"error": attempt.error}
            self._log.add(
                {"id": request.id, "key": key, "samples": list(samples), "attempt": attempt.number,
                 "time": round(time.time(), 3), "seconds": round(attempt.seconds, 4), "sent": sent,
                 "status": attempt.status, "received": attempt.received, **error}
            )  # fmt: skip
        if completions and self._kept is not None:
            self._kept.put(
                {
                    self._sample_key(key, sample): choice_of(completion)
                    for sample, completion in zip(samples, completions, strict=False)
                }
            )
        self._count(
            calls=1, failed_calls=attempt.error is not None, samples=len(completions), untold=None in tokens,
            prompt_tokens=tokens[0] or 0, completion_tokens=tokens[1] or 0,
        )  # fmt: skip

    def _count(self, **more: int) -> None:
        with self._lock:
            now = {name: getattr(self.totals, name) + number for name, number in more.items()}
            self.totals = replace(self.totals, **now)

    def close(self) -> None:
        """Release both files."""
        if self._kept is not None:
            self._kept.close()
        if self._log is not None:
            self._log.close()


class _CallLog:
    """Appends calls to a file, whole lines, from any thread."""

    def __init__(self, path: Path | str, identity: Mapping[str, Any]) -> None:
        """Open for appending, creating the file. Raises OutputError for what is no file, OSError as open does."""
        self._path = writable(path)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")  # the run before was killed within a line
        self.add({"kind": KIND, "schema_version": SCHEMA_VERSION, "model": identity})

    def add(self, line: Mapping[str, Any]) -> None:
        """Append one object."""
        rest = orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
        with self._lock:
            while rest and self._file >= 0:  # a full disk takes a part
                try:
                    rest = rest[os.write(self._file, rest) :]
                except OSError as error:
                    raise ModelError(
                        f"{self._path}: a call cannot be kept: {error.strerror}; nothing more is asked"
                    ) from error

    def close(self) -> None:
        """Release the file; a call that ends later is not logged."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1


def read_calls(path: Path | str) -> Iterator[dict[str, Any] | None]:
    """The object of each line but empty ones; None for what is no JSON object: a line cut off."""
    with Path(path).open("rb") as stream:
        for line in stream:
            if line.strip():
                try:
                    parsed = orjson.loads(line)
                except orjson.JSONDecodeError:
                    parsed = None
                yield parsed if isinstance(parsed, dict) else None
