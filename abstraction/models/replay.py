"""A chat model that repeats what was recorded: a log of calls, a provider's results, or answers by hand.

A recorded call answers the requests that ask the same, to the letter. A line by hand is {"messages": [{"role",
"content"}, ...], "answers": [text, ...]}, or "prompt" for a single message of the user's, and answers its messages
however they are sampled.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, Field, ValidationError

from abstraction.errors import ModelError
from abstraction.models.call_log import KIND, read_lines, recorded_call
from abstraction.models.chat_model import (
    Ask,
    Completion,
    FailureReason,
    Message,
    NoAnswer,
    Request,
    Told,
    choice_of,
    completion_of,
)
from kg.base.files import sha256_of


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
        for number, line in read_lines(path):
            if line is not None:  # else what a killed run left
                self._take(line, f"replay:{path}, line {number}")
        if not self._choices:
            raise ModelError(f"replay:{path}: no answers in it")

    def _take(self, line: Mapping[str, Any], where: str) -> None:
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
                    f" 'messages', a list of {{\"role\", \"content\"}} ({error.errors()[0]['msg']})"
                ) from error
            asked = hand.messages or [Message(role="user", content=hand.prompt or "")]
            key, choices = _messages_key(asked), dict(enumerate(map(choice_of, hand.answers)))
        for sample, choice in choices.items():
            self._choices.setdefault((key, int(sample)), orjson.dumps(choice))

    def answers(self, asks: Iterable[Ask], told: Told) -> Generator[NoAnswer | None, None, None]:
        """Nothing is asked: an answer that is not recorded is missing."""
        for ask in asks:
            lacking = f"{self._path} lacks {len(ask.samples)} of the {ask.request.sampling.n} answers to request "
            why = f"{lacking}{ask.request.id} with these messages and settings"
            yield NoAnswer(FailureReason.NOT_RECORDED, why) if ask.samples else None

    def known(self, request: Request, key: str, samples: Sequence[int]) -> dict[int, Completion]:
        """The samples that were recorded."""
        by_hand = _messages_key(request.messages)
        found = {at: self._choices.get((key, at)) or self._choices.get((by_hand, at)) for at in samples}
        return {at: completion_of(orjson.loads(one)) for at, one in found.items() if one}

    def close(self) -> None:
        """There is nothing to close."""


class _ByHand(BaseModel):
    """A line that somebody wrote."""

    prompt: str | None = None
    messages: list[Message] = Field(default_factory=list)
    answers: list[str] = Field(min_length=1)


def _messages_key(messages: Sequence[Message]) -> str:
    return "by-hand:" + orjson.dumps([[message.role, message.content] for message in messages]).decode()
