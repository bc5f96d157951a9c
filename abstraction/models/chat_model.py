"""What every chat model is asked, answers and can do: requests, results, and the protocol of a model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal, Protocol, get_args

import orjson

from abstraction.errors import ModelSpecError

# What a chat model is asked: messages, and how to sample.

Role = Literal["system", "user", "assistant"]
ROLES: frozenset[str] = frozenset(get_args(Role))
SEEDS = 2**31  # every server's seeds: some read them as 32 bits with a sign


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise ValueError(f"role {self.role!r}: a message is from {', '.join(sorted(ROLES))}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Sampling:
    """How to answer. Raises ValueError for what no model can do.

    `n`: answers wanted, each with a seed of its own: `seed`, `seed` + 1 and so on; None sends no seed. `temperature`:
    [0, 2], 0 takes the likeliest token, then `n` must be 1. `top_p`: (0, 1]. `max_tokens`: of one answer.
    """

    n: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 256
    seed: int | None = 0

    def __post_init__(self) -> None:
        def check(well: bool, name: str, allowed: str) -> None:
            if not well:
                raise ValueError(f"{name} is {getattr(self, name)!r}: allowed is {allowed}")

        check(self.n >= 1, "n", "1 and more")
        check(0.0 <= self.temperature <= 2.0, "temperature", "0 to 2")
        check(0.0 < self.top_p <= 1.0, "top_p", "above 0 and up to 1")
        check(self.max_tokens >= 1, "max_tokens", "1 and more")
        check(self.seed is None or 0 <= self.seed <= SEEDS - self.n, "seed", f"0 to {SEEDS} less n, or None")
        check(
            self.n == 1 or self.temperature > 0,
            "n",
            "1 where temperature is 0: the likeliest answer is the same each time",
        )

    def seed_of(self, sample: int) -> int | None:
        """The seed of the answer number `sample`, from 0; None for none, and where nothing is drawn."""
        return None if self.seed is None or self.temperature == 0 else self.seed + sample


def sampling_of(model: object, usual: Sampling) -> Sampling:
    """How a model is asked: as is `usual` where it is asked, but for what the word says that it was opened by.

    `model` may be that word as read. Raises ModelSpecError for what no model can do, such as several answers at
    temperature 0.
    """
    try:
        return replace(usual, **getattr(model, "sampling", {}))
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
            "stop": (),  # this and the next are part of the keys of answers that are kept
            "logprobs": None,
        }
        return hashlib.sha256(orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)).hexdigest()


# What a chat model answers: completions, or why there are none.


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """One answer. `finish_reason` in the server's words, "stop" or "length" as a rule; `seed` as it was sent."""

    text: str
    finish_reason: str
    seed: int | None = None


class FailureReason(StrEnum):
    """Why a request has no answer."""

    REFUSED = "refused"  # the server finds the request wrong, and would again
    OVERLOADED = "overloaded"  # the server went on asking for less
    TIME_LIMIT = "time-limit"
    UNREACHABLE = "unreachable"
    SERVER_ERROR = "server-error"
    BAD_ANSWER = "bad-answer"  # cut off, no JSON, or without a text
    TOO_LONG = "too-long"  # prompt and answer together exceed what the model holds
    OUT_OF_MEMORY = "out-of-memory"
    NOT_RECORDED = "not-recorded"  # a replay has no such answer
    WRITTEN = "written"  # to the file of a batch, not asked for


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """All `n` completions of a request, in the order of their seeds. `cached`: how many of them were kept before."""

    request: Request
    completions: tuple[Completion, ...]
    cached: int = 0

    @property
    def text(self) -> str:
        """The first completion's text."""
        return self.completions[0].text


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """A request without all its completions; `completions` are those there are, in order."""

    request: Request
    reason: FailureReason
    message: str
    completions: tuple[Completion, ...] = ()


Result = Reply | Failure


def result_of(
    request: Request,
    completions: Iterable[Completion | None],
    reason: FailureReason,
    message: str,
    *,
    cached: int | None = None,
) -> Result:
    """The reply where all `n` completions are there, else a failure of that reason; `cached` is None for all."""
    there = tuple(completion for completion in completions if completion is not None)[: request.sampling.n]
    if len(there) < request.sampling.n:
        return Failure(request=request, reason=reason, message=message, completions=there)
    return Reply(request=request, completions=there, cached=len(there) if cached is None else min(cached, len(there)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Totals:
    """What a model did since it was opened.

    `calls` were sent, `failed_calls` of them brought nothing; `samples` were asked for and answered, `cached` of them
    from the cache. Tokens are those that servers told: `untold` calls told none.
    """

    calls: int = 0
    failed_calls: int = 0
    samples: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    untold: int = 0


# The protocol of every chat model.


class ChatModel(Protocol):
    """Continues conversations.

    `identity` is all that its answers depend on besides the request, and what the cache and a signature are keyed by.
    """

    @property
    def identity(self) -> Mapping[str, Any]:
        """What tells this model from every other: its kind, where it is, its name or weights."""

    @property
    def totals(self) -> Totals:
        """What was done until now."""

    def generate(self, requests: Iterable[Request]) -> Iterator[Result]:
        """One result for each request, in their order, while more are asked.

        Requests are taken as they are needed, some hundred ahead of the results, so that memory does not grow with
        their number. Close the iterator, or use it up, to end what is under way. Raises ModelError and its kinds where
        asking on is no use; what was answered until then is in the cache.
        """

    def close(self) -> None:
        """Release connections, files and memory."""
