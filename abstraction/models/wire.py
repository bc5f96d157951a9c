"""The chat-completions protocol: a request as JSON, and completions from JSON.

Sent is only what every server takes, for some refuse what they do not know. Whoever answers is believed in nothing:
choices may be fewer than asked for, texts missing, counts absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from abstraction.models.chat_model import Completion, Request, TokenLogprob


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
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
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


def parse(answer: Any, request: Request, *, first: int = 0, count: int = 1) -> Parsed:
    """Up to `count` completions of an answer. Raises BadReply where there is none."""
    if not isinstance(answer, dict):
        raise BadReply("the answer is no JSON object")
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        error = answer.get("error")
        if error:
            raise BadReply(f"an error under status 200: {error_text(answer)}", error_code(answer))
        raise BadReply("the answer has no choices")
    if all(isinstance(entry, dict) and type(entry.get("index")) is int for entry in choices):
        choices = sorted(choices, key=lambda entry: int(entry["index"]))
    completions = tuple(
        _completion(choice, request, first + at)
        for at, choice in enumerate(choices[:count])
        if isinstance(choice, dict)
    )
    if not completions:
        raise BadReply("the answer's choices are no objects")
    usage = answer.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Parsed(
        completions=completions,
        prompt_tokens=_tokens(usage.get("prompt_tokens")),
        completion_tokens=_tokens(usage.get("completion_tokens")),
    )


def _tokens(count: Any) -> int | None:
    return count if type(count) is int and count >= 0 else None


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


def _logprobs(logprobs: Any) -> tuple[TokenLogprob, ...] | None:
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list):
        return None
    tokens = [_token(entry) for entry in content]
    return None if None in tokens else tuple(token for token in tokens if token is not None)


def _token(entry: Any) -> TokenLogprob | None:
    if not isinstance(entry, dict):
        return None
    token, logprob = entry.get("token"), entry.get("logprob")
    if not isinstance(token, str) or not isinstance(logprob, int | float):
        return None
    top = entry.get("top_logprobs")
    others = [_token(other) for other in top] if isinstance(top, list) else []
    return TokenLogprob(token=token, logprob=float(logprob), top=tuple(other for other in others if other is not None))


def error_text(answer: Any) -> str:
    """What an answer says went wrong, on one line of at most 300 characters; empty where it says nothing."""
    error = answer.get("error", answer.get("detail", answer.get("message"))) if isinstance(answer, dict) else answer
    if isinstance(error, dict):
        error = error.get("message", error)
    return "" if error is None else " ".join(str(error).split())[:300]


def error_code(answer: Any) -> str:
    """The code or type by which an answer names what went wrong."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict):
        return ""
    return str(error.get("code") or error.get("type") or "")


def response_of(completions: Sequence[Completion], *, prompt_tokens: int, completion_tokens: int) -> dict[str, Any]:
    """Completions as an answer of the protocol, for models that run here: `parse` gives them back."""

    def entry_of(token: TokenLogprob) -> dict[str, Any]:
        return {"token": token.token, "logprob": token.logprob, "top_logprobs": [entry_of(t) for t in token.top]}

    choices: list[dict[str, Any]] = []
    for at, completion in enumerate(completions):
        choice: dict[str, Any] = {
            "index": at,
            "message": {"role": "assistant", "content": completion.text},
            "finish_reason": completion.finish_reason,
        }
        if completion.logprobs is not None:
            choice["logprobs"] = {"content": [entry_of(token) for token in completion.logprobs]}
        choices.append(choice)
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
    return {"object": "chat.completion", "choices": choices, "usage": usage}
