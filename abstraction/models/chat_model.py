"""Requests to chat models, their results, and the protocol of a model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal, Protocol

import orjson

from abstraction.errors import ModelSpecError
from abstraction.models.spec import SEEDS, SamplingSettings

# Requests: messages and sampling.

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Sampling:
    """Sampling of a request. Raises ValueError for values that no model supports.

    `n`: answers wanted, with the seeds `seed`, `seed` + 1 and so on; None sends no seed. `temperature`: [0, 2]; 0
    takes the likeliest token, then `n` must be 1. `top_p`: (0, 1]. `max_tokens`: of one answer.
    """

    n: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 256
    seed: int | None = 0

    def __post_init__(self) -> None:
        how = {name: getattr(self, name) for name in SamplingSettings.model_fields}
        SamplingSettings(**how)  # raises an error that is a ValueError
        if self.n < 1 or (self.seed is not None and self.seed + self.n > SEEDS):
            raise ValueError(f"n is {self.n}: allowed is 1 and more, up to {SEEDS} less the seed")
        if self.n > 1 and self.temperature == 0:
            raise ValueError(f"n is {self.n}: at temperature 0 the likeliest answer is the same each time")

    def seed_of(self, sample: int) -> int | None:
        """The seed of the answer number `sample`, from 0; None without a seed in the sampling, or at temperature 0."""
        return None if self.seed is None or self.temperature == 0 else self.seed + sample


def sampling_of(model: object, default: Sampling) -> Sampling:
    """The sampling for a model: `default`, overridden by the settings in the model's spec.

    `model`: a model, or a parsed spec. Raises ModelSpecError for impossible sampling, such as several answers at
    temperature 0.
    """
    try:
        return replace(default, **getattr(model, "sampling", {}))
    except ValueError as error:
        raise ModelSpecError(f"the model cannot sample so: {error}") from error


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One conversation to be continued. `id` names it in logs and messages and does not change its answer."""

    id: str
    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()

    def __post_init__(self) -> None:
        if not self.messages or self.messages[-1].role != "user":
            raise ValueError(f"request {self.id}: its last message must be the user's")

    def key(self) -> str:
        """Hex SHA-256 of all that the answer number i depends on besides the model: everything but `id` and `n`."""
        how = self.sampling
        drawn = how.temperature > 0
        asked: dict[str, Any] = {
            "messages": [[message.role, message.content] for message in self.messages],
            "temperature": float(how.temperature),
            "top_p": float(how.top_p) if drawn else None,
            "max_tokens": how.max_tokens,
            "seed": how.seed if drawn else None,
            "stop": (),  # constant, as the next: part of the keys under which answers are stored
            "logprobs": None,
        }
        return hashlib.sha256(orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)).hexdigest()


# Results: completions, or the reason for their absence.


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """One answer. `finish_reason` in the server's words, "stop" or "length" as a rule."""

    text: str
    finish_reason: str


class FailureReason(StrEnum):
    """Why a request has no answer."""

    REFUSED = "refused"  # the server finds the request wrong, and would again
    OVERLOADED = "overloaded"  # the server went on asking for less
    TIME_LIMIT = "time-limit"
    UNREACHABLE = "unreachable"
    SERVER_ERROR = "server-error"
    BAD_ANSWER = "bad-answer"  # cut off, no JSON, or without a text
    TOO_LONG = "too-long"  # prompt and answer together exceed the model's length
    OUT_OF_MEMORY = "out-of-memory"
    NOT_RECORDED = "not-recorded"  # a replay has no such answer
    WRITTEN = "written"  # to the file of a batch, not asked for


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """All `n` completions of a request, in the order of their seeds."""

    request: Request
    completions: tuple[Completion, ...]

    @property
    def text(self) -> str:
        """The first completion's text."""
        return self.completions[0].text


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """A request without all its completions."""

    request: Request
    reason: FailureReason
    message: str


Result = Reply | Failure


@dataclass(frozen=True, kw_only=True, slots=True)
class Totals:
    """Totals since the model was opened.

    `calls` were made, `failed_calls` of them without a result; `cached` answers came from the cache. Tokens are as
    servers report them.
    """

    calls: int = 0
    failed_calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


# The protocol of every chat model.


class ChatModel(Protocol):
    """A model that continues conversations. `identity` determines its answers together with the request; cache and
    signatures use it as key.
    """

    @property
    def identity(self) -> Mapping[str, Any]:
        """The description of the model in run records and cache keys: its kind (server, local ...), its address or
        folder, and its name or the hash of its weights.
        """

    @property
    def totals(self) -> Totals:
        """Totals until now."""

    def generate(self, requests: Iterable[Request]) -> Iterator[Result]:
        """One result for each request, in their order, while more are asked.

        Requests are taken as they are needed, some hundred ahead of the results, so that memory does not grow with
        their number. Close the iterator, or use it up, to end what is under way. Raises ModelError and its kinds where
        asking on is no use; what was answered until then is in the cache.
        """

    def close(self) -> None:
        """Release connections, files and memory."""


# Sources of new answers, used by `answer_store.CachedChatModel`, which is the chat model.


class NoAnswer(Exception):  # noqa: N818 - it becomes a Failure, a result like others
    """A request has no answer, and asking once more would not help."""

    def __init__(self, reason: FailureReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Ask:
    """A request and the numbers of the `samples` that it lacks; none where all are stored. `key` is the request's."""

    request: Request
    key: str
    samples: Sequence[int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """The body that was sent, and the answer as chat completions or the `error`, after `seconds`."""

    sent: Mapping[str, Any]
    received: object = None
    seconds: float
    error: str | None = None


# Callback for each call: the request, the samples asked for, and the attempt, which may answer only the first of them.
OnAttempt = Callable[[Ask, Sequence[int], Attempt], None]


class AnswerSource(Protocol):
    """A source of answers: a server, weights on this machine, or records."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """See `ChatModel.identity`."""

    def fetch_answers(self, asks: Iterable[Ask], on_attempt: OnAttempt) -> Generator[NoAnswer | None, None, None]:
        """Ask for the missing samples of the requests. Yield for each, in order, None or the reason why samples are
        still missing; answers go to `on_attempt` as they come.
        """

    def close(self) -> None:
        """See `ChatModel.close`."""


# Requests and answers in JSON, in the form of chat completions. Only fields that every server takes are sent, for some
# refuse unknown ones. An answer may lack anything: choices may be fewer than asked for, texts missing, counts absent.

PATH = "/chat/completions"


def chat_request_body(
    request: Request,
    samples: Sequence[int],
    *,
    model: str,
    limit_field: str = "max_tokens",
    extra_fields: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The JSON body that asks for consecutive samples of a request; `extra_fields` are those of the user."""
    how = request.sampling
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "temperature": how.temperature,
        "top_p": how.top_p,
        limit_field: how.max_tokens,
        "stream": False,
    }
    if (seed := how.seed_of(samples[0])) is not None:
        body["seed"] = seed
    if len(samples) > 1:
        body["n"] = len(samples)
    return {**body, **(extra_fields or {})}


def choices_of(answer: Any) -> list[Mapping[str, Any]]:
    """The choices of an answer, in the order of their indices. Raises ValueError where there are none, or no texts."""
    if not isinstance(answer, dict):
        raise ValueError(f"the answer is no JSON object: {str(answer)[:300]}")
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        raise ValueError(
            f"an error under status 200: {error_text(answer)}" if answer.get("error") else "the answer has no choices"
        )
    there: list[Mapping[str, Any]] = [choice for choice in choices if isinstance(choice, dict)]
    if not there or any(_message_text(choice.get("message")) is None for choice in there):
        raise ValueError("a choice has no text")
    indexed = all(type(choice.get("index")) is int for choice in there)
    return sorted(there, key=lambda choice: int(choice["index"])) if indexed else there


def token_counts(answer: Any) -> tuple[int, int]:
    """The numbers of tokens of prompt and completions in an answer, 0 where it has none."""
    usage = answer.get("usage")
    counts = [usage.get(name) if isinstance(usage, dict) else None for name in ("prompt_tokens", "completion_tokens")]
    prompt, made = (number if isinstance(number, int) else 0 for number in counts)
    return prompt, made


def completion_of(choice: Mapping[str, Any]) -> Completion:
    """The completion that a choice contains. The message of the choice must have a text."""
    message, finish = choice["message"], choice.get("finish_reason")
    # Thoughts that a server sends in a field of their own are put before the text again, where readers cut them.
    thoughts = message.get("reasoning_content") or message.get("reasoning")
    return Completion(
        text=(f"<think>{thoughts}</think>\n" if isinstance(thoughts, str) else "") + (_message_text(message) or ""),
        finish_reason=finish if isinstance(finish, str) else "",
    )


def _message_text(message: object) -> str | None:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    if isinstance(content, list):  # parts, as some servers send them
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    # All tokens went into thinking, or the model declined.
    if isinstance(message, dict) and message.get("content", "") is None:
        refusal = message.get("refusal")
        return refusal if isinstance(refusal, str) else ""
    return None


def make_choice(text: str, finish_reason: str = "stop") -> dict[str, Any]:
    """A choice in the JSON of chat completions, from which `completion_of` reads the text."""
    return {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}


def error_text(answer: Any) -> str:
    """The error message of an answer, on one line of at most 300 characters; empty where there is none."""
    error = answer.get("error", answer.get("detail", answer.get("message"))) if isinstance(answer, dict) else answer
    if isinstance(error, dict):
        error = error.get("message", error)
    return "" if error is None else " ".join(str(error).split())[:300]
