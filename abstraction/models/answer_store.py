"""The store of answers and scores of models, on disk; the log of calls; batches for a provider; and replays of
records.

Nothing is asked or computed twice. The log has one JSON object per line. Each run begins with a line of its own:
{"kind": "model-calls", "schema_version": 1, "model": identity}. A call has `id` and `key` of its request, the numbers
of the `samples` that it asked for, `time`, `seconds`, `sent`, `received`, and `error` where all tries failed. A
process that is killed leaves at most one incomplete line.

Requests of a batch are written as JSONL for an upload, in OpenAI's form, which vLLM's `run-batch` and other providers
take as well; results are read back into the cache of answers. A line's `custom_id` names the model, the request by its
key, and which of its samples are asked for, so that results need not come in order, or all at once; a result has the
same `custom_id`, and a `response`.

A replay repeats a log of calls, a provider's results, or answers by hand. A recorded call answers requests that are
equal to its own, character by character. A line by hand is {"messages": [{"role", "content"}, ...], "answers": [text,
...]}, or "prompt" for a single message of the user's, and answers its messages however they are sampled.
"""

from __future__ import annotations

import hashlib
import math
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

import orjson
from pydantic import BaseModel, Field, ValidationError

from abstraction.errors import ModelError
from abstraction.models.chat_model import (
    PATH,
    AnswerSource,
    Ask,
    Attempt,
    Completion,
    Failure,
    FailureReason,
    Message,
    NoAnswer,
    OnAttempt,
    Reply,
    Request,
    Result,
    Totals,
    choices_of,
    completion_of,
    error_text,
    make_choice,
    token_counts,
)
from abstraction.models.model_servers import ServerChat
from abstraction.models.text_scorers import Entailment, TextScorer, TokenScores
from kg.base.files import atomic_path, resolve_output_path, sha256_of
from kg.web.client import AnswerCache

KIND, SCHEMA_VERSION = "model-calls", 1
_ID = re.compile(r"([0-9a-f]{32})-([0-9a-f]{64})-(\d{1,9})-(\d{1,9})")


class CallLog:
    """Appends calls to a file, whole lines, from any thread."""

    def __init__(self, path: Path | str, identity: Mapping[str, Any]) -> None:
        """Open for appending, creating the file. Raises OutputError for a path that is no file, and OSError."""
        self._path = resolve_output_path(path)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._file = self._path.open("a+b")
        if self._file.tell():
            self._file.seek(-1, 2)
            if self._file.read(1) != b"\n":
                self._file.write(b"\n")  # the run before was killed while it wrote a line
        self._append_line({"kind": KIND, "schema_version": SCHEMA_VERSION, "model": identity})

    def log_attempt(self, ask: Ask, samples: Sequence[int], attempt: Attempt) -> None:
        """Append a call."""
        error = {} if attempt.error is None else {"error": attempt.error}
        self._append_line(
            {"id": ask.request.id, "key": ask.key, "samples": list(samples), "time": round(time.time(), 3),
             "seconds": round(attempt.seconds, 4), "sent": attempt.sent, "received": attempt.received, **error}
        )  # fmt: skip

    def _append_line(self, line: Mapping[str, Any]) -> None:
        with self._lock:
            if self._file.closed:  # a call that ends later is not logged
                return
            try:
                self._file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
                self._file.flush()
            except OSError as error:
                raise ModelError(
                    f"{self._path}: a call cannot be logged: {error.strerror}; the model is asked no further"
                ) from error

    def close(self) -> None:
        """Release the file."""
        with self._lock:
            self._file.close()


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedCall:
    """The result of a call: choices by the number of their sample, or the `error`.

    `key` is the request's. In a provider's result `asked_model` is the hash of the model that the batch was written
    for, `model` the name that the provider reports.
    """

    key: str
    choices: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    error: str = ""
    asked_model: str = ""
    model: str = ""


def batch_line_id(model_hash: str, key: str, samples: Sequence[int]) -> str:
    """The `custom_id` of a batch's line: the hash of the model (32 hex digits), the request's key, and the samples
    asked for.
    """
    return f"{model_hash}-{key}-{samples[0]}-{len(samples)}"


def recorded_call(line: Mapping[str, Any]) -> RecordedCall | None:
    """The call of a line of either kind of file; None for a line of another kind."""
    if match := _ID.fullmatch(str(line.get("custom_id"))):
        response = line.get("response")
        response = response if isinstance(response, dict) else {}
        key, first, received = match[2], int(match[3]), response.get("body")
        samples: Sequence[int] = range(first, first + int(match[4]))
        error = "" if response.get("status_code") == 200 else error_text(received) or error_text(line) or "no answer"
        model = str(received.get("model", "")) if isinstance(received, dict) else ""
        about = {"asked_model": match[1], "model": model}
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


def read_json_lines(path: Path | str) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """The number and the object of each line except empty ones; None for one that is no JSON object, as if cut off."""
    with Path(path).open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                try:
                    parsed = orjson.loads(line)
                except orjson.JSONDecodeError:
                    parsed = None
                yield number, parsed if isinstance(parsed, dict) else None


BLOCK = 256  # most scores that a killed run loses, for a model without `items_per_call`
T = TypeVar("T")
R = TypeVar("R")


class CachedScorer(Generic[T, R]):
    """A scorer that computes with `model` only the scores that `store` lacks, each once.

    A model may have `items_per_call`: the number of items to give in one call, so that its batches are full.
    """

    def __init__(self, model: TextScorer[T, R], store: AnswerCache) -> None:
        """`store` may contain scores of other models, too."""
        self._model, self._store = model, store
        self.identity: Mapping[str, Any] = model.identity

    def scores(self, items: Sequence[T], /) -> list[R]:
        """See `TextScorer.scores`."""
        identity = orjson.dumps(self.identity, option=orjson.OPT_SORT_KEYS)
        keys = [hashlib.sha256(identity + b"\0" + orjson.dumps(item)).hexdigest() for item in items]
        stored = self._store.get(dict.fromkeys(keys))
        found = {key: _score_from_json(orjson.loads(value)) for key, value in stored.items()}
        lacking = {key: item for key, item in zip(keys, items, strict=True) if key not in found}
        waiting = list(lacking)
        while waiting:
            block, waiting = waiting[: (size := getattr(self._model, "items_per_call", BLOCK))], waiting[size:]
            computed = dict(zip(block, self._model.scores([lacking[key] for key in block]), strict=True))
            self._store.put({key: orjson.dumps(score) for key, score in computed.items()})
            found.update(computed)
        return [found[key] for key in keys]


def _score_from_json(value: Any) -> Any:
    """A score from its JSON, in which NaN is null."""
    if isinstance(value, dict):
        if "logprobs" in value:
            return TokenScores(tuple(map(_score_from_json, value["logprobs"])))
        return Entailment(**{name: _score_from_json(number) for name, number in value.items()})
    return math.nan if value is None else value


@dataclass(slots=True)
class _PendingAnswers:
    """The answers with one key while requests wait for them: samples asked for, completions found, and why others are
    missing.
    """

    waiting: int = 0
    asked: set[int] = field(default_factory=set)
    found: dict[int, Completion] = field(default_factory=dict)
    why: NoAnswer | None = None


def _reply_or_failure(request: Request, pending: _PendingAnswers) -> Result:
    there = tuple(pending.found[sample] for sample in range(request.sampling.n) if sample in pending.found)
    if len(there) == request.sampling.n:
        return Reply(request=request, completions=there)
    why = pending.why or NoAnswer(FailureReason.BAD_ANSWER, "fewer answers than asked for")
    return Failure(request=request, reason=why.reason, message=str(why))


class CachedChatModel:
    """A chat model that asks its source only for answers that the cache lacks, and for none twice at once.

    An answer is logged, stored and then returned, so that a killed process loses only the calls under way. Safe for
    several threads.
    """

    def __init__(
        self,
        source: AnswerSource,
        *,
        cache: Path | str | None = None,
        log: Path | str | None = None,
        sampling: Mapping[str, Any] | None = None,
        recorded: Callable[[Request, str, Sequence[int]], dict[int, Completion]] | None = None,
    ) -> None:
        """`cache` stores answers, `log` every call; `recorded` looks answers up elsewhere than in the cache, by
        request, key and samples.

        `sampling`: the sampling settings in the model's spec, for `sampling_of`. Raises SourceError for a file that
        cannot be used.
        """
        self.source, self.sampling = source, sampling or {}
        self.identity: Mapping[str, Any] = source.identity
        self.totals = Totals()
        # The model's identity in keys and in the names of a batch's lines.
        self.name = hashlib.sha256(orjson.dumps(self.identity, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]
        self._lock = threading.Lock()
        self._kept = None if cache is None else AnswerCache(cache)
        self._log = None if log is None else CallLog(log, self.identity)
        self._stored = recorded or self._cached_completions

    def generate(self, requests: Iterable[Request]) -> Iterator[Result]:
        """See `ChatModel.generate`."""
        wanted: dict[str, _PendingAnswers] = {}
        under_way: deque[Ask] = deque()

        def ask_per_request_with_missing_samples() -> Iterator[Ask]:
            for request in requests:
                key = request.key()
                one = wanted.setdefault(key, _PendingAnswers())
                new = [sample for sample in range(request.sampling.n) if sample not in one.asked]
                known = self._stored(request, key, new)
                self._add_to_totals(cached=len(known))
                one.waiting += 1
                one.asked.update(new)
                one.found.update(known)
                under_way.append(Ask(request, key, tuple(sample for sample in new if sample not in known)))
                yield under_way[-1]

        def store_attempt(ask: Ask, samples: Sequence[int], attempt: Attempt) -> None:
            if self._log is not None:
                self._log.log_attempt(ask, samples, attempt)
            self._add_to_totals(calls=1, failed_calls=attempt.error is not None)
            if attempt.error is None:
                choices = dict(zip(samples, choices_of(attempt.received), strict=False))
                if self._kept is not None:
                    self.store_choices(ask.key, choices)
                wanted[ask.key].found.update((sample, completion_of(one)) for sample, one in choices.items())
                prompt, made = token_counts(attempt.received)
                self._add_to_totals(prompt_tokens=prompt, completion_tokens=made)

        with closing(self.source.fetch_answers(ask_per_request_with_missing_samples(), store_attempt)) as answered:
            for why in answered:
                ask = under_way.popleft()
                one = wanted[ask.key]
                one.waiting, one.why = one.waiting - 1, why or one.why
                yield _reply_or_failure(ask.request, one)
                if not one.waiting:
                    del wanted[ask.key]

    def store_choices(self, key: str, choices: Mapping[int, Mapping[str, Any]]) -> None:
        """Store choices, in the JSON of chat completions, by sample number. Raises ModelError without a cache."""
        if self._kept is None:
            raise ModelError("answers of a batch need a file to store them: give an output, or answers=FILE")
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
        """Close the source, the cache of answers and the log."""
        self.source.close()
        if self._kept is not None:
            self._kept.close()
        if self._log is not None:
            self._log.close()


class Replay:
    """Answers from a file, kept in memory as they were received."""

    def __init__(self, path: Path | str) -> None:
        """Read it. Raises ModelError naming file and line, also where there is no file."""
        self._path = Path(path)
        if not self._path.is_file():
            raise ModelError(f"replay:{path}: no such file; name the .jsonl of a run's calls, or answers by hand")
        self.identity: Mapping[str, Any] = {"kind": "replay", "sha256": sha256_of(path)}
        self.recorded: list[Any] = []  # the identities of the models whose calls they are
        self._choices: dict[tuple[str, int], bytes] = {}
        for number, line in read_json_lines(path):
            if line is not None:  # else what a killed run left
                self._add_recorded_call(line, f"replay:{path}, line {number}")
        if not self._choices:
            raise ModelError(f"replay:{path}: no answers in it")

    def _add_recorded_call(self, line: Mapping[str, Any], where: str) -> None:
        if line.get("kind") == KIND:
            if isinstance(model := line.get("model"), dict) and model not in self.recorded:
                self.recorded.append(model)
            return
        if call := recorded_call(line):
            key, choices = call.key, call.choices
        else:
            try:
                hand = _ByHand.model_validate(line)
            except ValidationError as error:
                raise ModelError(
                    f"{where}: no call of a log, and no 'answers', a list of texts, to 'prompt', a text, or to"
                    f' \'messages\', a list of {{"role", "content"}} ({error.errors()[0]["msg"]})'
                ) from error
            asked = hand.messages or [Message(role="user", content=hand.prompt or "")]
            key, choices = _messages_key(asked), dict(enumerate(map(make_choice, hand.answers)))
        for sample, choice in choices.items():
            self._choices.setdefault((key, int(sample)), orjson.dumps(choice))

    def fetch_answers(self, asks: Iterable[Ask], on_attempt: OnAttempt) -> Generator[NoAnswer | None, None, None]:
        """Yield NoAnswer for each request with samples that are not recorded: a replay asks nobody."""
        for ask in asks:
            lacking = f"{self._path} lacks {len(ask.samples)} of the {ask.request.sampling.n} answers to request "
            why = f"{lacking}{ask.request.id} with these messages and settings"
            yield NoAnswer(FailureReason.NOT_RECORDED, why) if ask.samples else None

    def recorded_completions(self, request: Request, key: str, samples: Sequence[int]) -> dict[int, Completion]:
        """The recorded completions by sample number, of this very request or else by hand."""
        by_hand = _messages_key(request.messages)
        found = {at: self._choices.get((key, at)) or self._choices.get((by_hand, at)) for at in samples}
        return {at: completion_of(orjson.loads(one)) for at, one in found.items() if one}

    def close(self) -> None:
        """There is nothing to close."""


class _ByHand(BaseModel):
    """A line of a replay that was written by hand."""

    prompt: str | None = None
    messages: list[Message] = Field(default_factory=list)
    answers: list[str] = Field(min_length=1)


def _messages_key(messages: Sequence[Message]) -> str:
    return "by-hand:" + orjson.dumps([[message.role, message.content] for message in messages]).decode()


@dataclass(kw_only=True, slots=True)
class BatchImport:
    """The result of reading a file of results: the number of answers stored, the models that gave them, failures by
    reason.
    """

    answers: int = 0
    models: set[str] = field(default_factory=set)
    failed: Counter[str] = field(default_factory=Counter)


def store_batch_results(model: CachedChatModel, path: Path | str) -> BatchImport:
    """Store the answers in a provider's file of results, so that `model` does not ask for them. Raises ModelError."""
    taken = BatchImport()
    try:
        for number, line in read_json_lines(path):
            call = recorded_call(line or {})
            if call is None or not call.asked_model:
                raise ModelError(
                    f"{path}, line {number}: no result of a request that batch_file= wrote; name the provider's output"
                )
            if call.asked_model != model.name:
                raise ModelError(
                    f"{path}, line {number}: written for another model; give the address, name and body= that"
                    " batch_file= was given with"
                )
            model.store_choices(call.key, call.choices)
            taken.answers += len(call.choices)
            if call.error:
                taken.failed[call.error] += 1
            elif call.model:
                taken.models.add(call.model)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}") from error
    return taken


@contextmanager
def writing_batch_requests(model: CachedChatModel, path: Path | str) -> Iterator[set[str]]:
    """While open, `model` writes requests without an answer to a file, which appears whole at the end or not at all.

    A written request becomes a Failure with the reason `written`, so that a run goes through all its rows. Yields the
    set of the `custom_id` of each line, which grows.
    """
    asked = model.source
    with atomic_path(path) as place, place.open("wb") as stream:
        file = model.source = _BatchFileWriter(model, Path(path), stream)
        try:
            yield file.written
        finally:
            model.source = asked


class _BatchFileWriter:
    """A source that asks nobody: it writes each request as a line of a batch, for its samples from the first to the
    last missing one.
    """

    def __init__(self, model: CachedChatModel, path: Path, stream: BinaryIO) -> None:
        assert isinstance(model.source, ServerChat)
        self.identity, self.written = model.identity, set[str]()
        self._server, self._model, self._path, self._stream = model.source, model.name, path, stream

    def fetch_answers(self, asks: Iterable[Ask], on_attempt: OnAttempt) -> Generator[NoAnswer | None, None, None]:
        """See `AnswerSource.fetch_answers`."""
        for ask in asks:
            if not ask.samples:
                yield None
                continue
            samples = range(ask.samples[0], ask.samples[-1] + 1)
            if (custom_id := batch_line_id(self._model, ask.key, samples)) not in self.written:
                self.written.add(custom_id)
                body = self._server.request_body(ask.request, samples)
                line = {"custom_id": custom_id, "method": "POST", "url": f"/v1{PATH}", "body": body}
                self._stream.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
            yield NoAnswer(FailureReason.WRITTEN, f"written to {self._path}, not asked for")

    def close(self) -> None:
        """The file is closed by whoever opened it."""
