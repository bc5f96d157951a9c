"""The chat-completions protocol: a request as JSON, and completions from JSON.

Sent is only what every server takes, for some refuse what they do not know. Whoever answers is believed in nothing:
choices may be fewer than asked for, texts missing, counts absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from abstraction.models.chat_request import Request
from abstraction.models.chat_result import Completion, TokenLogprob


class BadReply(Exception):  # noqa: N818 - no error of the program: the server is asked again
    """An answer without completions. `code` is what the server itself calls it, where it does."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, kw_only=True, slots=True)
class Parsed:
    """Completions in the order of their indices; token counts None where they are not told."""

    completions: tuple[Completion, ...]
    prompt_tokens: int | None
    completion_tokens: int | None


def body_of(
    request: Request,
    *,
    model: str,
    first: int = 0,
    count: int = 1,
    limit_name: str = "max_tokens",
    sends_stop: bool = True,
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The JSON that asks for the answers `first` to `first + count - 1` of a request.

    Without `sends_stop` the server is not told of stop texts; `parse` cuts answers at them either way.
    """
    how = request.sampling
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": one.role, "content": one.content} for one in request.messages],
        "temperature": how.temperature,
        "top_p": how.top_p,
        limit_name: how.max_tokens,
        "stream": False,
    }
    seed = how.seed_of(first)
    if seed is not None:
        body["seed"] = seed
    if count > 1:
        body["n"] = count
    if how.stop and sends_stop:
        body["stop"] = list(how.stop)
    if how.logprobs is not None:
        body["logprobs"] = True
        if how.logprobs:
            body["top_logprobs"] = how.logprobs
    if extra:
        body.update(extra)
    return body


def parse(given: Any, request: Request, *, first: int = 0, count: int = 1) -> Parsed:
    """Up to `count` completions of an answer. Raises BadReply where there is none."""
    if not isinstance(given, dict):
        raise BadReply("the answer is no JSON object")
    choices = given.get("choices")
    if not isinstance(choices, list) or not choices:
        told = given.get("error")
        if told:
            raise BadReply(f"an error under status 200: {error_text(given)}", error_code(given))
        raise BadReply("the answer has no choices")
    if all(isinstance(one, dict) and type(one.get("index")) is int for one in choices):
        choices = sorted(choices, key=lambda one: int(one["index"]))
    completions = tuple(
        _completion(choice, request, first + at)
        for at, choice in enumerate(choices[:count])
        if isinstance(choice, dict)
    )
    if not completions:
        raise BadReply("the answer's choices are no objects")
    usage = given.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Parsed(
        completions=completions,
        prompt_tokens=_tokens(usage.get("prompt_tokens")),
        completion_tokens=_tokens(usage.get("completion_tokens")),
    )


def _tokens(given: Any) -> int | None:
    return given if type(given) is int and given >= 0 else None


def _completion(choice: Mapping[str, Any], request: Request, sample: int) -> Completion:
    message = choice.get("message")
    text = _text(message) if isinstance(message, dict) else None
    if text is None:
        raise BadReply("a choice has no text")
    finish = choice.get("finish_reason")
    stops = [at for at in map(text.find, request.sampling.stop) if at >= 0]
    return Completion(
        text=text[: min(stops)] if stops else text,
        finish_reason="stop" if stops else finish if isinstance(finish, str) else "",
        seed=request.sampling.seed_of(sample),
        logprobs=None if request.sampling.logprobs is None else _logprobs(choice.get("logprobs")),
    )


def _text(message: Mapping[str, Any]) -> str | None:
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):  # parts, as some servers send them
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    if content is None and "content" in message:  # all tokens went into thinking, or the model declined
        refusal = message.get("refusal")
        return refusal if isinstance(refusal, str) else ""
    return None


def _logprobs(given: Any) -> tuple[TokenLogprob, ...] | None:
    content = given.get("content") if isinstance(given, dict) else None
    if not isinstance(content, list):
        return None
    found = [_token(one) for one in content]
    return None if None in found else tuple(one for one in found if one is not None)


def _token(given: Any) -> TokenLogprob | None:
    if not isinstance(given, dict):
        return None
    token, logprob = given.get("token"), given.get("logprob")
    if not isinstance(token, str) or not isinstance(logprob, int | float):
        return None
    top = given.get("top_logprobs")
    others = [_token(one) for one in top] if isinstance(top, list) else []
    return TokenLogprob(token=token, logprob=float(logprob), top=tuple(one for one in others if one is not None))


def error_text(given: Any) -> str:
    """What an answer says went wrong, on one line of at most 300 characters; empty where it says nothing."""
    told = given.get("error", given.get("detail", given.get("message"))) if isinstance(given, dict) else given
    if isinstance(told, dict):
        told = told.get("message", told)
    return "" if told is None else " ".join(str(told).split())[:300]


def error_code(given: Any) -> str:
    """The code or type by which an answer names what went wrong."""
    told = given.get("error") if isinstance(given, dict) else None
    if not isinstance(told, dict):
        return ""
    return str(told.get("code") or told.get("type") or "")


def response_of(completions: Sequence[Completion], *, prompt_tokens: int, completion_tokens: int) -> dict[str, Any]:
    """Completions as an answer of the protocol, for models that run here: `parse` gives them back."""

    def token(one: TokenLogprob) -> dict[str, Any]:
        return {"token": one.token, "logprob": one.logprob, "top_logprobs": [token(other) for other in one.top]}

    choices: list[dict[str, Any]] = []
    for at, one in enumerate(completions):
        choice: dict[str, Any] = {
            "index": at,
            "message": {"role": "assistant", "content": one.text},
            "finish_reason": one.finish_reason,
        }
        if one.logprobs is not None:
            choice["logprobs"] = {"content": [token(each) for each in one.logprobs]}
        choices.append(choice)
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
    return {"object": "chat.completion", "choices": choices, "usage": usage}
