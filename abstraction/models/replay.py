"""A chat model that repeats what was recorded: a log of calls, or answers by hand.

A line of a log answers the requests that ask the same, to the letter. A line by hand is {"messages": [{"role",
"content"}, ...], "answers": [text, ...]}, or "prompt" for a single message of the user's, and answers its messages
however they are sampled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from abstraction.errors import ModelError
from abstraction.models.answer_store import KIND, SCHEMA_VERSION, read_calls
from abstraction.models.chat_model import ROLES, FailureReason, Message, Request, Result, Totals, result_of
from abstraction.models.chat_protocol import completion_of
from abstraction.models.http_client import Trouble
from kg.files import sha256_of


class ReplayModel:
    """Answers from a file, held in memory as they were received."""

    def __init__(self, path: Path | str) -> None:
        """Read it. Raises ModelError naming file and line, also where there is no file."""
        self.path = Path(path)
        if not self.path.is_file():
            raise ModelError(f"replay:{path}: no such file; name the .jsonl of a run's calls, or answers by hand")
        self._choices: dict[tuple[str, int], bytes] = {}
        # The identities of the models whose calls were recorded, as the log tells them.
        self.recorded: list[Mapping[str, Any]] = []
        self.damaged = 0  # lines that cannot be read: those that a killed run left
        self.identity: Mapping[str, Any] = {"kind": "replay", "sha256": sha256_of(path)}
        self.totals = Totals()
        self.sampling: Mapping[str, Any] = {}  # what its word says of it, for `sampling_of`
        for number, line in enumerate(read_calls(path), start=1):
            if line is None:
                self.damaged += 1
            else:
                self._take(line, f"replay:{self.path}, line {number}")
        if not self._choices:
            raise ModelError(f"replay:{path}: no answers in it ({self.damaged} lines that are no JSON objects)")

    def _take(self, line: Mapping[str, Any], where: str) -> None:
        if line.get("kind") == KIND:
            if line.get("schema_version") != SCHEMA_VERSION:
                raise ModelError(
                    f"{where}: a log of version {line.get('schema_version')!r}; this program reads version 1"
                )
            if isinstance(model := line.get("model"), dict) and model not in self.recorded:
                self.recorded.append(model)
        elif isinstance(key := line.get("key"), str):
            received, samples = line.get("received"), line.get("samples")
            choices = received.get("choices") if isinstance(received, dict) else None
            if line.get("error") is None and isinstance(samples, list) and isinstance(choices, list):
                choices = sorted(choices, key=lambda choice: choice.get("index", 0))
                for sample, choice in zip(samples, choices, strict=False):
                    self._choices.setdefault((key, int(sample)), orjson.dumps(choice))
        else:
            messages, answers = _by_hand(line, where)
            for at, answer in enumerate(answers):
                choice = orjson.dumps({"message": {"content": answer}, "finish_reason": "stop"})
                self._choices.setdefault((_messages_key(messages), at), choice)

    def generate(self, requests: Iterable[Request]) -> Iterator[Result]:
        """As `ChatModel.generate`; what was not recorded is a Failure."""
        for request in requests:
            yield self._result(request)

    def _result(self, request: Request) -> Result:
        keys = (request.key(), _messages_key(request.messages))
        completions = []
        for sample in range(request.sampling.n):
            choice = next((self._choices[key, sample] for key in keys if (key, sample) in self._choices), None)
            if choice is None:
                break
            try:
                completions.append(completion_of(orjson.loads(choice), request, sample))
            except Trouble as error:
                raise ModelError(f"{self.path}: a call of request {request.id} has no answer in it: {error}") from error
        had = self.totals
        self.totals = replace(had, samples=had.samples + len(completions), cached=had.cached + len(completions))
        message = f"{self.path} has {len(completions)} of the {request.sampling.n} answers to request {request.id}"
        return result_of(
            request, completions, FailureReason.NOT_RECORDED, f"{message} with these messages and settings"
        )

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


def _messages_key(messages: tuple[Message, ...]) -> str:
    return "by-hand:" + orjson.dumps([[message.role, message.content] for message in messages]).decode()
