"""What a chat model answers: completions, or why there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from abstraction.models.chat_request import Request


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenLogprob:
    """A token with the natural logarithm of its probability. `top`: the likeliest at its place, likeliest first."""

    token: str
    logprob: float
    top: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """One answer. `finish_reason` in the server's words, "stop" or "length" as a rule; `seed` as it was sent.

    `logprobs` is None where none were asked for or none are offered.
    """

    text: str
    finish_reason: str
    seed: int | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None

    def as_json(self) -> dict[str, Any]:
        """For the cache; `completion_of` reads it back."""
        logprobs = None if self.logprobs is None else [_packed(logprob) for logprob in self.logprobs]
        return {"text": self.text, "finish_reason": self.finish_reason, "seed": self.seed, "logprobs": logprobs}


def completion_of(stored: Mapping[str, Any]) -> Completion:
    """The completion that `as_json` wrote."""
    logprobs = stored["logprobs"]
    return Completion(
        text=stored["text"],
        finish_reason=stored["finish_reason"],
        seed=stored["seed"],
        logprobs=None if logprobs is None else tuple(_unpacked(packed) for packed in logprobs),
    )


def _packed(logprob: TokenLogprob) -> list[Any]:
    return [logprob.token, logprob.logprob, [_packed(other) for other in logprob.top]]


def _unpacked(packed: list[Any]) -> TokenLogprob:
    return TokenLogprob(token=packed[0], logprob=packed[1], top=tuple(_unpacked(other) for other in packed[2]))


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Totals:
    """What a model did since it was opened.

    `calls` were sent, `failed_calls` of them brought nothing; `samples` were asked for and answered, `cached` of them
    from the cache. Tokens are those that servers told: `untold` calls told none. `cost` is None without prices.
    """

    calls: int = 0
    failed_calls: int = 0
    samples: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    untold: int = 0
    cost: float | None = None
