"""The chat-completions protocol: a request as JSON, and completions from JSON.

Sent is only what every server takes, for some refuse what they do not know. Whoever answers is believed in nothing:
choices may be fewer than asked for, texts missing, counts absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from abstraction.models.chat_model import Completion, FailureReason, Request
from abstraction.models.http_client import ServerSettings, Trouble, error_code, error_text

PATH = "/chat/completions"


@dataclass(frozen=True, kw_only=True, slots=True)
class Parsed:
    """Completions in the order of their indices; `tokens` of prompt and completions, None where they are not told."""

    completions: tuple[Completion, ...]
    tokens: tuple[int | None, int | None]


def body_of(
    request: Request,
    *,
    model: str,
    first: int = 0,
    count: int = 1,
    settings: ServerSettings | None = None,
) -> dict[str, Any]:
    """The JSON that asks for the answers `first` to `first + count - 1` of a request."""
    how, settings = request.sampling, settings or ServerSettings()
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "temperature": how.temperature,
        "top_p": how.top_p,
        settings.limit: how.max_tokens,
        "stream": False,
    }
    seed = how.seed_of(first)
    if seed is not None:
        body["seed"] = seed
    if count > 1:
        body["n"] = count
    return {**body, **settings.body}


def parse(answer: Any, request: Request, *, first: int = 0, count: int = 1) -> Parsed:
    """Up to `count` completions of an answer. Raises Trouble where there is none."""
    if not isinstance(answer, dict):
        raise _bad(f"the answer is no JSON object: {str(answer)[:300]}")
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        if answer.get("error"):
            code = error_code(answer)
            message = f"an error under status 200: {error_text(answer)}"
            if code == "429":
                raise Trouble(FailureReason.OVERLOADED, message, crowded=True)
            raise Trouble(FailureReason.BAD_ANSWER, message, code=code)
        raise _bad("the answer has no choices")
    if all(isinstance(entry, dict) and type(entry.get("index")) is int for entry in choices):
        choices = sorted(choices, key=lambda entry: int(entry["index"]))
    completions = tuple(
        completion_of(choice, request, first + at)
        for at, choice in enumerate(choices[:count])
        if isinstance(choice, dict)
    )
    if not completions:
        raise _bad("the answer's choices are no objects")
    usage = answer.get("usage")
    told = usage if isinstance(usage, dict) else {}
    tokens = [told.get(name) for name in ("prompt_tokens", "completion_tokens")]
    prompt, made = (number if isinstance(number, int) else None for number in tokens)
    return Parsed(completions=completions, tokens=(prompt, made))


def _bad(message: str) -> Trouble:
    return Trouble(FailureReason.BAD_ANSWER, message)


def completion_of(choice: Mapping[str, Any], request: Request, sample: int) -> Completion:
    """The answer number `sample` of a request, by its choice. Raises Trouble where that has no text."""
    message = choice.get("message")
    text = _text(message) if isinstance(message, dict) else None
    if text is None or not isinstance(message, dict):
        raise _bad("a choice has no text")
    finish = choice.get("finish_reason")
    return Completion(
        text=_thoughts(message) + text,
        finish_reason=finish if isinstance(finish, str) else "",
        seed=request.sampling.seed_of(sample),
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


def _thoughts(message: Mapping[str, Any]) -> str:
    """What a server sends of thoughts apart from the text, before it again, as models write it and readers cut it."""
    thoughts = message.get("reasoning_content") or message.get("reasoning")
    return f"<think>{thoughts}</think>\n" if isinstance(thoughts, str) else ""


def choice_of(completion: Completion, at: int = 0) -> dict[str, Any]:
    """A completion as a choice of the protocol: `completion_of` gives it back."""
    message = {"role": "assistant", "content": completion.text}
    return {"index": at, "message": message, "finish_reason": completion.finish_reason}
