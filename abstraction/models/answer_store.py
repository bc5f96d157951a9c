"""The store of answers and scores of models, on disk, so that nothing is asked or computed twice; and the log of calls.

The log has one JSON object a line. Each run begins with a line of its own: {"kind": "model-calls", "schema_version": 1,
"model": identity}. A call has `id` and `key` of its request, the numbers of the `samples` that it asked for, `time`,
`seconds`, `sent`, `received`, and `error` where all tries brought nothing. A process that is killed leaves at most one
line cut off.

A provider's result has the `custom_id` that the file of its batch gave it (`custom_id_of`), and a `response`.
"""

from __future__ import annotations

import hashlib
import math
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import orjson

from abstraction.errors import ModelError
from abstraction.models.chat_model import (
    AnswerSource,
    Ask,
    Attempt,
    Completion,
    Failure,
    FailureReason,
    NoAnswer,
    Reply,
    Request,
    Result,
    Totals,
    choices_of,
    completion_of,
    error_text,
    tokens_of,
)
from abstraction.models.text_scorers import Entailment, TextScorer, TokenScores
from kg.base.files import writable
from kg.web.client import Cache

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


BLOCK = 256  # scores that are lost at most where a run is killed, for a model that names no other number
T = TypeVar("T")
R = TypeVar("R")


class KeptScores(Generic[T, R]):
    """A scorer that asks `model` only for scores that `store` has not, for equal ones once.

    A model may have a `block`: how many items it wants at a time, so that its batches are full.
    """

    def __init__(self, model: TextScorer[T, R], store: Cache) -> None:
        """`store` may be that of other models, too."""
        self._model, self._store = model, store
        self.identity: Mapping[str, Any] = model.identity

    def scores(self, items: Sequence[T], /) -> list[R]:
        """See `TextScorer.scores`."""
        identity = orjson.dumps(self.identity, option=orjson.OPT_SORT_KEYS)
        keys = [hashlib.sha256(identity + b"\0" + orjson.dumps(item)).hexdigest() for item in items]
        found = {key: _score(orjson.loads(value)) for key, value in self._store.get(dict.fromkeys(keys)).items()}
        lacking = {key: item for key, item in zip(keys, items, strict=True) if key not in found}
        waiting = list(lacking)
        while waiting:
            block, waiting = waiting[: (size := getattr(self._model, "block", BLOCK))], waiting[size:]
            computed = dict(zip(block, self._model.scores([lacking[key] for key in block]), strict=True))
            self._store.put({key: orjson.dumps(score) for key, score in computed.items()})
            found.update(computed)
        return [found[key] for key in keys]


def _score(value: Any) -> Any:
    """A score from its JSON, in which NaN is null."""
    if isinstance(value, dict):
        if "logprobs" in value:
            return TokenScores(tuple(map(_score, value["logprobs"])))
        return Entailment(**{name: _score(number) for name, number in value.items()})
    return math.nan if value is None else value


@dataclass(slots=True)
class _Wanted:
    """The kept and the missing answers of one key while requests wait for them."""

    waiting: int = 0
    asked: set[int] = field(default_factory=set)
    found: dict[int, Completion] = field(default_factory=dict)
    why: NoAnswer | None = None


def _reply_or_failure(request: Request, one: _Wanted) -> Result:
    there = tuple(one.found[sample] for sample in range(request.sampling.n) if sample in one.found)
    if len(there) == request.sampling.n:
        return Reply(request=request, completions=there)
    why = one.why or NoAnswer(FailureReason.BAD_ANSWER, "fewer answers than asked for")
    return Failure(request=request, reason=why.reason, message=str(why))


class KeptAnswers:
    """The chat model over a source, which is asked for no answer that is kept, and for none twice at once.

    An answer is logged, kept and then handed on, so that a process that is killed loses only what was under way.
    Several threads may ask.
    """

    def __init__(
        self,
        source: AnswerSource,
        *,
        cache: Path | str | None = None,
        log: Path | str | None = None,
        sampling: Mapping[str, Any] | None = None,
        known: Callable[[Request, str, Sequence[int]], dict[int, Completion]] | None = None,
    ) -> None:
        """`cache` keeps answers, `log` every call; `known` returns recorded answers instead, by request, key and
        samples.

        `sampling` are the sampling settings of the model's word, for `sampling_of`. Raises SourceError for a file that
        cannot be used.
        """
        self.source, self.sampling = source, sampling or {}
        self.identity: Mapping[str, Any] = source.identity
        self.totals = Totals()
        # The model's identity in keys and in the names of a batch's lines.
        self.name = hashlib.sha256(orjson.dumps(self.identity, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]
        self._lock = threading.Lock()
        self._kept = None if cache is None else Cache(cache)
        self._log = None if log is None else CallLog(log, self.identity)
        self._known = known or self._cached_completions

    def generate(self, requests: Iterable[Request]) -> Iterator[Result]:
        """See `ChatModel.generate`."""
        wanted: dict[str, _Wanted] = {}
        under_way: deque[Ask] = deque()

        def asks() -> Iterator[Ask]:
            for request in requests:
                key = request.key()
                one = wanted.setdefault(key, _Wanted())
                new = [sample for sample in range(request.sampling.n) if sample not in one.asked]
                known = self._known(request, key, new)
                self._add_to_totals(cached=len(known))
                one.waiting += 1
                one.asked.update(new)
                one.found.update(known)
                under_way.append(Ask(request, key, tuple(sample for sample in new if sample not in known)))
                yield under_way[-1]

        def record_attempt(ask: Ask, samples: Sequence[int], attempt: Attempt) -> None:
            if self._log is not None:
                self._log.add(ask, samples, attempt)
            self._add_to_totals(calls=1, failed_calls=attempt.error is not None)
            if attempt.error is None:
                choices = dict(zip(samples, choices_of(attempt.received), strict=False))
                if self._kept is not None:
                    self.keep(ask.key, choices)
                wanted[ask.key].found.update((sample, completion_of(one)) for sample, one in choices.items())
                prompt, made = tokens_of(attempt.received)
                self._add_to_totals(prompt_tokens=prompt, completion_tokens=made)

        with closing(self.source.answers(asks(), record_attempt)) as answered:
            for why in answered:
                ask = under_way.popleft()
                one = wanted[ask.key]
                one.waiting, one.why = one.waiting - 1, why or one.why
                yield _reply_or_failure(ask.request, one)
                if not one.waiting:
                    del wanted[ask.key]

    def keep(self, key: str, choices: Mapping[int, Mapping[str, Any]]) -> None:
        """Keep choices of the protocol by the number of their sample. Raises ModelError where nothing is kept."""
        if self._kept is None:
            raise ModelError("answers that come in a file are kept: give an output, or answers=FILE with the model")
        self._kept.put({self._sample_key(key, sample): orjson.dumps(choice) for sample, choice in choices.items()})

    def _sample_key(self, key: str, sample: int) -> str:
        return f"choice-{self.name}{key}-{sample}"

    def _cached_completions(self, request: Request, key: str, samples: Sequence[int]) -> dict[int, Completion]:
        if self._kept is None or not samples:
            return {}
        found = self._kept.get([self._sample_key(key, sample) for sample in samples])
        choices = {sample: found.get(self._sample_key(key, sample)) for sample in samples}
        return {sample: completion_of(orjson.loads(choice)) for sample, choice in choices.items() if choice}

    def _add_to_totals(self, **more: int) -> None:
        with self._lock:
            now = {name: getattr(self.totals, name) + number for name, number in more.items()}
            self.totals = replace(self.totals, **now)

    def close(self) -> None:
        """Release the source, and both files."""
        self.source.close()
        if self._kept is not None:
            self._kept.close()
        if self._log is not None:
            self._log.close()
