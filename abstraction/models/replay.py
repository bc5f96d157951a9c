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

from abstraction.errors import ModelError
from abstraction.models.call_log import KIND, SCHEMA_VERSION, read_lines, recorded_call
from abstraction.models.chat_model import (
    ROLES,
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
from kg.files import sha256_of


class Replay:
    """Answers from a file, held in memory as they were received."""

    def __init__(self, path: Path | str) -> None:
        """Read it. Raises ModelError naming file and line, also where there is no file."""
        self._path = Path(path)
        if not self._path.is_file():
            raise ModelError(f"replay:{path}: no such file; name the .jsonl of a run's calls, or answers by hand")
        self.identity: Mapping[str, Any] = {"kind": "replay", "sha256": sha256_of(path)}
        self._choices: dict[tuple[str, int], bytes] = {}
        for number, line in read_lines(path):
            if line is not None:  # else what a killed run left
                self._take(line, f"replay:{path}, line {number}")
        if not self._choices:
            raise ModelError(f"replay:{path}: no answers in it")

    def _take(self, line: Mapping[str, Any], where: str) -> None:
        if line.get("kind") == KIND:
            if (version := line.get("schema_version")) != SCHEMA_VERSION:
                raise ModelError(f"{where}: a log of version {version!r}; this program reads version {SCHEMA_VERSION}")
            return
        if call := recorded_call(line):
            key, choices = call.key, call.choices
        else:
            messages, answers = _by_hand(line, where)
            key, choices = _messages_key(messages), dict(enumerate(map(choice_of, answers)))
        for sample, choice in choices.items():
            self._choices.setdefault((key, int(sample)), orjson.dumps(choice))

    def answers(self, asks: Iterable[Ask], told: Told) -> Generator[NoAnswer | None, None, None]:
        """Nothing is asked: what `known` has not is not there."""
        for ask in asks:
            wanted, request = ask.request.sampling.n, ask.request.id
            yield None if not ask.samples else NoAnswer(
                FailureReason.NOT_RECORDED,
                f"{self._path} has {wanted - len(ask.samples)} of the {wanted} answers to request {request} with these "
                "messages and settings",
            )

    def known(self, request: Request, key: str, samples: Sequence[int]) -> dict[int, Completion]:
        """The samples that were recorded."""
        by_hand = _messages_key(request.messages)
        found = {at: self._choices.get((key, at)) or self._choices.get((by_hand, at)) for at in samples}
        return {at: completion_of(orjson.loads(one), request, at) for at, one in found.items() if one}

    def close(self) -> None:
        """Nothing is held open."""


def _by_hand(line: Mapping[str, Any], where: str) -> tuple[tuple[Message, ...], list[str]]:
    messages = line.get("messages", [{"role": "user", "content": line.get("prompt")}])
    answers = line.get("answers")
    if not (isinstance(answers, list) and answers and all(isinstance(answer, str) for answer in answers)):
        raise ModelError(f"{where}: 'answers' must be a list of texts, or the line one of a log of calls")
    if (
        not isinstance(messages, list)
        or not messages
        or not all(
            isinstance(turn, dict) and turn.get("role") in ROLES and isinstance(turn.get("content"), str)
            for turn in messages
        )
    ):
        raise ModelError(f"{where}: give 'prompt', a text, or 'messages', a list of {{\"role\", \"content\"}}")
    return tuple(Message(role=turn["role"], content=turn["content"]) for turn in messages), answers


def _messages_key(messages: Sequence[Message]) -> str:
    return "by-hand:" + orjson.dumps([[message.role, message.content] for message in messages]).decode()
